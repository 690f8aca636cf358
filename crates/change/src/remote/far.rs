// SPDX-License-Identifier: MIT OR Apache-2.0
//! The near end: a host behind an agent. Each answer has a deadline, and whatever the far end sends is an error at most.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::signal::Interrupt;
use linerate_model::failure::{Failure, printable};
use linerate_model::setting::Setting;
use linerate_wire::json;

use super::message::{Answer, Answered, Ask, Asked, GUARDS, Greeting, Hello, MOST, PROTOCOL};
use super::process::Process;
use super::settings::joined;
use super::way::Way;
use crate::apply::Outcome;
use crate::entry::{Change, Key};
use crate::hand::Hand;
use crate::lines::{LINE_BYTES, Line, TooLong, lines, text};
use crate::provisional::Provisional;
use crate::restore::End;

/// How long is waited for what.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// For the agent's hello: ssh has to connect.
    pub hello: Duration,
    /// For an answer: a driver may have to reset its device.
    pub answer: Duration,
    /// The agent undoes everything and ends when it hears nothing for this time.
    pub silence: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            silence: Duration::from_secs(180),
        }
    }
}

/// A host behind an agent. When this is dropped, the agent undoes what is open, and ends.
pub struct Far {
    hello: Hello,
    terms: Terms,
    /// Dropped before the process: its input ends, then it is waited for.
    requests: Sender<String>,
    answers: Receiver<Line>,
    process: Option<Process>,
    asked: u64,
}

impl Far {
    /// Starts an agent, and waits for its hello.
    ///
    /// # Errors
    /// Why there is none: ssh, the program there, its version, or what came instead.
    pub fn open(way: &Way, terms: Terms, interrupt: &Interrupt) -> Result<Self, Failure> {
        let what = format!("reach the other host by {way}");
        let failed = |why: &dyn fmt::Display| Failure::measuring(what.clone(), why);
        let (mut process, input, output) =
            Process::start(way, CHANGES).map_err(|why| failed(&why).hint(way.by_hand()))?;
        match Self::begin(input, output, terms, &|| interrupt.requested().is_some()) {
            Ok(mut far) => {
                far.process = Some(process);
                Ok(far)
            }
            Err(Absent::Ended) => {
                let (why, hint) = process.ended(way);
                Err(failed(&why).hint(hint))
            }
            Err(Absent::Interrupted) => Err(Failure::interrupted(what)),
            Err(Absent::Because(why)) => Err(failed(&why).hint(way.by_hand())),
        }
    }

    /// An agent that runs already, at the other end of these.
    ///
    /// # Errors
    /// It sends no hello in time, or one of another protocol.
    pub fn over(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        terms: Terms,
    ) -> io::Result<Self> {
        Self::begin(input, output, terms, &|| false).map_err(|absent| match absent {
            Absent::Ended => closed(),
            Absent::Interrupted => io::ErrorKind::Interrupted.into(),
            Absent::Because(why) => io::Error::new(io::ErrorKind::InvalidData, why),
        })
    }

