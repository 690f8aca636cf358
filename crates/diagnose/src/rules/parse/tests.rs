// SPDX-License-Identifier: MIT OR Apache-2.0

mod chip;

use super::*;
use crate::rules::{EMBEDDED, embedded};

/// A rule without a mistake.
const WHOLE: &str = r#"
[[rule]]
id = "S01"
cause = "udp-receive-buffer-too-small"
title = "the receiving socket's buffer overflowed: {lost_at_rx_socket} datagrams"
scope = "receiver"
when = ["lost_at_rx_socket > 0"]
strength = "proven"
explains = "rx-socket"
why = "Nobody took them out in time."
change = { commands = ["sysctl -w net.core.rmem_max=26214400"], undo = ["sysctl -w net.core.rmem_max=212992"], risk = "live" }
verify = "UdpRcvbufErrors does not increase"
source = ["net/ipv4/udp.c __udp_enqueue_schedule_skb"]
[rule.example]
fires = { lost_at_rx_socket = 4598 }
nearly = { lost_at_rx_socket = 0 }
not = { lost_at_rx_socket = -1 }
"#;

#[test]
fn every_rule_of_the_program_is_right_and_shows_itself_at_work() {
    let mut files = Vec::new();
    for (file, text) in EMBEDDED.unpack() {
        let rules = parse(file, &text).unwrap_or_else(|mistakes| {
            panic!(
                "{}",
                mistakes
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("\n")
            )
        });
        files.push((file.to_owned(), rules));
    }
    assert_eq!(check_together(&files), []);
    assert_eq!(
        embedded().len(),
        files.iter().map(|(_, rules)| rules.len()).sum::<usize>()
    );
}

fn mistake(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from), "{from}");
    let mistakes = parse("site.toml", &WHOLE.replacen(from, to, 1)).unwrap_err();
    mistakes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn mistakes_are_reported_in_plain_words() {
    for (from, to, wrong) in [
        (
            "scope = \"receiver\"",
            "scope = \"reciever\"",
            "`scope` cannot be `reciever`",
        ),
        (
            "when = [\"lost_at_rx_socket > 0\"]",
            "when = [\"lost_rx_socket > 0\"]",
            "`lost_rx_socket` is no fact",
        ),
        (
            "when = [\"lost_at_rx_socket > 0\"]",
            "when = []",
            "the rule has no condition",
        ),
        (
            "{lost_at_rx_socket} datagrams",
            "{lost_at_socket} datagrams",
            "`{lost_at_socket}` is no fact",
        ),
        (
            "explains = \"rx-socket\"",
            "explains = \"rx-sock\"",
            "`explains` cannot be `rx-sock`",
        ),
        (
            "risk = \"live\"",
            "risk = \"deadly\"",
            "`risk` cannot be `deadly`",
        ),
        (
            "fires = { lost_at_rx_socket = 4598 }",
            "fires = { lost_at_rx_socket = 0 }",
            "does not fire with its own example",
        ),
        (
            "nearly = { lost_at_rx_socket = 0 }",
            "nearly = { lost_at_rx_socket = 3 }",
            "does not stay silent with `nearly`",
        ),
        (
            "nearly = { lost_at_rx_socket = 0 }",
            "nearly = { lost_at_rx_socket = 4598 }",
            "exactly one fact",
        ),
        ("strength = \"proven\"", "", "the key `strength` is missing"),
    ] {
        let said = mistake(from, to);
        assert!(said.contains(wrong), "{to}: {said}");
        assert!(said.contains("site.toml"), "{said}");
    }
}

#[test]
fn ids_are_unique_and_contradictions_exist() {
    let rules = parse("a.toml", WHOLE).unwrap();
    let mut other = rules.clone();
    for rule in &mut other {
        rule.contradicts = vec!["Z99".to_owned()];
    }
    let found = check_together(&[("a.toml".to_owned(), rules), ("b.toml".to_owned(), other)]);
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|line| line.contains("used twice")),
        "{said:?}"
    );
    assert!(
        said.iter().any(|line| line.contains("which is no rule")),
        "{said:?}"
    );
}

/// With what a rule needs to fire, and nothing else, its sentences have no placeholder.
#[test]
fn no_sentence_has_a_placeholder() {
    for rule in embedded() {
        let conditions = rule.applies.iter().chain(&rule.when);
        let sure: BTreeSet<&str> = conditions.flat_map(Condition::facts).collect();
        let known = |name: &str| (name == "interface" || sure.contains(name)).then(String::new);
        for text in [&rule.title, &rule.why] {
            let said = template::sentence(text, known);
            assert!(!said.contains(['{', '<']), "{}: {said}", rule.id);
        }
    }
}
