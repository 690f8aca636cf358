// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults that act as long as the lab exists: threads that end with it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::cpu;
use linerate_linux::process::Reader;
use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::Host;

/// Threads that disturb; they end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Disturbances {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Disturbances {
    /// Starts threads that keep one CPU busy.
    pub(super) fn burn_cpu(&mut self, on: usize, threads: u32) -> io::Result<()> {
        (0..threads).try_for_each(|_| {
            self.spawn(move |stop| {
                // Unpinned, it still contends for some CPU.
                let _anywhere = cpu::pin(on);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
    }

    /// Pauses the commands of a host for this time in every second.
    pub(super) fn pause_commands(&mut self, host: &Host, pause: Duration) -> io::Result<()> {
        let started = Arc::clone(&host.commands.started);
        let pause = pause.min(SECOND);
        self.spawn(move |stop| {
            while sleep(stop, SECOND - pause) {
                each(&started, Reader::pause);
                sleep(stop, pause);
                each(&started, Reader::resume);
            }
        })
    }

    /// Takes a link of a host down, once.
    pub(super) fn take_link_down(
        &mut self,
        host: &Host,
        interface: &'static str,
        after_ns: u64,
        for_ns: u64,
    ) -> io::Result<()> {
        let (after, time) = (Duration::from_nanos(after_ns), Duration::from_nanos(for_ns));
        host.enter(|| {
            self.spawn(move |stop| {
                if sleep(stop, after) && set_link(interface, false).is_ok() {
                    sleep(stop, time);
                    let _host_gone = set_link(interface, true);
                }
            })
        })?
    }

    /// Repeats an action in a host until it fails.
    pub(super) fn repeat(
        &mut self,
        host: &Host,
        pause: Duration,
        act: fn() -> Result<(), RtnlError>,
    ) -> io::Result<()> {
        host.enter(|| self.spawn(move |stop| while sleep(stop, pause) && act().is_ok() {}))?
    }

    fn spawn(&mut self, work: impl FnOnce(&AtomicBool) + Send + 'static) -> io::Result<()> {
        let stop = Arc::clone(&self.stop);
        let thread = thread::Builder::new().name("fault".to_owned());
        self.threads.push(thread.spawn(move || work(&stop))?);
        Ok(())
    }
}

impl Drop for Disturbances {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ended = thread.join();
        }
    }
}

/// Returns `false` if it is time to stop.
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

/// Acts on every command that still runs.
fn each(started: &Mutex<Vec<Reader>>, act: impl Fn(Reader) -> io::Result<()>) {
    let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
    started.retain(|reader| act(*reader).is_ok());
}

fn set_link(interface: &str, up: bool) -> Result<(), RtnlError> {
    Rtnl::open()?.set_up(interface, up)
}

const SECOND: Duration = Duration::from_secs(1);
