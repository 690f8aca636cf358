// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of the interface that carries the test.

use super::reading::Reading;
use linerate_linux::nic::{self, Counters};
use linerate_wire::netlink::qdisc::Qdisc;

/// The sources of one interface.
#[derive(Debug)]
pub(super) struct InterfaceSources {
    name: String,
    /// As `ethtool -i` names it.
    pub(super) driver: Option<String>,
    counters: Counters,
}

impl InterfaceSources {
    pub(super) fn open(name: String) -> Option<Self> {
        let counters = Counters::open(&name).ok()?;
        let driver = nic::driver(&name).ok();
        Some(Self {
            name,
            driver,
            counters,
        })
    }

    /// The driver's own counters come first: asking for them makes some drivers refresh the others.
    pub(super) fn read(&mut self, mut add: impl FnMut(Reading)) {
        let name = &self.name;
        let mut add_all = |source, counters| {
            add(Reading {
                source,
                interface: Some(name.clone()),
                t_ns: None,
                counters,
            });
        };
        add_all("ethtool -S", self.counters.driver());
        add_all("rtnl_link_stats64", owned(self.counters.link()));
        let of_phy = self.counters.phy();
        for group in self.counters.standard().into_iter().chain(of_phy) {
            add_all(group.name, group.counters);
        }
        add_all("ethtool -I --show-fec", self.counters.fec());
        add_all("ethtool -I -a", owned(self.counters.pause()));
        add_all("qstats", owned(self.counters.queues()));
        add_all("tc -s qdisc", queueing(&self.counters.qdiscs()));
    }
}

/// The root's counters, and the drops of its children (of fq also the flow limit), named by child.
fn queueing(qdiscs: &[Qdisc]) -> Vec<(String, u64)> {
    let mut counters = Vec::new();
    for qdisc in qdiscs {
        if qdisc.is_root() {
            counters.extend(owned(qdisc.counters.clone()));
            continue;
        }
        let dropped = qdisc
            .counters
            .iter()
            .filter(|(name, _)| DROPS.contains(name));
        let named = |(name, drops): &(&str, u64)| (format!("{}.{name}", qdisc.name()), *drops);
        counters.extend(dropped.map(named));
    }
    counters
}

const DROPS: [&str; 2] = ["drops", "flows_plimit"];

fn owned(counters: Vec<(&'static str, u64)>) -> Vec<(String, u64)> {
    let own = |(name, value): (&str, u64)| (name.to_owned(), value);
    counters.into_iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::netlink::qdisc::ROOT;

    #[test]
    fn children_report_only_drops() {
        let qdisc = |kind: &str, parent, drops| Qdisc {
            kind: kind.to_owned(),
            parent,
            counters: vec![("packets", 9), ("drops", drops)],
            ..Qdisc::default()
        };
        let all = [
            qdisc("mq", ROOT, 3),
            qdisc("fq_codel", 1, 1),
            qdisc("fq_codel", 2, 2),
        ];
        let expected = [
            ("packets", 9),
            ("drops", 3),
            ("fq_codel 0: parent :1.drops", 1),
            ("fq_codel 0: parent :2.drops", 2),
        ];
        assert_eq!(queueing(&all), owned(expected.to_vec()));
    }
}
