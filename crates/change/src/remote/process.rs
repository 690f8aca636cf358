// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process at the near end of the way, ssh or another, which is ended with the connection.

use std::io::{self, Read};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::piped;

use super::way::Way;

/// The process, and what it wrote to standard error.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    said: Arc<Mutex<Said>>,
}

#[derive(Debug, Default)]
struct Said {
    bytes: Vec<u8>,
    ended: bool,
}

impl Process {
    /// Its output and its input; `flag` says which agent.
    pub(super) fn start(way: &Way, flag: &str) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = way.command(flag);
        piped::lead_group(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let said = Arc::new(Mutex::new(Said::default()));
        kept(errors, Arc::clone(&said))?;
        Ok((Self { child, said }, input, output))
    }

    /// Its number.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Why it ended, and what helps.
    pub(super) fn ended(&mut self, way: &Way) -> (String, String) {
        let status = piped::status(&mut self.child, END_WITHIN);
        // Another process may hold its standard error open.
        let end = Instant::now() + SAID_WITHIN;
        while !lock(&self.said).ended && Instant::now() < end {
            thread::sleep(STEP);
        }
        let said = String::from_utf8_lossy(&lock(&self.said).bytes).into_owned();
        way.ended(status, &said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        piped::reap_group(&mut self.child, END_WITHIN);
    }
}

/// Keeps the end of what comes.
fn kept(mut errors: impl Read + Send + 'static, said: Arc<Mutex<Said>>) -> io::Result<()> {
    let read = move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = errors.read(&mut bytes) {
            let kept = &mut lock(&said).bytes;
            kept.extend_from_slice(&bytes[..count]);
            let surplus = kept.len().saturating_sub(SAID_BYTES);
            kept.drain(..surplus);
        }
        lock(&said).ended = true;
    };
    thread::Builder::new()
        .name("stderr".to_owned())
        .spawn(read)?;
    Ok(())
}

fn lock(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

const SAID_BYTES: usize = 4096;
const STEP: Duration = Duration::from_millis(10);
/// An agent that undoes changes of a slow driver.
const END_WITHIN: Duration = Duration::from_secs(10);
const SAID_WITHIN: Duration = Duration::from_millis(500);
