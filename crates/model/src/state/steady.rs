// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a value must stay the same.

use std::borrow::Cow;

use super::{BUSY_AFTER, BUSY_BEFORE, BUSY_CLOCK};
use crate::output::MovedKind;
use crate::setting::Setting;

/// What the value is, and the part of it that must stay the same; `None` for a value that is not in the state vector.
pub(super) fn steady<'a>(
    setting: &Setting,
    name: &str,
    value: &'a str,
) -> Option<(MovedKind, Cow<'a, str>)> {
    let source = setting.source.as_str();
    let kind = match source {
        "sysctl" => (!changes_alone(name)).then_some(MovedKind::Setting),
        "ethtool" => return of_link(name, value),
        "ethtool -c" => (!is_adapted(setting, name)).then_some(MovedKind::Setting),
        "ethtool --show-eee" => (name != "EEE status").then_some(MovedKind::Setting),
        "ip link" => IP_LINK.contains(&name).then_some(MovedKind::Setting),
        BUSY_CLOCK => (name == BUSY_AFTER && fell(setting, value)).then_some(MovedKind::Clock),
        _ if ETHTOOL.contains(&source) || QUEUES.contains(&source) => Some(MovedKind::Setting),
        _ => return of_file(setting, name, value),
    };
    kind.map(|kind| (kind, Cow::Borrowed(value)))
}

/// The quality of the signal moves with the noise, and why there is no link is not always read.
fn of_link<'a>(name: &str, value: &'a str) -> Option<(MovedKind, Cow<'a, str>)> {
    let moves_alone = ["SQI", "Link Down Events"].contains(&name);
    let said = match name {
        "Link detected" => value.split(' ').next().unwrap_or(value),
        _ => value,
    };
    (!moves_alone).then_some((MovedKind::Setting, Cow::Borrowed(said)))
}

/// The value that a single reading holds as the one before: of a clock that is compared within a test.
pub(super) fn origin<'a>(setting: &'a Setting, name: &str) -> Option<&'a String> {
    let both = setting.source == BUSY_CLOCK && name == BUSY_AFTER;
    both.then(|| setting.values.get(BUSY_BEFORE)).flatten()
}

/// Of these only an increase is a change.
pub(super) fn only_grows(name: &str) -> bool {
    name.ends_with("_throttle_count")
}

/// The sources that are paths.
fn of_file<'a>(setting: &Setting, name: &str, value: &'a str) -> Option<(MovedKind, Cow<'a, str>)> {
    let source = setting.source.as_str();
    let plain = |kind| Some((kind, Cow::Borrowed(value)));
    if source.starts_with("/proc/irq/") {
        let wanted = [AFFINITY, EFFECTIVE_AFFINITY].contains(&name);
        return wanted.then(|| plain(MovedKind::Setting)).flatten();
    }
    if source.starts_with(CPU) && source.ends_with("/cpufreq") {
        return match name {
            "scaling_governor" | "scaling_driver" | "scaling_min_freq" => plain(MovedKind::Setting),
            "cpuinfo_max_freq" | "scaling_max_freq" => plain(MovedKind::Clock),
            _ => None,
        };
    }
    if source == THROTTLE && only_grows(name)
        || source.contains("/cooling_device") && name == "cur_state"
    {
        return plain(MovedKind::Clock);
    }
    let is_temperature = name == "temp" || name.starts_with("temp") && name.ends_with("_input");
    let reached = || reached(setting, name, value).to_string();
    is_temperature.then(|| (MovedKind::Temperature, Cow::Owned(reached())))
}

/// How many of its trip points (m°C) a temperature has reached. A zone's have names of their own; a sensor's begin as it
/// does: `temp1_input`, `temp1_max`.
fn reached(setting: &Setting, name: &str, value: &str) -> usize {
    let own = name.strip_suffix("input").unwrap_or_default();
    let Ok(temperature) = value.parse::<i64>() else {
        return 0;
    };
    let trips = setting.values.iter().filter(|(other, _)| {
        let is_limit = !other.ends_with("input") && *other != "temp" && *other != "type";
        is_limit && other.starts_with(own)
    });
    let points = trips.filter_map(|(_, point)| point.parse::<i64>().ok());
    points
        .filter(|point| *point > 0 && temperature >= *point)
        .count()
}

/// Whether a busy processor lost its frequency.
fn fell(setting: &Setting, value: &str) -> bool {
    let khz = |text: &str| text.parse::<f64>().ok();
    let before = setting.values.get(BUSY_BEFORE).and_then(|text| khz(text));
    before
        .zip(khz(value))
        .is_some_and(|(before, now)| now < HELD_RATIO * before)
}

/// Counts, and what the kernel extends when a module is loaded.
fn changes_alone(name: &str) -> bool {
    name.ends_with("_count") || name.contains("tcp_available_")
}

/// With adaptive moderation on, drivers show what it has chosen last.
fn is_adapted(setting: &Setting, name: &str) -> bool {
    let adaptive = |way: &str| {
        let switch = format!("adaptive-{way}");
        setting.values.get(&switch).is_some_and(|on| on == "on") && name.starts_with(way)
    };
    adaptive("rx") || adaptive("tx")
}

pub(super) const AFFINITY: &str = "smp_affinity_list";
pub(super) const EFFECTIVE_AFFINITY: &str = "effective_affinity_list";
const IP_LINK: [&str; 4] = ["mtu", "qdisc", "state", "txqueuelen"];
const ETHTOOL: [&str; 7] = [
    "ethtool --show-fec",
    "ethtool -a",
    "ethtool -g",
    "ethtool -k",
    "ethtool -l",
    "ethtool -n",
    "ethtool -x",
];
const QUEUES: [&str; 2] = ["tc qdisc", "/sys/class/net/queues"];
const CPU: &str = "/sys/devices/system/cpu/cpu";
const THROTTLE: &str = "/sys/devices/system/cpu/thermal_throttle";
/// A processor that is busy keeps its frequency within a few percent; throttling takes a tenth or more.
const HELD_RATIO: f64 = 0.9;
