// SPDX-License-Identifier: MIT OR Apache-2.0
//! A terminal that may be paused (Ctrl-S): what it does not accept is kept for later, so that the measurement continues. (A
//! client that does not read loses its connection to the server after some seconds.)

use std::fs::File;
use std::io::{self, Write};

/// Writes as much as is taken, in the order of writing.
#[derive(Debug, Default)]
pub(super) struct PatientWriter {
    /// Does not block. `None`: there is no terminal, and writing waits.
    terminal: Option<File>,
    kept: Vec<u8>,
}

impl PatientWriter {
    /// To stderr, a terminal.
    pub(super) fn of_terminal() -> Self {
        Self {
            terminal: linerate_linux::terminal::stderr_without_waiting().ok(),
            kept: Vec::new(),
        }
    }

    /// Whether the terminal has taken everything, or does so now.
    pub(super) fn catches_up(&mut self) -> bool {
        self.advance();
        self.kept.is_empty()
    }

    /// Writes or keeps it.
    pub(super) fn write(&mut self, text: &str) {
        self.kept.extend_from_slice(text.as_bytes());
        self.advance();
        if self.terminal.is_none() || self.kept.len() > KEPT_MAX {
            self.finish();
        }
    }

    /// Waits until the terminal has taken everything.
    pub(super) fn finish(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let mut stderr = io::stderr().lock();
        let written = stderr.write_all(&kept).and_then(|()| stderr.flush());
        if let Err(error) = written {
            super::log::refused(&kept, &error);
        }
    }

    fn advance(&mut self) {
        let Some(terminal) = &mut self.terminal else {
            return;
        };
        while !self.kept.is_empty() {
            match terminal.write(&self.kept) {
                Ok(taken) if taken > 0 => drop(self.kept.drain(..taken)),
                // It takes nothing now. An error shows when it is written to stderr itself.
                _ => return,
            }
        }
    }
}

impl Drop for PatientWriter {
    fn drop(&mut self) {
        if !self.kept.is_empty() {
            self.finish();
        }
    }
}

/// Hours of intervals.
const KEPT_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// Without the writer's patience this would wait for ever.
    #[test]
    fn what_a_paused_terminal_does_not_take_is_kept_and_follows_in_order() {
        let (mut screen, paused) = UnixStream::pair().unwrap();
        paused.set_nonblocking(true).unwrap();
        let mut writer = PatientWriter {
            terminal: Some(File::from(OwnedFd::from(paused))),
            kept: Vec::new(),
        };
        let lines: Vec<String> = (0..10_000)
            .map(|number| format!("line {number} of a test that goes on\n"))
            .collect();
        let mut written = String::new();
        for line in &lines {
            writer.write(line);
            written.push_str(line);
            if !writer.catches_up() {
                break;
            }
        }
        assert!(!writer.catches_up(), "a socket takes less than all lines");
        let mut shown = vec![0; written.len()];
        while !writer.catches_up() {
            let count = screen.read(&mut shown).unwrap();
            assert!(written.as_bytes().starts_with(&shown[..count]));
            written.drain(..count);
        }
        screen.set_nonblocking(true).unwrap();
        let rest = io::read_to_string(&mut screen);
        assert!(rest.is_err(), "the writer is still open");
    }
}
