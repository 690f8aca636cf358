// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine in the middle left, read again.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::super::nic::Nic;
use super::super::results::Results;
use super::mode::Mode;

/// Files of one pair of NIC and mode.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) nic: &'static Nic,
    pub(crate) mode: &'static Mode,
    results: Results,
}

impl Measured {
    pub(crate) fn of(nic: &'static Nic, mode: &'static Mode, directory: &Path) -> Self {
        let results = Results::of(nic, directory);
        Self { nic, mode, results }
    }

    pub(crate) fn is_there(&self) -> bool {
        self.results.document("forward").is_ok()
    }

    /// What `forward --json` printed; null if nothing that can be read.
    pub(crate) fn document(&self) -> Value {
        self.results.document("forward").unwrap_or_default()
    }

    /// What `report` showed at 80 columns.
    pub(crate) fn shown(&self) -> String {
        self.results.text("text")
    }

    pub(crate) fn page(&self) -> String {
        self.results.file("forward.html")
    }

    pub(crate) fn status(&self) -> String {
        self.results.file("forward.status").trim().to_owned()
    }

    /// What the guest counted during the whole run by its own tools: received at its first port, sent at its second.
    pub(crate) fn counted(&self) -> Result<[u64; 2], String> {
        let [before, after] = ["before", "after"].map(|step| devices(&self.results.text(step)));
        let grew = |port: &str, at: usize| {
            let of = |all: &BTreeMap<String, [u64; 2]>| Some(all.get(port)?[at]);
            let grew = of(&after)?.checked_sub(of(&before)?);
            grew.ok_or(()).ok()
        };
        let both = grew("eth0", 0).zip(grew("eth1", 1));
        let (received, sent) = both.ok_or("the guest's /proc/net/dev was not kept")?;
        Ok([received, sent])
    }
}

/// Packets received and sent of each interface of `/proc/net/dev`.
fn devices(text: &str) -> BTreeMap<String, [u64; 2]> {
    let line = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let number = |at: usize| numbers.get(at)?.parse().ok();
        Some((name.trim().to_owned(), [number(1)?, number(9)?]))
    };
    text.lines().filter_map(line).collect()
}

/// Trials of a document.
pub(crate) fn trials(document: &Value) -> &[Value] {
    document["trials"].as_array().map_or(&[], Vec::as_slice)
}

/// A count of a trial's one direction.
pub(crate) fn count(trial: &Value, name: &str) -> u64 {
    trial["directions"][0][name].as_u64().unwrap_or(0)
}

/// By how much the link of the device counted `name` during a trial; `None` without the device's counters.
pub(crate) fn of_device(trial: &Value, interface: &str, name: &str) -> Option<u64> {
    let counters = trial["device"]["counters"].as_array()?;
    let is_it = |one: &&Value| {
        one["interface"] == interface && one["name"] == name && one["source"] == "rtnl_link_stats64"
    };
    let found = counters.iter().find(is_it);
    Some(found.and_then(|one| one["delta"].as_u64()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packets_of_proc_net_dev_are_read() {
        let text =
            "Inter-|   Receive\n face |bytes packets\n  eth0: 60 7 0 0 0 0 0 0 900 8 0 0 0 0 0 0\n";
        assert_eq!(devices(text), [("eth0".to_owned(), [7, 8])].into());
    }

    #[test]
    fn a_counter_that_did_not_grow_is_zero_and_one_that_was_not_read_is_unknown() {
        let counter = json!({ "interface": "eth1", "name": "tx_packets", "delta": 9, "source": "rtnl_link_stats64" });
        let trial =
            json!({ "device": { "counters": [counter] }, "directions": [{ "lost_frames": 4 }] });
        assert_eq!(of_device(&trial, "eth1", "tx_packets"), Some(9));
        assert_eq!(of_device(&trial, "eth0", "tx_packets"), Some(0));
        assert_eq!(
            of_device(&json!({ "device": null }), "eth1", "tx_packets"),
            None
        );
        assert_eq!(count(&trial, "lost_frames"), 4);
    }
}
