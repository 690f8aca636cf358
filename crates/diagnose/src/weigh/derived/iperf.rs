// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf`, `iperf3`: what its rows show together and with the rest of a text.

use std::collections::{BTreeMap, BTreeSet};

use super::rate::rate_of;
use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// A row of one interval.
#[derive(Debug, Clone)]
pub(super) struct Row<'t> {
    /// `5`, `SUM`.
    id: &'t str,
    from_s: f64,
    to_s: f64,
    /// Bits a second.
    pub(super) rate: f64,
    /// Lost and all datagrams.
    lost: Option<(f64, f64)>,
    is_udp: bool,
    is_receiver: bool,
    pub(super) line: u64,
    /// Of which run, from 0.
    run: usize,
    /// What stands above, before, and behind it.
    labels: [&'t str; 3],
}

impl Row<'_> {
    /// Whether it covers a whole run.
    fn is_total(&self) -> bool {
        self.from_s < 0.5 && self.to_s > 1.5
    }

    /// Whether another run begins with `next`.
    fn is_before(&self, next: &Self) -> bool {
        self.is_total()
            && self.id == next.id
            && next.from_s < 0.5
            && (!next.is_total() || self.has_other_label(next))
    }

    /// Rows of the sender and of the receiver of one run differ in nothing else.
    fn has_other_label(&self, next: &Self) -> bool {
        self.labels[1] != next.labels[1] || self.is_receiver == next.is_receiver
    }

    /// Whether a label has one of the marks and none of the others.
    fn is_labelled(&self, marks: &[&str], others: &[&str]) -> bool {
        let has = |marks: &[&str]| {
            self.labels
                .iter()
                .any(|label| marks.iter().any(|mark| label.contains(mark)))
        };
        has(marks) && !has(others)
    }

    fn is_sum(&self) -> bool {
        self.id == "SUM"
    }
}

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

/// The rows of all runs.
pub(super) fn rows<'t>(lines: &[Line<'t>]) -> Vec<Row<'t>> {
    let mut all: Vec<Row<'t>> = Vec::new();
    let (mut run, mut is_udp, mut above) = (0, false, "");
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text.trim_start();
        if begins(text) {
            run += 1;
            is_udp = text.contains("UDP") || text.contains(" -u");
        }
        is_udp |= text.starts_with("[ ID]") && text.contains("Datagrams");
        if let Some(mut row) = row(line) {
            run += usize::from(
                all.last()
                    .is_some_and(|last| last.run == run && last.is_before(&row)),
            );
            (row.run, row.is_udp, row.labels[0]) = (run, row.is_udp || is_udp, above);
            all.push(row);
        } else if is_label(text) {
            above = text;
        }
    }
    all
}

/// Whether a run begins.
fn begins(text: &str) -> bool {
    BEGINS.iter().any(|mark| text.starts_with(mark)) || text.contains("iperf")
}

fn is_label(text: &str) -> bool {
    let is_own = text.starts_with(['[', '-']) || text.starts_with("iperf Done");
    !text.is_empty() && !is_own && text.len() < LABEL_MOST
}

/// `[  5]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec    0  sender`, of any version; what stands before it is a label.
fn row<'t>(line: &Line<'t>) -> Option<Row<'t>> {
    let text = line.text;
    let (before, rest) = text.contains("bits/sec").then(|| text.split_once('['))??;
    let (id, rest) = rest.split_once(']')?;
    let rest = rest
        .trim_start()
        .trim_start_matches("[TX-C]")
        .trim_start_matches("[RX-C]");
    let (span, after) = rest.split_once(" sec")?;
    let (from, to) = span.trim().split_once('-')?;
    let (rates, tail) = after.split_once("bits/sec")?;
    let rates: Vec<&str> = rates.split_whitespace().collect();
    let (prefix, digits) = unit_and_number(&rates)?;
    Some(Row {
        id: id.trim(),
        from_s: from.trim().parse().ok()?,
        to_s: to.trim().parse().ok()?,
        rate: digits * prefix,
        lost: lost(tail),
        is_udp: lost(tail).is_some(),
        is_receiver: tail.contains("receiver"),
        line: line.number,
        run: 0,
        labels: ["", before, tail],
    })
}

