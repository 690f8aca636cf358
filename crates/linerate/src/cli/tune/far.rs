// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two hosts of a campaign: this one, and with `--remote` the other one through an agent there. No change stays that
//! cuts the path to its host.

use std::collections::BTreeMap;
use std::time::Duration;

use linerate_change::remote::{Terms, Way};
use linerate_change::{Confirming, Far, Hand, Key, Local, Memory};
use linerate_linux::management::Management;
use linerate_linux::{host, nic};
use linerate_model::failure::Failure;
use linerate_model::order::Gather as _;
use linerate_model::output::Role;

use super::candidate::{Proposal, Proposals};
use super::stage::Hands;
use crate::cli::agent::warded;
use crate::cli::args::FarFlags;
use crate::cli::session::Session;

/// The hosts, and which of their interfaces carry the management session.
pub(in crate::cli) struct Reached<'h> {
    /// Whose settings can be changed.
    pub(in crate::cli) hands: Hands<'h>,
    /// Why an interface carries it.
    management: BTreeMap<(Role, String), String>,
    /// What the hosts call themselves.
    names: BTreeMap<Role, String>,
}

impl<'h> Reached<'h> {
    /// This host alone, and nothing is changed: for `--dry-run`.
    ///
    /// # Errors
    /// `/proc` is not mounted.
    pub(super) fn only_shown() -> Result<Self, Failure> {
        let here = Local::here(Memory::default());
        let here = here.map_err(|why| Failure::measuring("read the settings of this host", why))?;
        Ok(Self {
            hands: [(Role::Local, boxed(here))].into(),
            management: carried(&Management::of_session()),
            names: own_name(),
        })
    }

    /// Both hosts of a lab: what is cut there ends with the lab.
    pub(in crate::cli) fn in_lab(hands: Hands<'h>) -> Self {
        Self {
            hands,
            management: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    /// What the hosts call themselves.
    pub(super) fn names(&self) -> BTreeMap<Role, String> {
        self.names.clone()
    }

    /// This host, and the other one if the flags say how.
    ///
    /// # Errors
    /// There is no place for a journal; the other host is not reached.
    pub(in crate::cli) fn open(
        flags: &FarFlags,
        session: &mut Session,
        host: &str,
    ) -> Result<Self, Failure> {
        let within = Duration::from_millis(flags.confirm_within);
        let failed = |why| Failure::measuring("change settings of this host", why);
        let management = Management::of_session();
        let here = warded(super::journal()?, &management).map_err(failed)?;
        let here = Confirming::probing(here, within, Box::new(has_carrier));
        let mut reached = Self {
            hands: [(Role::Local, boxed(here))].into(),
            management: carried(&management),
            names: own_name(),
        };
        if let Some(way) = way(flags, host) {
            reached.add(&way, within, session)?;
        }
        Ok(reached)
    }

    fn add(&mut self, way: &Way, within: Duration, session: &mut Session) -> Result<(), Failure> {
        let terms = Terms {
            silence: Terms::default().silence + within,
            ..Terms::default()
        };
        let far = Far::open(way, terms, &session.interrupt)?;
        for sentence in sentences(&far) {
            session.console.say(&sentence);
        }
        let of_way = far.process().map(Management::of_process);
        self.management.extend(carried(&of_way.unwrap_or_default()));
        for (interface, why) in &far.hello().management {
            let at = (Role::Remote, interface.clone());
            self.management.insert(at, why.clone());
        }
        self.names
            .insert(Role::Remote, far.hello().hostname.clone());
        let far = boxed(Confirming::new(far, within));
        self.hands.insert(Role::Remote, far);
        Ok(())
    }

    /// Leaves to a person what is out of reach, or would interrupt the management session.
    pub(super) fn withhold(&self, found: &mut Proposals, flags: &FarFlags) {
        let all = std::mem::take(&mut found.all);
        for proposal in all {
            match self.refusal(&proposal, flags) {
                Some(why) => found.leave(&proposal.finding, &why),
                None => found.all.push(proposal),
            }
        }
    }

    /// Why something is not to be changed.
    pub(in crate::cli) fn refusal(&self, proposal: &Proposal, flags: &FarFlags) -> Option<String> {
        let cuts = || self.cuts(proposal).filter(|_| !flags.allow_management);
        self.out_of_reach(proposal, flags).or_else(cuts)
    }

    /// A dry run with `--remote` shows what would be tried there, and does not go there.
    fn out_of_reach(&self, proposal: &Proposal, flags: &FarFlags) -> Option<String> {
        let is_asked = flags.remote.is_some() || flags.remote_command.is_some();
        let is_reached = self.hands.contains_key(&proposal.host) || is_asked;
        (!is_reached).then(|| "it is a setting of the peer: --remote".to_owned())
    }

    fn cuts(&self, proposal: &Proposal) -> Option<String> {
        let interfaces = proposal
            .wanted
            .iter()
            .filter_map(|one| one.interface.clone());
        let mut carrying = interfaces.filter_map(|name| {
            let why = self.management.get(&(proposal.host, name.clone()))?;
            Some(format!(
                "it interrupts {name}, which carries the management session ({why}): --allow-management"
            ))
        });
        carrying
            .next()
            .filter(|_| proposal.risk.starts_with("blip"))
    }
}

fn own_name() -> BTreeMap<Role, String> {
    let name = host::describe([]).hostname.unwrap_or_default();
    [(Role::Local, name)].into()
}

fn boxed<'h>(hand: impl Hand + Send + 'h) -> Box<dyn Hand + Send + 'h> {
    Box::new(hand)
}

