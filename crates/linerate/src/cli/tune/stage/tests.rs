// SPDX-License-Identifier: MIT OR Apache-2.0
//! Candidates that overlap, fail half-way and are changed by others, on a host in memory.

use std::sync::{Arc, Mutex};

use linerate_change::{Place, Wanted};
use linerate_model::output::Finding;

use super::*;

type Settings = Arc<Mutex<BTreeMap<String, String>>>;

/// A host in memory: each change in `begun` is undone to what was before.
struct Made {
    settings: Settings,
    begun: Vec<(String, String)>,
    /// The value of `b` that is harmful.
    harmful: &'static str,
}

impl Hand for Made {
    fn key(&mut self, knob: &str, _interface: Option<&str>) -> io::Result<Key> {
        Ok(Key {
            knob: knob.to_owned(),
            place: Place::Host,
        })
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        let settings = self.settings.lock().unwrap();
        let value = settings.get(&key.knob).cloned();
        value.ok_or_else(|| io::Error::other("no such setting"))
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        let old = match self.read(&change.key) {
            Ok(old) if old == change.new => return Ok(Outcome::InForce),
            Ok(old) => old,
            Err(why) => return Ok(Outcome::Unreadable(why)),
        };
        if change.new == "refused" {
            return Ok(Outcome::Refused(io::Error::other("no")));
        }
        let mut settings = self.settings.lock().unwrap();
        settings.insert(change.key.knob.clone(), change.new.clone());
        self.begun.push((change.key.knob, old.clone()));
        Ok(Outcome::Applied {
            change: self.begun.len() as u64 - 1,
            old,
            effective: change.new,
        })
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        let (knob, old) = &self.begun[change as usize];
        let mut settings = self.settings.lock().unwrap();
        let now = settings.insert(knob.clone(), old.clone());
        match now.as_deref() {
            Some("foreign") => Ok(End::Foreign {
                value: "foreign".to_owned(),
            }),
            _ => Ok(End::Undone),
        }
    }

    fn keep(&mut self, _change: u64) -> io::Result<()> {
        Ok(())
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        let settings = self.settings.lock().unwrap();
        match settings.get("b").map(String::as_str) {
            Some("lost") => Err(io::Error::other("the connection is lost")),
            Some(value) if value == self.harmful => Ok(Some("the kernel reported x".to_owned())),
            _ => Ok(None),
        }
    }
}

fn proposal(sets: &[(&str, &str)]) -> Proposal {
    let wanted = sets.iter().map(|(knob, value)| Wanted {
        knob: (*knob).to_owned(),
        interface: None,
        value: (*value).to_owned(),
    });
    Proposal {
        host: Role::Local,
        finding: Finding::default(),
        line: String::new(),
        wanted: wanted.collect(),
        risk: "live".to_owned(),
    }
}

fn stage(candidates: Vec<Proposal>) -> (Settings, Stage<'static>) {
    let settings = ["a", "b"].map(|knob| (knob.to_owned(), "0".to_owned()));
    let settings: Settings = Arc::new(Mutex::new(settings.into()));
    let made = Made {
        settings: Arc::clone(&settings),
        begun: Vec::new(),
        harmful: "9",
    };
    let mut hands: Hands<'static> = BTreeMap::new();
    hands.insert(Role::Local, Box::new(made));
    (settings, Stage::new(hands, candidates))
}

fn values(settings: &Settings) -> String {
    let settings = settings.lock().unwrap();
    settings.values().cloned().collect::<Vec<_>>().join(" ")
}

#[test]
fn candidates_of_one_setting_are_undone_in_the_reverse_order() {
    let (settings, mut stage) = stage(vec![
        proposal(&[("a", "1")]),
        proposal(&[("a", "2"), ("b", "2")]),
        proposal(&[("b", "3")]),
    ]);
    for (set, expected) in [
        (&[0][..], "1 0"),
        (&[0, 1], "2 2"),
        (&[2, 1, 0], "2 3"),
        (&[0, 2], "1 3"),
        (&[1], "2 2"),
        (&[], "0 0"),
    ] {
        stage.bring(set).unwrap();
        assert_eq!(values(&settings), expected, "{set:?}");
        assert_eq!(stage.settings(1).is_some(), set.contains(&1));
    }
}

