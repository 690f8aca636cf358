// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mtr`, WinMTR, `traceroute`: loss that only a middle hop shows, loss that stays to the end, and packets that go in circles.

use std::net::IpAddr;

use super::{Fact, winmtr};
use crate::weigh::observed::Line;

/// A hop of a report.
struct Hop<'t> {
    number: u32,
    name: &'t str,
    loss_percent: Option<f64>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let hops = lines.iter().filter_map(hop).chain(of_windows(lines));
    let hops: Vec<Hop<'_>> = hops.collect();
    let routes = hops.chunk_by(|one, next| next.number > one.number);
    let Some(longest) = routes.max_by_key(|route| route.len()) else {
        return Vec::new();
    };
    let longest = &longest[..longest.len().min(HOPS_MOST)];
    let mut facts = loss(longest);
    facts.extend(circle(longest));
    facts
}

fn loss(route: &[Hop<'_>]) -> Vec<Fact> {
    let known = route.iter().filter(|hop| hop.loss_percent.is_some());
    let known: Vec<(f64, u64)> = known
        .map(|hop| (hop.loss_percent.unwrap_or(0.0), hop.line))
        .collect();
    let [before @ .., (last, line)] = known.as_slice() else {
        return Vec::new();
    };
    let worst = before.iter().map(|(loss, _)| *loss).fold(0.0, f64::max);
    vec![
        Fact::new(
            "mtr_loss_at_middle_hop_only",
            worst > LOSS_PERCENT && *last <= LOSS_PERCENT,
            *line,
        ),
        Fact::new("mtr_loss_to_end", last / 100.0, *line),
        Fact::new(
            "mtr_loss_at_last_hop",
            if worst <= LOSS_PERCENT {
                last / 100.0
            } else {
                0.0
            },
            *line,
        ),
    ]
}

/// Whether an address comes again after another one.
fn circle(route: &[Hop<'_>]) -> Option<Fact> {
    let answered: Vec<&Hop<'_>> = route
        .iter()
        .filter(|hop| hop.name.parse::<IpAddr>().is_ok())
        .collect();
    let last = answered.last()?;
    let again = |at: usize, hop: &Hop<'_>| {
        answered[..at.saturating_sub(1)]
            .iter()
            .any(|other| other.name == hop.name)
    };
    let repeats = answered.iter().enumerate().any(|(at, hop)| again(at, hop));
    (answered.len() >= HOPS_LEAST).then(|| Fact::new("traceroute_repeats_hops", repeats, last.line))
}

/// `  3.|-- 192.0.2.1  40.0%  5 …` of mtr, ` 3  192.0.2.1 (192.0.2.1)  1.2 ms` of traceroute.
fn hop<'t>(line: &Line<'t>) -> Option<Hop<'t>> {
    let text = line.text.trim_start();
    if let Some((number, rest)) = text.split_once(".|--") {
        let mut words = rest.split_whitespace();
        let name = words.next()?;
        let loss = words.next()?.trim_end_matches('%').parse().ok();
        return Some(Hop {
            number: number.parse().ok()?,
            name,
            loss_percent: loss,
            line: line.number,
        });
    }
    text.contains(" ms").then_some(())?;
    let mut words = text.split_whitespace();
    let number: u32 = words
        .next()?
        .parse()
        .ok()
        .filter(|number| (1..=64).contains(number))?;
    let rest = words.find(|word| word.trim_matches(['(', ')']).parse::<IpAddr>().is_ok())?;
    let name = rest.trim_matches(['(', ')']);
    Some(Hop {
        number,
        name,
        loss_percent: None,
        line: line.number,
    })
}

fn of_windows<'t>(lines: &[Line<'t>]) -> impl Iterator<Item = Hop<'t>> {
    let hops = winmtr::hops(lines).into_iter();
    hops.map(|hop| Hop {
        number: hop.number,
        name: hop.row.name,
        loss_percent: Some(f64::from(hop.row.loss_percent)),
        line: hop.line,
    })
}

/// Less is chance, percent.
const LOSS_PERCENT: f64 = 0.5;
const HOPS_LEAST: usize = 4;
/// A TTL ends after these.
const HOPS_MOST: usize = 255;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn loss_at_a_middle_hop_is_not_loss_to_the_end() {
        let text = "  1.|-- 192.0.2.1   0.0%  10\n  2.|-- 192.0.2.9  40.0%  10\n  3.|-- 192.0.2.33   0.0%  10\n";
        let found = values(text, facts);
        assert!(
            found.contains(&("mtr_loss_at_middle_hop_only", "true".to_owned())),
            "{found:?}"
        );
        let stays = values(&text.replace("33   0.0%", "33  38.0%"), facts);
        assert!(
            stays.contains(&("mtr_loss_to_end", "0.38".to_owned())),
            "{stays:?}"
        );
    }

    #[test]
    fn winmtr_shows_what_mtr_shows() {
        let row = |name: &str, loss: u32| {
            format!(
                "|{name:>40} - {loss:4} |  100 | {:4} |    8 |   10 |   41 |    9 |\n",
                100 - loss
            )
        };
        let first = row("192.0.2.1", 0) + &row("No response from host", 100);
        let limited = values(&(first.clone() + &row("192.0.2.33", 0)), facts);
        for expected in [
            ("mtr_loss_at_middle_hop_only", "true"),
            ("mtr_loss_to_end", "0"),
        ] {
            let expected = (expected.0, expected.1.to_owned());
            assert!(limited.contains(&expected), "{limited:?}");
        }
        let stays = values(&(first + &row("192.0.2.33", 38)), facts);
        assert!(
            stays.contains(&("mtr_loss_to_end", "0.38".to_owned())),
            "{stays:?}"
        );
    }

    #[test]
    fn two_routers_that_send_to_each_other() {
        let hop = |number: u32, address: &str| {
            format!(" {number}  {address} ({address})  1.2 ms  1.3 ms\n")
        };
        let text = [
            hop(1, "192.0.2.1"),
            hop(2, "192.0.2.5"),
            hop(3, "192.0.2.9"),
            hop(4, "192.0.2.5"),
            hop(5, "192.0.2.9"),
        ]
        .concat();
        assert!(values(&text, facts).contains(&("traceroute_repeats_hops", "true".to_owned())));
        assert_eq!(values("it takes 3 ms to 192.0.2.1\n", facts), []);
    }
}
