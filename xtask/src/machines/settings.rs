// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --settings [--kept] [--binary PATH]... [NIC...]`: settings of real drivers, changed by `linerate tune set`, whose process
//! then ends, and undone by `linerate tune restore`. What the guest's own tools show must be as before, line for line, and must
//! have shown the change in between.

mod list;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::guest::Hardware;
use super::nic::Nic;
use super::results::Results;
use super::session::Session;
use super::steps::At;
use super::{Options, boot, bootable, missing, missing_for, parts, place};
use crate::Outcome;
use crate::tally::Tally;
use list::{SETTINGS, STATE};

/// One change on one driver.
#[derive(Debug)]
struct Setting {
    name: &'static str,
    nics: &'static [&'static str],
    /// By hand before, so that there is something to restore.
    before: &'static str,
    /// What `tune set` is given, one after the other; the shell has `$irq`, an interrupt of the card.
    lines: &'static [&'static str],
    /// What the guest's tools show then; nothing where the driver has to refuse.
    shows: &'static [&'static str],
}

/// Changes them on each NIC, and prints what came of each. Whether all were right.
pub(super) fn run(words: &[&str]) -> Outcome {
    let mut options = Options::parse(words)?;
    options
        .nics
        .retain(|nic| SETTINGS.iter().any(|one| one.nics.contains(&nic.name)));
    if let Some(why) = missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let mut tally = Tally::default();
    for nic in &options.nics {
        let directory = place().join(nic.directory()).join("settings");
        if !options.kept && !booted(nic, &options, &directory, &mut tally)? {
            continue;
        }
        for setting in of(nic) {
            let judged = judged(nic, setting, &directory);
            tally.check(&format!("{}: {}", nic.name, setting.name), judged);
        }
    }
    Ok(tally.close())
}

fn of(nic: &Nic) -> impl Iterator<Item = &'static Setting> {
    let name = nic.name;
    SETTINGS.iter().filter(move |one| one.nics.contains(&name))
}

fn booted(
    nic: &'static Nic,
    options: &Options,
    directory: &Path,
    tally: &mut Tally,
) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(why) = missing_for(nic.board) {
        tally.skip(nic.name, why);
        return Ok(false);
    }
    let (ours, image) = bootable(nic, options)?;
    let booted = boot(nic, &image, &ours, directory, "--inside-settings");
    let is_right = booted.is_ok();
    tally.check(nic.name, booted);
    Ok(is_right)
}

/// All of one machine, in the namespaces that were made for it.
pub(super) fn inside(words: &[&str]) -> Outcome {
    let (nic, image, linerate, directory) = parts(words)?;
    let hardware = Hardware {
        processors: 2,
        queues: if nic.name == "virtio-net-pci" { 2 } else { 1 },
        ..Hardware::default()
    };
    let mut session = Session::boot(nic, &image, &hardware, &linerate, &directory)?;
    // Links and modules of the boot settle.
    session.shell(At::Guest, "settle", "sleep 5")?;
    let mut all = of(nic);
    let ended = all.try_for_each(|setting| changed(&mut session, setting, &directory));
    ended.and(session.fetch())?;
    Ok(true)
}

fn changed(session: &mut Session, setting: &Setting, directory: &Path) -> Result<(), String> {
    let step = |kind: &str| format!("{}.{kind}", setting.name);
    let mut guest = |kind: &str, command: &str| session.shell(At::Guest, &step(kind), command);
    let by_hand = guest("by-hand", &format!("set -e; {} true", setting.before))?;
    guest("before", STATE)?;
    let each = setting.lines.iter();
    let each: Vec<String> = each
        .map(|line| format!("linerate tune set \"{line}\" || [ $? = 1 ] || exit 7"))
        .collect();
    let set = guest("set", &format!("{IRQ}; {}", each.join("; ")))?;
    guest("between", STATE)?;
    let left = guest("status", "linerate tune status --json")?;
    let restored = guest("restore", "linerate tune restore")?;
    guest("after", STATE)?;
    let clean = guest("clean", "linerate tune status")?;
    println!("  {:<22} set {set}, restored {restored}", setting.name);
    let done = json!({
        "by_hand": by_hand, "set": set, "left": left, "restored": restored, "clean": clean,
    });
    let path = directory.join(step("steps"));
    fs::write(&path, done.to_string()).map_err(|why| format!("{}: {why}", path.display()))
}

/// The first interrupt of the card.
const IRQ: &str = "irq=$(grep -E 'eth0|virtio0-input|ethernet' /proc/interrupts | head -n 1 | cut -d: -f1 | tr -d ' ')";

fn judged(nic: &'static Nic, setting: &Setting, directory: &Path) -> Result<String, String> {
    let results = Results::of(nic, directory);
    let steps = results.json(&format!("{}.steps", setting.name))?;
    let text = |kind: &str| results.text(&format!("{}.{kind}", setting.name));
    let [before, between, after] = ["before", "between", "after"].map(text);
    let is_refused = setting.shows.is_empty();
    let status = |key: &str, right: &Value| match &steps[key] == right {
        true => Ok(()),
        false => Err(format!("{key}: status {}", steps[key])),
    };
    status("by_hand", &json!(0))?;
    match is_refused {
        true if steps["set"] == 0 => return Err("it was not refused".to_owned()),
        true => {}
        // 1: a process that has ended left a change.
        false => status("set", &json!(0)).and_then(|()| status("left", &json!(1)))?,
    }
    status("restored", &json!(0))?;
    status("clean", &json!(0))?;
    for expected in setting.shows {
        if !spaced(&between).contains(expected) || spaced(&before).contains(expected) {
            return Err(format!("`{expected}` is not what was changed"));
        }
    }
    as_before(&before, &after)?;
    if is_refused {
        as_before(&before, &between)?;
    }
    Ok(setting.lines.join("; "))
}

/// Lines with single spaces.
fn spaced(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

fn as_before(before: &str, after: &str) -> Result<(), String> {
    let mut pairs = before.lines().zip(after.lines());
    match pairs.find(|(before, after)| before != after) {
        Some((before, after)) => Err(format!("`{}` instead of `{}`", after.trim(), before.trim())),
        None if before.is_empty() => Err("no state".to_owned()),
        None if before.lines().count() == after.lines().count() => Ok(()),
        None => Err("more or fewer lines than before".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_differs_is_found() {
        assert_eq!(as_before("a\nb", "a\nb"), Ok(()));
        assert!(as_before("a\nb", "a\nc").is_err_and(|why| why.contains("`c` instead of `b`")));
        assert!(as_before("a", "a\nb").is_err() && as_before("", "").is_err());
        assert_eq!(spaced("RX:\t\t 1024 \n"), "RX: 1024");
    }

    #[test]
    fn every_nic_of_a_setting_is_known_and_names_are_unique() {
        for one in &SETTINGS {
            assert!(
                one.nics.iter().all(|name| Nic::named(name).is_some()),
                "{}",
                one.name
            );
            let same = |nic: &&str| {
                SETTINGS
                    .iter()
                    .filter(|other| other.name == one.name && other.nics.contains(nic))
                    .count()
            };
            assert!(one.nics.iter().all(|nic| same(nic) == 1), "{}", one.name);
        }
    }
}
