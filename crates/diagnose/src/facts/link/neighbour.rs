// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which hardware address answers for an address of an interface (RFC 826), as the other end's neighbour table has it.

use linerate_model::output::Role;

use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::setting::Setting;

/// What the neighbour table of an interface says of the other end, where that told its own addresses.
pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if !vantage.is_interface_alone() {
        return;
    }
    let (Some(table), Some(other)) = (neighbours(vantage), Other::of(vantage)) else {
        return;
    };
    let entries = table.values.iter();
    let answers = entries.filter_map(|(address, hardware)| other.answer(address, hardware));
    // One that is wrong tells more than those that are right.
    if let Some(answer) = answers.max_by_key(Answer::is_wrong) {
        answer.tell(&other.at(vantage, answer.holder), facts);
    }
}

/// Who answers for an address of the other end.
struct Answer<'r> {
    address: &'r str,
    /// The interface that has the address.
    holder: &'r str,
    /// The interface that answers; `None` if none of that host does.
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

/// What the other end says of itself.
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

    /// Who answers for an address, if it is one of that host.
    fn answer(&self, address: &'r str, hardware: &str) -> Option<Answer<'r>> {
        let holder = self.held.values.get(address)?;
        let has_it = |own: &str| own.eq_ignore_ascii_case(hardware);
        let all = || self.hardware.values.iter();
        // A bridge, a bond and their ports may share one.
        let is_holders = all().any(|(name, own)| name == holder && has_it(own));
        let others = || all().find(|(_, own)| has_it(own));
        let from = is_holders.then_some(holder).or_else(|| Some(others()?.0));
        Some(Answer {
            address,
            holder,
            from: from.map(String::as_str),
        })
    }
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
        record.run.settings = vec![
            set(
                Role::Local,
                "ip neigh",
                Some("eth0"),
                &[("10.0.0.2", hardware), ("10.0.0.9", "02:00:00:00:00:99")],
            ),
            set(Role::Remote, "ip address", None, &[("10.0.0.2", "eth0")]),
            set(
                Role::Remote,
                "ip link address",
                None,
                &[
                    ("br0", "02:00:00:00:00:01"),
                    ("eth0", "02:00:00:00:00:01"),
                    ("eth1", "02:00:00:00:00:02"),
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