#[test]
fn a_candidate_is_in_force_as_a_whole_or_not_at_all() {
    let (settings, mut stage) = stage(vec![
        proposal(&[("a", "1"), ("b", "refused")]),
        proposal(&[("a", "0")]),
        proposal(&[("c", "1")]),
        proposal(&[("a", "0"), ("b", "1")]),
    ]);
    for (candidate, why) in [
        (0, "refused"),
        (1, "in force already"),
        (2, "no such setting"),
    ] {
        match stage.bring(&[candidate]) {
            Err(Trouble::Impossible(text)) => assert!(text.contains(why), "{text}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(values(&settings), "0 0");
    }
    stage.bring(&[3]).unwrap();
    assert_eq!(values(&settings), "0 1");
    assert_eq!(stage.settings(3).unwrap().len(), 1, "only what changed");
}

#[test]
fn what_another_program_set_ends_the_campaign() {
    let (settings, mut stage) = stage(vec![proposal(&[("a", "1")])]);
    stage.bring(&[0]).unwrap();
    let foreign = "foreign".to_owned();
    settings.lock().unwrap().insert("a".to_owned(), foreign);
    match stage.bring(&[]) {
        Err(Trouble::Lost(why)) => assert!(why.contains("foreign"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.left().len(), 1);
}

#[test]
fn what_harms_the_host_is_undone_at_once_with_all_that_is_in_force() {
    let (settings, mut stage) = stage(vec![
        proposal(&[("a", "1")]),
        proposal(&[("b", "9")]),
        proposal(&[("b", "lost")]),
    ]);
    stage.looked -= LOOK;
    assert_eq!(stage.alarm(), None, "nothing is in force");
    stage.bring(&[0, 1]).unwrap();
    stage.looked = Instant::now();
    assert_eq!(stage.alarm(), None, "once per second");
    stage.looked -= LOOK;
    assert_eq!(stage.alarm().as_deref(), Some("the kernel reported x"));
    assert_eq!(values(&settings), "0 0");
    assert!(stage.harmed_by(0) && stage.harmed_by(1) && !stage.harmed_by(2));
    let expected = RolledBack {
        candidates: vec![0, 1],
        why: "the kernel reported x".to_owned(),
    };
    assert_eq!(stage.rolled_back(), Some(expected));
    // It is seen at the latest before it is undone.
    stage.bring(&[0]).unwrap();
    stage.bring(&[0, 2]).unwrap();
    match stage.bring(&[0]) {
        Err(Trouble::Harmful(why)) => assert_eq!(why, "the connection is lost"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        (values(&settings).as_str(), stage.is_rolled_back()),
        ("0 0", true)
    );
}

/// A far host that no longer answers keeps nothing here in force.
#[test]
fn what_was_changed_here_is_undone_although_the_other_host_is_lost() {
    struct Lost(Made, u32);

    impl Hand for Lost {
        fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
            self.0.key(knob, interface)
        }

        fn read(&mut self, key: &Key) -> io::Result<String> {
            self.0.read(key)
        }

        fn apply(&mut self, change: Change) -> io::Result<Outcome> {
            self.0.apply(change)
        }

        fn undo(&mut self, _change: u64) -> io::Result<End> {
            self.1 += 1;
            assert_eq!(self.1, 1, "nothing waits for it once more");
            Err(io::Error::other("the connection is lost"))
        }

        fn keep(&mut self, _change: u64) -> io::Result<()> {
            Ok(())
        }
    }
    let far = |knob| Proposal {
        host: Role::Remote,
        ..proposal(&[(knob, "1")])
    };
    let here = proposal(&[("a", "1")]);
    let (settings, mut stage) = stage(vec![here, far("a"), far("b")]);
    let there = ["a", "b"].map(|knob| (knob.to_owned(), "0".to_owned()));
    let made = Made {
        settings: Arc::new(Mutex::new(there.into())),
        begun: Vec::new(),
        harmful: "9",
    };
    stage.hands.insert(Role::Remote, Box::new(Lost(made, 0)));
    stage.bring(&[0, 1, 2]).unwrap();
    assert_eq!(values(&settings), "1 0");
    match stage.bring(&[]) {
        Err(Trouble::Lost(why)) => assert_eq!(why, "b: the connection is lost"),
        other => panic!("{other:?}"),
    }
    assert_eq!(values(&settings), "0 0");
    assert_eq!(stage.left(), ["b: the connection is lost"]);
    assert!(stage.pile.is_empty());
}
