// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iw`, `iwconfig`, `ip link`: an old standard of Wi-Fi, a station as a port of a bridge.

use std::collections::BTreeSet;

use linerate_model::map::Map;

use super::{Fact, number_after};
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let has = |mark: &str| lines.iter().any(|line| line.text.contains(mark));
    let reported = (has("802.11") || has("itrate")).then(|| standard(lines));
    let bridged = has("wl").then(|| bridged(lines));
    [reported.flatten(), bridged.flatten()]
        .into_iter()
        .flatten()
        .collect()
}

/// `IEEE 802.11g  ESSID`, or a bit rate that only 802.11g or b has: rates of later ones have an MCS. Slow rates are used at
/// rest, too.
fn standard(lines: &[Line<'_>]) -> Option<Fact> {
    let mut is_five = false;
    let mut found = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text;
        if let Some(mhz) = number_after(text, "freq: ").or_else(|| number_after(text, "Frequency:"))
        {
            is_five = mhz > 4000.0 || (4.0..8.0).contains(&mhz);
        }
        let named = [("IEEE 802.11g ", "802.11g"), ("IEEE 802.11b ", "802.11b")];
        let named = named
            .iter()
            .find(|(mark, _)| text.contains(mark) && text.contains("ESSID"));
        let by_rate = rate(text).and_then(|rate| match rate {
            36.0 | 48.0 | 54.0 => Some("802.11g"),
            _ => None,
        });
        let name = named
            .map(|(_, name)| *name)
            .or_else(|| by_rate.filter(|_| !is_five));
        found = name
            .map(|name| Fact::new("wifi_standard", name, line.number))
            .or(found);
    }
    found
}

/// `tx bitrate: 54.0 MBit/s`, `Bit Rate=54 Mb/s`, without an MCS.
fn rate(text: &str) -> Option<f64> {
    let marks = ["tx bitrate:", "Bit Rate=", "Bit Rate:"];
    let rest = marks.iter().find_map(|mark| text.split_once(mark))?.1;
    let is_old = !rest.contains("MCS") && (rest.contains("MBit/s") || rest.contains("Mb/s"));
    number_after(rest, "").filter(|_| is_old)
}

/// Whether a station is in a bridge or below a macvlan. An access point may be, or one with four addresses.
fn bridged(lines: &[Line<'_>]) -> Option<Fact> {
    let mut kinds: Map<&str, &str> = Map::new();
    let mut four: BTreeSet<&str> = BTreeSet::new();
    let mut members: Vec<(&str, u64)> = Vec::new();
    let mut name = "";
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text.trim();
        if refused(text) {
            return Some(Fact::new(
                "wifi_station_in_bridge_or_macvlan",
                true,
                line.number,
            ));
        }
        if let Some(found) = text.strip_prefix("Interface ") {
            name = found.trim();
        } else if let Some(kind) = text.strip_prefix("type ") {
            kinds.insert(name, kind);
        } else if text.starts_with("4addr: on") {
            four.insert(name);
        }
        if let Some((radio, mode)) = text.split_once(" IEEE 802.11") {
            name = radio.trim();
            kinds.extend(mode.contains("Mode:Managed").then_some((name, "managed")));
        } else if text.starts_with("Mode:Managed") {
            kinds.insert(name, "managed");
        } else if text.starts_with("Mode:Master") {
            kinds.insert(name, "AP");
        }
        members.extend(member(text).map(|radio| (radio, line.number)));
    }
    let known = members.iter().filter_map(|(radio, line)| {
        let kind = kinds.get(radio)?;
        Some((*kind == "managed" && !four.contains(radio), *line))
    });
    let (value, line) = known.max_by_key(|(value, _)| *value)?;
    Some(Fact::new("wifi_station_in_bridge_or_macvlan", value, line))
}

/// `can't add wlan0 to bridge br0: Operation not supported`.
fn refused(text: &str) -> bool {
    let rest = text.split_once("can't add wl").map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.contains(" to bridge ") && rest.contains("not supported"))
}

/// The radio of `3: wlan0: <…> … master br0`, `7: macvlan0@wlan0: <…>`.
fn member(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once(": <")?;
    let (_, name) = before.split_once(": ")?;
    let (own, lower) = name.split_once('@').unwrap_or((name, ""));
    if lower.starts_with("wl")
        && (own.contains("macvlan") || own.contains("mac") || own.starts_with("eth"))
    {
        return Some(lower);
    }
    let master = rest.split_once(" master ")?.1;
    (own.starts_with("wl") && (master.starts_with("br") || master.starts_with("vmbr")))
        .then_some(own)
}

const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn an_old_standard() {
        is(
            "\tfreq: 2437\n\ttx bitrate: 54.0 MBit/s\n",
            "wifi_standard",
            Some("802.11g"),
        );
        is(
            "\tfreq: 5180\n\ttx bitrate: 54.0 MBit/s\n",
            "wifi_standard",
            None,
        );
        is(
            "\tfreq: 2437\n\ttx bitrate: 144.4 MBit/s MCS 15 short GI\n",
            "wifi_standard",
            None,
        );
        is(
            "wlan0     IEEE 802.11g  ESSID:\"home\"\n",
            "wifi_standard",
            Some("802.11g"),
        );
        is(
            "wlan0     IEEE 802.11bgn  ESSID:\"home\"\n          Bit Rate=65 Mb/s\n",
            "wifi_standard",
            None,
        );
        is("supports 54.0 MBit/s\n", "wifi_standard", None);
    }

    #[test]
    fn a_station_in_a_bridge() {
        let name = "wifi_station_in_bridge_or_macvlan";
        let link = "3: wlan0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq master br0 state UP\n";
        let iw = |kind: &str| {
            format!("{link}phy#0\n\tInterface wlan0\n\t\tifindex 3\n\t\ttype {kind}\n")
        };
        is(&iw("managed"), name, Some("true"));
        is(&iw("AP"), name, Some("false"));
        is(
            &format!("{}\t\t4addr: on\n", iw("managed")),
            name,
            Some("false"),
        );
        is(link, name, None);
        is(
            "can't add wlan0 to bridge br0: Operation not supported\n",
            name,
            Some("true"),
        );
    }
}
