// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that changes settings and is killed at each of its steps, then one that restores them and is killed at each of
//! its own: in the end every setting is what it was.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::rc::Rc;
use std::thread;

use linerate_change::{
    Change, Entry, Files, Hold, Host, Journal, JournalError, Key, Open, Outcome as Applied, Phase,
    Place, Restored, Trace, Undo, World, apply, restore, restore_one,
};
use linerate_lab::{Isolation, Lab, LabPlan};
use linerate_linux::setup;

use super::Test;
use super::role::VARIABLE;
use super::scratch::Scratch;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[(
    "what_a_killed_process_changed_is_restored_wherever_it_died",
    what_a_killed_process_changed_is_restored_wherever_it_died,
)];

/// Kills its own process at a step of the journal or of a setting, counted together: before it, or after it.
#[derive(Debug)]
struct Fate {
    steps: Cell<u32>,
    dies_at: u32,
}

impl Fate {
    fn step(&self) {
        let step = self.steps.replace(self.steps.get() + 1);
        if step == self.dies_at {
            let own = std::process::id().to_string();
            let _killed = Command::new("sh").args(["-c", "kill -9 $0", &own]).status();
            loop {
                thread::park();
            }
        }
    }
}

/// A journal or a host of a process with that fate.
struct Mortal<T> {
    of: T,
    fate: Rc<Fate>,
}

impl<T> Mortal<T> {
    fn around<R>(&mut self, step: impl FnOnce(&mut T) -> R) -> R {
        self.fate.step();
        let done = step(&mut self.of);
        self.fate.step();
        done
    }
}

impl Trace for Mortal<Journal> {
    fn open(&self) -> Result<Vec<Open>, JournalError> {
        self.of.open()
    }

    fn standing(&self) -> Result<Vec<Open>, JournalError> {
        self.of.standing()
    }

    fn begin(&mut self, intended: Phase) -> Result<u64, JournalError> {
        self.around(|journal| journal.begin(intended))
    }

    fn step(&mut self, change: u64, phase: Phase) -> Result<(), JournalError> {
        self.around(|journal| journal.step(change, phase))
    }

    fn hold(&self) -> Result<Hold, JournalError> {
        self.of.hold()
    }
}

/// The settings of a host in the lab, and the files below a directory of the test.
struct Settings {
    host: Host,
    files: Files,
}

impl World for Mortal<Settings> {
    fn read(&mut self, key: &Key) -> io::Result<String> {
        match key.is_volatile() {
            true => self.of.host.read(key),
            false => self.of.files.read(key),
        }
    }

    fn write(&mut self, key: &Key, value: &str) -> io::Result<()> {
        self.around(|settings| match key.is_volatile() {
            true => settings.host.write(key, value),
            false => settings.files.write(key, value),
        })
    }

    fn run(&mut self, line: &str, directory: Option<&str>) -> io::Result<()> {
        self.of.host.run(line, directory)
    }

    fn same(&mut self, place: &Place) -> Result<(), String> {
        self.of.host.same(place)
    }
}

/// What the roles get from the test: a directory, and the step at which they die.
fn mortal() -> Option<(Mortal<Journal>, Mortal<Settings>)> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let dies_at = std::env::var(DIES_AT).ok()?.parse().ok()?;
    let fate = Rc::new(Fate {
        steps: Cell::new(0),
        dies_at,
    });
    let settings = Settings {
        host: Host::here().ok()?,
        files: Files::below(&folder),
    };
    let trace = Mortal {
        of: Journal::at(&folder.join("journal"), BOOT),
        fate: fate.clone(),
    };
    Some((trace, Mortal { of: settings, fate }))
}

