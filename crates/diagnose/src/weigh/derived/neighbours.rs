// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip neigh`, `arp -a`, ARP in captures: neighbours that do not answer, addresses with two hardware addresses.

use std::collections::BTreeSet;

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut facts = states(lines);
    facts.extend(unanswered(lines));
    facts.extend(two_hosts(lines));
    facts
}

fn states(lines: &[Line<'_>]) -> Vec<Fact> {
    let all: Vec<(&str, u64)> = lines.iter().filter_map(state).collect();
    let Some((_, last)) = all.last() else {
        return Vec::new();
    };
    // The number, and the first line that shows one.
    let count = |name: &str| {
        let mut found = all.iter().filter(|(state, _)| *state == name);
        let first = found.next();
        (
            found.count() + usize::from(first.is_some()),
            first.map_or(*last, |(_, line)| *line),
        )
    };
    let ((failed, first_failed), (incomplete, first_incomplete)) =
        (count("FAILED"), count("INCOMPLETE"));
    vec![
        Fact::new("neighbours_failed", failed, first_failed),
        Fact::new("neighbours_incomplete", incomplete, first_incomplete),
        Fact::new(
            "neighbours_reachable",
            all.len() - failed - incomplete,
            *last,
        ),
    ]
}

/// `192.0.2.7 dev eth0 lladdr 02:… REACHABLE`, `? (192.0.2.7) at <incomplete> on eth0`.
fn state<'t>(line: &Line<'t>) -> Option<(&'t str, u64)> {
    let text = line.text.trim();
    let is_listed =
        text.contains(" dev ") || text.contains(" at ") || text.contains("(incomplete)");
    let last = text.split_whitespace().next_back()?;
    let name = match last {
        "FAILED" | "INCOMPLETE" | "REACHABLE" | "STALE" | "DELAY" => last,
        _ if text.contains("incomplete>") || text.contains("(incomplete)") => "INCOMPLETE",
        _ => return None,
    };
    is_listed.then_some((name, line.number))
}

/// `ARP, Request who-has 192.0.2.1 tell …` without a reply that says it.
fn unanswered(lines: &[Line<'_>]) -> Option<Fact> {
    let mut open: Map<&str, (u32, u64)> = Map::new();
    let mut any = None;
    for line in lines {
        if let Some(address) = after(line.text, "who-has ") {
            any = Some(line.number);
            open.entry(address).or_insert((0, line.number)).0 += 1;
        } else if let Some(address) =
            after(line.text, "Reply ").filter(|_| line.text.contains(" is-at "))
        {
            open.remove(address);
        }
    }
    let most = open.values().max().copied().unwrap_or((0, any?));
    Some(Fact::new("arp_requests_unanswered", most.0, most.1))
}

/// An address that two hardware addresses answer for.
fn two_hosts(lines: &[Line<'_>]) -> Option<Fact> {
    let mut answers: Map<&str, BTreeSet<&str>> = Map::new();
    let mut found = None;
    for line in lines {
        let Some(mac) = after(line.text, " is-at ") else {
            continue;
        };
        let address = after(line.text, "Reply ")?;
        let macs = answers.entry(address).or_default();
        macs.insert(mac.trim_end_matches(','));
        if macs.len() > 1 {
            found = Some(line.number);
        }
    }
    (!answers.is_empty()).then(|| Fact {
        line: found,
        ..Fact::new("arp_replies_of_two_hosts", found.is_some(), 0)
    })
}

fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.split_once(mark)?.1.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn neighbours_that_do_not_answer() {
        let text = "192.0.2.7 dev eth0  FAILED\n192.0.2.8 dev eth0 lladdr 02:00:00:00:00:08 REACHABLE\n\
            IP: ARP, Request who-has 192.0.2.7 tell 192.0.2.1\nARP, Request who-has 192.0.2.7 tell 192.0.2.1\n";
        let found = values(text, facts);
        for (name, value) in [
            ("neighbours_failed", "1"),
            ("neighbours_reachable", "1"),
            ("arp_requests_unanswered", "2"),
        ] {
            assert!(
                found.contains(&(name, value.to_owned())),
                "{name} {found:?}"
            );
        }
    }

    #[test]
    fn an_address_of_two_hosts() {
        let reply = |mac: &str| format!("ARP, Reply 192.0.2.7 is-at {mac}, length 46\n");
        let two = reply("02:00:00:00:00:01") + &reply("02:00:00:00:00:02");
        assert!(values(&two, facts).contains(&("arp_replies_of_two_hosts", "true".to_owned())));
        let one = reply("02:00:00:00:00:01") + &reply("02:00:00:00:00:01");
        assert!(values(&one, facts).contains(&("arp_replies_of_two_hosts", "false".to_owned())));
    }
}
