// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single keys from the terminal, without Enter, while this is held.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// The terminal on stdin is this process's to change: it runs in the foreground. To be asked for before
/// a PID namespace is entered, where process groups outside have no number.
#[derive(Debug, Clone, Copy)]
pub struct Foreground(());

impl Foreground {
    /// `None` where stdin is no terminal, or the process is in the background.
    #[must_use]
    pub fn held() -> Option<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return None;
        }
        let group = termios::tcgetpgrp(&stdin).ok()?;
        (group == rustix::process::getpgrp()).then_some(Self(()))
    }
}

/// The terminal on stdin gives each key as it is pressed and does not echo; dropping this restores it.
/// Ctrl-C stays a signal.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Calls `pressed` with each key; `None` where the terminal cannot be changed or no thread be had.
    pub fn watch(_: Foreground, pressed: impl FnMut(u8) + Send + 'static) -> Option<Self> {
        let stdin = io::stdin();
        let before = termios::tcgetattr(&stdin).ok()?;
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::Builder::new().name("keys".to_owned());
        let thread = thread.spawn(move || listen(&seen, pressed)).ok()?;
        let keys = Self {
            before,
            over,
            thread: Some(thread),
        };
        let mut single = keys.before.clone();
        single.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        termios::tcsetattr(&stdin, OptionalActions::Now, &single).ok()?;
        Some(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // A terminal that is gone has nothing to restore.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn listen(over: &AtomicBool, mut pressed: impl FnMut(u8)) {
    let stdin = io::stdin();
    while !over.load(Ordering::Acquire) {
        let mut wanted = [PollFd::new(&stdin, PollFlags::IN)];
        let ready = poll(&mut wanted, Some(&GLANCE)).unwrap_or(0) > 0;
        let is_there = ready && wanted[0].revents().contains(PollFlags::IN);
        let mut key = [0; 1];
        match (ready, is_there.then(|| rustix::io::read(&stdin, &mut key))) {
            (_, Some(Ok(1))) => pressed(key[0]),
            (true, _) => return, // hung up
            (false, _) => {}
        }
    }
}

/// How long dropping may take.
const GLANCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
