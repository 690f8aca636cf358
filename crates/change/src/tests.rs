// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that dies at every step of its changes, and at every step of undoing them.

use std::collections::BTreeMap;
use std::io;

use proptest::prelude::*;

use super::*;

const BOOT: &str = "this boot";

/// Ends the process at a step: of the journal and of the world, counted together.
#[derive(Debug, Default)]
struct Fate {
    steps: usize,
    dies_at: Option<usize>,
}

impl Fate {
    fn lives(&mut self) -> bool {
        self.steps += 1;
        self.dies_at.is_none_or(|at| self.steps <= at)
    }
}

fn death() -> io::Error {
    io::Error::other("died")
}

/// A disk and a machine.
#[derive(Debug, Default)]
struct Machine {
    bytes: Vec<u8>,
    settings: BTreeMap<String, String>,
    fate: Fate,
    /// Of the line that was being written, this part arrived.
    torn: usize,
}

/// Journal and settings are one machine, and each wants to be borrowed alone.
struct Both(std::rc::Rc<std::cell::RefCell<Machine>>);

impl Both {
    fn entry(change: u64, phase: Phase) -> Entry {
        Entry {
            change,
            wall_ns: 0,
            boot_id: BOOT.to_owned(),
            phase,
        }
    }

    fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let mut machine = self.0.borrow_mut();
        let line = line(entry).unwrap();
        if let Tail::Torn { whole_bytes } = contents(&machine.bytes).tail {
            machine.bytes.truncate(whole_bytes);
        }
        let lives = machine.fate.lives();
        let arrives = if lives {
            line.len()
        } else {
            machine.torn.min(line.len())
        };
        machine.bytes.extend_from_slice(&line.as_bytes()[..arrives]);
        lives.then_some(()).ok_or_else(|| JournalError {
            what: "write",
            path: "journal".into(),
            why: death(),
        })
    }
}

impl Trace for Both {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        Ok(open(&contents(&self.0.borrow().bytes).entries))
    }

    fn standing(&self) -> Result<Vec<Open>, JournalError> {
        Ok(standing(&contents(&self.0.borrow().bytes).entries))
    }

    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError> {
        let all = contents(&self.0.borrow().bytes).entries;
        let change = all.iter().map(|entry| entry.change).max().unwrap_or(0) + 1;
        self.append(&Self::entry(change, intended))?;
        Ok(change)
    }

    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError> {
        self.append(&Self::entry(change, phase))
    }
}

