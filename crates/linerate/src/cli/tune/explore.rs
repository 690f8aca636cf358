// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--explore`: the tunables that matter, without a finding that proposes them.

use std::io;

use linerate_change::{Hand, Key, Place, Wanted, command};
use linerate_knowledge::{Knobs, Tunable};
use linerate_model::output::{Output, Role};

use super::aim::{Aim, Aims};
use super::candidate::{Proposal, Proposals};
use super::stage::Hands;

/// Adds what no finding proposes: of each tunable that can improve the check's figures the value most worth trying, where the
/// host has it and another one.
pub(super) fn add(found: &mut Proposals, hands: &mut Hands<'_>, check: &Output) {
    for aim in Aims::of(check).tunables() {
        for (host, hand) in hands.iter_mut().filter(|(host, _)| aim.is_of(**host)) {
            let interfaces = interfaces(check, *host);
            let all = proposals(hand.as_mut(), *host, &aim, &interfaces);
            let is_new = |one: &Proposal| !found.all.iter().any(|known| is_same(known, one));
            // Several names of one tunable are the same setting for all that it does.
            let new = all.into_iter().find(is_new);
            found.all.extend(new);
        }
    }
}

/// A finding has proposed another value of the same setting.
fn is_same(one: &Proposal, other: &Proposal) -> bool {
    let settings = |of: &Proposal| -> Vec<_> {
        let names = of.wanted.iter();
        names
            .map(|one| (one.knob.clone(), one.interface.clone()))
            .collect()
    };
    one.host == other.host && settings(one) == settings(other)
}

/// The interfaces that carried the tests.
fn interfaces(check: &Output, host: Role) -> Vec<String> {
    let of_host = check.hosts.iter().filter(|one| one.role == host);
    let all = of_host.flat_map(|one| one.interfaces.iter());
    all.map(|one| one.name.clone()).collect()
}

fn proposals(hand: &mut dyn Hand, host: Role, aim: &Aim, interfaces: &[String]) -> Vec<Proposal> {
    let (mut all, tunable) = (Vec::new(), aim.tunable);
    // What has a number in its name (a queue, an interrupt) is proposed by findings, which know which.
    let named = tunable.knobs.iter().map(Knobs::text);
    for knob in named.filter(|name| is_whole(name)) {
        let places = match needs_interface(knob) {
            true => interfaces.iter().map(|name| Some(name.as_str())).collect(),
            false => vec![None],
        };
        for interface in places {
            // A host without the setting has nothing to try.
            let one = value(hand, tunable, knob, interface).ok().flatten();
            all.extend(one.map(|(key, value)| Proposal {
                host,
                finding: aim.finding.clone(),
                line: command(&key, &value),
                wanted: vec![Wanted {
                    knob: knob.to_owned(),
                    interface: interface.map(str::to_owned),
                    value,
                }],
                risk: tunable.risk.word().to_owned(),
            }));
        }
    }
    all
}

fn is_whole(knob: &str) -> bool {
    !knob.contains('*') && !knob.contains("-N/") && !knob.ends_with(" N")
}

fn needs_interface(knob: &str) -> bool {
    ["ethtool ", "ip link ", "sysfs ", "qdisc", "tc "]
        .iter()
        .any(|tool| knob.starts_with(tool))
}

/// The first value that is worth trying.
fn value(
    hand: &mut dyn Hand,
    tunable: &Tunable,
    knob: &str,
    interface: Option<&str>,
) -> io::Result<Option<(Key, String)>> {
    let key = hand.key(knob, interface)?;
    if matches!(key.place, Place::Host) && interface.is_some() {
        return Ok(None);
    }
    let now = hand.read(&key)?;
    // One that cannot be read leaves the bounds of the table.
    let most = hand.most(&key).ok().flatten();
    // A feature that the driver does not let be switched.
    if most.as_ref() == Some(&now) && now.parse::<u64>().is_err() {
        return Ok(None);
    }
    let mut values = tunable.values(&now, most.as_deref()).into_iter();
    Ok(values.find(|value| *value != now).map(|value| (key, value)))
}
