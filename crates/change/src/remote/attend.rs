// SPDX-License-Identifier: MIT OR Apache-2.0
//! The far end: answers requests, and undoes what is open when nobody steers it any more.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linerate_model::setting::Setting;
use linerate_wire::json;
use serde::Serialize;

use super::message::{Answer, Answered, Ask, Asked, GUARDS, Greeting, Hello, MOST};
use super::settings::parts;
use crate::apply::Outcome;
use crate::entry::{Change, Undo};
use crate::lines::{Line, lines, text};
use crate::provisional::Provisional;
use crate::restore::End;

/// What the agent knows of its host.
pub struct Seat<'a> {
    /// Who it is; what the agent can do is filled in.
    pub hello: Hello,
    /// All settings that can be read.
    pub settings: &'a dyn Fn() -> Vec<Setting>,
    /// Why an interface carries this connection; nothing if it does not.
    pub management: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a signal asked the process to end.
    pub stop: &'a dyn Fn() -> bool,
}

/// How it ended.
#[derive(Debug)]
pub struct Ending {
    /// Why.
    pub why: &'static str,
    /// What was open, the last one first, and how it ended.
    pub undone: Vec<(u64, io::Result<End>)>,
}

impl Ending {
    /// Whether a change is still in force.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let is_closed = |end: &io::Result<End>| end.as_ref().is_ok_and(End::is_closed);
        !self.undone.iter().all(|(_, end)| is_closed(end))
    }
}

/// Answers the requests of `input` until it ends; then undoes what is open of it.
///
/// # Errors
/// Those of starting threads.
pub fn attend(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    hand: &mut impl Provisional,
    seat: &Seat<'_>,
) -> io::Result<Ending> {
    let asked = lines(input, "requests")?;
    let mut agent = Agent {
        hand,
        seat,
        answers: written(output)?,
        silence: SILENCE,
        open: Vec::new(),
        made: BTreeSet::new(),
        looked: Instant::now(),
        alarm: None,
    };
    let hello = Hello {
        capabilities: [GUARDS, MOST].map(str::to_owned).to_vec(),
        ..seat.hello.clone()
    };
    let why = match agent.send(&Greeting { hello }) {
        true => agent.answer_all(&asked),
        false => GONE,
    };
    Ok(Ending {
        why,
        undone: agent.undo_all(),
    })
}

