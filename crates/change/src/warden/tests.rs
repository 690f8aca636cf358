// SPDX-License-Identifier: MIT OR Apache-2.0
//! The warden on a thread, with a journal in a file and a model of a host.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use super::*;
use crate::apply::apply;
use crate::entry::{Phase, Place, Undo};
use crate::journal::{Journal, Trace};
use crate::restore::restore_one;
use crate::world::World;

/// Settings that all threads see; a write may fail some times.
#[derive(Debug, Clone, Default)]
struct Model(Arc<Mutex<(BTreeMap<String, String>, u32)>>);

impl Model {
    fn of(&self, knob: &str) -> String {
        let model = self.0.lock().unwrap();
        model
            .0
            .get(knob)
            .cloned()
            .unwrap_or_else(|| "old".to_owned())
    }

    fn fails(&self, times: u32) {
        self.0.lock().unwrap().1 = times;
    }
}

impl World for Model {
    fn read(&mut self, key: &Key) -> io::Result<String> {
        Ok(self.of(&key.knob))
    }

    fn write(&mut self, key: &Key, value: &str) -> io::Result<()> {
        let mut model = self.0.lock().unwrap();
        if model.1 > 0 {
            model.1 -= 1;
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        model.0.insert(key.knob.clone(), value.to_owned());
        Ok(())
    }

    fn run(&mut self, _line: &str, _directory: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn same(&mut self, _place: &Place) -> Result<(), String> {
        Ok(())
    }
}

/// A process with a warden, both in this one.
struct Scene {
    path: PathBuf,
    journal: Journal,
    model: Model,
    orders: Option<PipeWriter>,
    replies: BufReader<PipeReader>,
    warden: Option<JoinHandle<io::Result<()>>>,
}

impl Scene {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("linerate-warden-{name}-{}", std::process::id()));
        let _old = fs::remove_dir_all(&folder);
        let path = folder.join("journal");
        let model = Model::default();
        let (input, orders) = io::pipe().unwrap();
        let (replies, output) = io::pipe().unwrap();
        let mut world = model.clone();
        let journal = |path: &Path| Journal::at(path, BOOT);
        let warden = thread::spawn(move || stand(input, output, &mut world, journal));
        let mut scene = Self {
            journal: Journal::at(&path, BOOT),
            path,
            model,
            orders: Some(orders),
            replies: BufReader::new(replies),
            warden: Some(warden),
        };
        let charge = Charge {
            owner: Owner::this(),
            journal: scene.path.clone(),
        };
        scene.does(&charge);
        scene
    }

    /// Asks for what is done.
    fn does(&mut self, order: &impl serde::Serialize) {
        assert_eq!(self.ask(order), Reply::Done);
    }