    fn begin(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        terms: Terms,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, Absent> {
        let because = |why: io::Error| Absent::Because(why.to_string());
        let answers = lines(input, "answers").map_err(because)?;
        let hello = greeting(&answers, terms.hello, stop)?;
        let requests = sent(output, terms.silence / BEATS).map_err(because)?;
        let mut far = Self {
            hello,
            terms,
            requests,
            answers,
            process: None,
            asked: 0,
        };
        let silence_ms = u64::try_from(terms.silence.as_millis()).unwrap_or(u64::MAX);
        match far.ask(Ask::Begin { silence_ms }).map_err(because)? {
            Answer::Done => Ok(far),
            other => Err(because(other.unexpected())),
        }
    }

    /// Who the agent is.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The process by which it is reached; its sockets are the way there.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// All settings that can be read there.
    ///
    /// # Errors
    /// The host is no longer reached.
    pub fn settings(&mut self) -> io::Result<Vec<Setting>> {
        let id = self.send(Ask::Settings)?;
        let (mut parts, mut room_bytes) = (Vec::new(), SETTINGS_BYTES);
        loop {
            let (answer, bytes) = self.receive(id)?;
            let Answer::Setting(setting) = answer else {
                return match answer {
                    Answer::Done => Ok(joined(parts)),
                    other => Err(other.unexpected()),
                };
            };
            room_bytes = usize::checked_sub(room_bytes, bytes)
                .ok_or_else(|| invalid("its answer is too long"))?;
            parts.push(setting);
        }
    }

    /// Why an interface there carries this connection; nothing if it does not.
    ///
    /// # Errors
    /// The host is no longer reached.
    pub fn management(&mut self, interface: &str) -> io::Result<Option<String>> {
        let interface = interface.to_owned();
        match self.ask(Ask::Management { interface })? {
            Answer::Management(why) => Ok(why.map(|why| printable(&why))),
            other => Err(other.unexpected()),
        }
    }

    /// An older agent ends at a request that it does not know.
    fn can(&self, capability: &str) -> bool {
        let mut all = self.hello.capabilities.iter();
        all.any(|one| one == capability)
    }

    fn make(&mut self, change: Change, within: Option<Duration>) -> io::Result<Outcome> {
        let in_ms = |within: Duration| u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let confirm_within_ms = within.map(in_ms);
        let answer = self.ask(Ask::Apply {
            change,
            confirm_within_ms,
        })?;
        let outcome = answer.outcome()?;
        Ok(match outcome {
            Outcome::Refused(why) => Outcome::Refused(self.known(why)),
            Outcome::Unreadable(why) => Outcome::Unreadable(self.known(why)),
            other => other,
        })
    }

    /// A refusal, with its likely reason.
    fn known(&self, why: io::Error) -> io::Error {
        let kind = why.kind();
        match (kind, self.hello.uid) {
            (_, 0) => why,
            (io::ErrorKind::PermissionDenied, uid) => io::Error::new(
                kind,
                format!("{why}: the agent there is not root (uid {uid})"),
            ),
            _ => why,
        }
    }

    fn done(&mut self, ask: Ask) -> io::Result<()> {
        match self.ask(ask)? {
            Answer::Done => Ok(()),
            other => Err(other.unexpected()),
        }
    }

    fn ask(&mut self, ask: Ask) -> io::Result<Answer> {
        let id = self.send(ask)?;
        Ok(self.receive(id)?.0)
    }

    fn send(&mut self, ask: Ask) -> io::Result<u64> {
        self.asked += 1;
        let id = self.asked;
        let line = text(&Asked { id, ask })?;
        self.requests.send(line).map_err(|_| closed())?;
        Ok(id)
    }

    /// The answer to request `id`, and its length. Those to earlier ones came too late.
    fn receive(&mut self, id: u64) -> io::Result<(Answer, usize)> {
        let end = Instant::now() + self.terms.answer;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = match self.answers.recv_timeout(left) {
                Ok(line) => line.map_err(|TooLong| invalid("its answer is too long"))?,
                Err(RecvTimeoutError::Timeout) => return Err(late(self.terms.silence)),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            };
            let unexpected = |_| invalid(format!("unexpected answer: \"{}\"", shown(&line)));
            let answered: Answered = json::text(&line).map_err(unexpected)?;
            if answered.id == id {
                return Ok((clean(answered.answer), line.len()));
            }
        }
    }
}

impl Hand for Far {
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
        let ask = Ask::Key {
            knob: knob.to_owned(),
            interface: interface.map(str::to_owned),
        };
        match self.ask(ask)? {
            Answer::Key(key) => Ok(key),
            other => Err(other.unexpected()),
        }
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        match self.ask(Ask::Read { key: key.clone() })? {
            Answer::Value(value) => Ok(value),
            other => Err(other.unexpected()),
        }
    }

    /// Nothing from an agent that does not answer this.
    fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
        if !self.can(MOST) {
            return Ok(None);
        }
        match self.ask(Ask::Most { key: key.clone() })? {
            Answer::Most(most) if most.as_deref().is_none_or(is_bound) => Ok(most),
            other => Err(other.unexpected()),
        }
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        self.make(change, None)
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        self.ask(Ask::Undo { change })?.end()
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.done(Ask::Keep { change })
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        let interfaces = interfaces.to_vec();
        match self.can(GUARDS) {
            true => self.done(Ask::Watch { interfaces }),
            false => Ok(()),
        }
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        if !self.can(GUARDS) {
            return Ok(None);
        }
        match self.ask(Ask::Alarm)? {
            Answer::Alarm(why) => Ok(why.map(|why| printable(&why))),
            other => Err(other.unexpected()),
        }
    }
}

impl Provisional for Far {
    fn apply_within(&mut self, change: Change, within: Duration) -> io::Result<Outcome> {
        self.make(change, Some(within))
    }

    fn confirm(&mut self, change: u64) -> io::Result<()> {
        self.done(Ask::Confirm { change })
    }
}

impl fmt::Debug for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Far")
            .field("hello", &self.hello)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// Why there is no agent.
enum Absent {
    /// Its output ended.
    Ended,
    Interrupted,
    Because(String),
}

