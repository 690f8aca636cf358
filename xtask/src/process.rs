// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands that must end: run with a deadline, and servers that are ended when dropped.

use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What it printed.
    pub(crate) stdout: String,
    /// What it complained about.
    pub(crate) stderr: String,
}

/// Runs `command` to its end.
///
/// # Errors
/// It cannot be started, or has not ended after `limit`; then it was killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Finished, String> {
    let name = command.get_program().display().to_string();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command
        .spawn()
        .map_err(|why| format!("start {name}: {why}"))?;
    let mut child = Server(child);
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status =
        end_of(&mut child, limit).ok_or_else(|| format!("{name} has not ended after {limit:?}"))?;
    Ok(Finished {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

/// How `child` ended, if it did within `limit`.
pub(crate) fn end_of(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() > end {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads to the end, so that the child never waits for a full pipe.
pub(crate) fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth showing.
        let _unread = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A child that is killed and reaped when dropped.
#[derive(Debug)]
pub(crate) struct Server(pub(crate) Child);

impl Deref for Server {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended on its own.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The last line with something on it, for a message of one line.
pub(crate) fn last_line(text: &str) -> &str {
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no message")
}
