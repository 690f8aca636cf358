// SPDX-License-Identifier: MIT OR Apache-2.0
//! `traceroute`, `mtr`, WinMTR: hops that refuse, a first hop that is no gateway of the host, a delay that begins at one hop.

use std::net::Ipv4Addr;

use super::shown::Shown;
use super::{Fact, windows_routes, winmtr};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let one: [fn(&Shown<'_>) -> Option<Fact>; 4] =
        [prohibited, unreachable, first_hop, delay_stays];
    one.iter().filter_map(|read| read(shown)).collect()
}

/// Whether a hop answers that a filter refuses: ` 5  192.0.2.1  1.2 ms !X`.
fn prohibited(shown: &Shown<'_>) -> Option<Fact> {
    let marks = ["!X", "!A", "!C", "!10", "!13", "!9"];
    refused(shown, "traceroute_prohibited", &marks)
}

/// Whether a hop answers that it has no route, or that the host does not answer it.
fn unreachable(shown: &Shown<'_>) -> Option<Fact> {
    refused(shown, "traceroute_unreachable", &["!N", "!H", "!0", "!1"])
}

fn refused(shown: &Shown<'_>, name: &'static str, marks: &[&str]) -> Option<Fact> {
    let is_refused = |text: &str| {
        let mut words = text.split_whitespace();
        text.contains(" ms") && words.any(|word| marks.contains(&word)) && number(text).is_some()
    };
    let mut marked = shown.lines.iter().filter(|line| line.text.contains(" !"));
    let line = marked.find(|line| is_refused(line.text))?;
    Some(Fact::new(name, true, line.number))
}

fn number(text: &str) -> Option<u32> {
    text.split_whitespace()
        .next()?
        .parse()
        .ok()
        .filter(|number| (1..=64).contains(number))
}

/// Whether the first hop is none of the gateways that the host's routes name.
fn first_hop(shown: &Shown<'_>) -> Option<Fact> {
    let gateways = shown.routes.iter().filter_map(|route| route.via);
    let gateways: Vec<Ipv4Addr> = gateways
        .chain(windows_routes::gateways(shown.lines))
        .collect();
    let of_windows = || {
        let hops = winmtr::hops(shown.lines);
        let first = hops.first()?;
        Some((first.row.name.parse().ok()?, first.line))
    };
    let numbered = shown.lines.iter().find_map(|line| {
        let text = line.text.trim_start();
        let is_first = text.starts_with("1 ") && text.contains(" ms");
        let text = text.strip_prefix("1.|--").or(is_first.then_some(text))?;
        let mut words = text
            .split_whitespace()
            .map(|word| word.trim_matches(['(', ')']));
        Some((
            words.find_map(|word| word.parse::<Ipv4Addr>().ok())?,
            line.number,
        ))
    });
    let (address, line) = numbered.or_else(of_windows)?;
    (!gateways.is_empty()).then(|| {
        Fact::new(
            "traceroute_first_hop_unexpected",
            !gateways.contains(&address),
            line,
        )
    })
}

/// Number, best, average and worst delay of a hop of mtr, ms.
#[derive(Debug)]
struct Hop {
    number: u32,
    average_ms: f64,
    worst_ms: f64,
    line: u64,
}

/// Whether most of the delay begins at one hop, stays to the end and hardly varies.
fn delay_stays(shown: &Shown<'_>) -> Option<Fact> {
    let hops: Vec<Hop> = shown
        .lines
        .iter()
        .filter(|line| line.text.contains('%') || line.text.contains(".|--"))
        .filter_map(|line| hop(line.text, line.number))
        .chain(of_windows(shown))
        .collect();
    let routes = hops.chunk_by(|one, next| next.number > one.number);
    let route = routes.max_by_key(|route| route.len())?;
    let last = route
        .last()
        .filter(|last| route.len() > 1 && last.average_ms >= DELAY_LEAST_MS)?;
    let is_step = |at: usize, pair: &[Hop]| {
        let [before, here] = pair else {
            return false;
        };
        let stays = route[at + 1..]
            .iter()
            .all(|hop| hop.average_ms >= here.average_ms * STAYS);
        here.average_ms - before.average_ms >= last.average_ms / 2.0 && stays
    };
    let at = route
        .windows(2)
        .enumerate()
        .position(|(at, pair)| is_step(at, pair))?;
    let is_steady = last.worst_ms <= last.average_ms * STEADY;
    is_steady.then(|| {
        Fact::new(
            "mtr_delay_at_one_hop_stays",
            true,
            route.get(at + 1).map_or(last.line, |hop| hop.line),
        )
    })
}

/// `  5.|-- ae1.example   0.0%   100   9.1   9.2   9.0   9.6   0.1`: loss, sent, last, average, best, worst, deviation.
fn hop(text: &str, line: u64) -> Option<Hop> {
    let (number, rest) = text.trim_start().split_once('.')?;
    let number = number.parse().ok()?;
    let mut numbers = rest.split_whitespace().skip_while(|word| {
        !word.ends_with('%') || word.trim_end_matches('%').parse::<f64>().is_err()
    });
    numbers.next()?;
    let mut next = || numbers.next()?.parse::<f64>().ok();
    let (_, _, average_ms, _, worst_ms) = (next()?, next()?, next()?, next()?, next()?);
    (average_ms > 0.0).then_some(Hop {
        number,
        average_ms,
        worst_ms,
        line,
    })
}

/// Hops of WinMTR that answer: less than a millisecond is 0.
fn of_windows(shown: &Shown<'_>) -> impl Iterator<Item = Hop> {
    let hops = winmtr::hops(shown.lines).into_iter();
    let hops = hops.filter(|hop| hop.row.received > 0);
    hops.map(|hop| Hop {
        number: hop.number,
        average_ms: f64::from(hop.row.average_ms),
        worst_ms: f64::from(hop.row.worst_ms),
        line: hop.line,
    })
}

const DELAY_LEAST_MS: f64 = 40.0;
const STAYS: f64 = 0.8;
const STEADY: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::super::shown::values;
    use super::*;

    #[test]
    fn hops() {
        assert_eq!(
            values(" 5  192.0.2.1 (192.0.2.1)  1.2 ms !X  1.3 ms !X *\n", facts),
            [("traceroute_prohibited", "true".to_owned())]
        );
        assert_eq!(
            values(" 2  192.0.2.1  9.1 ms !N  9.0 ms !N  *\n", facts),
            [("traceroute_unreachable", "true".to_owned())]
        );
        assert_eq!(
            values(
                " 5  192.0.2.1 (192.0.2.1)  1.2 ms  1.3 ms\nit takes 5 ms !X\n",
                facts
            ),
            []
        );
        let text = |hop: &str| {
            format!("default via 192.0.2.1 dev eth0\n 1  {hop} ({hop})  0.4 ms  0.3 ms\n")
        };
        assert_eq!(
            values(&text("192.0.2.9"), facts),
            [("traceroute_first_hop_unexpected", "true".to_owned())]
        );
        assert_eq!(
            values(&text("192.0.2.1"), facts),
            [("traceroute_first_hop_unexpected", "false".to_owned())]
        );
        let windows = |hop: &str| {
            format!(
                "  0.0.0.0  0.0.0.0  192.0.2.1  192.0.2.7  25\n|  {hop} -  0 |  9 |  9 |  1 |  1 |  2 |  1 |\n"
            )
        };
        for (hop, value) in [("192.0.2.9", "true"), ("192.0.2.1", "false")] {
            assert_eq!(
                values(&windows(hop), facts),
                [("traceroute_first_hop_unexpected", value.to_owned())]
            );
        }
    }

    #[test]
    fn delays() {
        let text = "  5.|-- ae1.fra.example    0.0%   100   9.1   9.2   9.0   9.6   0.1\n  6.|-- ae9.nyc.example    0.0%   100  88.1  88.2  88.0  88.9   0.1\n  9.|-- server.example     0.0%   100 151.0 151.1 150.9 152.1   0.1\n";
        assert_eq!(
            values(text, facts),
            [("mtr_delay_at_one_hop_stays", "true".to_owned())]
        );
        let winmtr = "|     192.0.2.1 -    0 |  100 |  100 |    0 |    0 |    9 |    1 |\n|   198.51.100.9 -    0 |  100 |  100 |   88 |   89 |   93 |   89 |\n";
        assert_eq!(
            values(winmtr, facts),
            [("mtr_delay_at_one_hop_stays", "true".to_owned())]
        );
        assert_eq!(values(&winmtr.replace("93", "993"), facts), []);
        assert_eq!(values(&text.replace("152.1", "912.1"), facts), []);
        assert_eq!(values(&text.replace("151.1", "12.1"), facts), []);
    }
}
