// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the author says, with what tools measured: the rate of a program and the round trip, the contract and the
//! test, the disk and the copy.

use super::super::iperf;
use super::super::round_trips::{path_ms, ratio};
use super::super::{Fact, number_after};
use super::classes::*;
use super::clauses::Clause;
use super::times::milliseconds;
use crate::weigh::observed::Line;

pub(super) fn facts(clauses: &[Clause], lines: &[Line<'_>]) -> Vec<Fact> {
    let rates: Vec<f64> = iperf::rows(lines).iter().map(|row| row.rate).collect();
    let mut facts = by_round_trip(clauses, lines);
    facts.extend(delays(clauses));
    let others = [
        contract(clauses, &rates),
        by_server(clauses),
        local(clauses),
        disk(clauses, lines),
        program(clauses, &rates),
        clock(clauses),
        bond_wish(clauses, lines),
    ];
    facts.extend(others.into_iter().flatten());
    facts
}

/// The lowest rate of a program, with its line.
fn of_program(clauses: &[Clause]) -> Option<(f64, u64)> {
    let own = clauses
        .iter()
        .filter(|one| one.has(PROGRAM) && !one.has(NET_TEST | HOPED));
    own.filter_map(|one| Some((one.rate?, one.line)))
        .min_by(|one, other| one.0.total_cmp(&other.0))
}

fn by_round_trip(clauses: &[Clause], lines: &[Line<'_>]) -> Vec<Fact> {
    let path = path_ms(lines);
    let mut facts: Vec<Fact> = delayed(clauses, path).into_iter().collect();
    let Some(ms) = path.filter(|ms| *ms > 0.0) else {
        return facts;
    };
    facts.extend(requests(clauses, ms));
    if let Some((rate, line)) = of_program(clauses).filter(|_| ms >= FAR_MS) {
        let bytes = rate * ms / 8000.0;
        facts.push(Fact::new(
            "rate_times_rtt_is_power_of_two",
            is_power(bytes),
            line,
        ));
        facts.extend(request_size(lines).and_then(|size| of_size(bytes / size, line)));
    }
    facts
}

/// Whether programs have windows of this size.
fn is_power(bytes: f64) -> bool {
    let exponent = bytes.max(1.0).log2();
    let near = (exponent - exponent.round()).abs() < POWER_NEAR;
    near && (14.0..=24.0).contains(&exponent.round())
}

/// Whether one request is on its way at a time; nothing where it is not clear.
fn of_size(under_way: f64, line: u64) -> Option<Fact> {
    let is_one = (0.6..1.15).contains(&under_way);
    (is_one || under_way > 2.0).then(|| Fact::new("rate_is_request_size_over_rtt", is_one, line))
}

/// `rsize=65536`, bytes: the largest a mount or a command asks for.
fn request_size(lines: &[Line<'_>]) -> Option<f64> {
    let of = |text: &str| {
        ["rsize=", "wsize=", "blksize=", "-B "]
            .iter()
            .find_map(|mark| number_after(text, mark))
    };
    let short = lines.iter().filter(|line| line.text.len() < LINE_MOST);
    short
        .filter_map(|line| of(line.text))
        .find(|size| *size >= 512.0)
}

/// `41 queries a second` where each round trip takes a 41st of a second.
fn requests(clauses: &[Clause], ms: f64) -> Option<Fact> {
    let (number, line) = clauses
        .iter()
        .filter(|one| one.has(REQUEST))
        .find_map(a_second)?;
    let under_way = number * ms / 1000.0;
    let is_one = (0.7..1.1).contains(&under_way);
    (is_one || under_way < 0.4)
        .then(|| Fact::new("requests_per_second_is_1_over_rtt", is_one, line))
}

/// `41 queries a second`, `41 requests/s`.
fn a_second(clause: &Clause) -> Option<(f64, u64)> {
    let words = &clause.words;
    let is_second = |word: &str| word.starts_with("second") || word == "sec" || word == "s";
    for (at, word) in words.iter().enumerate() {
        let Ok(number) = word.parse::<f64>() else {
            continue;
        };
        let next = words
            .get(at + 1..(at + 4).min(words.len()))
            .unwrap_or_default();
        let short = next
            .first()
            .is_some_and(|unit| unit.ends_with("/s") || unit.ends_with("/sec"));
        let long = next.windows(2).any(|pair| matches!(pair, [per, unit] if matches!(per.as_str(), "a" | "per" | "each") && is_second(unit)));
        if (short || long) && clause.rate.is_none() {
            return Some((number, clause.line));
        }
    }
    None
}

/// Each request takes the 40 ms or 200 ms of a delayed acknowledgement, on a short path.
fn delayed(clauses: &[Clause], path_ms: Option<f64>) -> Option<Fact> {
    path_ms.is_none_or(|ms| ms < 10.0).then_some(())?;
    let is_its = |ms: &f64| (38.0..=45.0).contains(ms) || (198.0..=210.0).contains(ms);
    let own = clauses
        .iter()
        .filter(|one| one.has(REQUEST) && !one.has(LOADED) && lasts(one));
    let one = own
        .clone()
        .find(|one| milliseconds(one).any(|ms| is_its(&ms)));
    one.map(|one| Fact::new("transaction_is_delayed_ack", true, one.line))
}

/// Whether it is about how long each one takes.
fn lasts(clause: &Clause) -> bool {
    let marks = [
        "take", "took", "each", "every", "per", "always", "exactly", "delay", "latenc", "wait",
        "after",
    ];
    clause
        .words
        .iter()
        .any(|word| marks.iter().any(|mark| word.starts_with(mark)))
}

/// `10 ms idle, 800 ms under load`
fn delays(clauses: &[Clause]) -> Vec<Fact> {
    let about = clauses.iter().any(|one| one.has(LATENCY));
    let of = |wanted: Class, unwanted: Class| {
        let own = clauses
            .iter()
            .filter(move |one| one.has(wanted) && !one.has(unwanted));
        own.filter_map(|one| Some((milliseconds(one).next()?, one)))
    };
    let Some((idle, first)) = of(IDLE, 0).next().filter(|_| about) else {
        return Vec::new();
    };
    let near = |one: &Clause| one.sentence.abs_diff(first.sentence) <= 1;
    let loaded = of(LOADED, IDLE).find(|(_, one)| near(one));
    loaded.map_or_else(Vec::new, |(loaded, one)| ratio(idle, loaded, one.line))
}

/// What was measured is the rate of the contract.
fn contract(clauses: &[Clause], rates: &[f64]) -> Option<Fact> {
    let booked = clauses
        .iter()
        .filter(|one| one.has(CONTRACT) && !one.has(NET_TEST));
    let said = clauses
        .iter()
        .filter(|one| !one.has(CONTRACT | HOPED))
        .filter_map(|one| one.rate);
    let measured: Vec<f64> = rates.iter().copied().chain(said).collect();
    for (rate, line) in booked.filter_map(|one| Some((one.rate?, one.line))) {
        if measured
            .iter()
            .any(|one| (0.88..1.04).contains(&(one / rate)))
        {
            return Some(Fact::new("rate_near_contract", true, line));
        }
    }
    None
}

fn by_server(clauses: &[Clause]) -> Option<Fact> {
    let rated = clauses.iter().filter(|one| one.has(TO_SERVER));
    let rates: Vec<(f64, u64)> = rated
        .filter_map(|one| Some((one.rate?, one.line)))
        .collect();
    let low = rates.iter().map(|one| one.0).min_by(f64::total_cmp)?;
    let (high, line) = *rates
        .iter()
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    (high > 2.0 * low).then(|| Fact::new("rate_differs_by_server", true, line))
}

/// Within the local network a link's rate is reached; `false` where it is slow there, too.
fn local(clauses: &[Clause]) -> Option<Fact> {
    let inside = || {
        clauses
            .iter()
            .filter(|one| one.has(INSIDE) && !one.has(OUTSIDE))
    };
    let full = |one: &&Clause| {
        let of_link = |rate: f64| {
            iperf::LINKS
                .iter()
                .any(|link| (0.9..0.99).contains(&(rate / link)))
        };
        one.rate.map_or_else(
            || one.is_good() && one.words.iter().any(|word| word == "full"),
            of_link,
        )
    };
    if let Some(one) = inside().find(full) {
        return Some(Fact::new("lan_reaches_line_rate", true, one.line));
    }
    let slow = inside()
        .find(|one| one.is_bad() && one.words.iter().any(|word| word.starts_with("slow")))?;
    Some(Fact::new("lan_reaches_line_rate", false, slow.line))
}

/// What the disk does, over what the program moves.
fn disk(clauses: &[Clause], lines: &[Line<'_>]) -> Option<Fact> {
    let (rate, line) = of_program(clauses).filter(|(rate, _)| *rate > 0.0)?;
    let disk = busy_disk(lines).or_else(|| tested_disk(lines))?;
    Some(Fact::new("disk_rate_over_transfer", disk / rate, line))
}

/// `hdparm -t`, `dd`, bits a second.
fn tested_disk(lines: &[Line<'_>]) -> Option<f64> {
    let of = |text: &str| {
        let dd = text
            .contains(" copied, ")
            .then(|| text.rsplit(", ").next())
            .flatten();
        let hdparm = text
            .contains("disk reads")
            .then(|| text.rsplit("= ").next())
            .flatten();
        let words: Vec<&str> = dd.or(hdparm)?.split_whitespace().collect();
        super::super::rate::rate_of(&words)
    };
    lines
        .iter()
        .filter(|line| line.text.len() < LINE_MOST)
        .find_map(|line| of(line.text))
}

/// `iostat -x`: what the fullest device moves, bits a second.
fn busy_disk(lines: &[Line<'_>]) -> Option<f64> {
    let mut header: Vec<&str> = Vec::new();
    let mut most: Option<(f64, f64)> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if line.text.contains("%util") {
            header = line.text.split_whitespace().collect();
            continue;
        }
        let Some((used, moved)) = (!header.is_empty())
            .then(|| device(&header, line.text))
            .flatten()
        else {
            continue;
        };
        if used >= 90.0 && most.is_none_or(|(before, _)| used > before) {
            most = Some((used, moved));
        }
    }
    most.map(|(_, moved)| moved).filter(|moved| *moved > 0.0)
}

/// How much a device is used, per cent, and what it moves.
fn device(header: &[&str], text: &str) -> Option<(f64, f64)> {
    let values: Vec<&str> = text.split_whitespace().collect();
    (values.len() == header.len()).then_some(())?;
    let of = |name: &str| {
        values
            .get(header.iter().position(|one| *one == name)?)?
            .parse::<f64>()
            .ok()
    };
    let kilobytes = of("rkB/s")
        .zip(of("wkB/s"))
        .map(|(read, written)| (read + written) * 8e3);
    let megabytes = of("rMB/s")
        .zip(of("wMB/s"))
        .map(|(read, written)| (read + written) * 8e6);
    Some((of("%util")?, kilobytes.or(megabytes)?))
}

/// iperf has a link's rate, and a program is slow by what is said.
fn program(clauses: &[Clause], rates: &[f64]) -> Option<Fact> {
    let most = rates.iter().copied().max_by(f64::total_cmp)?;
    let fills = iperf::LINKS
        .iter()
        .any(|link| (0.9..1.0).contains(&(most / link)));
    let slow = |one: &&Clause| match one.rate {
        Some(rate) => rate < 0.5 * most,
        None => one.is_bad() && one.words.iter().any(|word| word.starts_with("slow")),
    };
    let own = |one: &&Clause| one.has(PROGRAM) && !one.has(NET_TEST | TUNNEL | OUTSIDE | CONTRACT);
    let one = clauses.iter().filter(own).find(slow).filter(|_| fills)?;
    Some(Fact::new("network_test_fast_program_slow", true, one.line))
}

/// `the clock is two hours behind`
fn clock(clauses: &[Clause]) -> Option<Fact> {
    let is_clock = |word: &String| matches!(word.as_str(), "clock" | "clocks" | "clock's");
    let off = |word: &String| {
        matches!(
            word.as_str(),
            "behind" | "ahead" | "off" | "slow" | "fast" | "wrong" | "differ" | "apart"
        )
    };
    let own = clauses
        .iter()
        .filter(|one| one.words.iter().any(is_clock) && one.words.iter().any(off));
    let (hours, line) = own
        .filter_map(|one| Some((milliseconds(one).next()? / 3.6e6, one.line)))
        .next()?;
    Some(Fact::new("clock_off_hours", hours, line))
}

/// Somebody wants the rate of several links of a bond that uses one at a time.
fn bond_wish(clauses: &[Clause], lines: &[Line<'_>]) -> Option<Fact> {
    let is_backup = |line: &Line<'_>| {
        let text = line.text.trim_start();
        text.starts_with("Bonding Mode:") && text.contains("active-backup")
            || text.contains("bond mode active-backup")
    };
    let has = |one: &Clause, marks: &[&str]| {
        one.words
            .iter()
            .any(|word| marks.iter().any(|mark| word.starts_with(mark)))
    };
    let wishes = |one: &&Clause| {
        let several = has(
            one,
            &["double", "twice", "combin", "aggregat", "both", "sum", "2x"],
        );
        several
            && has(
                one,
                &[
                    "speed",
                    "bandwidth",
                    "throughput",
                    "rate",
                    "gbit",
                    "performance",
                    "faster",
                ],
            )
    };
    let one = clauses.iter().find(wishes)?;
    lines
        .iter()
        .any(is_backup)
        .then(|| Fact::new("bond_wish_more_rate_active_backup", true, one.line))
}

const FAR_MS: f64 = 3.0;
/// Of a power of two, in powers.
const POWER_NEAR: f64 = 0.1;
const LINE_MOST: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::super::value_of;
    use super::super::facts;

    fn shows(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    const FAR: &str = "rtt min/avg/max/mdev = 79.9/80.0/80.9/0.2 ms\n";

    #[test]
    fn windows_and_requests_of_programs() {
        let name = "rate_times_rtt_is_power_of_two";
        assert_eq!(
            shows(
                &format!("{FAR}The download by HTTP/2 has 0.82 MB/s.\n"),
                name
            )
            .as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(
                &format!("{FAR}The download by HTTP/2 has 0.57 MB/s.\n"),
                name
            )
            .as_deref(),
            Some("false")
        );
        assert_eq!(shows("The download by HTTP/2 has 0.82 MB/s.\n", name), None);
        let name = "requests_per_second_is_1_over_rtt";
        assert_eq!(
            shows(
                &format!("{FAR}The program has only 12 queries a second.\n"),
                name
            )
            .as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(
                &format!("{FAR}The program does 2 queries per second.\n"),
                name
            )
            .as_deref(),
            Some("false")
        );
        let name = "rate_is_request_size_over_rtt";
        let mount = "192.0.2.1:/x on /mnt type nfs (rw,sync,rsize=65536,wsize=65536)\n";
        assert_eq!(
            shows(
                &format!("{FAR}{mount}The copy over NFS has only 6.4 Mbit/s.\n"),
                name
            )
            .as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(
                &format!("{FAR}{mount}The copy over NFS has 400 Mbit/s.\n"),
                name
            )
            .as_deref(),
            Some("false")
        );
    }

    #[test]
    fn delays_that_are_said() {
        let name = "transaction_is_delayed_ack";
        assert_eq!(
            shows("A request of 300 bytes takes 40.2 ms, always.", name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows("A request of 300 bytes takes 4 ms on this path.", name),
            None
        );
        let text = "The ping is 10 ms when the line is idle, and with an upload it is 800 ms.";
        assert_eq!(shows(text, "loaded_over_idle_rtt").as_deref(), Some("80"));
    }

    #[test]
    fn contracts_servers_disks() {
        let text = "Our contract is 50 Mbit/s. From the office I get 48 Mbit/s.";
        assert_eq!(shows(text, "rate_near_contract").as_deref(), Some("true"));
        assert_eq!(
            shows(
                "Our contract is 50 Mbit/s. From the office I get 8 Mbit/s.",
                "rate_near_contract"
            ),
            None
        );
        let text = "It has 120 Mbit/s to server A, and to server B it has 640 Mbit/s.";
        assert_eq!(
            shows(text, "rate_differs_by_server").as_deref(),
            Some("true")
        );
        let disk = "Device  r/s   w/s   rkB/s  wkB/s  %util\nsda     0.0   112.0 0.0    38000  99.8\nThe copy by Samba is slow, only 38 MB/s\n";
        assert_eq!(shows(disk, "disk_rate_over_transfer").as_deref(), Some("1"));
        assert_eq!(
            shows(
                "The copy by Samba is slow, only 38 MB/s\n",
                "disk_rate_over_transfer"
            ),
            None
        );
    }

    #[test]
    fn a_bond_that_uses_one_link() {
        let name = "bond_wish_more_rate_active_backup";
        let mode = "Bonding Mode: fault-tolerance (active-backup)\n";
        let wish = "I expected to get twice the bandwidth of one link.\n";
        assert_eq!(
            shows(&format!("{mode}\n{wish}"), name).as_deref(),
            Some("true")
        );
        assert_eq!(shows(wish, name), None);
        assert_eq!(
            shows(
                &format!("{mode}The failover of both links is slow.\n"),
                name
            ),
            None
        );
    }

    #[test]
    fn iperf_fills_the_link_and_a_program_is_slow() {
        let row = "[  5]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec    0  sender\n";
        let name = "network_test_fast_program_slow";
        assert_eq!(
            shows(&format!("{row}Only the copy by Samba is slow.\n"), name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows(&format!("{row}The copy by Samba has 900 Mbit/s.\n"), name),
            None
        );
    }
}
