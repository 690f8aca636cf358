// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults that go on while the lab stands: threads that end with it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::cpu;
use linerate_linux::process::Reader;
use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::Host;

/// Threads that disturb; dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Nuisance {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Nuisance {
    /// So many threads that only burn one CPU.
    pub(super) fn burn(&mut self, on: usize, threads: u32) -> io::Result<()> {
        (0..threads).try_for_each(|_| {
            self.go(move |stop| {
                // Not pinned, it burns whichever CPU there is: still a contention.
                let _anywhere = cpu::pin(on);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
    }

    /// Stops the commands of a host for `pause` in every second.
    pub(super) fn hold_up(&mut self, host: &Host, pause: Duration) -> io::Result<()> {
        let started = Arc::clone(&host.treatment.started);
        let pause = pause.min(SECOND);
        self.go(move |stop| {
            while sleep(stop, SECOND - pause) {
                each(&started, Reader::pause);
                sleep(stop, pause);
                each(&started, Reader::resume);
            }
        })
    }

    /// Takes one of a host's links down, once.
    pub(super) fn unplug(
        &mut self,
        host: &Host,
        interface: &'static str,
        after: Duration,
        time: Duration,
    ) -> io::Result<()> {
        host.enter(|| {
            self.go(move |stop| {
                if sleep(stop, after) && set_link(interface, false).is_ok() {
                    sleep(stop, time);
                    let _host_gone = set_link(interface, true);
                }
            })
        })?
    }

    /// Does it to a host again and again, as long as it can be done.
    pub(super) fn every(
        &mut self,
        host: &Host,
        pause: Duration,
        act: fn() -> Result<(), RtnlError>,
    ) -> io::Result<()> {
        host.enter(|| self.go(move |stop| while sleep(stop, pause) && act().is_ok() {}))?
    }

    fn go(&mut self, work: impl FnOnce(&AtomicBool) + Send + 'static) -> io::Result<()> {
        let stop = Arc::clone(&self.stop);
        let thread = thread::Builder::new().name("fault".to_owned());
        self.threads.push(thread.spawn(move || work(&stop))?);
        Ok(())
    }
}

impl Drop for Nuisance {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ended = thread.join();
        }
    }
}

/// `false`: it is time to stop.
fn sleep(stop: &AtomicBool, time: Duration) -> bool {
    let end = Instant::now() + time;
    while !stop.load(Ordering::Relaxed) {
        match end.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => thread::park_timeout(left),
            _ => return true,
        }
    }
    false
}

/// Does it to every command that still runs.
fn each(started: &Mutex<Vec<Reader>>, act: impl Fn(Reader) -> io::Result<()>) {
    let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
    started.retain(|reader| act(*reader).is_ok());
}

fn set_link(interface: &str, up: bool) -> Result<(), RtnlError> {
    Rtnl::open()?.set_up(interface, up)
}

const SECOND: Duration = Duration::from_secs(1);