/// The agent's hello, after what a console or banner may have printed.
fn greeting(
    answers: &Receiver<Line>,
    within: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Hello, Absent> {
    let end = Instant::now() + within;
    let mut before = String::new();
    loop {
        let line = match answers.recv_timeout(STEP) {
            Ok(Ok(line)) => line,
            Ok(Err(TooLong)) => return Err(instead("a line of more than 64 KiB")),
            Err(RecvTimeoutError::Disconnected) if before.trim().is_empty() => {
                return Err(Absent::Ended);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(instead(&before)),
            Err(RecvTimeoutError::Timeout) if stop() => return Err(Absent::Interrupted),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= end => {
                return Err(match before.trim().is_empty() {
                    true => Absent::Because("no answer in time".to_owned()),
                    false => instead(&before),
                });
            }
            Err(RecvTimeoutError::Timeout) => continue,
        };
        if let Some(hello) = hello(&line) {
            return judged(hello);
        }
        before += &line;
        if before.len() > LINE_BYTES || Instant::now() >= end {
            return Err(instead(&before));
        }
        before.push(' ');
    }
}

/// A prompt may be before it in the same line.
fn hello(line: &str) -> Option<Hello> {
    let from = line.find(HELLO)?;
    let greeting: Greeting = json::text(&line[from..]).ok()?;
    let mut hello = greeting.hello;
    for text in [&mut hello.version, &mut hello.hostname, &mut hello.boot_id] {
        *text = printable(text);
    }
    for (interface, why) in &mut hello.management {
        (*interface, *why) = (printable(interface), printable(why));
    }
    Some(hello)
}

fn judged(hello: Hello) -> Result<Hello, Absent> {
    match hello.protocol == PROTOCOL {
        true => Ok(hello),
        false => Err(Absent::Because(format!(
            "the linerate there ({}) has version {} of the protocol, this one version {PROTOCOL}",
            hello.version, hello.protocol
        ))),
    }
}

/// Numbers, a mask of processors, on or off: it becomes a part of commands that people copy.
fn is_bound(most: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b',' || byte == b' ';
    !most.is_empty() && most.bytes().all(fits)
}

fn instead(said: &str) -> Absent {
    Absent::Because(format!("unexpected answer: \"{}\"", shown(said)))
}

fn shown(said: &str) -> String {
    printable(said.trim()).chars().take(SHOWN).collect()
}

/// Text that is shown to people.
fn clean(answer: Answer) -> Answer {
    let cleaned = |mut why: super::message::Refusal| {
        why.why = printable(&why.why);
        why
    };
    match answer {
        Answer::Failed(why) => Answer::Failed(cleaned(why)),
        Answer::Unreadable(why) => Answer::Unreadable(cleaned(why)),
        Answer::Refused(why) => Answer::Refused(cleaned(why)),
        Answer::NotUndone(why) => Answer::NotUndone(cleaned(why)),
        Answer::Elsewhere(why) => Answer::Elsewhere(printable(&why)),
        Answer::Half { change, why } => Answer::Half {
            change,
            why: cleaned(why),
        },
        other => other,
    }
}

/// Writes requests on a thread, and a beat where there is none: a far end that does not read delays no caller.
fn sent(mut output: impl Write + Send + 'static, beat: Duration) -> io::Result<Sender<String>> {
    let silent = text(&Asked {
        id: 0,
        ask: Ask::Beat,
    })?;
    let (sender, requests) = channel::<String>();
    let write = move || {
        loop {
            let line = match requests.recv_timeout(beat) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => silent.clone(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let written = output.write_all(line.as_bytes());
            if written.and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("requests".to_owned())
        .spawn(write)?;
    Ok(sender)
}

fn closed() -> io::Error {
    let why = "the connection to the other host is lost; its agent undoes its changes";
    io::Error::new(io::ErrorKind::ConnectionAborted, why)
}

fn late(silence: Duration) -> io::Error {
    let why = format!(
        "the other host does not answer in time; its agent undoes its changes after {} s of silence",
        silence.as_secs()
    );
    io::Error::new(io::ErrorKind::TimedOut, why)
}

fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// The agent that is asked for.
const CHANGES: &str = "--changes";
/// How a greeting begins.
const HELLO: &str = "{\"hello\":{";
/// Beats in the time after which silence is an end.
const BEATS: u32 = 6;
const SHOWN: usize = 60;
/// The settings of a host with hundreds of interfaces.
const SETTINGS_BYTES: usize = 16 << 20;
const STEP: Duration = Duration::from_millis(100);
