// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -k`, `--show-fec`: offloads that an upper device lacks, error correction that differs.

use super::Fact;
use crate::weigh::observed::Line;

/// The features of a device.
#[derive(Debug, Default)]
struct Features<'t> {
    name: &'t str,
    /// Names and whether they are on.
    all: Vec<(&'t str, bool)>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let devices = devices(lines);
    [all_off(&devices), upper_lacks(&devices), correction(lines)]
        .into_iter()
        .flatten()
        .collect()
}

/// Below `Features for eth0:`, `Offload parameters for eth0:`, or a command that names the device.
fn devices<'t>(lines: &[Line<'t>]) -> Vec<Features<'t>> {
    let mut all: Vec<Features<'t>> = Vec::new();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(name) = titled(line.text) {
            let repeats = all
                .last()
                .is_some_and(|last| last.all.is_empty() && last.name == name);
            if !repeats {
                all.push(Features {
                    name,
                    line: line.number,
                    ..Features::default()
                });
            }
        } else if let Some(feature) = feature(line.text) {
            if all.is_empty() {
                all.push(Features {
                    line: line.number,
                    ..Features::default()
                });
            }
            if let Some(last) = all.last_mut() {
                last.all.push(feature);
            }
        }
    }
    all
}

fn titled(text: &str) -> Option<&str> {
    let title = text.trim().strip_suffix(':').unwrap_or_default();
    let named = ["Features for ", "Offload parameters for "]
        .iter()
        .find_map(|start| title.strip_prefix(start));
    let command = || {
        let (_, rest) = text
            .split_once("ethtool -k ")
            .or_else(|| text.split_once("ethtool --show-features "))?;
        rest.split([' ', '|', ':']).next()
    };
    named.or_else(command).filter(|name| !name.is_empty())
}

/// `tcp-segmentation-offload: off [fixed]`.
fn feature(text: &str) -> Option<(&str, bool)> {
    let (name, value) = text.trim().split_once(": ")?;
    let is_on = match value.split_whitespace().next()? {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    FEATURES.contains(&name).then_some((name, is_on))
}

/// Whether a whole list has nothing on that works on packets.
fn all_off(devices: &[Features<'_>]) -> Option<Fact> {
    let last = devices
        .iter()
        .rfind(|one| one.all.len() >= FEATURES_LEAST)?;
    let on = last.all.iter().any(|(_, is_on)| *is_on);
    Some(Fact::new("all_offloads_off", !on, last.line))
}

/// `eth0.30` and `eth0`: a VLAN or tunnel, and its card.
fn upper_lacks(devices: &[Features<'_>]) -> Option<Fact> {
    let cuts = |one: &Features<'_>| {
        one.all
            .iter()
            .rfind(|(name, _)| name.starts_with("tcp-seg"))
            .map(|(_, is_on)| *is_on)
    };
    let upper = devices
        .iter()
        .filter(|one| is_upper(one.name) && cuts(one).is_some());
    let pair = upper.filter_map(|one| {
        let base = one.name.split('.').next().filter(|base| *base != one.name);
        let lower = devices.iter().find(|other| {
            base.map_or(!is_upper(other.name), |base| base == other.name) && cuts(other).is_some()
        })?;
        Some((cuts(lower)? && !cuts(one)?, one.line))
    });
    let (lacks, line) = pair.max_by_key(|(lacks, _)| *lacks)?;
    Some(Fact::new("upper_device_lacks_offloads", lacks, line))
}

fn is_upper(name: &str) -> bool {
    let starts = ["vlan", "vxlan", "gre", "tun", "geneve", "wg", "ppp"];
    name.contains('.') || starts.iter().any(|start| name.starts_with(start))
}

/// Whether the two ends that a text shows have different codes while there is no link.
fn correction(lines: &[Line<'_>]) -> Option<Fact> {
    let active = |line: &Line<'_>| {
        let text = line.text.trim();
        let value = text
            .strip_prefix("Active FEC encoding")?
            .trim_start_matches(['s', ':', ' ', '\t']);
        (!value.is_empty()).then(|| (value.to_ascii_lowercase(), line.number))
    };
    let all: Vec<(String, u64)> = lines.iter().filter_map(active).collect();
    let [one, other] = all.as_slice() else {
        return None;
    };
    let no_link = lines
        .iter()
        .any(|line| line.text.trim_start().starts_with("Link detected: no"));
    (no_link && one.0 != other.0).then(|| Fact::new("fec_differs", true, other.1))
}

const FEATURES: &[&str] = &[
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "tcp segmentation offload",
    "generic segmentation offload",
    "generic receive offload",
    "large-receive-offload",
];
/// A list with fewer was cut.
const FEATURES_LEAST: usize = 5;
const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    fn list(name: &str, tso: &str, gro: &str) -> String {
        format!(
            "Features for {name}:\nrx-checksumming: off\ntx-checksumming: off\n\ttx-checksum-ipv4: off\nscatter-gather: off\ntcp-segmentation-offload: {tso}\ngeneric-segmentation-offload: off\ngeneric-receive-offload: {gro}\n"
        )
    }

    #[test]
    fn nothing_is_on() {
        is(
            &list("eth0", "off", "off"),
            "all_offloads_off",
            Some("true"),
        );
        is(
            &list("eth0", "off", "on"),
            "all_offloads_off",
            Some("false"),
        );
        is("tcp-segmentation-offload: off\n", "all_offloads_off", None);
    }

    #[test]
    fn an_upper_device() {
        let name = "upper_device_lacks_offloads";
        is(
            &(list("eth0", "on", "on") + &list("eth0.30", "off [requested on]", "on")),
            name,
            Some("true"),
        );
        is(
            &(list("eth0", "on", "on") + &list("eth0.30", "on", "on")),
            name,
            Some("false"),
        );
        is(
            &(list("eth0", "on", "on") + &list("eth1", "off", "on")),
            name,
            None,
        );
        is(
            "ethtool -k eth0 | grep tcp-seg\ntcp-segmentation-offload: on\nethtool -k vlan30 | grep tcp-seg\ntcp-segmentation-offload: off\n",
            name,
            Some("true"),
        );
    }

    #[test]
    fn error_correction() {
        let text = "FEC parameters for ens1:\nConfigured FEC encodings: Auto\nActive FEC encoding: RS\n\tLink detected: no\nFEC parameters for ens2:\nActive FEC encoding: None\n";
        is(text, "fec_differs", Some("true"));
        is(&text.replace("None", "RS"), "fec_differs", None);
        is(
            &text.replace("detected: no", "detected: yes"),
            "fec_differs",
            None,
        );
    }
}