fn way(flags: &FarFlags, host: &str) -> Option<Way> {
    let by_command = flags.remote_command.as_ref();
    let by_command = by_command.map(|line| Way::Command { line: line.clone() });
    by_command.or_else(|| {
        let named = flags.remote.as_ref()?;
        let host = if named.is_empty() { host } else { named };
        Some(Way::Ssh {
            host: host.to_owned(),
        })
    })
}

/// Who is there, and what a user should know.
fn sentences(far: &Far) -> Vec<String> {
    let hello = far.hello();
    let name = match hello.hostname.as_str() {
        "" => "the other host",
        name => name,
    };
    let mut all = vec![format!("changes settings of {name}, too")];
    if hello.uid != 0 {
        all.push(format!(
            "warning: the agent on {name} is not root (uid {}): most writes will be refused",
            hello.uid
        ));
    }
    if hello.left > 0 {
        all.push(format!(
            "warning: {} changes on {name} were left by a process that has ended: `linerate tune restore` there",
            hello.left
        ));
    }
    all
}

/// The interfaces of this host that carry these connections.
fn carried(management: &Management) -> BTreeMap<(Role, String), String> {
    let all = management.interfaces().into_iter();
    all.map(|(name, why)| ((Role::Local, name), why)).gather()
}

/// A change of this host is confirmed by this host: what it may cut is the link.
fn has_carrier(key: &Key) -> Result<(), String> {
    let Some(device) = key.place.device() else {
        return Ok(());
    };
    let links = nic::list().map_err(|why| why.to_string())?;
    match links.into_iter().find(|link| link.index == device.index) {
        Some(link) if link.carrier => Ok(()),
        _ => Err(format!("{} has no link", device.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_change::Wanted;
    use linerate_model::output::{Change, Finding};

    fn flags(allow_management: bool) -> FarFlags {
        FarFlags {
            remote: Some(String::new()),
            remote_command: None,
            confirm_within: 60_000,
            allow_management,
        }
    }

    fn proposal(host: Role, interface: &str, risk: &str) -> Proposal {
        Proposal {
            host,
            finding: Finding {
                rule: "E01".to_owned(),
                host,
                change: Some(Change::default()),
                ..Finding::default()
            },
            line: String::new(),
            wanted: vec![Wanted {
                knob: "ethtool -G rx".to_owned(),
                interface: Some(interface.to_owned()),
                value: "4096".to_owned(),
            }],
            risk: risk.to_owned(),
        }
    }

    #[test]
    fn what_interrupts_the_management_session_is_left_to_a_person() {
        let reached = Reached {
            hands: Hands::new(),
            management: [((Role::Remote, "eth0".to_owned()), "the route".to_owned())].into(),
            names: BTreeMap::new(),
        };
        for (host, interface, risk, allow, tried) in [
            (Role::Remote, "eth0", "blip: the link", false, false),
            (Role::Remote, "eth0", "blip: the link", true, true),
            (Role::Remote, "eth0", "live", false, true),
            (Role::Remote, "eth1", "blip", false, true),
            (Role::Remote, "eth2", "blip", false, true),
        ] {
            let mut found = Proposals {
                all: vec![proposal(host, interface, risk)],
                by_hand: Vec::new(),
            };
            reached.withhold(&mut found, &flags(allow));
            assert_eq!(found.all.len(), usize::from(tried), "{interface} {risk}");
            assert_eq!(found.by_hand.len(), usize::from(!tried));
            if let Some(one) = found.by_hand.first() {
                assert!(
                    one.why.contains("(the route): --allow-management"),
                    "{}",
                    one.why
                );
            }
        }
    }

    #[test]
    fn settings_of_a_peer_that_is_not_to_be_changed_are_left_to_a_person() {
        let reached = Reached {
            hands: Hands::new(),
            management: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        let mut found = Proposals {
            all: vec![proposal(Role::Remote, "eth0", "live")],
            by_hand: Vec::new(),
        };
        let none = FarFlags {
            remote: None,
            ..flags(false)
        };
        reached.withhold(&mut found, &none);
        assert!(found.all.is_empty());
        assert_eq!(
            found.by_hand[0].why,
            "it is a setting of the peer: --remote"
        );
    }

    #[test]
    fn the_other_host_is_reached_as_the_flags_say() {
        let named = |remote: Option<&str>, command: Option<&str>| FarFlags {
            remote: remote.map(str::to_owned),
            remote_command: command.map(str::to_owned),
            ..flags(false)
        };
        let ssh = |host: &str| {
            Some(Way::Ssh {
                host: host.to_owned(),
            })
        };
        assert_eq!(way(&named(None, None), "h"), None);
        assert_eq!(way(&named(Some(""), None), "h"), ssh("h"));
        assert_eq!(way(&named(Some("root@h"), None), "h"), ssh("root@h"));
        let line = "doas linerate".to_owned();
        assert_eq!(
            way(&named(None, Some(&line)), "h"),
            Some(Way::Command { line })
        );
    }

    #[test]
    fn a_link_without_carrier_cannot_be_confirmed() {
        let lo = nic::link("lo").unwrap();
        let key = |index| Key {
            knob: "ethtool -G rx".to_owned(),
            place: linerate_change::Place::Interface {
                netns: 1,
                device: linerate_change::Device {
                    name: "lo".to_owned(),
                    index,
                    permanent_address: None,
                    bus: None,
                },
            },
        };
        assert_eq!(has_carrier(&key(lo.index)).is_ok(), lo.carrier);
        assert_eq!(
            has_carrier(&key(u32::MAX)),
            Err("lo has no link".to_owned())
        );
    }
}
