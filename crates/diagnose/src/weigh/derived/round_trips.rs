// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips at rest and under load, by `ping` and by tests of an access; pings that are lost like clockwork.

use super::{Fact, number_after, regularity};
use crate::weigh::observed::Line;

/// What a run of ping sums up.
#[derive(Debug, Clone, Copy)]
struct Trip {
    least_ms: f64,
    mean_ms: f64,
    state: State,
    line: u64,
}

/// What the path did meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Loaded,
    /// Pings without a pause.
    Flood,
    Unknown,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let trips = trips(lines);
    let mut facts = compared(&trips);
    facts.extend(tested(lines));
    facts.extend(coalescing(&trips, lines));
    facts.extend(answers(lines));
    facts
}

/// The mean round trip of a path where no run was under load and all agree, ms.
pub(super) fn path_ms(lines: &[Line<'_>]) -> Option<f64> {
    let trips = trips(lines);
    let calm = trips.iter().filter(|trip| trip.state != State::Loaded);
    let means: Vec<f64> = calm.map(|trip| trip.mean_ms).collect();
    let least = means.iter().copied().min_by(f64::total_cmp)?;
    let most = means.iter().copied().max_by(f64::total_cmp)?;
    (most < 1.5 * least).then_some(least)
}

fn trips(lines: &[Line<'_>]) -> Vec<Trip> {
    let mut all = Vec::new();
    let mut after = 0;
    for (at, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.text.len() < LINE_MOST)
    {
        let Some((least_ms, mean_ms, label)) = summary(line.text) else {
            continue;
        };
        let before = lines
            .get(after.max(at.saturating_sub(LINES_BEFORE))..at)
            .unwrap_or_default();
        let above = || {
            before
                .iter()
                .rev()
                .map(|one| state(one.text))
                .find(|one| *one != State::Unknown)
        };
        let own = Some(state(label)).filter(|own| *own != State::Unknown);
        let state = own.or_else(above).unwrap_or(State::Unknown);
        all.push(Trip {
            least_ms,
            mean_ms,
            state,
            line: line.number,
        });
        after = at + 1;
    }
    all
}

/// `rtt min/avg/max/mdev = 9.1/9.8/12.0/0.6 ms`, `round-trip min/avg/max = …`, `Minimum = 1ms, Maximum = 4ms, Average = 2ms`;
/// also what stands before it.
fn summary(text: &str) -> Option<(f64, f64, &str)> {
    if let Some((label, rest)) = text.split_once("min/avg/max") {
        let (_, numbers) = rest.split_once('=')?;
        let mut numbers = numbers.trim().split('/').map(|one| number_after(one, ""));
        return Some((numbers.next()??, numbers.next()??, label));
    }
    let least = number_after(text, "Minimum = ")?;
    Some((least, number_after(text, "Average = ")?, ""))
}

/// What a label or a command says.
fn state(text: &str) -> State {
    if text.len() > LABEL_MOST || text.contains(" bytes from ") || text.contains("icmp_seq") {
        return State::Unknown;
    }
    let lower = text.to_ascii_lowercase();
    let has = |marks: &[&str]| marks.iter().any(|mark| lower.contains(mark));
    if has(IDLE) {
        return State::Idle;
    }
    if lower.contains("ping ") && has(&[" -f", " -i 0.0", " -i0.0", " -i .0"]) {
        return State::Flood;
    }
    if has(LOADED) {
        State::Loaded
    } else {
        State::Unknown
    }
}

fn compared(trips: &[Trip]) -> Vec<Fact> {
    let of = |state: State| {
        let own = trips.iter().filter(move |trip| trip.state == state);
        own.max_by(|one, other| one.mean_ms.total_cmp(&other.mean_ms))
    };
    let mut facts = Vec::new();
    let idle = of(State::Idle).or_else(|| of(State::Unknown));
    if let (Some(idle), Some(loaded)) = (idle, of(State::Loaded)) {
        facts.extend(ratio(idle.mean_ms, loaded.mean_ms, loaded.line));
    }
    if let (Some(idle), Some(flood)) = (idle, of(State::Flood)) {
        facts.push(Fact::new(
            "idle_rtt_above_loaded",
            idle.mean_ms > SHORTER * flood.mean_ms,
            flood.line,
        ));
    }
    facts
}

/// What round trips at rest and under load say, ms.
pub(super) fn ratio(idle_ms: f64, loaded_ms: f64, line: u64) -> Vec<Fact> {
    if idle_ms <= 0.0 || loaded_ms <= 0.0 {
        return Vec::new();
    }
    vec![
        Fact::new("loaded_over_idle_rtt", loaded_ms / idle_ms, line),
        Fact::new("idle_rtt_above_loaded", idle_ms > SHORTER * loaded_ms, line),
    ]
}

/// Tests of an access: Ookla's, networkQuality, those in browsers.
fn tested(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut test = Test::default();
    for line in lines.iter().filter(|line| line.text.len() < LABEL_MOST) {
        test.read(line);
    }
    let mut facts = match (test.idle_ms, test.loaded_ms) {
        (Some(idle), Some((loaded, line))) => ratio(idle, loaded, line),
        _ => Vec::new(),
    };
    facts.extend(test.asymmetry());
    facts.extend(test.by_server());
    facts
}

#[derive(Default)]
struct Test<'t> {
    idle_ms: Option<f64>,
    loaded_ms: Option<(f64, u64)>,
    in_transfer: bool,
    server: Option<&'t str>,
    /// Servers with their rates.
    down: Vec<(&'t str, f64, u64)>,
    up: Option<f64>,
}

impl<'t> Test<'t> {
    fn read(&mut self, line: &Line<'t>) {
        let text = line.text.trim();
        let value = |mark: &str| number_after(text.strip_prefix(mark)?, "");
        if let Some(idle) = value("Idle Latency:")
            .or_else(|| value("Unloaded:"))
            .or_else(|| value("Unloaded"))
        {
            self.idle_ms = Some(idle);
        } else if let Some(rate) = value("Download:") {
            self.in_transfer = true;
            self.down
                .push((self.server.unwrap_or_default(), rate, line.number));
        } else if let Some(rate) = value("Upload:") {
            (self.in_transfer, self.up) = (true, Some(rate));
        } else if let Some((_, server)) = text
            .split_once("Server: ")
            .or_else(|| text.split_once("Hosted by "))
        {
            self.server = Some(server.split([':', '[']).next().unwrap_or_default().trim());
        } else if let Some(loaded) = self.loaded(text) {
            let most = self.loaded_ms.map_or(0.0, |(most, _)| most);
            self.loaded_ms = Some((loaded.max(most), line.number));
        }
    }

    fn loaded(&self, text: &str) -> Option<f64> {
        if text.starts_with("Responsiveness:") {
            return Some(60_000.0 / number_after(text, "(").filter(|rpm| *rpm > 0.0)?);
        }
        if let Some(rest) = text
            .strip_prefix("Loaded")
            .or_else(|| text.strip_prefix("Download Active"))
        {
            return number_after(rest.trim_start_matches(':'), "");
        }
        let is_latency = self.in_transfer && text.contains(" ms") && text.contains("jitter:");
        is_latency.then(|| number_after(text, ""))?
    }

    fn asymmetry(&self) -> Option<Fact> {
        let ((_, down, line), up) = (*self.down.last()?, self.up?);
        let ratio = down.max(up) / down.min(up).max(0.01);
        (!(1.3..=2.5).contains(&ratio)).then(|| Fact::new("access_asymmetric", ratio > 2.5, line))
    }

    fn by_server(&self) -> Option<Fact> {
        let rates = || self.down.iter().filter(|(server, ..)| !server.is_empty());
        let (first, _, line) = *rates().next()?;
        rates().any(|(server, ..)| *server != first).then_some(())?;
        let low = rates().map(|(_, rate, _)| *rate).min_by(f64::total_cmp)?;
        let high = rates().map(|(_, rate, _)| *rate).max_by(f64::total_cmp)?;
        let differ = high > 2.0 * low;
        (differ || high < 1.15 * low).then(|| Fact::new("rate_differs_by_server", differ, line))
    }
}

/// Whether a round trip at rest is what `rx-usecs` adds to one; nothing where the card adapts it.
fn coalescing(trips: &[Trip], lines: &[Line<'_>]) -> Option<Fact> {
    let trip = trips
        .iter()
        .find(|trip| matches!(trip.state, State::Idle | State::Unknown))?;
    let of = |mark: &str| {
        lines
            .iter()
            .find_map(|line| line.text.trim_start().strip_prefix(mark))
    };
    let usecs = number_after(of("rx-usecs:")?, "").filter(|usecs| *usecs >= 20.0)?;
    if of("Adaptive RX:").is_some_and(|rest| rest.trim_start().starts_with("on")) {
        return None;
    }
    let us = trip.least_ms * 1000.0;
    Some(Fact::new(
        "idle_rtt_fits_coalescing",
        us >= 0.9 * usecs && us <= 2.0 * usecs + OTHER_US,
        trip.line,
    ))
}

/// The numbers of answers: losses in between, and whether the first one comes faster than all others.
fn answers(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut lost: Vec<f64> = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    let (mut last, mut line) = (0.0, 0);
    let seen = |text: &str| number_after(text, "icmp_seq=");
    for one in lines.iter().filter(|one| one.text.len() < LINE_MOST) {
        let Some(number) = seen(one.text) else {
            continue;
        };
        line = one.number;
        if number < last {
            break;
        }
        if one.text.contains("no answer yet") || one.text.contains("Request timeout") {
            lost.extend((number > last + 1.0 || lost.is_empty()).then_some(number));
        } else {
            lost.extend((last > 0.0 && number > last + 1.0).then_some(last + 1.0));
            times.extend(
                number_after(one.text, "time=").filter(|_| number == times.len() as f64 + 1.0),
            );
        }
        last = number;
    }
    let regular = regularity(&lost, 3.0).map(|value| Fact::new("loss_regularity", value, line));
    regular
        .into_iter()
        .chain(first_faster(times, line))
        .collect()
}

/// The processor was awake at the first one.
fn first_faster(times: Vec<f64>, line: u64) -> Option<Fact> {
    let (first, rest) = times.split_first()?;
    let least = rest.iter().copied().min_by(f64::total_cmp)?;
    let near = rest.len() >= 3 && least < NEAR_MS;
    (near && *first < 0.7 * least).then(|| Fact::new("first_ping_faster", true, line))
}

/// By how much a round trip must be shorter.
const SHORTER: f64 = 1.3;
/// What cards, processors and a switch add, µs.
const OTHER_US: f64 = 150.0;
const NEAR_MS: f64 = 10.0;
const LINE_MOST: usize = 300;
const LABEL_MOST: usize = 160;
const LINES_BEFORE: usize = 30;
const IDLE: &[&str] = &[
    "idle",
    "no load",
    "unloaded",
    "without load",
    "no traffic",
    "without traffic",
    "at rest",
];
const LOADED: &[&str] = &[
    "load",
    "iperf",
    "saturat",
    "busy",
    "during",
    "with traffic",
    "while transferring",
];

#[cfg(test)]
mod tests {
    use super::super::{value_of, values};
    use super::*;

    fn shows(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    #[test]
    fn at_rest_and_under_load() {
        let text = "idle:    rtt min/avg/max/mdev = 9.1/10.0/12.0/0.6 ms\nupload:  rtt min/avg/max/mdev = 11.0/800.0/1190.3/201.2 ms\n";
        assert_eq!(shows(text, "loaded_over_idle_rtt").as_deref(), Some("80"));
        assert_eq!(
            shows(text, "idle_rtt_above_loaded").as_deref(),
            Some("false")
        );
        let flood = "$ ping -c 5 h\nrtt min/avg/max/mdev = 0.4/0.5/0.6/0.1 ms\n$ ping -f -c 5000 h\nrtt min/avg/max/mdev = 0.04/0.05/0.2/0.01 ms\n";
        assert_eq!(
            shows(flood, "idle_rtt_above_loaded").as_deref(),
            Some("true")
        );
        let alone = "$ ping h\nround-trip min/avg/max = 0.4/0.5/0.6 ms\n";
        assert_eq!(values(alone, facts), []);
    }

    #[test]
    fn tests_of_an_access() {
        let text = "      Server: Example - Town (id: 1)\nIdle Latency:    10.00 ms   (jitter: 0.50ms, low: 9ms, high: 13ms)\n    Download:   93.40 Mbps (data used: 90 MB)\n                 50.00 ms   (jitter: 20ms, low: 9ms, high: 200ms)\n      Upload:    10.1 Mbps\n";
        assert_eq!(shows(text, "loaded_over_idle_rtt").as_deref(), Some("5"));
        assert_eq!(shows(text, "access_asymmetric").as_deref(), Some("true"));
        assert_eq!(shows(text, "rate_differs_by_server"), None);
        let two = "Hosted by A [1 km]: 9 ms\nDownload: 900.1 Mbit/s\nHosted by B [9 km]: 12 ms\nDownload: 120.0 Mbit/s\n";
        assert_eq!(
            shows(two, "rate_differs_by_server").as_deref(),
            Some("true")
        );
    }

    #[test]
    fn a_card_that_waits() {
        let ping = "rtt min/avg/max/mdev = 0.170/0.190/0.230/0.010 ms\n";
        let name = "idle_rtt_fits_coalescing";
        assert_eq!(
            shows(
                &format!("Adaptive RX: off  TX: off\nrx-usecs: 125\n{ping}"),
                name
            )
            .as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&format!("rx-usecs: 1000\n{ping}"), name).as_deref(),
            Some("false")
        );
        assert_eq!(
            shows(
                &format!("Adaptive RX: on  TX: off\nrx-usecs: 125\n{ping}"),
                name
            ),
            None
        );
    }

    #[test]
    fn losses_by_the_clock() {
        let row =
            |seq: u32| format!("64 bytes from 192.0.2.1: icmp_seq={seq} ttl=64 time=0.5 ms\n");
        let name = "loss_regularity";
        let regular: String = (1..60).filter(|seq| seq % 10 != 0).map(row).collect();
        assert_eq!(shows(&regular, name).as_deref(), Some("1"));
        let whole: String = (1..60).map(row).collect();
        assert_eq!(values(&whole, facts), []);
        let late = "no answer yet for icmp_seq=300\nno answer yet for icmp_seq=600\nno answer yet for icmp_seq=900\n";
        assert_eq!(shows(late, name).as_deref(), Some("1"));
    }
}
