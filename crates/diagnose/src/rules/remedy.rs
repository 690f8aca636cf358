// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a finding offers to run, checked against what is in force: a command that would change nothing, or that would
//! make a limit smaller, is not offered, and every undo is the value that was read.

use linerate_model::output::{Change, Role};
use linerate_model::record::Record;

use super::setting::{Assignment, Command, Reading};
use super::{Rule, template};
use crate::facts::set_up;

/// Settings of a host as they were read.
pub(super) struct InForce<'r> {
    pub(super) record: &'r Record,
    pub(super) host: Role,
}

impl InForce<'_> {
    /// The value of a setting; `None` if it was not read.
    pub(super) fn value(&self, reading: &Reading) -> Option<String> {
        let of = |host| {
            let interface = reading.interface.as_deref();
            set_up(self.record, host, reading.source, interface, &reading.key)
        };
        // These are not per namespace: one machine has one value.
        let shared = reading.key.starts_with("net.core.") && self.record.one_machine();
        let other = || of(Role::Local).filter(|_| shared);
        let read = of(self.host).or_else(other).map(str::to_owned);
        read.or_else(|| self.described(reading))
    }

    fn described(&self, reading: &Reading) -> Option<String> {
        let name = reading.interface.as_ref()?;
        let mut interfaces = self.record.host(self.host)?.interfaces.iter();
        let interface = interfaces.find(|interface| &interface.name == name)?;
        let mtu = interface.mtu.filter(|_| reading.key == "mtu")?;
        Some(mtu.to_string())
    }
}

/// What remains of a rule's change. `ask` knows the facts, `in_force` the settings; `None` if nothing remains.
pub(super) fn change(
    rule: &Rule,
    ask: impl Fn(&str) -> Option<String>,
    in_force: impl Fn(&Reading) -> Option<String>,
) -> Option<Change> {
    let mut offer = Offer::default();
    let loopback = ask("interface").is_some_and(|name| name == LOOPBACK);
    for text in &rule.commands {
        if loopback && is_of_hardware(text) {
            continue;
        }
        // A command with a fact that is not known cannot be run.
        if let Some(text) = template::whole(text, &ask) {
            offer.add(text, &in_force);
        }
    }
    for text in &rule.undo {
        if let Some(text) = template::whole(text, &ask) {
            offer.undo(text);
        }
    }
    let Offer { commands, undo, .. } = offer;
    (!commands.is_empty()).then(|| Change {
        commands,
        undo,
        risk: risk(rule),
        figure: rule.figure.clone(),
        tradeoffs: rule.tradeoffs.clone(),
    })
}

fn risk(rule: &Rule) -> String {
    match rule.side_effects.as_str() {
        "" => rule.risk.word().to_owned(),
        effects => format!("{}: {effects}", rule.risk.word()),
    }
}

#[derive(Default)]
struct Offer {
    commands: Vec<String>,
    undo: Vec<String>,
    /// Values whose undo follows from what was read.
    settled: Vec<String>,
    /// Values that have an undo already.
    undone: Vec<String>,
}

impl Offer {
    fn add(&mut self, text: String, in_force: &impl Fn(&Reading) -> Option<String>) {
        let Some(command) = Command::parse(&text) else {
            return self.commands.push(text);
        };
        let now = |set: &Assignment| in_force(&command.reading(set)?);
        self.settled
            .extend(command.sets.iter().map(|set| command.id(set)));
        let changes = |set: &Assignment| now(set).is_none_or(|now| helps(&command, set, &now));
        let Some(offered) = command.only(changes) else {
            return;
        };
        let before = |set: &Assignment| {
            let value = now(set).map_or_else(|| BEFORE.to_owned(), |now| switch(&now).to_owned());
            Assignment::new(&set.name, &value)
        };
        let fresh = |set: &&Assignment| !self.undone.contains(&command.id(set));
        let back: Vec<Assignment> = offered.sets.iter().filter(fresh).map(before).collect();
        self.undone.extend(back.iter().map(|set| command.id(set)));
        if back.iter().any(|set| set.value == BEFORE) {
            self.show(&offered);
        }
        self.undo.extend(command.back(back));
        self.commands.push(offered.to_string());
    }

    /// The values in force are not known, and the undo needs them.
    fn show(&mut self, offered: &Command) {
        let shows = offered.shows();
        if !self.commands.iter().any(|known| known.starts_with(&shows)) {
            let note = format!("{shows}   # note the values: the undo needs them");
            self.commands.push(note);
        }
    }

    /// An undo of a command that sets no value.
    fn undo(&mut self, text: String) {
        let settled = |id: &String| self.settled.contains(id);
        let typed = text.split("   #").next().unwrap_or_default();
        let ours = match Command::parse(&text) {
            Some(command) => command.sets.iter().any(|set| settled(&command.id(set))),
            None => settled(&typed.replacen("qdisc del", "qdisc replace", 1)),
        };
        if !ours && !self.commands.is_empty() {
            self.undo.push(text);
        }
    }
}

/// Whether a value differs from the one in force, which can be changed and was not requested in vain, and is no smaller limit.
fn helps(command: &Command, set: &Assignment, now: &str) -> bool {
    let in_vain = format!("[requested {}]", set.value);
    if now.contains("[fixed]") || now.contains(&in_vain) {
        return false;
    }
    if set.value.contains('<') {
        return true;
    }
    if command.is_default_already(now) {
        return false;
    }
    let now = switch(now);
    let larger = || last_number(&set.value) > last_number(now);
    set.value != now && (!command.is_more(set) || larger())
}

/// As a command takes it: `enabled - active` is on.
fn switch(state: &str) -> &str {
    match state.split_whitespace().next() {
        Some("enabled") => "on",
        Some("disabled") => "off",
        Some(word @ ("on" | "off")) => word,
        _ => state,
    }
}

/// The loopback has no driver, no queue and no partner.
fn is_of_hardware(text: &str) -> bool {
    let tools = ["ethtool", "tc ", "ip link set", "tcpdump -e"];
    let files = [
        "/sys/class/net/{interface}",
        "/proc/net/bonding",
        "/proc/interrupts",
    ];
    let of_interface =
        text.contains("{interface}") && tools.iter().any(|tool| text.starts_with(tool));
    of_interface || files.iter().any(|file| text.contains(file))
}

fn last_number(value: &str) -> Option<f64> {
    value.split_whitespace().last()?.parse().ok()
}

/// Of a value that was not read.
const BEFORE: &str = "<the value before>";
const LOOPBACK: &str = "lo";

#[cfg(test)]
mod tests;
