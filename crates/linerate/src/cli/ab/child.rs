// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that `ab` starts: the shell commands that switch, and the measurements. They are no part of
//! the terminal's foreground, so that Ctrl-C reaches `ab` alone, which ends them in order.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::process::Reader;
use linerate_linux::signal::{Interrupt, SIGTERM};

/// What a process said and how it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs a command to its end. An interruption is passed on as SIGTERM, once; a second one kills.
///
/// # Errors
/// It could not be started or awaited.
pub(super) fn run(mut command: Command, interrupt: Option<&Interrupt>) -> io::Result<Ended> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0);
    let mut child = command.spawn()?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = wait(&mut child, interrupt)?;
    Ok(Ended {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

/// Waits, unless interrupted: whether the time went by.
pub(super) fn pause(length: Duration, interrupt: &Interrupt) -> bool {
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

fn wait(child: &mut Child, interrupt: Option<&Interrupt>) -> io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let wanted = interrupt.is_some_and(|interrupt| interrupt.requested().is_some());
        match asked {
            None if wanted => {
                // It may have ended just now.
                let _ = Reader::of(child).signal(SIGTERM);
                asked = Some(Instant::now());
            }
            Some(since) if is_over(since, interrupt) => {
                child.kill()?;
                return child.wait();
            }
            _ => {}
        }
        thread::sleep(STEP);
    }
}

fn is_over(since: Instant, interrupt: Option<&Interrupt>) -> bool {
    interrupt.is_some_and(Interrupt::impatient) || since.elapsed() > PATIENCE
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read until an error is all there is.
            let _ = pipe.take(MOST_BYTES).read_to_end(&mut bytes);
        }
        bytes
    })
}

const STEP: Duration = Duration::from_millis(20);
/// A measurement that is asked to end keeps both ends' counts first.
const PATIENCE: Duration = Duration::from_secs(15);
/// A document of an hour's run is a few megabytes.
const MOST_BYTES: u64 = 256 << 20;