/// `940 M`
fn unit_and_number(words: &[&str]) -> Option<(f64, f64)> {
    let (last, before) = words.split_last()?;
    let scale = |prefix: &str| match prefix {
        "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    };
    match scale(last) {
        Some(scale) => Some((scale, before.last()?.parse().ok()?)),
        None => Some((1.0, last.parse().ok()?)),
    }
}

/// `0.020 ms  36/17267 (0.21%)`, `36/ 17267 (0.21%)`
fn lost(tail: &str) -> Option<(f64, f64)> {
    let (before, _) = tail.split_once('(')?;
    let (lost, all) = before.split_once('/')?;
    let lost = lost.split_whitespace().next_back()?.parse().ok()?;
    let all: f64 = all.trim().parse().ok()?;
    (all > 0.0).then_some((lost, all))
}

/// What the text says of the tests and the machines.
#[derive(Default)]
struct About {
    /// Minor version of iperf3 and a line.
    version: Option<(f64, u64)>,
    is_iperf2: bool,
    parallel: bool,
    /// A command for UDP, with its line and whether it asks for a rate.
    udp: Option<(u64, bool)>,
    /// The link's rate, bits a second.
    link: Option<f64>,
    peers: BTreeSet<String>,
    peer_line: u64,
}

impl About {
    fn of(lines: &[Line<'_>]) -> Self {
        let mut about = Self::default();
        for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
            about.read(line);
        }
        about
    }

    fn read(&mut self, line: &Line<'_>) {
        let text = line.text;
        if text.contains("iperf") {
            self.tool(line);
        }
        if let Some(speed) = text.trim_start().strip_prefix("Speed: ") {
            self.link = number_after(speed, "")
                .map(|speed| speed * 1e6)
                .or(self.link);
        }
        if let Some((_, rest)) = text
            .starts_with('[')
            .then(|| text.split_once(" connected to "))
            .flatten()
            .filter(|_| text.contains(" port "))
        {
            let peer = rest.split_whitespace().next().unwrap_or_default();
            self.peers.insert(peer.to_owned());
            self.peer_line = line.number;
        }
    }

    fn tool(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some(minor) = number_after(text, "iperf 3.") {
            self.version = Some((minor.trunc(), line.number));
        }
        self.is_iperf2 |= text.contains("iperf version 2");
        let words: Vec<&str> = text.split_whitespace().collect();
        let several = |at: usize| {
            words
                .get(at + 1)
                .and_then(|next| next.parse::<u32>().ok())
                .is_some_and(|one| one > 1)
        };
        let has_streams = |(at, word): (usize, &&str)| match word.strip_prefix("-P") {
            Some("") => several(at),
            Some(count) => count.parse::<u32>().is_ok_and(|count| count > 1),
            None => false,
        };
        self.parallel |= words.iter().enumerate().any(has_streams);
        let asks = words.iter().any(|word| {
            word.starts_with("-b")
                || word.starts_with("--bandwidth")
                || word.starts_with("--bitrate")
        });
        let sends = words
            .iter()
            .any(|word| *word == "-c" || *word == "--client");
        let of_udp = words
            .iter()
            .any(|word| matches!(*word, "-u" | "--udp" | "-uc" | "-cu"));
        if of_udp && (sends || asks) {
            self.udp = Some((line.number, asks));
        }
    }
}

fn names(lines: &[Line<'_>], marks: &[&str]) -> bool {
    lines
        .iter()
        .any(|line| marks.iter().any(|mark| line.text.contains(mark)))
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
    let mut runs: BTreeMap<usize, Vec<&Row<'t>>> = BTreeMap::new();
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
    let mut series: BTreeMap<(usize, &str), Vec<&Row<'_>>> = BTreeMap::new();
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

/// The faster direction over the slower one.
fn directions(rows: &[Row<'_>]) -> Option<Fact> {
    let totals = totals(rows);
    let of = |back: bool| {
        let own = totals
            .iter()
            .filter(move |row| !row.is_udp && row.is_labelled(BACK, &[]) == back);
        own.max_by(|one, other| one.rate.total_cmp(&other.rate))
    };
    let (there, back) = (of(false)?, of(true)?);
    let (low, high) = (there.rate.min(back.rate), there.rate.max(back.rate));
    (low > 0.0).then(|| Fact::new("direction_ratio", high / low, back.line))
}

/// The highest rate under one label over that under another one.
fn labelled(rows: &[Row<'_>], name: &'static str, one: &[&str], other: &[&str]) -> Option<Fact> {
    let totals = totals(rows);
    let of = |marks: &[&str], not: &[&str]| {
        let own = totals.iter().filter(|row| row.is_labelled(marks, not));
        own.map(|row| (row.rate, row.line))
            .max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let ((rate, line), (base, _)) = (of(one, other)?, of(other, &[])?);
    (base > 0.0).then(|| Fact::new(name, rate / base, line))
}

/// Fast inside the own network and slow outside; `false` where both are alike.
fn inside(rows: &[Row<'_>]) -> Option<Fact> {
    let fact = labelled(rows, "inside_fast_outside_slow", OUTSIDE, INSIDE)?;
    let ratio: f64 = fact.value.parse().ok()?;
    (!(0.5..=0.8).contains(&ratio)).then(|| Fact {
        value: (ratio < 0.5).to_string(),
        ..fact
    })
}

const LABEL_MOST: usize = 160;
/// Labels of the direction from the server.
const BACK: &[&str] = &[" -R", "-R ", "everse mode", "erver to client", "ownload"];
const TUNNEL: &[&str] = &[
    "VPN", "vpn", "unnel", "ireguard", "ireGuard", "IPsec", "ipsec", " wg", "tun0",
];
const PLAIN: &[&str] = &[
    "ithout",
    "irect",
    "plain",
    "no VPN",
    "no vpn",
    "bare",
    "underlay",
    "nencrypted",
];
const CONTAINER: &[&str] = &["ontainer", "ocker", "podman", " pod", "pod:", "pod "];
const HOST: &[&str] = &[
    "host:",
    "on the host",
    "host to host",
    "bare metal",
    "the host itself",
    "host network",
];
const INSIDE: &[&str] = &[
    "inside",
    "Inside",
    "LAN",
    " lan",
    "ocal network",
    "same switch",
];
const OUTSIDE: &[&str] = &["outside", "Outside", "WAN", "nternet", "public server"];
const LINE_MOST: usize = 400;
const INTERVALS_LEAST: usize = 4;
const THREADS_SINCE: f64 = 16.0;
const BEGINS: &[&str] = &[
    "Connecting to host",
    "Client connecting",
    "Server listening",
    "Accepted connection",
];
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
mod tests {
    use super::super::values;
    use super::*;

    fn shows(text: &str, name: &str) -> Option<String> {
        let found = values(text, facts).into_iter();
        found
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| value)
            .next()
    }

    #[test]
    fn udp_at_the_default_rate() {
        let name = "udp_rate_is_tool_default";
        let row =
            "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.01 ms  0/906 (0%)  receiver\n";
        assert_eq!(
            shows(&format!("$ iperf3 -c 192.0.2.9 -u\n{row}"), name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&format!("$ iperf3 -c 192.0.2.9 -u -b 1M\n{row}"), name).as_deref(),
            Some("false")
        );
        let old = "Client connecting to h, UDP port 5001\n[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n";
        assert_eq!(shows(old, name).as_deref(), Some("true"));
        let tcp = "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec    0  sender\n";
        assert_eq!(shows(tcp, name), None);
    }

    #[test]
    fn threads_of_versions() {
        let name = "iperf3_single_threaded";
        assert_eq!(
            shows("iperf 3.7 (cJSON 1.5.2)\niperf3 -c h -P 8\n", name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows("iperf 3.17.1 (cJSON 1.7.15)\n", name).as_deref(),
            Some("false")
        );
        assert_eq!(
            shows("iperf 3.7 (cJSON 1.5.2)\niperf3 -c h -P 1\n", name),
            None
        );
    }

    #[test]
    fn rates_of_links_shapers_and_members() {
        let row = |rate: &str| format!("[  5]   0.00-10.00  sec  112 MBytes  {rate}  receiver\n");
        assert_eq!(
            shows(&row("94.1 Mbits/sec"), "rate_fits_standard_link").as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&row("431 Mbits/sec"), "rate_fits_standard_link").as_deref(),
            Some("false")
        );
        let shaper = "qdisc tbf 8001: dev eth0 root refcnt 2 rate 100Mbit burst 128Kb lat 50ms\n";
        let name = "measured_is_shaper_rate";
        assert_eq!(
            shows(&format!("{shaper}{}", row("95.4 Mbits/sec")), name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&format!("{shaper}{}", row("12 Mbits/sec")), name).as_deref(),
            Some("false")
        );
        assert_eq!(shows(&row("95.4 Mbits/sec"), name), None);
        let bond =
            "Slave Interface: eth0\nSpeed: 1000 Mbps\nSlave Interface: eth1\nSpeed: 1000 Mbps\n";
        let name = "measured_is_one_member_rate";
        assert_eq!(
            shows(&format!("{bond}{}", row("938 Mbits/sec")), name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&format!("{bond}{}", row("1.85 Gbits/sec")), name).as_deref(),
            Some("false")
        );
    }

    #[test]
    fn courses_of_a_test() {
        let interval = |at: usize, rate: &str| {
            format!(
                "[  5]  {at}.00-{}.00  sec  10 MBytes  {rate}  0  1 MBytes\n",
                at + 1
            )
        };
        let falling: String = (0..12)
            .map(|at| {
                interval(
                    at,
                    if at < 4 {
                        "980 Mbits/sec"
                    } else {
                        "200 Mbits/sec"
                    },
                )
            })
            .collect();
        assert_eq!(
            shows(&falling, "fast_at_start_then_slow").as_deref(),
            Some("true")
        );
        assert_eq!(shows(&falling, "iperf_stalled_share").as_deref(), Some("0"));
        let stalled: String = (0..8)
            .map(|at| {
                interval(
                    at,
                    if at < 2 {
                        "9.8 Mbits/sec"
                    } else {
                        "0.00 bits/sec"
                    },
                )
            })
            .collect();
        assert_eq!(
            shows(&stalled, "iperf_stalled_share").as_deref(),
            Some("0.75")
        );
        assert_eq!(shows(&stalled, "fast_at_start_then_slow"), None);
    }

    #[test]
    fn loss_at_any_rate() {
        let name = "loss_at_low_rate";
        let rows = "iperf3 -u -b 20M\n[  5]   0.00-10.00  sec  23.8 MBytes  20.0 Mbits/sec  0.020 ms  36/17267 (0.21%)\niperf3 -u -b 600M\n[  5]   0.00-10.00  sec  596 MBytes  600 Mbits/sec  0.018 ms  889/431680 (0.21%)\n";
        assert_eq!(
            shows(&format!("Speed: 1000Mb/s\n{rows}"), name).as_deref(),
            Some("true")
        );
        assert_eq!(shows(rows, name), None);
        let clean = rows.replace("36/17267", "0/17267");
        assert_eq!(
            shows(&format!("Speed: 1000Mb/s\n{clean}"), name).as_deref(),
            Some("false")
        );
    }

    #[test]
    fn labels_above_before_and_behind() {
        let row =
            |rate: &str| format!("[  5]   0.00-10.00  sec  112 MBytes  {rate} Mbits/sec  receiver");
        let text = format!(
            "{}    # through the VPN\n{}    # without\n",
            row("50.0"),
            row("500")
        );
        assert_eq!(
            shows(&text, "tunnel_over_plain_rate").as_deref(),
            Some("0.1")
        );
        let text = format!("container: {}\nhost:      {}\n", row("765"), row("1530"));
        assert_eq!(
            shows(&text, "container_over_host_rate").as_deref(),
            Some("0.5")
        );
        let text = format!("inside:  {}\noutside: {}\n", row("941"), row("49.6"));
        assert_eq!(
            shows(&text, "inside_fast_outside_slow").as_deref(),
            Some("true")
        );
        let text = format!(
            "$ iperf3 -c h\n{}\n\niperf Done.\n$ iperf3 -c h -R\n{}\n",
            row("941"),
            row("230")
        );
        assert_eq!(
            shows(&text, "direction_ratio").as_deref(),
            Some("4.091304347826087")
        );
        assert_eq!(
            shows(
                &format!("$ iperf3 -c h\n{}\n", row("941")),
                "direction_ratio"
            ),
            None
        );
    }

    #[test]
    fn other_outputs_show_nothing() {
        assert_eq!(
            values(
                "Speed: 1000Mb/s\n[  12.3] eth0: link up\nRX bytes 12\n",
                facts
            ),
            []
        );
    }
}
