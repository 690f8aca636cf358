// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server as a child process, awaited by what it says, ended with its value.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::ports::{free_port, states};

/// A server and what it says.
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
    said: Receiver<String>,
}

impl Server {
    pub(crate) fn ours() -> Self {
        let mut command = Command::new(crate::OURS);
        Self::start(command.arg("serve"))
    }

    /// The stock server of `PATH`; `None`, and a printed line, where there is none.
    pub(crate) fn stock() -> Option<Self> {
        let found = Command::new("iperf3").arg("--version").output().is_ok();
        if !found {
            println!("skipped: no iperf3 in PATH");
        }
        found.then(|| Self::start(Command::new("iperf3").arg("-s")))
    }

    fn start(command: &mut Command) -> Self {
        let port = free_port();
        let mut child = command
            .args(["-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = child.stderr.take().unwrap();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stderr).lines().map_while(Result::ok);
            lines
                .map_while(|line| sender.send(line).ok())
                .for_each(drop);
        });
        let listens = || {
            let listening = |table| states(table, port).iter().any(|state| state == "0A");
            listening("tcp") || listening("tcp6")
        };
        let deadline = Instant::now() + PATIENCE;
        while !listens() {
            assert!(Instant::now() < deadline, "it never listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { port, child, said }
    }

    /// Waits for a line with `words`.
    pub(crate) fn await_line(&self, words: &str) {
        let mut said = Vec::new();
        loop {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(words) => return,
                Ok(line) => said.push(line),
                Err(_) => panic!("no {words:?} in {said:#?}"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PATIENCE: Duration = Duration::from_secs(40);
