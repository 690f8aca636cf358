// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate serve` as a child process, awaited by conditions with a deadline, ended with its value.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::ports::{free_port, states};

/// A server and what it logs.
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
    said: Receiver<String>,
}

impl Server {
    pub(crate) fn with(arguments: &str) -> Self {
        let port = free_port();
        let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["serve", "-p", &port.to_string()])
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            while lines.next().is_some_and(|line| sender.send(line).is_ok()) {}
        });
        let server = Self { port, child, said };
        let deadline = Instant::now() + PATIENCE;
        while !server.listens() {
            assert!(Instant::now() < deadline, "it never listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn listens(&self) -> bool {
        let tables = ["tcp", "tcp6"].map(|table| states(table, self.port));
        tables.iter().flatten().any(|state| state == "0A")
    }

    /// Waits for a line with `words`.
    pub(crate) fn says(&self, words: &str) {
        let mut said = Vec::new();
        loop {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(words) => return,
                Ok(line) => said.push(line),
                Err(_) => panic!("no {words:?} in {said:#?}"),
            }
        }
    }

    /// As `ps` shows it to everybody.
    pub(crate) fn command_line(&self) -> String {
        let bytes = std::fs::read(format!("/proc/{}/cmdline", self.child.id())).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PATIENCE: Duration = Duration::from_secs(40);
