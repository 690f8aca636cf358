// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of all machines, and the page around it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::results::{Results, findings, lost_by_stage, setting};

/// The table, in Markdown.
pub(crate) fn markdown(all: &[Results]) -> String {
    rows(COLUMNS, all.iter().map(row))
}

/// A table of these columns, in Markdown.
pub(super) fn rows<const N: usize>(
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let line = |cells: String| format!("| {cells} |\n");
    let head = line(columns.join(" | ")) + &line(columns.map(|_| "---").join(" | "));
    rows.fold(head, |text, row| text + &line(row.join(" | ")))
}

const COLUMNS: [&str; 12] = [
    "NIC",
    "driver",
    "counters",
    "rings rx, tx",
    "channels",
    "coalescing",
    "pause",
    "EEE",
    "registers",
    "up, down, Mbit/s",
    "lost, by stage",
    "findings",
];

fn row(results: &Results) -> [String; COLUMNS.len()] {
    let inspect = results.document("inspect").unwrap_or_default();
    let check = results.document("check-from-guest").unwrap_or_default();
    [
        results.nic.name.to_owned(),
        driver(&inspect),
        counters(results),
        rings(&inspect),
        channels(&inspect),
        coalescing(&inspect),
        pause(&inspect),
        energy(&inspect),
        registers(results),
        rates(&check),
        losses(results),
        first(&check),
    ]
    .map(|cell| cell.replace('|', "\\|"))
}

fn driver(inspect: &Value) -> String {
    let values = setting(inspect, "ethtool -i");
    word(values, "driver").unwrap_or_else(none)
}

fn counters(results: &Results) -> String {
    let (all, unknown) = (results.counters().len(), results.unknown_counters().len());
    match (all, unknown) {
        (0, _) => none(),
        (all, 0) => all.to_string(),
        (all, unknown) => format!("{all}, {unknown} without meaning here"),
    }
}

fn rings(inspect: &Value) -> String {
    let values = setting(inspect, "ethtool -g");
    let ring = |way: &str| {
        let of = |what| word(values, &format!("{way}.{what}"));
        Some(format!("{} of {}", of("current")?, of("max")?))
    };
    let both: Vec<String> = ["RX", "TX"].into_iter().filter_map(ring).collect();
    or_none(both.join(", "))
}

fn channels(inspect: &Value) -> String {
    let values = setting(inspect, "ethtool -l");
    let one = |key: &&str| {
        let now = word(values, &format!("{key}.current")).filter(|now| now != "0")?;
        Some(format!(
            "{} {now} of {}",
            key.to_lowercase(),
            word(values, &format!("{key}.max"))?
        ))
    };
    let all: Vec<String> = ["RX", "TX", "Combined"].iter().filter_map(one).collect();
    or_none(all.join(", "))
}

fn coalescing(inspect: &Value) -> String {
    let values = setting(inspect, "ethtool -c");
    let one = |key| Some(format!("{key} {}", word(values, key)?));
    let all: Vec<String> = ["rx-usecs", "rx-frames"]
        .into_iter()
        .filter_map(one)
        .collect();
    or_none(all.join(", "))
}

fn pause(inspect: &Value) -> String {
    let facts = inspect["facts"].as_array().into_iter().flatten();
    let named = |name: &str| {
        let mut named = facts.clone().filter(|fact| fact["name"] == name);
        Some(format!("{name} {}", named.next()?["value"].as_str()?))
    };
    let both: Vec<String> = ["pause_rx", "pause_tx"]
        .into_iter()
        .filter_map(named)
        .collect();
    or_none(both.join(", ").replace("pause_", ""))
}

fn energy(inspect: &Value) -> String {
    let values = setting(inspect, "ethtool --show-eee");
    word(values, "EEE status").unwrap_or_else(none)
}

fn registers(results: &Results) -> String {
    let document = results.document("regs").unwrap_or_default();
    match document["registers"].as_array().map_or(0, Vec::len) {
        0 => none(),
        count => count.to_string(),
    }
}

fn rates(check: &Value) -> String {
    let verdicts = check["verdicts"].as_array().into_iter().flatten();
    let rate = |direction: &str| {
        let mut of_it = verdicts.clone().filter(|one| one["direction"] == direction);
        let rate = of_it.next()?["achieved_bits_per_second"].as_f64()?;
        Some(format!("{:.0}", rate / 1e6))
    };
    let both: Vec<String> = ["up", "down"].into_iter().filter_map(rate).collect();
    or_none(both.join(", "))
}

/// Of the steps that send more than a guest takes, each way.
fn losses(results: &Results) -> String {
    let of_step = |step: &str| {
        let document = results.document(step).unwrap_or_default();
        let lost: BTreeMap<String, u64> = lost_by_stage(&document);
        let all: Vec<String> = lost
            .iter()
            .map(|(stage, lost)| format!("{stage} {lost}"))
            .collect();
        match all.is_empty() {
            true => "none".to_owned(),
            false => all.join(", "),
        }
    };
    format!(
        "up: {}; down: {}",
        of_step("udp-above-up"),
        of_step("udp-above-down")
    )
}

/// The first, and how many are more than possible.
fn first(check: &Value) -> String {
    let all = findings(check);
    let sure = all.iter().filter(|one| one.strength != "weak").count();
    match all.first() {
        None => "none".to_owned(),
        Some(first) => format!(
            "{sure} above *possible*; first: {} ({})",
            first.title, first.rule
        ),
    }
}

fn word(values: Option<&Value>, key: &str) -> Option<String> {
    values?[key].as_str().map(str::to_owned)
}

fn none() -> String {
    "–".to_owned()
}

fn or_none(text: String) -> String {
    if text.is_empty() { none() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_says_what_was_read() {
        let inspect = json!({
            "settings": [
                { "source": "ethtool -g", "interface": "eth0",
                  "values": { "RX.current": "256", "RX.max": "4096", "TX.current": "64", "TX.max": "128" } },
                { "source": "ethtool -c", "interface": "eth1", "values": { "rx-usecs": "3" } },
            ],
            "facts": [{ "name": "pause_rx", "value": "on" }],
        });
        assert_eq!(rings(&inspect), "256 of 4096, 64 of 128");
        assert_eq!(coalescing(&inspect), "–", "of another interface");
        assert_eq!(pause(&inspect), "rx on");
    }

    #[test]
    fn the_first_finding_is_with_the_number_of_those_above_possible() {
        let finding = |rule: &str, strength: &str| json!({ "rule": rule, "title": "t", "strength": strength });
        let check = json!({ "findings": [finding("A", "consistent"), finding("B", "weak")] });
        assert_eq!(first(&check), "1 above *possible*; first: t (A)");
        assert_eq!(first(&json!({})), "none");
    }
}
