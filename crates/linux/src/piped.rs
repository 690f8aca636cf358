// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program at the other end of two pipes: its output is read on a thread, so that no wait for it lasts longer than the
//! caller wants; and however it ends, no process is left.

use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::Reader;
use crate::signal::SIGKILL;

/// What `input` has, piece by piece as it comes; its end closes the channel. A reader that is slow slows it down.
///
/// # Errors
/// Those of starting a thread.
pub fn pieces(mut input: impl Read + Send + 'static, name: &str) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, pieces) = sync_channel(PIECES);
    let read = move || {
        let mut bytes = vec![0; PIECE_BYTES];
        loop {
            match input.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) if sender.send(bytes[..count].to_vec()).is_err() => return,
                Err(error) if error.kind() != ErrorKind::Interrupted => return,
                Ok(_) | Err(_) => {}
            }
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(read)?;
    Ok(pieces)
}

/// Makes `command` lead a process group: Ctrl-C in the terminal does not reach it, and [`reap_group`] reaches all of it.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Waits for the end of a child whose input has ended; one that does not end is killed.
pub fn reap(child: &mut Child, within: Duration) {
    if status(child, within).is_none() {
        // It may have ended just now.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// As [`reap`], with every process of the group that it leads.
pub fn reap_group(child: &mut Child, within: Duration) {
    if status(child, within).is_none() {
        // Some of it, or all, may have ended just now.
        let _ = Reader::of(child).signal_group(SIGKILL);
        let _ = child.wait();
    }
}

/// How it ended, if it ends within this time.
pub fn status(child: &mut Child, within: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + within;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => thread::sleep(STEP),
            Ok(None) | Err(_) => return None,
        }
    }
}

const PIECES: usize = 16;
const PIECE_BYTES: usize = 64 * 1024;
const STEP: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// `sh` does not wait for the other, which holds the pipe open.
    #[test]
    fn a_group_is_killed_as_a_whole() {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", "sleep 1000 & echo x; sleep 1000"])
            .stdout(Stdio::piped());
        lead_group(&mut shell);
        let mut child = shell.spawn().unwrap();
        let pieces = pieces(child.stdout.take().unwrap(), "test").unwrap();
        assert_eq!(pieces.recv().unwrap(), b"x\n");
        reap_group(&mut child, Duration::ZERO);
        assert!(pieces.recv().is_err(), "neither holds the pipe");
    }

    #[test]
    fn the_end_of_the_output_closes_the_channel() {
        let pieces = pieces(&b"abc"[..], "test").unwrap();
        assert_eq!(pieces.iter().collect::<Vec<_>>(), [b"abc"]);
    }
}
