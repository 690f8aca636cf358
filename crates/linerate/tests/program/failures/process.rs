// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as a child process whose words are read while it runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_linerate");
/// Far beyond what any ending here takes; within it a hang differs from a slow machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// `linerate` with these words; its runs go to a place of the tests.
pub(crate) fn linerate(line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(line.split_whitespace());
    settle(&mut command);
    command
}

/// `sh -c`, where `linerate` is the program under test.
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("LINERATE", PROGRAM);
    settle(&mut command);
    command
}

fn settle(command: &mut Command) {
    command
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("COLUMNS");
}

/// A running program; it is killed when its test ends before it.
pub(crate) struct Running {
    child: Child,
    said: [Arc<Mutex<String>>; 2],
    readers: Vec<JoinHandle<()>>,
}

/// How a program ended and all that it said.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

pub(crate) fn start(mut command: Command) -> Running {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [Arc::default(), Arc::default()];
    let out = child.stdout.take().map(|out| listen(out, &said[0]));
    let err = child.stderr.take().map(|err| listen(err, &said[1]));
    Running {
        child,
        readers: out.into_iter().chain(err).collect(),
        said,
    }
}

/// Whether each direction that is reported has that many lines with a rate above 0.
fn moved(stderr: &str, intervals: usize) -> bool {
    let of =
        |way: &str| -> Vec<&str> { stderr.lines().filter(|line| line.contains(way)).collect() };
    let ways = ["] up ", "] down "].map(of);
    let enough =
        |lines: &Vec<&str>| lines.iter().filter(|line| rate(line) > 0.0).count() >= intervals;
    let reported = ways.iter().filter(|lines| !lines.is_empty());
    reported.clone().count() > 0 && reported.clone().all(enough)
}

/// The number before the unit that ends in `bit/s`, or 0.
fn rate(line: &str) -> f64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let pair = words.windows(2).find(|pair| pair[1].ends_with("bit/s"));
    pair.and_then(|pair| pair[0].parse().ok()).unwrap_or(0.0)
}

pub(crate) fn run(command: Command) -> Ended {
    start(command).end()
}

fn listen(from: impl Read + Send + 'static, to: &Arc<Mutex<String>>) -> JoinHandle<()> {
    let to = Arc::clone(to);
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from
            .read_until(b'\n', &mut line)
            .is_ok_and(|count| count > 0)
        {
            let text = String::from_utf8_lossy(&line).into_owned();
            to.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(&text);
            line.clear();
        }
    })
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stderr(&self) -> String {
        self.said(1)
    }

    fn said(&self, stream: usize) -> String {
        self.said[stream]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits until `word` stands on stderr `times` times.
    pub(crate) fn wait_for(&mut self, word: &str, times: usize) {
        let said = self.says(word, times);
        assert!(said, "no {times} of {word:?}:\n{}", self.stderr());
    }

    /// Waits until the running test has reported `intervals` intervals with traffic in each direction that it reports: on
    /// a busy machine the first ones may be empty.
    pub(crate) fn wait_for_traffic(&mut self, intervals: usize) {
        let end = Instant::now() + DEADLINE;
        while !moved(&self.stderr(), intervals) {
            let ended = self.child.try_wait().unwrap();
            assert_eq!(ended, None, "it ended before:\n{}", self.stderr());
            assert!(Instant::now() < end, "nothing moves:\n{}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether `word` stands on stderr `times` times, before the program ends or the deadline.
    pub(crate) fn says(&mut self, word: &str, times: usize) -> bool {
        let end = Instant::now() + DEADLINE;
        while self.stderr().matches(word).count() < times {
            if self.child.try_wait().unwrap().is_some() {
                self.read_to_the_end();
                return self.stderr().matches(word).count() >= times;
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// Waits for a socket of its network namespace with this row in `/proc/net/tcp`, or for its end.
    pub(crate) fn wait_for_socket(&mut self, row: &str) {
        let sockets = format!("/proc/{}/net/tcp", self.pid());
        let has_row = || fs::read_to_string(&sockets).is_ok_and(|text| text.contains(row));
        let end = Instant::now() + DEADLINE;
        while !has_row() && self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "no socket has {row}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// What the program reads.
    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.child.stdin.as_mut().unwrap()
    }

    pub(crate) fn type_in(&mut self, bytes: &[u8]) {
        self.stdin()
            .write_all(bytes)
            .and_then(|()| self.stdin().flush())
            .unwrap();
    }

    /// Waits for its end, which must come by itself.
    pub(crate) fn end(mut self) -> Ended {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < end,
                "it hangs:\n{}\n{}",
                self.said(0),
                self.said(1)
            );
            thread::sleep(Duration::from_millis(5));
        };
        self.read_to_the_end();
        Ended {
            status,
            stdout: self.said(0),
            stderr: self.said(1),
        }
    }

    /// What a program that has ended said last may still be in the pipe.
    fn read_to_the_end(&mut self) {
        let readers = self.readers.drain(..);
        readers.for_each(|reader| reader.join().unwrap());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

/// A server on the loopback that is up, and its port.
pub(crate) fn serve() -> (Running, u16) {
    let (command, port) = serving();
    let mut server = start(command);
    server.wait_for("listens on port", 1);
    (server, port)
}

/// The command of a server on the loopback, and its port.
pub(crate) fn serving() -> (Command, u16) {
    let port = crate::support::free_port();
    (linerate(&format!("serve --bind 127.0.0.1 -p {port}")), port)
}

/// Processes below `ancestor` (of any process namespace) whose command line holds `word`.
pub(crate) fn below(ancestor: u32, word: &str) -> Vec<u32> {
    let mut family = vec![ancestor];
    let mut next = 0;
    while let Some(&pid) = family.get(next) {
        next += 1;
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        family.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    let holds = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words
            .split(|&byte| byte == 0)
            .any(|part| part == word.as_bytes())
    };
    family.into_iter().skip(1).filter(holds).collect()
}