/// Writes lines on a thread: one that does not read cannot keep the agent from undoing anything.
fn written(mut output: impl Write + Send + 'static) -> io::Result<SyncSender<String>> {
    let (sender, lines) = sync_channel::<String>(ANSWERS);
    let write = move || {
        for line in lines {
            let written = output.write_all(line.as_bytes());
            if written.and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("answers".to_owned())
        .spawn(write)?;
    Ok(sender)
}

struct Agent<'a, H> {
    hand: &'a mut H,
    seat: &'a Seat<'a>,
    answers: SyncSender<String>,
    silence: Duration,
    /// Changes that are neither undone nor kept, the oldest first.
    open: Vec<u64>,
    /// All changes of this connection.
    made: BTreeSet<u64>,
    /// When the host was looked at last.
    looked: Instant,
    /// Why all was undone, until the other end has asked for it.
    alarm: Option<String>,
}

impl<H: Provisional> Agent<'_, H> {
    /// Why it ended.
    fn answer_all(&mut self, asked: &Receiver<Line>) -> &'static str {
        let mut heard = Instant::now();
        loop {
            if (self.seat.stop)() {
                return "a signal";
            }
            self.look();
            match asked.recv_timeout(STEP) {
                Ok(Ok(line)) => {
                    let Ok(asked) = json::text::<Asked>(&line) else {
                        return "a line that is not a request";
                    };
                    if !self.answer(asked) {
                        return GONE;
                    }
                    // After the answer, which may have taken long.
                    heard = Instant::now();
                }
                Ok(Err(_)) => return "a line that is too long",
                Err(RecvTimeoutError::Disconnected) => return "the end of its input",
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > self.silence => {
                    return "silence";
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Whether the answers could be sent.
    fn answer(&mut self, Asked { id, ask }: Asked) -> bool {
        let answer = match ask {
            Ask::Beat => return true,
            Ask::Settings => return self.send_settings(id),
            ask => self.answered(ask),
        };
        let answer = answer.unwrap_or_else(|why| Answer::Failed(why.into()));
        self.send_answer(id, answer)
    }

    fn answered(&mut self, ask: Ask) -> io::Result<Answer> {
        Ok(match ask {
            Ask::Begin { silence_ms } => {
                self.silence = Duration::from_millis(silence_ms).clamp(STEP, LONGEST_SILENCE);
                Answer::Done
            }
            Ask::Key { knob, interface } => {
                Answer::Key(self.hand.key(&knob, interface.as_deref())?)
            }
            Ask::Read { key } => Answer::Value(self.hand.read(&key)?),
            Ask::Most { key } => Answer::Most(self.hand.most(&key)?),
            Ask::Apply {
                change,
                confirm_within_ms,
            } => self.apply(change, confirm_within_ms.map(Duration::from_millis))?,
            Ask::Confirm { change } => {
                self.is_own(change)?;
                self.hand.confirm(change)?;
                Answer::Done
            }
            Ask::Undo { change } => self.undo(change)?,
            Ask::Keep { change } => {
                self.is_own(change)?;
                self.is_open(change)?;
                self.hand.keep(change)?;
                self.open.retain(|one| *one != change);
                Answer::Done
            }
            Ask::Management { interface } => Answer::Management((self.seat.management)(&interface)),
            Ask::Watch { interfaces } => {
                self.hand.watch(&interfaces)?;
                Answer::Done
            }
            Ask::Alarm => Answer::Alarm(self.alarm.take()),
            Ask::Beat | Ask::Settings => Answer::Done,
        })
    }

    fn apply(&mut self, change: Change, within: Option<Duration>) -> io::Result<Answer> {
        self.refuse(&change, within)?;
        if self.open.is_empty() {
            // An alarm that nobody asked for was about earlier changes.
            self.alarm = None;
        }
        let outcome = match within {
            Some(within) => self.hand.apply_within(change, within)?,
            None => self.hand.apply(change)?,
        };
        if let Outcome::Applied { change, .. } | Outcome::Half { change, .. } = outcome {
            self.open.push(change);
            self.made.insert(change);
        }
        Ok(Answer::of_outcome(outcome))
    }

    /// What this end does not do, whatever the other one wants.
    fn refuse(&self, change: &Change, within: Option<Duration>) -> io::Result<()> {
        let refused = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        if matches!(change.undo, Undo::Command { .. }) {
            return refused("the agent runs no command of another host".to_owned());
        }
        if !change.key.is_volatile() {
            return refused("the agent writes no file for another host".to_owned());
        }
        let Some(device) = change.key.place.device() else {
            return Ok(());
        };
        match (self.seat.management)(&device.name) {
            Some(why) if within.is_none() => refused(format!(
                "{} carries this connection ({why}): its changes need a deadline",
                device.name
            )),
            _ => Ok(()),
        }
    }

    /// Other programs have changes in the same journal.
    fn is_own(&self, change: u64) -> io::Result<()> {
        match self.made.contains(&change) {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("change {change} was not made through this connection"),
            )),
        }
    }

    /// What an alarm has undone is not kept.
    fn is_open(&self, change: u64) -> io::Result<()> {
        match self.open.contains(&change) {
            true => Ok(()),
            false => Err(io::Error::other(format!("change {change} is undone"))),
        }
    }

    /// While something is open: what harms the host undoes all of it at once, whether or not the other end is there.
    fn look(&mut self) {
        if self.open.is_empty() || self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let Some(why) = self.hand.alarm().ok().flatten() else {
            return;
        };
        let ends = self.undo_all().into_iter();
        // What could not be undone is tried again at the end.
        let open = ends.filter(|(_, end)| !end.as_ref().is_ok_and(End::is_closed));
        self.open = open.map(|(change, _)| change).rev().collect();
        self.alarm = Some(why);
    }

    fn undo(&mut self, change: u64) -> io::Result<Answer> {
        self.is_own(change)?;
        let end = self.hand.undo(change)?;
        if end.is_closed() {
            self.open.retain(|one| *one != change);
        }
        Ok(Answer::of_end(end))
    }

    fn undo_all(&mut self) -> Vec<(u64, io::Result<End>)> {
        let all = std::mem::take(&mut self.open);
        let undone = all.into_iter().rev();
        undone
            .map(|change| (change, self.hand.undo(change)))
            .collect()
    }

    fn send_settings(&mut self, id: u64) -> bool {
        let all = (self.seat.settings)().into_iter().flat_map(parts);
        let mut all = all.map(Answer::Setting).chain([Answer::Done]);
        all.all(|answer| self.send_answer(id, answer))
    }

    fn send_answer(&self, id: u64, answer: Answer) -> bool {
        let answered = Answered { id, answer };
        match text(&answered) {
            Ok(line) => self.send_line(line),
            Err(why) => self.send(&Answered {
                id,
                answer: Answer::Failed(why.into()),
            }),
        }
    }

    fn send(&self, value: &impl Serialize) -> bool {
        text(value).is_ok_and(|line| self.send_line(line))
    }

    /// False if the other end does not read, or has ended.
    fn send_line(&self, mut line: String) -> bool {
        let end = Instant::now() + SEND_WITHIN;
        loop {
            match self.answers.try_send(line) {
                Ok(()) => return true,
                Err(TrySendError::Full(back)) if Instant::now() < end => line = back,
                Err(_) => return false,
            }
            thread::sleep(STEP / 10);
        }
    }
}

const GONE: &str = "the end of its output";
/// Before the other end has said how long it may be silent.
const SILENCE: Duration = Duration::from_secs(60);
const LONGEST_SILENCE: Duration = Duration::from_secs(3600);
/// How soon a signal is seen.
const STEP: Duration = Duration::from_millis(100);
/// How often the host is looked at while a change is open.
const LOOK: Duration = Duration::from_secs(1);
/// Lines that may wait for the other end to read them.
const ANSWERS: usize = 64;
/// How long a slow connection may take to accept one more.
const SEND_WITHIN: Duration = Duration::from_secs(10);
