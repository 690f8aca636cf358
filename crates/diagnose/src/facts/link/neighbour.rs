// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which hardware address answers for an address of an interface (RFC 826), as the other end's neighbour table has it.

use linerate_model::output::{Role, Test};

use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::Side;
use linerate_model::setting::Setting;

/// What the neighbour table of an interface says of the interface at the other end of its tests, where that end reported its own
/// addresses.
pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if !vantage.is_interface_alone() {
        return;
    }
    let (Some(table), Some(other)) = (neighbours(vantage), Other::of(vantage)) else {
        return;
    };
    let entries = table.values.iter();
    let answers = entries.filter_map(|(address, hardware)| other.answer(address, hardware));
    let answers = answers.filter(|answer| is_tested(vantage, answer.holder));
    // One that is wrong tells more than those that are right.
    if let Some(answer) = answers.max_by_key(Answer::is_wrong) {
        answer.tell(&other.at(vantage, answer.holder), facts);
    }
}

/// Whether a test ran between this interface and that of the other end. Two networks may use the same addresses: of other interfaces
/// there the table says nothing.
fn is_tested(vantage: &Vantage<'_>, holder: &str) -> bool {
    let is_at = |test: &Test, side: Side| {
        side.role(test) == vantage.host && side.interface(test) == vantage.interface
    };
    vantage.record.tests().any(|test| {
        let ours = [Side::Sender, Side::Receiver].into_iter();
        let mut ours = ours.filter(|side| is_at(test, *side));
        ours.any(|side| side.other().interface(test) == Some(holder))
    })
}

/// Who answers for an address of the other end.
struct Answer<'r> {
    address: &'r str,
    /// The interface that has the address.
    holder: &'r str,
    /// The interface that answers; `None` if no interface of that host does.
    from: Option<&'r str>,
}

impl Answer<'_> {
    fn is_wrong(&self) -> bool {
        self.from != Some(self.holder)
    }

    fn tell(&self, vantage: &Vantage<'_>, facts: &mut Facts) {
        let source = "ip neigh at the other end, ip address";
        let is_foreign = self.from.is_none();
        let mut add = |name, value: &str| vantage.add(facts, name, value, source);
        add("neighbour_address", self.address);
        add(
            "neighbour_answers_from",
            self.from.unwrap_or("another host"),
        );
        vantage.add(facts, "neighbour_is_foreign", is_foreign, source);
        let is_other = self.is_wrong() && !is_foreign;
        vantage.add(facts, "neighbour_is_other_interface", is_other, source);
    }
}

fn neighbours<'r>(vantage: &Vantage<'r>) -> Option<&'r Setting> {
    setting(vantage, vantage.host, "ip neigh", vantage.interface)
}

/// What the other end reports about its own link.
struct Other<'r> {
    role: Role,
    /// Address → interface.
    held: &'r Setting,
    /// Interface → hardware address.
    hardware: &'r Setting,
}

impl<'r> Other<'r> {
    fn of(vantage: &Vantage<'r>) -> Option<Self> {
        let role = match vantage.host {
            Role::Local => Role::Remote,
            Role::Remote => Role::Local,
            Role::Device => return None,
        };
        Some(Self {
            role,
            held: setting(vantage, role, "ip address", None)?,
            hardware: setting(vantage, role, "ip link address", None)?,
        })
    }

    /// An interface of that end.
    fn at(&self, vantage: &Vantage<'r>, interface: &'r str) -> Vantage<'r> {
        Vantage {
            host: self.role,
            interface: Some(interface),
            ..*vantage
        }
    }

    /// Who answers for an address, if it is one of an interface of that host that answers ARP at all (not the loopback).
    fn answer(&self, address: &'r str, hardware: &str) -> Option<Answer<'r>> {
        let holder = self.held.values.get(address)?.as_str();
        self.hardware.values.get(holder)?;
        let all = self.hardware.values.iter();
        let answering = all.filter_map(|(name, own)| answers_for(name, own, hardware));
        let answering: Vec<&str> = answering.collect();
        let is_holders = answering.contains(&holder);
        let other = || answering.first().copied();
        let from = is_holders.then_some(holder).or_else(other);
        Some(Answer {
            address,
            holder,
            from,
        })
    }
}