impl World for Both {
    fn read(&mut self, key: &Key) -> io::Result<String> {
        let machine = self.0.borrow();
        let value = |knob| machine.settings.get(knob).cloned().ok_or_else(death);
        match key.knob == COUPLED {
            true => Ok(format!(r#"[["dragged","{}"]]"#, value("dragged")?)),
            false => value(&key.knob),
        }
    }

    /// What is named after it rounds to tens, what is not takes what it gets.
    fn write(&mut self, key: &Key, value: &str) -> io::Result<()> {
        let mut machine = self.0.borrow_mut();
        if !machine.fate.lives() {
            return Err(death());
        }
        if key.knob == COUPLED {
            let all: Vec<(String, String)> = serde_json::from_str(value)?;
            machine.settings.extend(all);
            return machine.fate.lives().then_some(()).ok_or_else(death);
        }
        if key.knob == "drags" {
            let reset = value.len().to_string();
            machine.settings.insert("dragged".to_owned(), reset);
        }
        let rounded = match key.knob.starts_with("rounds") {
            true => format!("{}0", &value[..value.len() - 1]),
            false => value.to_owned(),
        };
        machine.settings.insert(key.knob.clone(), rounded);
        // The process may end when the kernel has the value and the program has no answer yet.
        machine.fate.lives().then_some(()).ok_or_else(death)
    }

    fn coupled(&mut self, key: &Key) -> Option<Key> {
        let knob = (key.knob == "drags").then(|| COUPLED.to_owned())?;
        let place = key.place.clone();
        Some(Key { knob, place })
    }

    fn run(&mut self, _line: &str, _directory: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn same(&mut self, _place: &Place) -> Result<(), String> {
        Ok(())
    }
}

/// Each write of `drags` resets `dragged`, also the one that undoes it.
const KNOBS: [&str; 5] = ["exact", "rounds", "rounds too", "drags", "dragged"];
const COUPLED: &str = "coupled drags";

fn machine(dies_at: Option<usize>, torn: usize) -> (Both, Both) {
    let settings = KNOBS.map(|knob| (knob.to_owned(), "100".to_owned()));
    let machine = Machine {
        settings: settings.into(),
        fate: Fate { steps: 0, dies_at },
        torn,
        ..Machine::default()
    };
    let one = std::rc::Rc::new(std::cell::RefCell::new(machine));
    (Both(one.clone()), Both(one))
}

fn wanted(knob: &str, new: u16) -> Change {
    Change {
        key: Key {
            knob: knob.to_owned(),
            place: Place::Host,
        },
        new: new.to_string(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    }
}

/// Another process starts, which dies as well or not.
fn again(both: &Both, dies_at: Option<usize>) {
    both.0.borrow_mut().fate = Fate { steps: 0, dies_at };
}

fn is_as_before(both: &Both) -> bool {
    let machine = both.0.borrow();
    machine.settings.values().all(|value| value == "100")
}

/// Undoes with `force`: the process that made the changes is this one, and lives.
fn undo(trace: &mut Both, world: &mut Both) -> bool {
    let ended = restore(trace, world, BOOT, true);
    ended.is_ok_and(|all| all.iter().all(|one| one.end.is_closed()))
}

proptest! {
    /// Changes, death at any step with any part of a line on the disk, then undoing with death at any step, then undoing.
    #[test]
    fn what_was_is_there_again_after_a_death_at_any_step(
        changes in prop::collection::vec((0..KNOBS.len(), 10..1000_u16), 1..6),
        dies_at in 0..40_usize,
        torn in 0..300_usize,
        dies_again_at in 0..40_usize,
    ) {
        let (mut trace, mut world) = machine(Some(dies_at), torn);
        for (knob, new) in changes {
            if apply(&mut trace, &mut world, wanted(KNOBS[knob], new)).is_err() {
                break;
            }
            // A dead process makes no more changes.
            if trace.0.borrow().fate.steps > dies_at {
                break;
            }
        }
        again(&trace, Some(dies_again_at));
        let _ = undo(&mut trace, &mut world);
        again(&trace, None);
        prop_assert!(undo(&mut trace, &mut world));
        prop_assert!(is_as_before(&world));
        prop_assert!(trace.open().unwrap().is_empty());
    }

    /// However much of the file is left: what is read is a beginning of what was written, and the rest is reported.
    #[test]
    fn a_torn_journal_has_the_entries_that_are_whole(count in 1..8_u64, cut in any::<prop::sample::Index>()) {
        let entries: Vec<Entry> = (1..=count).map(|change| Both::entry(change, Phase::Restored)).collect();
        let bytes: String = entries.iter().map(|entry| line(entry).unwrap()).collect();
        let left = cut.index(bytes.len() + 1);
        let read = contents(&bytes.as_bytes()[..left]);
        prop_assert!(read.damaged.is_empty());
        prop_assert_eq!(&entries[..read.entries.len()], &read.entries[..]);
        let whole: String = read.entries.iter().map(|entry| line(entry).unwrap()).collect();
        let torn = Tail::Torn { whole_bytes: whole.len() };
        prop_assert_eq!(read.tail, if whole.len() == left { Tail::Whole } else { torn });
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_reported_and_the_others_are_read() {
    let lines = [1, 2, 3].map(|change| line(&Both::entry(change, Phase::Kept)).unwrap());
    let bytes = lines.concat().replacen("\"change\":2", "\"change\":7", 1);
    let read = contents(bytes.as_bytes());
    let changes: Vec<u64> = read.entries.iter().map(|entry| entry.change).collect();
    assert_eq!(
        (changes, read.damaged, read.tail),
        (vec![1, 3], vec![2], Tail::Whole)
    );
}

#[test]
fn what_a_third_party_set_is_reported_and_left() {
    let (mut trace, mut world) = machine(None, 0);
    let made = apply(&mut trace, &mut world, wanted("exact", 500));
    assert!(matches!(made, Ok(Outcome::Applied { .. })));
    world
        .0
        .borrow_mut()
        .settings
        .insert("exact".to_owned(), "777".to_owned());
    // Its process has ended.
    let dead = |entries: Vec<u8>| {
        let text = String::from_utf8(entries).unwrap();
        let all = contents(text.as_bytes()).entries.into_iter();
        let mut lines = all.map(|mut entry| {
            if let Phase::Intended { owner, .. } = &mut entry.phase {
                owner.start_ticks += 1;
            }
            line(&entry).unwrap()
        });
        lines.by_ref().collect::<String>().into_bytes()
    };
    let bytes = dead(trace.0.borrow().bytes.clone());
    trace.0.borrow_mut().bytes = bytes;
    let ended = restore(&mut trace, &mut world, BOOT, false).unwrap();
    assert!(matches!(&ended[0].end, End::Foreign { value } if value == "777"));
    assert_eq!(world.0.borrow().settings["exact"], "777");
    assert_eq!(trace.open().unwrap().len(), 1, "it stays in the journal");
}

/// Undone first, the earlier change would be closed; then the later one would bring back what the earlier one had set.
#[test]
fn an_earlier_change_of_a_setting_waits_for_a_later_one() {
    let (mut trace, mut world) = machine(None, 0);
    for new in [500, 100] {
        let made = apply(&mut trace, &mut world, wanted("exact", new));
        assert!(matches!(made, Ok(Outcome::Applied { .. })));
    }
    again(&trace, Some(0));
    let ended = restore(&mut trace, &mut world, BOOT, true).unwrap();
    let ends = [&ended[0].end, &ended[1].end];
    assert!(
        matches!(ends, [End::Failed(_), End::AfterAnother]),
        "{ends:?}"
    );
    again(&trace, None);
    assert!(undo(&mut trace, &mut world) && is_as_before(&world));
}

#[test]
fn what_a_process_that_runs_has_set_is_its_own() {
    let (mut trace, mut world) = machine(None, 0);
    apply(&mut trace, &mut world, wanted("exact", 500)).unwrap();
    let ended = restore(&mut trace, &mut world, BOOT, false).unwrap();
    assert!(matches!(ended[0].end, End::UnderWay));
    assert_eq!(world.0.borrow().settings["exact"], "500");
}

#[test]
fn a_boot_has_undone_what_was_only_in_memory() {
    let (mut trace, mut world) = machine(None, 0);
    apply(&mut trace, &mut world, wanted("exact", 500)).unwrap();
    world
        .0
        .borrow_mut()
        .settings
        .insert("exact".to_owned(), "64".to_owned());
    let ended = restore(&mut trace, &mut world, "the next boot", false).unwrap();
    assert!(matches!(ended[0].end, End::Vanished));
    assert_eq!(world.0.borrow().settings["exact"], "64", "not written");
    assert!(trace.open().unwrap().is_empty());
}

/// Also what was made before it and is still open waits for it.
#[test]
fn what_was_kept_is_restored_only_on_request() {
    let (mut trace, mut world) = machine(None, 0);
    for new in [500, 600] {
        apply(&mut trace, &mut world, wanted("exact", new)).unwrap();
    }
    trace.step(2, Phase::Kept).unwrap();
    assert_eq!(trace.open().unwrap().len(), 1);
    let ended = restore(&mut trace, &mut world, BOOT, true).unwrap();
    assert!(matches!(
        ended.as_slice(),
        [Restored {
            end: End::AfterAnother,
            ..
        }]
    ));
    assert_eq!(world.0.borrow().settings["exact"], "600");
    let ended = restore_kept(&mut trace, &mut world, BOOT, true).unwrap();
    assert!(ended.len() == 2 && ended.iter().all(|one| one.end.is_closed()));
    assert!(is_as_before(&world) && trace.standing().unwrap().is_empty());
}

#[test]
fn what_was_kept_in_an_earlier_boot_is_not_written() {
    let (mut trace, mut world) = machine(None, 0);
    apply(&mut trace, &mut world, wanted("exact", 500)).unwrap();
    trace.step(1, Phase::Kept).unwrap();
    let ended = restore_kept(&mut trace, &mut world, "the next boot", false).unwrap();
    assert!(ended.is_empty());
    assert_eq!(world.0.borrow().settings["exact"], "500");
}

/// A boot resets settings in memory, and no file.
#[test]
fn a_file_is_restored_in_any_boot() {
    const FILE: &str = "file /etc/sysctl.d/90-linerate-x.conf";
    let (mut trace, mut world) = machine(None, 0);
    let settings = |both: &Both, value: &str| {
        let mut machine = both.0.borrow_mut();
        machine.settings.insert(FILE.to_owned(), value.to_owned());
    };
    settings(&world, "");
    let made = apply(&mut trace, &mut world, wanted(FILE, 500));
    assert!(matches!(made, Ok(Outcome::Applied { .. })));
    trace.step(1, Phase::Kept).unwrap();
    settings(&world, "edited");
    let ended = restore_kept(&mut trace, &mut world, "the next boot", false).unwrap();
    assert!(matches!(&ended[0].end, End::Foreign { value } if value == "edited"));
    settings(&world, "500");
    let ended = restore_kept(&mut trace, &mut world, "the next boot", false).unwrap();
    assert!(matches!(ended[0].end, End::Undone));
    assert_eq!(world.0.borrow().settings[FILE], "");
}

fn made(both: &mut Both, world: &mut Both, knob: &str, new: u16) -> u64 {
    match apply(both, world, wanted(knob, new)) {
        Ok(Outcome::Applied { change, .. }) => change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_coupled_is_restored_with_its_change() {
    let (mut trace, mut world) = machine(None, 0);
    let change = made(&mut trace, &mut world, "drags", 500);
    assert_eq!(world.0.borrow().settings["dragged"], "3");
    let ended = restore_one(&mut trace, &mut world, change).unwrap();
    assert!(ended.is_closed() && is_as_before(&world));
    assert!(trace.open().unwrap().is_empty());
}

/// One change is undone, and what another one has set since is set again; its old value is not the first one.
#[test]
fn what_another_change_has_set_stays() {
    let (mut trace, mut world) = machine(None, 0);
    let first = made(&mut trace, &mut world, "drags", 500);
    let second = made(&mut trace, &mut world, "dragged", 250);
    let ended = restore_one(&mut trace, &mut world, first).unwrap();
    assert!(ended.is_closed(), "{ended:?}");
    let settings = world.0.borrow().settings.clone();
    assert_eq!(
        (settings["drags"].as_str(), settings["dragged"].as_str()),
        ("100", "250")
    );
    assert_eq!(trace.open().unwrap().len(), 2);
    let ended = restore_one(&mut trace, &mut world, second).unwrap();
    assert!(ended.is_closed() && is_as_before(&world));
    assert!(trace.open().unwrap().is_empty());
}

#[test]
fn what_is_coupled_with_a_change_that_is_kept_is_not_restored() {
    let (mut trace, mut world) = machine(None, 0);
    let change = made(&mut trace, &mut world, "drags", 500);
    assert_eq!(trace.open().unwrap().len(), 2);
    trace.step(change, Phase::Kept).unwrap();
    assert!(trace.open().unwrap().is_empty());
    let first = made(&mut trace, &mut world, "drags", 4000);
    let second = made(&mut trace, &mut world, "dragged", 250);
    restore_one(&mut trace, &mut world, first).unwrap();
    trace.step(second, Phase::Kept).unwrap();
    assert!(trace.open().unwrap().is_empty());
    assert_eq!(world.0.borrow().settings["dragged"], "250");
}

#[test]
fn what_changes_nothing_is_not_open() {
    let (mut trace, mut world) = machine(None, 0);
    let same = apply(&mut trace, &mut world, wanted("exact", 100));
    assert!(matches!(same, Ok(Outcome::InForce)));
    let rounded_away = apply(&mut trace, &mut world, wanted("rounds", 105));
    assert!(matches!(rounded_away, Ok(Outcome::Ineffective)));
    let unknown = apply(&mut trace, &mut world, wanted("none", 5));
    assert!(matches!(unknown, Ok(Outcome::Unreadable(_))));
    assert!(trace.open().unwrap().is_empty());
}
