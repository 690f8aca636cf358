// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single key presses from the terminal, without Enter.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// Proof that this process is in the foreground of the terminal on stdin, so that it may change its settings. Must be
/// obtained before entering a PID namespace, where outer process groups have no number.
#[derive(Debug, Clone, Copy)]
pub struct Foreground(());

impl Foreground {
    /// `None` if stdin is not a terminal, or the process is in the background.
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

/// Puts the terminal on stdin into a mode without echo that delivers each key at once; dropping it restores the mode.
/// Ctrl-C remains a signal.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Calls `pressed` with each key; `None` if the terminal cannot be changed or no thread can be started.
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

    /// What restores the mode where nothing is dropped.
    pub fn restorer(&self) -> impl FnOnce() + Send + use<> {
        let before = self.before.clone();
        move || {
            // A terminal that is gone has nothing to restore.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
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
