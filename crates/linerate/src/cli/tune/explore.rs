// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--explore`: the tunables that matter, without a finding that proposes them.

use std::io;

use linerate_change::{Hand, Key, Place, Wanted, command};
use linerate_knowledge::{Knobs, Risk, Tunable, tunables};
use linerate_model::order;
use linerate_model::output::{Output, Role};

use super::aim::{Aim, Aims};
use super::candidate::{Proposal, Proposals};
use super::stage::Hands;

/// The WORD of `--explore`: part of the name of a setting that it tries; empty for all.
///
/// # Errors
/// No name has it.
pub(in crate::cli) fn word(text: &str) -> Result<String, String> {
    let mut names = tunables().iter().flat_map(names);
    match names.any(|name| name.contains(text)) {
        true => Ok(text.to_owned()),
        false => Err(format!("expected a part of one of: {}", all_names())),
    }
}

fn all_names() -> String {
    let mut all: Vec<&str> = tunables().iter().flat_map(names).collect();
    order::by(&mut all, |one, other| one.cmp(other));
    all.join(", ")
}

/// What has a number in its name (a queue, an interrupt) is proposed by findings, which know which.
fn names(tunable: &Tunable) -> impl Iterator<Item = &str> {
    let is_tried = tunable.risk != Risk::Reboot;
    let all = tunable.knobs.iter().map(Knobs::text);
    all.filter(move |name| is_tried && is_whole(name))
}

/// Adds what no finding proposes: of each tunable that can improve the check's figures the value most worth trying, where the
/// host has it and another one. Only settings whose name contains `word`.
pub(super) fn add(found: &mut Proposals, hands: &mut Hands<'_>, check: &Output, word: &str) {
    for aim in Aims::of(check).tunables() {
        for (host, hand) in hands.iter_mut().filter(|(host, _)| aim.is_of(**host)) {
            let interfaces = interfaces(check, *host);
            let mut all = proposals(hand.as_mut(), *host, &aim, &interfaces);
            all.retain(|one| one.wanted.iter().any(|setting| setting.knob.contains(word)));
            let is_new = |one: &Proposal| !found.all.iter().any(|known| is_same(known, one));
            match aim.has_aliases() {
                true => {
                    order::by(&mut all, |one, other| interface(one).cmp(&interface(other)));
                    let each = all.chunk_by(|one, other| interface(one) == interface(other));
                    let new = each.filter(|names| names.iter().all(is_new));
                    let new: Vec<Proposal> =
                        new.filter_map(|names| names.first().cloned()).collect();
                    found.all.extend(new);
                }
                false => {
                    let new: Vec<Proposal> = all.into_iter().filter(is_new).collect();
                    found.all.extend(new);
                }
            }
        }
    }
}

fn interface(one: &Proposal) -> Option<&String> {
    one.wanted.first()?.interface.as_ref()
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
    for knob in names(tunable) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_change::{Change, Device, End, Outcome};
    use linerate_model::output::{Host, Interface, Protocol, Test};

    /// Settings as a driver has them: value, and largest or only value.
    struct Driver(&'static [(&'static str, &'static str, Option<&'static str>)]);

    impl Driver {
        fn of(&self, knob: &str) -> io::Result<(String, Option<String>)> {
            let mut all = self.0.iter();
            let found = all.find(|(name, ..)| *name == knob);
            let (_, now, most) = found.ok_or(io::ErrorKind::NotFound)?;
            Ok(((*now).to_owned(), most.map(str::to_owned)))
        }
    }

    impl Hand for Driver {
        fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
            let device = |name: &str| Device {
                name: name.to_owned(),
                index: 2,
                permanent_address: None,
                bus: None,
            };
            let place = interface.map_or(Place::Host, |name| Place::Interface {
                netns: 1,
                device: device(name),
            });
            let knob = knob.to_owned();
            Ok(Key { knob, place })
        }

        fn read(&mut self, key: &Key) -> io::Result<String> {
            Ok(self.of(&key.knob)?.0)
        }

        fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
            Ok(self.of(&key.knob)?.1)
        }

        fn apply(&mut self, _change: Change) -> io::Result<Outcome> {
            Ok(Outcome::InForce)
        }

        fn undo(&mut self, _change: u64) -> io::Result<End> {
            Ok(End::Undone)
        }

        fn keep(&mut self, _change: u64) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is tried at the receiver of TCP that sends again.
    fn listed(driver: Driver, found: &mut Proposals) -> Vec<String> {
        let interface = Interface {
            name: "eth0".to_owned(),
            ..Interface::default()
        };
        let check = Output {
            hosts: vec![Host {
                role: Role::Remote,
                interfaces: vec![interface],
                ..Host::default()
            }],
            tests: vec![Test {
                protocol: Protocol::Tcp,
                retransmits: Some(9),
                ..Test::default()
            }],
            ..Output::new("tcp", "0.0.0")
        };
        let hand: Box<dyn Hand + Send> = Box::new(driver);
        add(found, &mut [(Role::Remote, hand)].into(), &check, "");
        found.all.iter().map(|one| one.line.clone()).collect()
    }

    #[test]
    fn each_driver_has_what_it_can_change_and_the_link_is_interrupted_last() {
        let e1000e = Driver(&[
            ("ethtool -G rx", "256", Some("4096")),
            ("ethtool -C rx-usecs", "3", None),
            ("ethtool -K generic-receive-offload", "on", None),
            ("ethtool -K receive-hashing", "on", None),
            ("ethtool -K rx-checksumming", "off", None),
            (
                "sysctl net.ipv4.tcp_rmem",
                "4096 131072 6291456",
                Some("8388608"),
            ),
            (
                "sysctl net.ipv4.tcp_wmem",
                "4096 16384 4194304",
                Some("8388608"),
            ),
        ]);
        let mut found = Proposals::default();
        assert_eq!(
            listed(e1000e, &mut found),
            [
                "ethtool -C eth0 rx-usecs 50",
                "ethtool -K eth0 rx-checksumming on",
                "sysctl -w net.ipv4.tcp_rmem='4096 131072 8388608'",
                "ethtool -G eth0 rx 4096",
            ]
        );
        assert_eq!(found.all[3].risk, "blip");
        let virtio = Driver(&[
            ("ethtool -G rx", "256", Some("256")),
            ("ethtool -L combined", "1", Some("2")),
            ("ethtool -K generic-receive-offload", "off", None),
            ("ethtool -K rx-gro", "off", None),
            // The host has none of it.
            ("ethtool -K receive-hashing", "off", Some("off")),
        ]);
        assert_eq!(
            listed(virtio, &mut Proposals::default()),
            [
                "ethtool -K eth0 generic-receive-offload on",
                "ethtool -L eth0 combined 2",
            ]
        );
        let veth = Driver(&[("ethtool -K rx-gro-hw", "off", Some("off"))]);
        assert_eq!(listed(veth, &mut Proposals::default()), [""; 0]);
    }

    /// By whatever name.
    #[test]
    fn what_a_finding_proposes_is_not_proposed_again() {
        let gro = Driver(&[
            ("ethtool -K generic-receive-offload", "off", None),
            ("ethtool -K rx-gro", "off", None),
        ]);
        let line = "ethtool -K eth0 generic-receive-offload on";
        let mut found = Proposals {
            all: vec![Proposal {
                host: Role::Remote,
                finding: linerate_model::output::Finding::default(),
                line: line.to_owned(),
                wanted: linerate_change::parse(line).unwrap(),
                risk: "live".to_owned(),
            }],
            by_hand: Vec::new(),
        };
        assert_eq!(listed(gro, &mut found).len(), 1);
    }
}