/// The role that makes four changes, and undoes one.
pub(crate) fn change_settings() -> ExitCode {
    let all = || {
        let (mut trace, mut world) = mortal()?;
        let mut numbers = Vec::new();
        for (knob, new) in CHANGES {
            let key = match knob.split(' ').next()? {
                "sysctl" => world.of.host.key(knob),
                "file" => world.of.files.key(knob.strip_prefix("file ")?),
                _ => world.of.host.key_of(knob, INTERFACE).ok()?,
            };
            let change = Change {
                key,
                new: new.to_owned(),
                undo: Undo::Write,
                because: "a test".to_owned(),
            };
            match apply(&mut trace, &mut world, change).ok()? {
                Applied::Applied { change, .. } => numbers.push(change),
                _ => return None,
            }
        }
        restore_one(&mut trace, &mut world, numbers[UNDONE]).ok()
    };
    match all() {
        Some(end) if end.is_closed() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The role that restores all.
pub(crate) fn restore_settings() -> ExitCode {
    let ended = mortal().map(|(mut trace, mut world)| restore(&mut trace, &mut world, BOOT, false));
    let is_closed = |all: &[Restored]| all.iter().all(|one| one.end.is_closed());
    match ended {
        Some(Ok(all)) if is_closed(&all) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn what_a_killed_process_changed_is_restored_wherever_it_died(isolation: &Isolation) -> Outcome {
    let lab = Lab::open(isolation, &LabPlan::default())?;
    let [first, _second] = lab.hosts();
    let folder = Scratch::new("crashes")?;
    first.enter(|| at_every_step(folder.path()))?
}

fn at_every_step(folder: &Path) -> Outcome {
    let before = state(folder)?;
    let mut changed = 0;
    for dies_at in 0.. {
        let mut is_whole = false;
        // It is killed at each step of restoring, too; the last time at none.
        for dies_again_at in 0.. {
            is_whole = !killed(role("change-settings", folder, dies_at)?)?;
            changed += u32::from(state(folder)? != before);
            let again = killed(role("restore-settings", folder, dies_again_at)?)?;
            let third = killed(role("restore-settings", folder, u32::MAX)?)?;
            ensure(!third, || "killed at no step".to_owned())?;
            let after = state(folder)?;
            ensure(after == before, || {
                let where_ = format!("died at {dies_at}, then at {dies_again_at}");
                format!("{where_}: {:?}", difference(&before, &after))
            })?;
            ensure(left(folder)?.is_empty(), || {
                format!("{dies_at}, {dies_again_at}")
            })?;
            if !again {
                break;
            }
        }
        if is_whole {
            // As many steps as there are: two for each line of the journal and for each setting that is written.
            let lines = CHANGES.len() as u32 * 2 + 1;
            let writes = CHANGES.len() as u32 + 1;
            return ensure(dies_at == 2 * (lines + writes) && changed > dies_at, || {
                format!("{dies_at} steps, {changed} times changed")
            });
        }
    }
    Ok(())
}

fn role(name: &str, folder: &Path, dies_at: u32) -> io::Result<ExitStatus> {
    let mut again = Command::new(std::env::current_exe()?);
    again.env(VARIABLE, name).env(FOLDER, folder);
    again.env(DIES_AT, dies_at.to_string());
    again.status()
}

/// Whether it was killed; it must not fail.
fn killed(ended: ExitStatus) -> Outcome<bool> {
    match (ended.signal(), ended.success()) {
        (Some(9), _) => Ok(true),
        (None, true) => Ok(false),
        _ => Err(Verdict::Failed(ended.to_string())),
    }
}

fn left(folder: &Path) -> Result<Vec<Entry>, JournalError> {
    let contents = Journal::at(&folder.join("journal"), BOOT).contents()?;
    let open = linerate_change::open(&contents.entries);
    let is_open = |entry: &Entry| open.iter().any(|one| one.change == entry.change);
    Ok(contents.entries.into_iter().filter(is_open).collect())
}

/// All that can be read: the network's sysctls, what the commands of a user show of the interface, and the files.
fn state(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    texts(Path::new("/proc/sys/net"), &mut all);
    texts(&folder.join("etc"), &mut all);
    for setting in setup::of_interface(INTERFACE) {
        let values = setting.values.into_iter();
        all.extend(values.map(|(name, value)| (format!("{} {name}", setting.source), value)));
    }
    // A neighbour is probed again and again.
    all.retain(|name, _| !name.starts_with("ip neigh") && !name.ends_with("_count"));
    Ok(all)
}

fn texts(folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => texts(&path, all),
            false => {
                let text = fs::read_to_string(&path).unwrap_or_default();
                all.insert(path.display().to_string(), text);
            }
        }
    }
}

fn difference(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names = before.keys().chain(after.keys());
    let changed = names.filter(|name| before.get(*name) != after.get(*name));
    changed
        .map(|name| format!("{name}: {:?} → {:?}", before.get(name), after.get(name)))
        .collect()
}

const CHANGES: [(&str, &str); 4] = [
    ("sysctl net.ipv4.tcp_rmem", "4096 65536 131072"),
    ("ethtool -K tcp-segmentation-offload", "off"),
    ("ip link txqueuelen", "77"),
    (
        "file /etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf",
        "net.ipv4.tcp_rmem = 4096 65536 131072\n",
    ),
];
/// That of the offload.
const UNDONE: usize = 1;
const INTERFACE: &str = "eth0";
const BOOT: &str = "this boot";
const FOLDER: &str = "LINERATE_TEST_FOLDER";
const DIES_AT: &str = "LINERATE_TEST_DIES_AT";
