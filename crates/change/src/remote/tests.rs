// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both ends over pipes, a model of a host, and far ends that are none.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_model::setting::Setting;

use super::message::{Answer, Answered, Asked, GUARDS, Refusal};
use super::*;
use crate::apply::Outcome;
use crate::entry::{Change, Device, Key, Place, Undo};
use crate::hand::Hand;
use crate::lines;
use crate::provisional::{Provisional, rolled_back};
use crate::restore::End;

mod capabilities;

/// A host: its settings, and what was done to it.
#[derive(Debug, Clone, Default)]
struct Model(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    settings: BTreeMap<String, String>,
    old: BTreeMap<u64, (String, String)>,
    said: Vec<String>,
}

impl Model {
    fn value(&self, knob: &str) -> String {
        let state = self.0.lock().unwrap();
        state
            .settings
            .get(knob)
            .cloned()
            .unwrap_or_else(|| "old".to_owned())
    }

    fn said(&self) -> Vec<String> {
        self.0.lock().unwrap().said.clone()
    }

    fn say(&self, what: String) {
        self.0.lock().unwrap().said.push(what);
    }
}

impl Hand for Model {
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
        let place = match interface {
            None => Place::Host,
            Some("none") => return Err(io::ErrorKind::NotFound.into()),
            Some(name) => Place::Interface {
                netns: 1,
                device: Device {
                    name: name.to_owned(),
                    index: 2,
                    permanent_address: None,
                    bus: None,
                },
            },
        };
        let knob = knob.to_owned();
        Ok(Key { knob, place })
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        Ok(self.value(&key.knob))
    }

    fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
        match key.knob.as_str() {
            "unreadable" => Err(io::ErrorKind::PermissionDenied.into()),
            knob => Ok((knob == "ring").then(|| "4096 512".to_owned())),
        }
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        let knob = change.key.knob;
        let old = self.value(&knob);
        match knob.as_str() {
            "refused" => return Ok(Outcome::Refused(io::ErrorKind::PermissionDenied.into())),
            "disk" => return Err(io::Error::other("cannot write the journal x: full")),
            _ => {}
        }
        let mut state = self.0.lock().unwrap();
        let number = state.old.len() as u64 + 1;
        state.old.insert(number, (knob.clone(), old.clone()));
        state.settings.insert(knob, change.new.clone());
        Ok(Outcome::Applied {
            change: number,
            old,
            effective: change.new,
        })
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        self.say(format!("undo {change}"));
        let mut state = self.0.lock().unwrap();
        let (knob, old) = state.old[&change].clone();
        let now = state.settings.insert(knob, old);
        Ok(match now.as_deref() {
            Some("old") => End::WasUndone,
            _ => End::Undone,
        })
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.say(format!("keep {change}"));
        Ok(())
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        self.say(format!("watch {}", interfaces.join(" ")));
        Ok(())
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        let harmful = self.value("harmful") == "new";
        Ok(harmful.then(|| "the kernel reported \u{1b}x".to_owned()))
    }
}

impl Provisional for Model {
    fn apply_within(&mut self, change: Change, within: Duration) -> io::Result<Outcome> {
        self.say(format!("within {} s", within.as_secs()));
        self.apply(change)
    }

    fn confirm(&mut self, change: u64) -> io::Result<()> {
        self.say(format!("confirm {change}"));
        match self.value("late") == "new" {
            true => Err(rolled_back(change)),
            false => Ok(()),
        }
    }
}

/// An agent on a thread.
struct Agent {
    model: Model,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Ending>,
}

impl Agent {
    fn start() -> (Self, PipeReader, PipeWriter) {
        let (model, stop) = (Model::default(), Arc::new(AtomicBool::new(false)));
        let (input, requests) = io::pipe().unwrap();
        let (answers, output) = io::pipe().unwrap();
        let (mut hand, flag) = (model.clone(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let seat = Seat {
                hello: hello(),
                settings: &|| vec![long_setting()],
                management: &|name| (name == "eth0").then(|| "a test".to_owned()),
                stop: &|| flag.load(Ordering::Relaxed),
            };
            attend(input, output, &mut hand, &seat).unwrap()
        });
        let agent = Self {
            model,
            stop,
            thread,
        };
        (agent, answers, requests)
    }

    fn far() -> (Self, Far) {
        let (agent, answers, requests) = Self::start();
        let far = Far::over(answers, requests, Terms::default()).unwrap();
        (agent, far)
    }

    fn ended(self) -> (Ending, Model) {
        (self.thread.join().unwrap(), self.model)
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: "1.2.3".to_owned(),
        hostname: "router".to_owned(),
        uid: 1000,
        capabilities: vec![GUARDS.to_owned()],
        ..Hello::default()
    }
}

fn long_setting() -> Setting {
    Setting {
        source: "sysctl".to_owned(),
        values: (0..3000)
            .map(|number| (format!("net.name.{number}"), "x".repeat(100)))
            .collect(),
        ..Setting::default()
    }
}

