// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's log with its times: losses of a link that are hours apart, ports that a bridge keeps silent.

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    [hours_apart(lines), silent(lines)]
        .into_iter()
        .flatten()
        .collect()
}

/// Whether losses of the link are more than an hour apart.
fn hours_apart(lines: &[Line<'_>]) -> Option<Fact> {
    let marks = ["ink is Down", "ink is down", "ink Down", "ink down"];
    let is_down = |line: &&Line<'_>| {
        line.text.len() < LINE_MOST && marks.iter().any(|mark| line.text.contains(mark))
    };
    let downs: Vec<(f64, u64)> = lines
        .iter()
        .filter(is_down)
        .filter_map(|line| Some((time(line.text)?, line.number)))
        .collect();
    let apart = downs.windows(2).find_map(|pair| {
        let [(before, _), (after, line)] = pair else {
            return None;
        };
        (after - before > HOUR_S).then_some(*line)
    });
    let last = downs.get(1..)?.last()?;
    Some(Fact::new(
        "link_downs_hours_apart",
        apart.is_some(),
        apart.unwrap_or(last.1),
    ))
}

/// The longest time between `entered listening state` and `entered forwarding state` of a port, seconds.
fn silent(lines: &[Line<'_>]) -> Option<Fact> {
    let mut since: Map<&str, f64> = Map::new();
    let mut longest: Option<(f64, u64)> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let Some((before, state)) = line.text.split_once(" entered ") else {
            continue;
        };
        let (Some((_, port)), Some(now)) = (before.split_once(": port "), time(line.text)) else {
            continue;
        };
        if state.starts_with("listening") {
            since.insert(port, now);
        } else if let Some(start) = since.get(port).filter(|_| state.starts_with("forwarding")) {
            let seconds = now - start;
            let is_longer = longest.is_none_or(|(other, _)| seconds > other);
            longest = if is_longer {
                Some((seconds, line.number))
            } else {
                longest
            };
            since.remove(port);
        }
    }
    let (seconds, line) = longest.filter(|(seconds, _)| (0.0..120.0).contains(seconds))?;
    Some(Fact::new("first_seconds_after_link_lost", seconds, line))
}

/// `[ 120.829]`, `Mar  1 03:12:10`, `2024-03-01T03:12:10`, `[Fri Mar  1 03:12:10 2024]`, in seconds of any one origin.
fn time(text: &str) -> Option<f64> {
    let text = text.trim_start();
    if let Some((inside, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        if let Ok(seconds) = inside.trim().parse() {
            return Some(seconds);
        }
        return dated(inside.split_once(' ')?.1);
    }
    dated(text)
}

fn dated(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    if let Some(month) = MONTHS.iter().position(|name| *name == first) {
        let day: f64 = words.next()?.parse().ok()?;
        return Some((month as f64 * 31.0 + day) * 86_400.0 + clock(words.next()?)?);
    }
    let (date, inner) = first
        .split_once('T')
        .map_or((first, None), |(date, time)| (date, Some(time)));
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<f64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let time = match inner {
        Some(time) => time,
        None => words.next()?,
    };
    Some(((year * 12.0 + month) * 31.0 + day) * 86_400.0 + clock(time)?)
}

/// `03:12:10.5+01:00`.
fn clock(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes): (f64, f64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(hours * 3600.0 + minutes * 60.0 + super::number_after(parts.next()?, "")?)
}

const MONTHS: &[&str] = &[
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const HOUR_S: f64 = 3600.0;
const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn losses_that_are_hours_apart() {
        let name = "link_downs_hours_apart";
        is(
            "Mar  1 03:12:10 host kernel: igb eth0: NIC Link is Down\nMar  4 11:02:31 host kernel: igb eth0: NIC Link is Down\n",
            name,
            Some("true"),
        );
        is(
            "[  120.829] r8169 eth0: Link is Down\n[  255.999] r8169 eth0: Link is Down\n",
            name,
            Some("false"),
        );
        is(
            "2024-03-01T03:12:10.5+01:00 host kernel: eth0: Link is Down\n2024-03-01T05:12:10.5+01:00 host kernel: eth0: Link is Down\n",
            name,
            Some("true"),
        );
        is(
            "[Fri Mar  1 03:12:10 2024] eth0: Link is Down\n[Fri Mar  1 03:12:40 2024] eth0: Link is Down\n",
            name,
            Some("false"),
        );
        is("[  120.829] r8169 eth0: Link is Down\n", name, None);
        is("the link is down\nwhy is my link is down?\n", name, None);
    }

    #[test]
    fn a_port_that_is_kept_silent() {
        let name = "first_seconds_after_link_lost";
        let text = "[   10.0] br0: port 1(eth0) entered blocking state\n[   10.5] br0: port 1(eth0) entered listening state\n[   25.5] br0: port 1(eth0) entered learning state\n[   40.5] br0: port 1(eth0) entered forwarding state\n";
        is(text, name, Some("30"));
        is(&text.replace("listening", "disabled"), name, None);
    }
}
