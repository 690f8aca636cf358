// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --causes [--cause NAME]... [--write] [--kept] [NIC...]`: known causes on real drivers. Each NIC is booted once for each
//! hardware that they need; each cause that it can have is set up there, measured as a person would, and undone. Judged is what was named first,
//! which counters increased, whether the ledger adds up, and whether `inspect` shows the setting. `--kept` boots none, and
//! explains the runs that are there again.

mod judge;
mod list;
mod provoke;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::guest::Hardware;
use super::nic::{Board, NICS, Nic};
use super::{Options, boot, bootable, missing, missing_for, place};
use crate::Outcome;
use crate::process;
use crate::tally::Tally;
pub(super) use judge::{Judged, OF_THIS_MACHINE, adds_up, document};
pub(crate) use provoke::run as inside;
pub(crate) use table::section;
pub(super) use table::{markdown, named_of};

/// One thing that is wrong, or different and harmless.
#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) name: &'static str,
    /// Sets it up in the guest; `HOST` and `GUEST` are addresses.
    set: &'static str,
    /// The same at the host's end.
    set_on_host: &'static str,
    /// Undoes both.
    undo: &'static str,
    undo_on_host: &'static str,
    /// What a person runs: in the guest, without its options of output.
    measure: &'static str,
    /// The guest's, and queues of its NIC.
    processors: u32,
    queues: u32,
    /// NICs that cannot have it, and why.
    not_on: &'static [(&'static str, &'static str)],
    /// The only NICs that can have it; any if there is none.
    only_on: &'static [&'static str],
    /// Causes of findings of which one must come first.
    first: &'static [&'static str],
    /// Nothing needs to be named: the setting does no harm here.
    or_nothing: bool,
    /// Whether it does harm depends on the load: where the run shows none, it counts with the harmless settings.
    or_harmless: bool,
    /// Where packets die: one of these stages of the ledger must have some.
    dies_at: &'static [&'static str],
    /// Counters of the guest that must increase.
    moved: &'static [&'static str],
    /// What `inspect` must show in the guest: source, setting, value.
    seen: &'static [(&'static str, &'static str, &'static str)],
}

impl Cause {
    /// Whether it is measured by a check, whose search also sends what cannot arrive.
    fn searches(&self) -> bool {
        self.measure.starts_with("linerate check")
    }

    fn why_not_on(&self, nic: &Nic) -> Option<&'static str> {
        if !self.only_on.is_empty() && !self.only_on.contains(&nic.name) {
            return Some("has no second queue to switch off");
        }
        let mut not_on = self.not_on.iter();
        not_on.find(|(name, _)| *name == nic.name).map(|of| of.1)
    }

    fn hardware(&self) -> Hardware {
        Hardware {
            processors: self.processors,
            queues: self.queues,
            ..Hardware::default()
        }
    }
}

/// Runs them, and prints the table. Whether all were right.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let (causes, rest) = chosen(words)?;
    let mut options = Options::parse(&rest)?;
    if !rest.iter().any(|word| Nic::named(word).is_some()) {
        options.nics = NICS
            .iter()
            .filter(|nic| OF_CAUSES.contains(&nic.name))
            .collect();
    }
    if let Some(why) = missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let mut tally = Tally::default();
    let mut all = Vec::new();
    for nic in &options.nics {
        let directory = place().join(nic.directory()).join("causes");
        if !options.kept && !booted(nic, &causes, &options, &directory, &mut tally)? {
            continue;
        }
        if options.kept {
            explained_again(&causes, &options.binary(Board::Pc)?, &directory)?;
        }
        for cause in &causes {
            let judged = Judged::of(nic, cause, &directory);
            judged.tell(&mut tally);
            all.push(judged);
        }
    }
    println!("\n{}", markdown(&all));
    if options.write {
        table::write(&all)?;
    }
    Ok(tally.close())
}

/// The name of each cause.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    list::CAUSES.iter().map(|cause| cause.name)
}

/// What came of each cause by what `directory` has.
pub(super) fn judged(nic: &'static Nic, directory: &Path) -> Vec<Judged> {
    let all = list::CAUSES.iter();
    all.map(|cause| Judged::of(nic, cause, directory)).collect()
}

/// The causes that are asked for, and the words that remain.
fn chosen<'w>(words: &[&'w str]) -> Result<(Vec<&'static Cause>, Vec<&'w str>), String> {
    let (mut causes, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--cause" => causes.push(named(words.next().unwrap_or_default())?),
            other => rest.push(other),
        }
    }
    if causes.is_empty() {
        causes.extend(&list::CAUSES);
    }
    Ok((causes, rest))
}

