// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that would set it to something else after the boot. Which one wins is said; where it is the other, nothing is written.

use super::kind::Kind;
use super::surroundings::{Config, Surroundings};
use super::{Kept, Refusal, ifupdown, networkd, sysctl};
use crate::parse::SHORT;

pub(super) fn none(kept: &Kept, kind: Kind<'_>, around: &Surroundings) -> Result<(), Refusal> {
    of_ifupdown(kept, around)?;
    let running = |program: &str| around.programs.iter().any(|name| name == program);
    match kind {
        Kind::Interrupt(_) if running("irqbalance") => Err(Refusal::new(
            "irqbalance moves interrupts every ten seconds, and wins",
        )
        .by_hand("systemctl disable --now irqbalance, then persist it again")),
        Kind::Governor => match GOVERNORS.into_iter().find(|program| running(program)) {
            Some(program) => Err(
                Refusal::new(format!("{program} sets the governor, and wins")).by_hand(format!(
                    "choose the governor in the configuration of {program}"
                )),
            ),
            None => Ok(()),
        },
        Kind::Sysctl(name) => of_tuned(name, &kept.value, around),
        Kind::Ethtool { option, words } => of_profiles(kept, option, words, around),
        Kind::Discipline => of_networkd(kept, around),
        _ => Ok(()),
    }
}

/// What to change for another MTU.
pub(super) fn mtu(kept: &Kept, around: &Surroundings) -> String {
    let of_networkd = networkd::mtu(network(kept, around));
    let of_networkd = of_networkd
        .map(|(file, bytes)| format!("{}: MTUBytes={}, now {bytes}", file.path, kept.value));
    let of_ifupdown = || {
        let line = ifupdown::lines(&around.ifupdown)
            .into_iter()
            .find(|line| is_the_same(kept, line))?;
        Some(format!(
            "{}: mtu {}, now {}",
            line.path, kept.value, line.wanted.value
        ))
    };
    of_networkd
        .or_else(of_ifupdown)
        .unwrap_or_else(|| crate::command(&kept.key, &kept.value))
}

/// The files by which networkd configures the interface.
fn network<'a>(kept: &Kept, around: &'a Surroundings) -> &'a [Config] {
    let Some(device) = kept.key.place.device() else {
        return &[];
    };
    let interface = around.interfaces.get(&device.name);
    interface.map_or(&[], |interface| &interface.network)
}

fn of_networkd(kept: &Kept, around: &Surroundings) -> Result<(), Refusal> {
    match networkd::discipline(network(kept, around)) {
        Some((file, section)) => Err(Refusal::new(format!(
            "systemd-networkd sets the queueing discipline from [{section}] ({}) when it configures the interface, and wins",
            file.path
        ))
        .by_hand(format!(
            "{}: the section for {}, or none, then persist it again",
            file.path, kept.value
        ))),
        None => Ok(()),
    }
}

/// ifup(8) runs after udev and systemd-sysctl; a unit of ours that waits for the interface may run before or after its commands.
fn of_ifupdown(kept: &Kept, around: &Surroundings) -> Result<(), Refusal> {
    let lines = ifupdown::lines(&around.ifupdown);
    let Some(line) = lines.iter().rev().find(|line| is_the_same(kept, line)) else {
        return Ok(());
    };
    let is_already = line.wanted.knob == kept.key.knob && line.wanted.value == kept.value;
    Err(match is_already {
        true => Refusal::new(format!("{} already sets it: `{}`", line.path, line.text)),
        false => Refusal::new(format!(
            "ifup sets it with `{}` ({}) when it brings the interface up, and wins",
            line.text, line.path
        ))
        .by_hand(format!(
            "{}: change or remove this line, then persist it again",
            line.path
        )),
    })
}

/// The same setting of the same interface: of words that are set together, one is enough.
fn is_the_same(kept: &Kept, line: &ifupdown::Line<'_>) -> bool {
    let is_of_it = match (kept.key.place.device(), &line.wanted.interface) {
        (Some(device), Some(name)) => *name == device.name,
        (_, named) => named.is_none(),
    };
    is_of_it
        && (line.wanted.knob == kept.key.knob || shares_a_word(&line.wanted.knob, &kept.key.knob))
}

fn shares_a_word(one: &str, other: &str) -> bool {
    match (Kind::of(one), Kind::of(other)) {
        (
            Some(Kind::Ethtool { option, words }),
            Some(Kind::Ethtool {
                option: of_other,
                words: others,
            }),
        ) => {
            option == of_other
                && words
                    .split(' ')
                    .any(|word| others.split(' ').any(|other| other == word))
        }
        _ => false,
    }
}

/// tuned sets the sysctls of its profile, then, unless it is configured not to, those of sysctl.d again.
fn of_tuned(name: &str, value: &str, around: &Surroundings) -> Result<(), Refusal> {
    let other = around.tuned.iter().find_map(|profile| {
        let set = sysctl::set(&profile.text, name)?;
        (set != value).then_some((profile, set))
    });
    match other {
        Some((profile, set)) if !around.tuned_reapplies => Err(Refusal::new(format!(
            "tuned sets it to {set} ({}), and wins: reapply_sysctl is 0",
            profile.path
        ))
        .by_hand("/etc/tuned/tuned-main.conf: reapply_sysctl = 1, then persist it again")),
        _ => Ok(()),
    }
}

/// NetworkManager applies the settings of a connection each time it activates it: nm-settings(5), ethtool.
fn of_profiles(
    kept: &Kept,
    option: &str,
    words: &str,
    around: &Surroundings,
) -> Result<(), Refusal> {
    let Some(device) = kept.key.place.device() else {
        return Ok(());
    };
    let family = FAMILIES.iter().find(|(own, _)| *own == option);
    let Some((_, family)) = family else {
        return Ok(());
    };
    let is_for_it = |profile: &&Config| {
        let name = value(&profile.text, "interface-name");
        name.is_none_or(|name| name == device.name)
    };
    let mut profiles = around.profiles.iter().filter(is_for_it);
    let set = profiles.find_map(|profile| {
        let mut keys = words
            .split(' ')
            .map(|word| format!("{family}-{}", short(word)));
        let key = keys.find(|key| value(&profile.text, key).is_some())?;
        Some((profile, key))
    });
    match set {
        Some((profile, key)) => Err(Refusal::new(format!(
            "NetworkManager sets {key} ({}) when it activates the connection, and wins",
            profile.path
        ))
        .by_hand(format!(
            "nmcli connection modify CONNECTION ethtool.{key} {}",
            kept.value
        ))),
        None => Ok(()),
    }
}

/// Features have the short names of ethtool(8) there.
fn short(word: &str) -> &str {
    let named = SHORT.iter().find(|(_, long)| *long == word);
    named.map_or(word, |(short, _)| short)
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        (left.trim() == key).then_some(right.trim())
    })
}

/// Their names in `comm`.
const GOVERNORS: [&str; 5] = [
    "tuned",
    "power-profiles-",
    "tlp",
    "auto-cpufreq",
    "cpufreqd",
];
const FAMILIES: [(&str, &str); 5] = [
    ("-G", "ring"),
    ("-C", "coalesce"),
    ("-A", "pause"),
    ("-L", "channels"),
    ("-K", "feature"),
];
