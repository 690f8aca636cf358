// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real servers and clients as child processes on the loopback, awaited by conditions with a
//! deadline, ended with their value.

mod ports;
pub(crate) mod python;

pub(crate) use ports::free_port;
use serde_json::Value;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any condition here takes on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A server process and what it says.
pub(crate) struct Server {
    /// Its TCP and UDP port.
    pub(crate) port: u16,
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Server {
    /// `linerate serve` with more arguments.
    pub(crate) fn ours(arguments: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.arg("serve").args(arguments.split_whitespace());
        Self::start(command)
    }

    /// The stock server of `PATH`.
    pub(crate) fn stock() -> Self {
        let mut command = Command::new("iperf3");
        command.args(["-s", "--forceflush"]);
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        let port = free_port();
        let mut child = command
            .args(["-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, into) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lock(&into).push_str(&format!("{line}\n"));
            }
        });
        let server = Self { port, child, said };
        until("the server listens", || listens(port));
        server
    }

    /// All that it logged.
    pub(crate) fn log(&self) -> String {
        lock(&self.said).clone()
    }

    /// Waits for a line with `words`, and returns it.
    pub(crate) fn await_line(&self, words: &str) -> String {
        let find = || {
            let log = self.log();
            log.lines()
                .find(|line| line.contains(words))
                .map(str::to_owned)
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = find() {
                return line;
            }
            assert!(
                Instant::now() < deadline,
                "no {words:?} in:\n{}{}",
                self.log(),
                self.state()
            );
            std::thread::sleep(STEP);
        }
    }

    /// How many lines with `words` it logged.
    pub(crate) fn lines(&self, words: &str) -> usize {
        self.log()
            .lines()
            .filter(|line| line.contains(words))
            .count()
    }

    /// Where each of its threads is, for the message of a test that waited in vain.
    fn state(&self) -> String {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let Ok(tasks) = tasks else {
            return "the server is gone\n".to_owned();
        };
        let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        tasks
            .map_while(Result::ok)
            .map(|task| {
                let stat = read(task.path().join("stat"));
                let fields: Vec<_> = stat.split_whitespace().take(15).collect();
                let (waits, call) = (
                    read(task.path().join("wchan")),
                    read(task.path().join("syscall")),
                );
                format!("{} {waits} {}\n", fields.join(" "), call.trim_end())
            })
            .collect()
    }

    /// Its threads and open descriptors while it serves nobody. One that has just begun to listen does not have them all.
    pub(crate) fn holds_at_rest(&self) -> (usize, usize) {
        let last = Cell::new((0, 0));
        until("the server is at rest", || {
            let now = self.holds();
            now.0 == THREADS_AT_REST && last.replace(now) == now
        });
        last.get()
    }

    /// Its threads and open descriptors.
    pub(crate) fn holds(&self) -> (usize, usize) {
        let count = |what: &str| {
            std::fs::read_dir(format!("/proc/{}/{what}", self.child.id()))
                .map_or(0, Iterator::count)
        };
        (count("task"), count("fd"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client process said.
pub(crate) struct Said {
    /// Whether it measured: it exited with 0 and its document names no error, or all that it holds
    /// against its numbers is that a busy machine left datagrams unsent.
    pub(crate) success: bool,
    /// Its document.
    pub(crate) json: Value,
    /// For messages.
    pub(crate) text: String,
}

impl Said {
    /// The number at a JSON pointer.
    pub(crate) fn number(&self, pointer: &str) -> u64 {
        let value = self.json.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("no {pointer} in {}", self.text)) as u64
    }
}

/// The stock client against `port`, with `-J`.
pub(crate) fn stock_client(port: u16, arguments: &str) -> Said {
    let mut command = stock_command(port, arguments);
    finish(command.arg("-J").stdout(Stdio::piped()).spawn().unwrap())
}

/// The stock client's command, nothing started.
pub(crate) fn stock_command(port: u16, arguments: &str) -> Command {
    let mut command = Command::new("iperf3");
    command
        .args(["-c", "127.0.0.1", "-p", &port.to_string()])
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Our client against `port`: `tcp` or `udp`, then its arguments.
pub(crate) fn our_client(port: u16, protocol: &str, arguments: &str) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args([
            protocol,
            "127.0.0.1",
            "--json",
            "-q",
            "-p",
            &port.to_string(),
        ])
        .args(arguments.split_whitespace())
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    finish(command.spawn().unwrap())
}

/// Waits for the end of a client; one that hangs is killed and fails the test.
fn finish(mut child: Child) -> Said {
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a client hung: {}", reader.join().unwrap());
        }
        std::thread::sleep(STEP);
    };
    let text = reader.join().unwrap();
    let json: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    Said {
        // A stock client that failed with `-J` exits with 0: only its document says so.
        success: json["error"].is_null() && (status.success() || only_unsent(status, &json)),
        json,
        text,
    }
}

/// Whether one of our clients ended with 4 and for nothing but what a busy machine did not send.
fn only_unsent(status: ExitStatus, json: &Value) -> bool {
    let unsent = |test: &Value| {
        let reason = test["invalid_reason"].as_str();
        test["valid"] == true || reason.is_some_and(|why| why.contains("were not sent"))
    };
    let tests = json["tests"].as_array();
    status.code() == Some(4) && tests.is_some_and(|tests| tests.iter().all(unsent))
}

/// Whether the stock program is there; says so if not.
pub(crate) fn have_iperf3() -> bool {
    let found = Command::new("iperf3")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: no iperf3 in PATH");
    }
    found
}

/// The threads of a server without a client: one accepts, one greets.
const THREADS_AT_REST: usize = 2;

/// Waits for a condition.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(STEP);
    }
}

/// Whether a TCP socket listens on the port, read from the kernel's tables: connecting would be a
/// test to a stock server.
fn listens(port: u16) -> bool {
    let listening = |table| ports::states(table, port).iter().any(|state| state == "0A");
    listening("tcp") || listening("tcp6")
}

fn lock(text: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

const STEP: Duration = Duration::from_millis(10);
