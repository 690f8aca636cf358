// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a proposal may be tried: what the tables of tunables say of its settings, and what the user consents to.

use linerate_knowledge::{Consent, Risk, Tunable, tunable_of};
use linerate_model::output::{Host, Role};

use super::candidate::{Proposal, Proposals};

/// What the user allows, and the hosts as the check described them.
#[derive(Debug)]
pub(super) struct Permission<'a> {
    /// By `--consent`.
    pub(super) consents: &'a [Consent],
    /// In a lab nothing outside it is changed, so that no consent is needed.
    pub(super) in_lab: bool,
    /// The hosts.
    pub(super) hosts: &'a [Host],
}

impl Permission<'_> {
    /// Leaves to a person what may not be tried.
    pub(super) fn withhold(&self, found: &mut Proposals) {
        for mut proposal in std::mem::take(&mut found.all) {
            match self.refusal(&proposal) {
                Some(why) => found.leave(&proposal.finding, &why),
                None => {
                    interrupts(&mut proposal);
                    found.all.push(proposal);
                }
            }
        }
    }

    /// Why not.
    pub(super) fn refusal(&self, proposal: &Proposal) -> Option<String> {
        let mut settings = proposal.wanted.iter();
        settings.find_map(|one| match tunable_of(&one.knob) {
            None => Some(format!("{} is in no table of tunables", one.knob)),
            Some(tunable) => self.of_tunable(tunable, proposal.host, one.interface.as_deref()),
        })
    }

    fn of_tunable(&self, tunable: &Tunable, host: Role, interface: Option<&str>) -> Option<String> {
        let driver = interface.and_then(|name| self.driver(host, name));
        let refused = driver.and_then(|driver| Some((driver, tunable.refused_on(driver)?)));
        if let Some((driver, because)) = refused {
            return Some(format!("not with the driver {driver}: {because}"));
        }
        if tunable.risk == Risk::Reboot {
            return Some("it is in force only after a reboot".to_owned());
        }
        let consent = tunable.consent?;
        let is_given = self.in_lab || self.consents.contains(&consent);
        (!is_given).then(|| {
            let (word, what) = (consent.word(), consequence(consent));
            format!("it needs --consent {word}: {what}")
        })
    }

    fn driver(&self, host: Role, interface: &str) -> Option<&str> {
        let host = self.hosts.iter().find(|one| one.role == host)?;
        let mut interfaces = host.interfaces.iter();
        let interface = interfaces.find(|one| one.name == interface)?;
        interface.driver.as_deref()
    }
}

/// Where a table says that the link or a queue stops for a moment, so does the proposal.
fn interrupts(proposal: &mut Proposal) {
    let is_blip = |knob: &str| tunable_of(knob).is_some_and(|one| one.risk == Risk::Blip);
    if proposal.wanted.iter().any(|one| is_blip(&one.knob)) && proposal.risk.starts_with("live") {
        proposal.risk = proposal.risk.replacen("live", "blip", 1);
    }
}

/// What a user consents to.
pub(in crate::cli) const fn consequence(consent: Consent) -> &'static str {
    match consent {
        Consent::Pause => "pause frames stop everything that sends to a shared port",
        Consent::Mtu => "every host of the network needs the same MTU",
        Consent::Addresses => {
            "forged addresses are filtered otherwise, or this host answers for other addresses"
        }
        Consent::Firewall => "the firewall or connection tracking lets other packets pass",
        Consent::Power => "the machine needs more power and becomes warmer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_change::parse;
    use linerate_model::output::{Change, Finding, Interface};

    fn proposals(line: &str, risk: &str) -> Proposals {
        let finding = Finding {
            rule: "X".to_owned(),
            change: Some(Change {
                commands: vec![line.to_owned()],
                risk: risk.to_owned(),
                ..Change::default()
            }),
            ..Finding::default()
        };
        Proposals {
            all: vec![Proposal {
                host: Role::Local,
                finding,
                line: line.to_owned(),
                wanted: parse(line).unwrap(),
                risk: risk.to_owned(),
            }],
            by_hand: Vec::new(),
        }
    }

    fn after(line: &str, consents: &[Consent], in_lab: bool) -> Proposals {
        let mut found = proposals(line, "live: memory");
        let hosts = [Host {
            interfaces: vec![Interface {
                name: "eth0".to_owned(),
                driver: Some("e1000e".to_owned()),
                ..Interface::default()
            }],
            ..Host::default()
        }];
        let permission = Permission {
            consents,
            in_lab,
            hosts: &hosts,
        };
        permission.withhold(&mut found);
        found
    }

    /// The whole list: each word of consent has a setting that is not changed without it, and is changed with it.
    #[test]
    fn nothing_is_changed_without_its_own_consent() {
        for (line, consent) in [
            ("ethtool -A eth0 rx off tx off", Consent::Pause),
            ("ip link set dev eth0 mtu 9000", Consent::Mtu),
            (
                "sysctl -w net.ipv4.conf.eth0.rp_filter=2",
                Consent::Addresses,
            ),
            (
                "sysctl -w net.netfilter.nf_conntrack_max=262144",
                Consent::Firewall,
            ),
            (
                "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $g; done",
                Consent::Power,
            ),
        ] {
            for given in Consent::ALL {
                let found = after(line, &[*given], false);
                assert_eq!(found.all.len(), usize::from(*given == consent), "{line}");
            }
            let found = after(line, &[], false);
            let why = &found.by_hand[0].why;
            assert!(
                why.contains(&format!("--consent {}", consent.word())),
                "{why}"
            );
            assert_eq!(after(line, &[], true).all.len(), 1, "in a lab: {line}");
        }
    }

    #[test]
    fn what_no_table_knows_is_left_to_a_person() {
        let found = after("sysctl -w net.ipv4.tcp_fin_timeout=30", &[], true);
        assert_eq!(found.all.len(), 0);
        assert!(found.by_hand[0].why.contains("no table"));
    }

    #[test]
    fn a_setting_that_stops_the_link_is_said_to_do_so() {
        let found = after("ethtool -G eth0 rx 4096", &[], false);
        assert_eq!(found.all[0].risk, "blip: memory");
        let found = after(
            "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",
            &[],
            false,
        );
        assert_eq!(found.all[0].risk, "live: memory");
    }
}