fn wanted(far: &mut impl Hand, knob: &str, interface: Option<&str>) -> Change {
    Change {
        key: far.key(knob, interface).unwrap(),
        new: "new".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    }
}

fn made(far: &mut impl Hand, knob: &str) -> u64 {
    let change = wanted(far, knob, None);
    match far.apply(change) {
        Ok(Outcome::Applied { change, .. }) => change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_far_host_is_changed_as_this_one() {
    let (agent, mut far) = Agent::far();
    assert_eq!(
        (far.hello().hostname.as_str(), far.hello().uid),
        ("router", 1000)
    );
    let change = wanted(&mut far, "a", None);
    let key = change.key.clone();
    assert_eq!(far.read(&key).unwrap(), "old");
    let outcome = far.apply_within(change, Duration::from_secs(7)).unwrap();
    assert!(
        matches!(&outcome, Outcome::Applied { change: 1, old, effective } if old == "old" && effective == "new"),
        "{outcome:?}"
    );
    far.confirm(1).unwrap();
    assert_eq!(agent.model.value("a"), "new");
    assert!(matches!(far.undo(1).unwrap(), End::Undone));
    assert!(matches!(far.undo(1).unwrap(), End::WasUndone));
    let second = made(&mut far, "b");
    far.keep(second).unwrap();
    assert_eq!(far.settings().unwrap(), [long_setting()]);
    assert_eq!(far.management("eth0").unwrap().as_deref(), Some("a test"));
    assert_eq!(far.management("eth1").unwrap(), None);
    drop(far);
    let (ending, model) = agent.ended();
    assert_eq!(ending.why, "the end of its input");
    assert!(ending.undone.is_empty() && !ending.is_open());
    assert_eq!(model.value("b"), "new", "kept");
    assert_eq!(model.said()[..2], ["within 7 s", "confirm 1"]);
}

#[test]
fn errors_keep_their_kind_and_have_a_reason() {
    let (agent, mut far) = Agent::far();
    let missing = far.key("a", Some("none")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    let change = wanted(&mut far, "refused", None);
    let refused = far.apply(change).unwrap();
    let Outcome::Refused(why) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(why.kind(), io::ErrorKind::PermissionDenied);
    assert!(why.to_string().contains("not root (uid 1000)"), "{why}");
    let change = wanted(&mut far, "disk", None);
    let why = far.apply(change).unwrap_err().to_string();
    assert_eq!(why, "cannot write the journal x: full");
    let late = made(&mut far, "late");
    let why = far.confirm(late).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::TimedOut);
    let why = far.undo(99).unwrap_err().to_string();
    assert!(why.contains("not made through this connection"), "{why}");
    drop(far);
    agent.ended();
}

#[test]
fn an_agent_runs_no_command_and_cuts_no_way_without_a_deadline() {
    let (agent, mut far) = Agent::far();
    let mut change = wanted(&mut far, "a", None);
    change.undo = Undo::Command {
        line: "touch x".to_owned(),
        directory: None,
    };
    let why = far.apply(change).unwrap_err();
    assert!(why.to_string().contains("runs no command"), "{why}");
    let change = wanted(&mut far, "a", Some("eth0"));
    let why = far.apply(change.clone()).unwrap_err();
    assert!(why.to_string().contains("need a deadline"), "{why}");
    assert_eq!(agent.model.value("a"), "old");
    let made = far.apply_within(change, Duration::from_secs(60)).unwrap();
    assert!(matches!(made, Outcome::Applied { .. }));
    let change = wanted(&mut far, "a", Some("eth1"));
    assert!(matches!(
        far.apply(change).unwrap(),
        Outcome::Applied { .. }
    ));
    drop(far);
    agent.ended();
}

/// However it ends, the last change is undone first, and what was kept stays.
#[test]
fn an_agent_that_nobody_steers_undoes_what_is_open() {
    type End = fn(&Agent, &mut PipeWriter);
    let ends: [(&str, End); 4] = [
        ("a signal", |agent, _| {
            while agent.model.said().is_empty() {
                thread::yield_now();
            }
            agent.stop.store(true, Ordering::Relaxed);
        }),
        ("silence", |_, _| {}),
        ("a line that is not a request", |_, requests| {
            requests.write_all(b"\x00{}\n").unwrap();
        }),
        ("a line that is too long", |_, requests| {
            requests.write_all(&vec![b'x'; lines::LINE_BYTES]).unwrap();
        }),
    ];
    for (why, end) in ends {
        let (agent, _answers, mut requests) = Agent::start();
        let mut model = agent.model.clone();
        let silence_ms = if why == "silence" { 1 } else { 3_600_000 };
        for (id, ask) in [
            Ask::Begin {
                silence_ms: 3_600_000,
            },
            apply(&mut model, "a"),
            apply(&mut model, "a"),
            apply(&mut model, "kept"),
            Ask::Keep { change: 3 },
            Ask::Begin { silence_ms },
        ]
        .into_iter()
        .enumerate()
        {
            let id = id as u64;
            lines::write(&mut requests, &Asked { id, ask }).unwrap();
        }
        end(&agent, &mut requests);
        let (ending, model) = agent.ended();
        assert_eq!(ending.why, why);
        assert!(!ending.is_open());
        assert_eq!(model.said(), ["keep 3", "undo 2", "undo 1"], "{why}");
        assert_eq!(model.value("kept"), "new");
        assert_eq!(model.value("a"), "old", "{why}");
    }
}

fn apply(model: &mut Model, knob: &str) -> Ask {
    Ask::Apply {
        change: wanted(model, knob, None),
        confirm_within_ms: None,
    }
}

#[test]
fn an_agent_whose_output_has_ended_undoes_what_is_open() {
    let (agent, answers, mut requests) = Agent::start();
    let mut model = agent.model.clone();
    let ask = apply(&mut model, "a");
    lines::write(&mut requests, &Asked { id: 1, ask }).unwrap();
    drop(answers);
    // It writes one answer, then sees that nobody reads.
    for id in 2.. {
        let ask = Ask::Read {
            key: model.key("a", None).unwrap(),
        };
        if lines::write(&mut requests, &Asked { id, ask }).is_err() {
            break;
        }
    }
    let (ending, model) = agent.ended();
    assert_eq!(ending.why, "the end of its output");
    assert_eq!(model.value("a"), "old");
}

/// A far end that sends these bytes, and then reads until it is left.
fn hostile(says: &[u8], terms: Terms) -> io::Result<Far> {
    let (mut input, requests) = io::pipe().unwrap();
    let (answers, mut output) = io::pipe().unwrap();
    let says = says.to_vec();
    thread::spawn(move || {
        // The other end may have left because of it.
        let _ = output.write_all(&says);
        let _ = io::copy(&mut input, &mut io::sink());
    });
    Far::over(answers, requests, terms)
}

fn line(value: &impl serde::Serialize) -> Vec<u8> {
    lines::text(value).unwrap().into_bytes()
}

fn greeted(hello: Hello) -> Vec<u8> {
    line(&Greeting { hello })
}

fn answered(id: u64, answer: Answer) -> Vec<u8> {
    line(&Answered { id, answer })
}

const SHORT: Terms = Terms {
    hello: Duration::from_millis(200),
    answer: Duration::from_millis(200),
    silence: Duration::from_secs(60),
};

#[test]
fn what_is_not_an_agent_is_an_error_and_never_a_wait() {
    let begun = answered(1, Answer::Done);
    let other = Hello {
        protocol: 9,
        ..hello()
    };
    let evil = Answer::Failed(Refusal {
        kind: String::new(),
        why: "\u{1b}[2Jno".to_owned(),
    });
    for (says, why) in [
        (
            b"Last login: never\n".to_vec(),
            "unexpected answer: \"Last login: never\"",
        ),
        (Vec::new(), "no answer in time"),
        (vec![b'x'; 200_000], "more than 64 KiB"),
        (
            b"banner\n".repeat(20_000),
            "unexpected answer: \"banner banner",
        ),
        (
            greeted(other),
            "version 9 of the protocol, this one version 1",
        ),
        (greeted(hello()), "does not answer in time"),
        (
            [greeted(hello()), b"what?\n".to_vec()].concat(),
            "unexpected answer: \"what?\"",
        ),
        ([greeted(hello()), vec![b'x'; 200_000]].concat(), "too long"),
        (
            [greeted(hello()), answered(1, Answer::InForce)].concat(),
            "unexpected answer",
        ),
        ([greeted(hello()), answered(1, evil)].concat(), "[2Jno"),
    ] {
        let error = hostile(&says, SHORT).unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains('\u{1b}'), "{error}");
    }
    let whole = [
        b"motd\n$ ".to_vec(),
        greeted(hello()),
        answered(7, Answer::InForce),
        begun,
    ];
    let far = hostile(&whole.concat(), Terms::default()).unwrap();
    assert_eq!(far.hello().version, "1.2.3");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let setting = Setting {
        values: [("a".to_owned(), "x".repeat(60_000))].into(),
        ..Setting::default()
    };
    let begin = [greeted(hello()), answered(1, Answer::Done)].concat();
    let endless = answered(2, Answer::Setting(setting)).repeat(300);
    let mut far = hostile(&[begin, endless].concat(), Terms::default()).unwrap();
    let why = far.settings().unwrap_err().to_string();
    assert_eq!(why, "its answer is too long");
}

#[test]
fn a_connection_that_ends_says_so_in_each_request() {
    let (agent, mut far) = Agent::far();
    agent.stop.store(true, Ordering::Relaxed);
    agent.ended();
    for _ in 0..2 {
        let why = far.key("a", None).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::ConnectionAborted, "{why}");
    }
}
