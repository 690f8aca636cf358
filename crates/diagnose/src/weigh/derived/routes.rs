// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip route`, `ip rule`, `route -n`, `route print`: how many ways lead out, and which rules come before the main table.

use super::{Fact, windows_routes};
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let defaults: Vec<&Line<'_>> = lines.iter().filter(|line| is_default(line.text)).collect();
    let (six, four): (Vec<&Line<'_>>, Vec<&Line<'_>>) = defaults
        .iter()
        .copied()
        .partition(|line| is_version_6(line.text));
    let of_windows = [
        windows_routes::defaults(lines),
        windows_routes::ipv6_defaults(lines),
    ];
    let counted = [("default_routes", &four), ("ipv6_default_routes", &six)];
    let mut facts: Vec<Fact> = counted
        .iter()
        .zip(of_windows)
        .filter_map(|((name, routes), of_windows)| {
            let listed = routes.last().map(|last| (routes.len(), last.number));
            let (count, line) = listed.max(of_windows)?;
            Some(Fact::new(name, count, line))
        })
        .collect();
    facts.extend(wifi(&four));
    facts.extend(rules(lines));
    facts
}

/// `default via 192.0.2.1 dev eth0`, `0.0.0.0  192.0.2.1  0.0.0.0  UG`.
fn is_default(text: &str) -> bool {
    let text = text.trim_start();
    let named = text.starts_with("default via ") || text.starts_with("default dev ");
    named || (text.starts_with("0.0.0.0 ") && text.contains(" UG"))
}

fn is_version_6(text: &str) -> bool {
    text.split_whitespace()
        .nth(2)
        .is_some_and(|gateway| gateway.contains("::"))
}

/// Whether the way out with the least metric is a radio.
fn wifi(routes: &[&Line<'_>]) -> Option<Fact> {
    let metric = |line: &&&Line<'_>| super::number_after(line.text, "metric ").unwrap_or(0.0);
    let best = routes
        .iter()
        .min_by(|one, other| metric(one).total_cmp(&metric(other)))?;
    let is_radio = best.text.contains("dev wl") || best.text.trim_end().ends_with("wlan0");
    Some(Fact::new("default_route_is_wifi", is_radio, best.number))
}

/// `100: from 192.0.2.7 lookup isp2`: rules that are not the kernel's three.
fn rules(lines: &[Line<'_>]) -> Vec<Fact> {
    let rules: Vec<(&Line<'_>, &str)> = lines
        .iter()
        .filter_map(|line| Some((line, table(line.text)?)))
        .collect();
    let Some((last, _)) = rules.last() else {
        return Vec::new();
    };
    let own = rules
        .iter()
        .filter(|(_, table)| !KERNELS.contains(table))
        .count();
    let mut facts = vec![Fact::new("policy_rules_own", own, last.number)];
    if rules.iter().any(|(_, table)| *table == "local") {
        let has_main = rules
            .iter()
            .any(|(_, table)| ["main", "254"].contains(table));
        facts.push(Fact::new(
            "policy_rule_main_missing",
            !has_main,
            last.number,
        ));
    }
    facts
}

fn table(text: &str) -> Option<&str> {
    let (priority, rule) = text.trim_start().split_once(':')?;
    priority.parse::<u32>().ok()?;
    let (_, table) = rule.split_once(" lookup ")?;
    rule.contains("from ")
        .then(|| table.split_whitespace().next())?
}

const KERNELS: &[&str] = &["local", "main", "default", "255", "254", "253"];

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn ways_out_and_rules() {
        let text = "default via 192.0.2.1 dev wlan0 metric 100\ndefault via 192.0.2.2 dev eth0 metric 600\n0: from all lookup local\n32766: from 192.0.2.9 lookup isp2\n";
        let found = values(text, facts);
        for (name, value) in [
            ("default_routes", "2"),
            ("default_route_is_wifi", "true"),
            ("policy_rules_own", "1"),
            ("policy_rule_main_missing", "true"),
        ] {
            assert!(
                found.contains(&(name, value.to_owned())),
                "{name} {found:?}"
            );
        }
        assert_eq!(values("at 10:00 from here", facts), []);
    }

    #[test]
    fn ways_out_of_windows() {
        let text = "  0.0.0.0  0.0.0.0  192.0.2.1  192.0.2.7  25\n  0.0.0.0  0.0.0.0  198.51.100.1  198.51.100.7  25\n 12    281 ::/0     fe80::1\n";
        let expected = [("default_routes", "2"), ("ipv6_default_routes", "1")];
        let expected = expected.map(|(name, value)| (name, value.to_owned()));
        assert_eq!(values(text, facts), expected);
    }
}