/// The interface that has this hardware address. A port answers for its bond or bridge: `02:00:5e:10:00:01 master bond0`.
fn answers_for<'r>(name: &'r str, own: &'r str, hardware: &str) -> Option<&'r str> {
    let (own, master) = own.split_once(" master ").unwrap_or((own, name));
    own.eq_ignore_ascii_case(hardware).then_some(master)
}

fn setting<'r>(
    vantage: &Vantage<'r>,
    host: Role,
    source: &str,
    interface: Option<&str>,
) -> Option<&'r Setting> {
    let mut all = vantage.record.run.settings.iter().rev();
    all.find(|setting| {
        setting.host == host
            && setting.source == source
            && setting.interface.as_deref() == interface
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;
    use crate::ledger;
    use linerate_model::record::Record;

    fn set(host: Role, source: &str, interface: Option<&str>, values: &[(&str, &str)]) -> Setting {
        let values = values.iter();
        Setting {
            host,
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values: values
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    /// What is said of the far end, whose address is answered for by `hardware`.
    fn said(hardware: &str) -> Vec<(String, String)> {
        let mut record = Record::default();
        record.run.tests = vec![Test {
            id: "t1".to_owned(),
            local_interface: Some("eth0".to_owned()),
            remote_interface: Some("bond0".to_owned()),
            ..Test::default()
        }];
        record.run.settings = vec![
            set(
                Role::Local,
                "ip neigh",
                Some("eth0"),
                &[
                    ("10.0.0.2", hardware),
                    ("10.0.0.3", "02:00:00:00:00:99"),
                    ("10.0.0.4", "02:00:00:00:00:99"),
                    ("10.0.0.9", "02:00:00:00:00:99"),
                ],
            ),
            set(
                Role::Remote,
                "ip address",
                None,
                &[
                    ("10.0.0.2", "bond0"),
                    ("10.0.0.3", "lo"),
                    ("10.0.0.4", "eth3"),
                ],
            ),
            set(
                Role::Remote,
                "ip link address",
                None,
                &[
                    ("bond0", "02:00:00:00:00:01"),
                    ("eth0", "02:00:00:00:00:01 master bond0"),
                    ("eth1", "02:00:00:00:00:02"),
                    ("eth2", "02:00:00:00:00:03 master bond0"),
                    ("eth3", "02:00:00:00:00:04"),
                ],
            ),
        ];
        let evidence = Evidence::of(&record);
        let facts = Facts::of(&evidence, &ledger::of(&evidence));
        let own = facts.list().iter();
        let own = own.filter(|fact| fact.name.starts_with("neighbour_"));
        own.map(|fact| (fact.name.clone(), fact.value.to_string()))
            .collect()
    }

    fn has(said: &[(String, String)], name: &str, value: &str) -> bool {
        said.iter().any(|(known, is)| known == name && is == value)
    }

    #[test]
    fn an_address_is_answered_for_by_its_interface_another_or_nobody() {
        for own in ["02:00:00:00:00:01", "02:00:00:00:00:03"] {
            let right = said(own);
            assert!(has(&right, "neighbour_answers_from", "bond0"), "{right:?}");
        }
        let right = said("02:00:00:00:00:01");
        assert!(
            has(&right, "neighbour_is_other_interface", "no"),
            "{right:?}"
        );
        assert!(has(&right, "neighbour_is_foreign", "no"), "{right:?}");
        let flux = said("02:00:00:00:00:02");
        assert!(
            has(&flux, "neighbour_is_other_interface", "yes"),
            "{flux:?}"
        );
        assert!(has(&flux, "neighbour_answers_from", "eth1"), "{flux:?}");
        let foreign = said("02:00:00:00:00:77");
        assert!(has(&foreign, "neighbour_is_foreign", "yes"), "{foreign:?}");
        assert!(
            has(&foreign, "neighbour_is_other_interface", "no"),
            "{foreign:?}"
        );
    }
}
