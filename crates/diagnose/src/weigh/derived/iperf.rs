// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf`, `iperf3`: what its rows show together and with the rest of a text.

mod about;
mod labels;
mod row;

use linerate_model::map::Map;

use super::rate::rate_of;
use super::{Fact, number_after};
use crate::weigh::observed::Line;
use about::{About, names};
use labels::{CONTAINER, HOST, PLAIN, TUNNEL, directions, inside, labelled};
pub(super) use row::{Row, rows};

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let rows = rows(lines);
    let about = About::of(lines);
    let mut facts: Vec<Fact> = [threads(&about), default_rate(&rows, &about), peers(&about)]
        .into_iter()
        .flatten()
        .collect();
    if rows.is_empty() {
        return facts;
    }
    let measured = [
        stalled(&rows),
        standard_link(&rows),
        round(&rows),
        udp_over_tcp(&rows),
        fast_at_start(&rows),
        loss_at_low_rate(&rows, &about, lines),
        regularity(&rows),
        single_flow(&rows, lines),
        shaper(&rows, lines),
        one_member(&rows, lines),
        directions(&rows),
        labelled(&rows, "tunnel_over_plain_rate", TUNNEL, PLAIN),
        labelled(&rows, "container_over_host_rate", CONTAINER, HOST),
        inside(&rows),
    ];
    facts.extend(measured.into_iter().flatten());
    facts
}

/// Versions before 3.16 run all streams in one thread.
fn threads(about: &About) -> Option<Fact> {
    let (minor, line) = about.version?;
    (about.parallel || minor >= THREADS_SINCE)
        .then(|| Fact::new("iperf3_single_threaded", minor < THREADS_SINCE, line))
}

/// UDP at the rate that the tool takes where none is asked for.
fn default_rate(rows: &[Row<'_>], about: &About) -> Option<Fact> {
    let udp: Vec<&Row<'_>> = rows
        .iter()
        .filter(|row| row.is_udp && row.rate > 0.0)
        .collect();
    let is_default = |row: &&Row<'_>| (1.03e6..=1.06e6).contains(&row.rate);
    let first = udp.first()?;
    let asks = about.udp.is_some_and(|(_, asks)| asks);
    let all = udp.iter().filter(|row| is_default(row)).count() * 10 >= udp.len() * 8;
    Some(Fact::new(
        "udp_rate_is_tool_default",
        all && !asks,
        first.line,
    ))
}

fn peers(about: &About) -> Option<Fact> {
    (!about.peers.is_empty()).then(|| Fact::new("peers", about.peers.len(), about.peer_line))
}

/// Intervals in which nothing passed, of all.
fn stalled(rows: &[Row<'_>]) -> Option<Fact> {
    let intervals: Vec<&Row<'_>> = rows.iter().filter(|row| !row.is_total()).collect();
    let none = intervals.iter().filter(|row| row.rate <= 0.0).count();
    let line = intervals
        .last()
        .filter(|_| intervals.len() >= INTERVALS_LEAST)?
        .line;
    Some(Fact::new(
        "iperf_stalled_share",
        none as f64 / intervals.len() as f64,
        line,
    ))
}

/// What each run carried: its sum, or its rows of the receiver or the sender, with a line.
fn totals<'t>(rows: &[Row<'t>]) -> Vec<Row<'t>> {
    let mut runs: Map<usize, Vec<&Row<'t>>> = Map::new();
    for row in rows.iter().filter(|row| row.is_total()) {
        runs.entry(row.run).or_default().push(row);
    }
    let best = |own: Vec<&Row<'t>>| {
        let sum = own.iter().rev().find(|row| row.is_sum());
        let receiver = own.iter().find(|row| row.is_receiver);
        sum.or(receiver).or(own.last()).map(|row| (*row).clone())
    };
    runs.into_values().filter_map(best).collect()
}

fn fastest<'t>(rows: &[Row<'t>]) -> Option<Row<'t>> {
    let tcp = totals(rows).into_iter().filter(|row| !row.is_udp);
    tcp.max_by(|one, other| one.rate.total_cmp(&other.rate))
}