    fn ask(&mut self, order: &impl serde::Serialize) -> Reply {
        lines::write(self.orders.as_mut().unwrap(), order).unwrap();
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn change(&mut self, knob: &str, new: &str) -> u64 {
        self.change_of(Owner::this(), knob, new)
    }

    fn change_of(&mut self, owner: Owner, knob: &str, new: &str) -> u64 {
        let key = Key {
            knob: knob.to_owned(),
            place: Place::Host,
        };
        let intended = Phase::Intended {
            key: key.clone(),
            old: self.model.of(knob),
            new: new.to_owned(),
            undo: Undo::Write,
            because: "a test".to_owned(),
            owner,
        };
        let change = self.journal.begin(intended).unwrap();
        self.model.write(&key, new).unwrap();
        let effective = new.to_owned();
        self.journal
            .step(change, Phase::Applied { effective })
            .unwrap();
        change
    }

    /// The process ends.
    fn end(&mut self) {
        self.orders = None;
        self.warden.take().unwrap().join().unwrap().unwrap();
    }

    /// Waits until the warden has undone something.
    fn until(&self, knob: &str, value: &str) {
        let end = std::time::Instant::now() + Duration::from_secs(30);
        while self.model.of(knob) != value {
            assert!(
                std::time::Instant::now() < end,
                "{knob} is {}",
                self.model.of(knob)
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn open(&self) -> Vec<u64> {
        let open = self.journal.open().unwrap();
        open.iter().map(|one| one.change).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _left = self.path.parent().map(fs::remove_dir_all);
    }
}

const BOOT: &str = "this boot";
/// Longer than a busy machine takes for the steps that must come before.
const SOON: u64 = 3000;
const NEVER: u64 = 3_600_000;

#[test]
fn the_end_of_a_process_undoes_what_is_open_of_it_and_nothing_else() {
    let mut scene = Scene::new("end");
    scene.change("a", "1");
    scene.change("a", "2");
    let kept = scene.change("kept", "1");
    scene.journal.step(kept, Phase::Kept).unwrap();
    let other = Owner {
        start_ticks: 1,
        ..Owner::this()
    };
    let others = scene.change_of(other, "other's", "1");
    scene.end();
    let values = ["a", "kept", "other's"].map(|knob| scene.model.of(knob));
    assert_eq!(values, ["old", "1", "1"]);
    assert_eq!(scene.open(), [others]);
}

#[test]
fn a_change_that_is_not_confirmed_is_undone_and_the_others_are_not() {
    let mut scene = Scene::new("due");
    scene.change("before", "1");
    let change = scene.change("a", "1");
    scene.change("a", "2");
    scene.change("after", "1");
    scene.does(&Order::Arm {
        arm: 1,
        within_ms: SOON,
    });
    scene.does(&Order::Bind { arm: 1, change });
    scene.until("a", "old");
    assert_eq!(scene.model.of("before"), "1");
    assert_eq!(scene.model.of("after"), "1");
    assert_eq!(scene.ask(&Order::Confirm { arm: 1 }), Reply::RolledBack);
    scene.end();
    assert_eq!(scene.open(), [0; 0]);
}

/// The process may hang in the write: then the warden never learns the number.
#[test]
fn a_change_of_unknown_number_is_undone_too() {
    let mut scene = Scene::new("unknown");
    scene.change("before", "1");
    scene.does(&Order::Arm {
        arm: 1,
        within_ms: SOON,
    });
    scene.change("a", "1");
    scene.until("a", "old");
    assert_eq!(scene.model.of("before"), "1");
}

#[test]
fn a_confirmed_change_stays_until_the_end() {
    let mut scene = Scene::new("confirmed");
    scene.does(&Order::Arm {
        arm: 1,
        within_ms: NEVER,
    });
    let change = scene.change("a", "1");
    scene.does(&Order::Bind { arm: 1, change });
    scene.does(&Order::Confirm { arm: 1 });
    // One whose time is over, to see that the warden looked.
    scene.does(&Order::Arm {
        arm: 2,
        within_ms: SOON,
    });
    let change = scene.change("b", "1");
    scene.does(&Order::Bind { arm: 2, change });
    scene.until("b", "old");
    assert_eq!(scene.model.of("a"), "1");
    scene.end();
    assert_eq!(scene.model.of("a"), "old");
}

#[test]
fn what_could_not_be_undone_is_tried_again() {
    let mut scene = Scene::new("again");
    scene.change("a", "1");
    scene.model.fails(1);
    scene.end();
    assert_eq!(scene.model.of("a"), "old");
    assert_eq!(scene.open(), [0; 0]);
}

/// It was stopped while it wrote a line, and keeps the lock of the journal.
#[test]
fn a_process_that_hangs_with_the_journal_locked_is_undone_as_well() {
    let mut scene = Scene::new("locked");
    let change = scene.change("a", "1");
    let order = Order::Arm {
        arm: 1,
        within_ms: SOON,
    };
    scene.does(&order);
    scene.does(&Order::Bind { arm: 1, change });
    let locked = fs::File::options()
        .read(true)
        .write(true)
        .open(&scene.path)
        .unwrap();
    locked.lock().unwrap();
    scene.until("a", "old");
    drop(locked);
    scene.end();
    assert_eq!(scene.open(), [0; 0]);
}

/// The arm ran out while the process hung between its journal and its write: the warden found nothing to undo.
#[test]
fn a_change_that_is_made_after_its_time_is_written_back() {
    let mut scene = Scene::new("hung");
    let journal = Journal::at(&scene.path, BOOT);
    let local = Slow {
        journal,
        model: scene.model.clone(),
    };
    let mut helper = Command::new("/bin/sh");
    // A warden whose time is over at once.
    let replies = r#"read charge; echo '"done"'; read arm; echo '"done"'; read bind; echo '"rolled-back"'; cat"#;
    helper.args(["-c", replies]);
    let mut hand = Warded::begin(local, &scene.path, helper).unwrap();
    let change = Change {
        key: Key {
            knob: "a".to_owned(),
            place: Place::Host,
        },
        new: "1".to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    let late = hand
        .apply_within(change, Duration::from_secs(1))
        .unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut, "{late}");
    assert_eq!(scene.model.of("a"), "old");
    assert_eq!(scene.open(), [0; 0]);
    drop(hand);
    scene.end();
    assert_eq!(scene.model.of("a"), "old");
}

/// A host on which another process closes each change before it is written.
struct Slow {
    journal: Journal,
    model: Model,
}

impl Hand for Slow {
    fn key(&mut self, knob: &str, _interface: Option<&str>) -> io::Result<Key> {
        let knob = knob.to_owned();
        let place = Place::Host;
        Ok(Key { knob, place })
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        self.model.read(key)
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        let made = apply(&mut self.journal, &mut self.model, change);
        let made = made.map_err(io::Error::other)?;
        if let Outcome::Applied { change, .. } = &made {
            self.journal
                .step(*change, Phase::Restored)
                .map_err(io::Error::other)?;
        }
        Ok(made)
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        restore_one(&mut self.journal, &mut self.model, change).map_err(io::Error::other)
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.journal
            .step(change, Phase::Kept)
            .map_err(io::Error::other)
    }
}

/// What is not an order cannot be confirmed by one either.
#[test]
fn a_line_that_is_not_an_order_is_an_end() {
    let mut scene = Scene::new("garbage");
    scene.change("a", "1");
    lines::write(scene.orders.as_mut().unwrap(), &"nonsense").unwrap();
    scene.until("a", "old");
}

#[test]
fn without_a_helper_there_is_no_warden() {
    let mut helper = Command::new("/bin/sh");
    helper.args(["-c", "exit 7"]);
    let why = Warden::begin(Path::new("/nowhere"), helper).unwrap_err();
    let why = why.to_string();
    assert!(
        why.contains("ended") || why.contains("Broken pipe"),
        "{why}"
    );
}