fn named(name: &str) -> Result<&'static Cause, String> {
    let mut all = list::CAUSES.iter();
    all.find(|cause| cause.name == name).ok_or_else(|| {
        let names: Vec<&str> = list::CAUSES.iter().map(|cause| cause.name).collect();
        format!("machines: no cause {name} (there are {})", names.join(", "))
    })
}

/// Boots once for each hardware that causes need. Whether all came to their end.
fn booted(
    nic: &'static Nic,
    causes: &[&'static Cause],
    options: &Options,
    directory: &Path,
    tally: &mut Tally,
) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(why) = missing_for(nic.board) {
        tally.skip(nic.name, why);
        return Ok(false);
    }
    let (ours, image) = bootable(nic, options)?;
    let new = directory.with_extension("new");
    let mut is_right = true;
    for names in of_one_machine(nic, causes) {
        let mode = format!("--inside={}", names.join(","));
        let booted = boot(nic, &image, &ours, &new, &mode);
        forget_explained(&names, directory);
        replace(&new, directory).map_err(|why| format!("{}: {why}", new.display()))?;
        is_right &= booted.is_ok();
        tally.check(nic.name, booted);
    }
    Ok(is_right)
}

/// The names of those that `nic` can have, by the hardware that they need.
fn of_one_machine(nic: &Nic, causes: &[&'static Cause]) -> Vec<Vec<&'static str>> {
    let mut all: BTreeMap<(u32, u32), Vec<&str>> = BTreeMap::new();
    for cause in causes {
        if cause.why_not_on(nic).is_none() {
            let hardware = (cause.processors, cause.queues);
            all.entry(hardware).or_default().push(cause.name);
        }
    }
    all.into_values().collect()
}

/// What a former run was explained as is of that run.
fn forget_explained(names: &[&str], kept: &Path) {
    for name in names {
        let _none = fs::remove_file(kept.join(format!("{name}.explained.stdout")));
    }
}

/// Moves what a boot left to what others left: one cause can be provoked again.
fn replace(new: &Path, kept: &Path) -> io::Result<()> {
    fs::create_dir_all(kept)?;
    for entry in fs::read_dir(new)? {
        let entry = entry?;
        let to = kept.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => drop(fs::remove_dir_all(&to)),
            false => drop(fs::remove_file(&to)),
        }
        fs::rename(entry.path(), to)?;
    }
    fs::remove_dir(new)
}

/// What this program concludes from runs that are there.
fn explained_again(causes: &[&Cause], linerate: &Path, directory: &Path) -> Result<(), String> {
    for name in causes.iter().map(|cause| cause.name) {
        let run = directory.join(format!("{name}.run"));
        let mut explain = Command::new(linerate);
        explain.arg("explain").arg(&run).arg("--json");
        let ended = process::run(&mut explain, LIMIT)?;
        // Without a run there is nothing to explain, and the step's own output says why.
        if ended.status.success() {
            let path = directory.join(format!("{name}.explained.stdout"));
            fs::write(&path, ended.stdout).map_err(|why| format!("{}: {why}", path.display()))?;
        }
    }
    Ok(())
}

const LIMIT: Duration = Duration::from_secs(60);

/// The NICs on which causes are provoked, if none is named.
const OF_CAUSES: [&str; 6] = [
    "e1000e",
    "i82559er",
    "rtl8139",
    "vmxnet3",
    "virtio-net-pci",
    "sabrelite",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_is_not_judged_by_how_an_older_one_was_explained() {
        let place = std::env::temp_dir().join(format!("causes-{}", std::process::id()));
        let (new, kept) = (place.join("new"), place.join("kept"));
        for directory in [&new, &kept] {
            fs::create_dir_all(directory).unwrap();
        }
        for file in ["tbf.explained.stdout", "htb.explained.stdout", "tbf.steps"] {
            fs::write(kept.join(file), "old").unwrap();
        }
        fs::write(new.join("tbf.steps"), "new").unwrap();
        forget_explained(&["tbf"], &kept);
        replace(&new, &kept).unwrap();
        let read = |file: &str| fs::read_to_string(kept.join(file)).ok();
        assert_eq!(read("tbf.steps").as_deref(), Some("new"));
        assert_eq!(read("tbf.explained.stdout"), None);
        assert_eq!(read("htb.explained.stdout").as_deref(), Some("old"));
        fs::remove_dir_all(place).unwrap();
    }
}