/// Whether TCP has what a usual link leaves for it.
fn standard_link(rows: &[Row<'_>]) -> Option<Fact> {
    let row = fastest(rows)?;
    let fits = LINKS
        .iter()
        .any(|link| (0.93..0.95).contains(&(row.rate / link)));
    Some(Fact::new("rate_fits_standard_link", fits, row.line))
}

/// At least two runs carried the same round rate that is no link's.
fn round(rows: &[Row<'_>]) -> Option<Fact> {
    let totals = totals(rows);
    let near = |one: f64, other: f64| (one / other - 1.0).abs() < 0.02;
    let highest = totals
        .iter()
        .max_by(|one, other| one.rate.total_cmp(&other.rate))?;
    let same = totals
        .iter()
        .filter(|row| near(row.rate, highest.rate))
        .count();
    let is_round = ROUND.iter().any(|mbit| {
        let of_round = highest.rate / (mbit * 1e6);
        (0.985..1.005).contains(&of_round)
    });
    (same > 1 && is_round).then(|| Fact::new("rate_is_round", true, highest.line))
}

fn udp_over_tcp(rows: &[Row<'_>]) -> Option<Fact> {
    let all = totals(rows);
    let udp = all
        .iter()
        .filter(|row| row.is_udp)
        .map(received)
        .max_by(f64::total_cmp)?;
    let tcp = fastest(rows).filter(|row| row.rate > 0.0)?;
    Some(Fact::new("udp_over_tcp", udp / tcp.rate, tcp.line))
}

/// What arrived of a row that may be the sender's.
fn received(row: &Row<'_>) -> f64 {
    let lost = row.lost.map_or(0.0, |(lost, all)| lost / all);
    if row.is_receiver {
        row.rate
    } else {
        row.rate * (1.0 - lost)
    }
}

/// The first intervals had a multiple of what the last half had, steadily.
fn fast_at_start(rows: &[Row<'_>]) -> Option<Fact> {
    let mut series: Map<(usize, &str), Vec<&Row<'_>>> = Map::new();
    for row in rows.iter().filter(|row| !row.is_total() && !row.is_udp) {
        series.entry((row.run, row.id)).or_default().push(row);
    }
    let falls = |own: &Vec<&Row<'_>>| {
        let (first, last) = (own.get(..own.len() / 5)?, own.get(own.len() / 2..)?);
        let (high, low) = (lowest(first)?, highest(last)?);
        (own.len() >= 10 && low > 0.0 && high > 2.0 * low)
            .then(|| own.first().map(|row| row.line))?
    };
    let line = series.values().find_map(falls)?;
    Some(Fact::new("fast_at_start_then_slow", true, line))
}

fn lowest(rows: &[&Row<'_>]) -> Option<f64> {
    rows.iter().map(|row| row.rate).min_by(f64::total_cmp)
}

fn highest(rows: &[&Row<'_>]) -> Option<f64> {
    rows.iter().map(|row| row.rate).max_by(f64::total_cmp)
}

/// UDP far below the link's rate loses; `false` where it does not, and more does.
fn loss_at_low_rate(rows: &[Row<'_>], about: &About, lines: &[Line<'_>]) -> Option<Fact> {
    rows.iter().find(|row| row.lost.is_some())?;
    let gigabit = || names(lines, &["gigabit", "Gigabit"]).then_some(1e9);
    let link = about.link.or_else(gigabit)?;
    let totals = totals(rows);
    let share = |row: &Row<'_>| row.lost.map(|(lost, all)| lost / all);
    let known = || {
        totals
            .iter()
            .filter_map(|row| Some((row.rate / link, share(row)?, row.line)))
    };
    let lossy = |(_, share, _): &(f64, f64, u64)| (0.0005..0.2).contains(share);
    let low = known().filter(|(rate, ..)| *rate < 0.2).collect::<Vec<_>>();
    let (_, _, line) = *low.first()?;
    if low.iter().all(lossy) {
        return Some(Fact::new("loss_at_low_rate", true, line));
    }
    let clean = low.iter().all(|(_, share, _)| *share < 0.0001);
    (clean && known().any(|(rate, share, _)| rate > 0.5 && share > 0.001))
        .then(|| Fact::new("loss_at_low_rate", false, line))
}

/// How alike the times between intervals with loss are: 1 is a clock.
fn regularity(rows: &[Row<'_>]) -> Option<Fact> {
    let intervals = rows.iter().filter(|row| !row.is_total());
    let lossy = intervals.filter(|row| row.lost.is_some_and(|(lost, _)| lost > 0.0));
    let times: Vec<(usize, f64, u64)> = lossy.map(|row| (row.run, row.from_s, row.line)).collect();
    let (run, _, line) = *times.first()?;
    let times: Vec<f64> = times
        .iter()
        .filter(|one| one.0 == run)
        .map(|one| one.1)
        .collect();
    Some(Fact::new(
        "loss_regularity",
        super::regularity(&times, 1.5)?,
        line,
    ))
}

/// One flow of a cloud's instance has just what its provider allows one.
fn single_flow(rows: &[Row<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let row = fastest(rows).filter(|row| !row.is_sum())?;
    let allowed = (4.6e9..5.05e9).contains(&row.rate) || (9.2e9..10.05e9).contains(&row.rate);
    let in_cloud = || names(lines, CLOUD);
    (allowed && in_cloud()).then(|| Fact::new("single_flow_5_or_10_gbit", true, row.line))
}

/// Whether the rate is that of a shaper; `false` where it is far lower.
fn shaper(rows: &[Row<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let row = totals(rows)
        .into_iter()
        .max_by(|one, other| one.rate.total_cmp(&other.rate))?;
    let rates: Vec<f64> = lines.iter().filter_map(|line| shaped(line.text)).collect();
    let is_its = |rate: &f64| (0.85..1.02).contains(&(row.rate / rate));
    let least = rates.iter().copied().min_by(f64::total_cmp)?;
    if rates.iter().any(is_its) {
        return Some(Fact::new("measured_is_shaper_rate", true, row.line));
    }
    (row.rate < 0.8 * least).then(|| Fact::new("measured_is_shaper_rate", false, row.line))
}

/// The rate of `qdisc tbf … rate 100Mbit`, `qdisc cake … bandwidth 900Mbit`, `class htb … rate … ceil …`, `police … rate`.
fn shaped(text: &str) -> Option<f64> {
    let is_shaper = SHAPERS.iter().any(|mark| text.contains(mark));
    let text = is_shaper.then_some(text)?;
    let marks = [" ceil ", " rate ", " bandwidth ", " maxrate "];
    let (_, rest) = marks.iter().find_map(|mark| text.split_once(mark))?;
    let word = rest.split_whitespace().next()?;
    rate_of(&[word]).filter(|rate| *rate > 0.0)
}

/// A bond of several links carries just what one of them does.
fn one_member(rows: &[Row<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let members = lines
        .iter()
        .filter(|line| line.text.trim_start().starts_with("Slave Interface: "))
        .count();
    let speeds = lines
        .iter()
        .filter_map(|line| line.text.trim_start().strip_prefix("Speed: "));
    let speed = speeds
        .filter(|text| text.contains("Mbps"))
        .find_map(|text| number_after(text, ""))?;
    let row = fastest(rows).filter(|_| members > 1)?;
    let ratio = row.rate / (speed * 1e6);
    Some(Fact::new(
        "measured_is_one_member_rate",
        (0.88..0.97).contains(&ratio),
        row.line,
    ))
}

const LINE_MOST: usize = 400;
const INTERVALS_LEAST: usize = 4;
const THREADS_SINCE: f64 = 16.0;
/// Rates of links, bits a second.
pub(super) const LINKS: &[f64] = &[1e7, 1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 1e11];
const ROUND: &[f64] = &[
    20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0,
    600.0, 800.0, 2000.0, 3000.0, 4000.0, 5000.0,
];
const CLOUD: &[&str] = &[
    "EC2",
    "ec2",
    "AWS",
    "aws",
    "driver: ena",
    " ena ",
    "amazon",
    "placement group",
];
const SHAPERS: &[&str] = &[
    "qdisc tbf",
    "qdisc cake",
    "class htb",
    "class hfsc",
    "police ",
    "qdisc netem",
    "maxrate",
];

#[cfg(test)]
mod tests;
