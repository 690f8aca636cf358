// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that `ab` starts: the shell commands that switch, and the measurements. They are not in
//! the terminal's foreground process group, so that Ctrl-C reaches only `ab`, which ends them in order.
//!
//! A command has ended when its process has, even if processes in the background remain.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::pipe;
use linerate_linux::process::Reader;
use linerate_linux::signal::{Interrupt, SIGKILL, SIGTERM};

/// The output and exit status of a process.
#[derive(Debug)]
pub(in crate::cli) struct Ended {
    pub(in crate::cli) status: ExitStatus,
    pub(in crate::cli) stdout: Vec<u8>,
    pub(in crate::cli) stderr: Vec<u8>,
}

/// Which processes an interruption is passed on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Reach {
    /// The process, which ends those that it started in order.
    Process,
    /// The whole group: a shell does not pass it on.
    Group,
}

/// A process under way.
#[derive(Debug)]
pub(in crate::cli) struct Running {
    child: Child,
    reach: Reach,
    /// Its process has ended.
    over: Arc<AtomicBool>,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Running {
    /// Starts a command in its own process group.
    ///
    /// # Errors
    /// It could not be started.
    pub(in crate::cli) fn start(mut command: Command, reach: Reach) -> io::Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.process_group(0);
        let mut child = command.spawn()?;
        let over = Arc::new(AtomicBool::new(false));
        Ok(Self {
            stdout: reader(child.stdout.take(), &over),
            stderr: reader(child.stderr.take(), &over),
            child,
            reach,
            over,
        })
    }

    /// Waits for its end. An interruption is passed on as SIGTERM, once; a second one kills, and so does
    /// a timeout. `tick` is called again and again with the time since the start; false interrupts as well.
    ///
    /// # Errors
    /// It could not be awaited.
    pub(in crate::cli) fn finish(
        mut self,
        interrupt: &Interrupt,
        tick: &mut dyn FnMut(Duration) -> bool,
    ) -> io::Result<Ended> {
        let status = self.wait(interrupt, tick)?;
        self.over.store(true, Ordering::Release);
        Ok(Ended {
            status,
            stdout: self.stdout.join().unwrap_or_default(),
            stderr: self.stderr.join().unwrap_or_default(),
        })
    }

    fn wait(
        &mut self,
        interrupt: &Interrupt,
        tick: &mut dyn FnMut(Duration) -> bool,
    ) -> io::Result<ExitStatus> {
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            match asked {
                None if interrupt.requested().is_some() || !tick(begun.elapsed()) => {
                    self.signal(SIGTERM);
                    asked = Some(Instant::now());
                }
                Some(since) if is_over(since, interrupt) => self.signal(SIGKILL),
                _ => {}
            }
            thread::sleep(STEP);
        }
    }

    fn signal(&self, number: u8) {
        let child = Reader::of(&self.child);
        // It may have ended just now.
        let _ = match (self.reach, number) {
            (Reach::Process, SIGTERM) => child.signal(number),
            _ => child.signal_group(number),
        };
    }
}

/// Waits; returns false if interrupted.
pub(in crate::cli) fn pause(length: Duration, interrupt: &Interrupt) -> bool {
    let until = Instant::now() + length;
    while interrupt.requested().is_none() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(STEP));
    }
    false
}

fn is_over(since: Instant, interrupt: &Interrupt) -> bool {
    interrupt.impatient() || since.elapsed() > PATIENCE
}

fn reader(
    pipe: Option<impl Read + AsFd + Send + 'static>,
    over: &Arc<AtomicBool>,
) -> JoinHandle<Vec<u8>> {
    let over = Arc::clone(over);
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until an error is all there is.
            let _ = read(&mut pipe, &over, &mut kept);
        }
        kept
    })
}

/// Reads until the last writer has closed the pipe, or the process has ended and the pipe is empty, or a timeout
/// after its end. What exceeds the limit is read, so that no writer blocks, and dropped.
fn read(pipe: &mut (impl Read + AsFd), over: &AtomicBool, kept: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut ended: Option<Instant> = None;
    loop {
        // Asked before the pipe is looked at: what was written before the end is in it then.
        if over.load(Ordering::Acquire) {
            ended = ended.or_else(|| Some(Instant::now()));
        }
        if !pipe::is_readable(&*pipe)? {
            match ended {
                Some(_) => return Ok(()),
                None => continue,
            }
        }
        if ended.is_some_and(|ended| ended.elapsed() > GOODBYE) {
            return Ok(());
        }
        let bytes = pipe.read(&mut piece)?;
        if bytes == 0 {
            return Ok(());
        }
        let room = MOST_BYTES.saturating_sub(kept.len()).min(bytes);
        kept.extend_from_slice(&piece[..room]);
    }
}

const STEP: Duration = Duration::from_millis(20);
/// A measurement that is asked to end keeps both ends' counts first.
const PATIENCE: Duration = Duration::from_secs(15);
/// To read what a process left in its pipes.
const GOODBYE: Duration = Duration::from_secs(5);
/// A document of an hour's run is a few megabytes.
const MOST_BYTES: usize = 64 << 20;
const PIECE_BYTES: usize = 64 << 10;
