// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a check of an interface found wrong → findings: the proof is the frame that was seen.

use linerate_model::output::{Evidence, Finding, NicCheck, NicExample, NicState, Value};
use linerate_model::run::Run;

/// A finding for each group of properties that one change would avoid.
#[must_use]
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let wrong = run
        .checks
        .iter()
        .filter(|check| check.state == NicState::Wrong);
    let mut groups: Vec<Vec<&NicCheck>> = Vec::new();
    for check in wrong {
        let is_alike = |group: &&mut Vec<&NicCheck>| {
            group.first().is_some_and(|first| {
                (&first.group, &first.offload) == (&check.group, &check.offload)
            })
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(check),
            None => groups.push(vec![check]),
        }
    }
    groups
        .iter()
        .filter_map(|group| finding(run, group))
        .collect()
}

fn finding(run: &Run, wrong: &[&NicCheck]) -> Option<Finding> {
    let first = wrong.first()?;
    let local = run.hosts.first()?;
    let interface = local.interfaces.first().map(|link| link.name.clone());
    let (title, source) = words(&first.group);
    let name = interface.clone().unwrap_or_default();
    let evidence = wrong.iter().map(|check| Evidence {
        fact: check.id.clone(),
        value: Value::Number(check.wrong as f64),
        unit: format!("of {} wrong", check.tried),
        source: check.reason.clone().unwrap_or_else(|| check.what.clone()),
    });
    let because = match first.offload.as_str() {
        "" => String::new(),
        offload => format!(" ({offload})"),
    };
    Some(Finding {
        rule: format!("nic-{}", first.group),
        cause: format!("nic-{}-wrong", first.group),
        title: format!("{name} {title}{because}"),
        strength: "proven".to_owned(),
        interface,
        evidence: evidence.collect(),
        change: first.change.clone(),
        verify: run.command.join(" "),
        why: wrong
            .iter()
            .find_map(|check| proof(check))
            .unwrap_or_default(),
        source: source.to_owned(),
        informational: false,
        place: "host".to_owned(),
        ..Finding::default()
    })
}

/// What was seen instead of what is right.
fn proof(check: &NicCheck) -> Option<String> {
    let NicExample {
        what,
        offset,
        expected,
        seen,
        frame,
    } = check.example.as_ref()?;
    let at = offset.map_or_else(String::new, |at| format!(" at byte {at} of the frame"));
    let frame = frame
        .as_ref()
        .map_or_else(String::new, |frame| format!("; the frame: {frame}"));
    Some(format!(
        "{}: {what}{at}: expected {expected}, seen {seen}{frame}",
        check.id
    ))
}

fn words(group: &str) -> (&'static str, &'static str) {
    match group {
        "transmit" => (
            "sends wrong packets",
            "RFC 768, RFC 1071, RFC 9293 section 3.1, RFC 8200 section 8.1",
        ),
        "receive" => (
            "judges received packets wrongly",
            "RFC 1122 sections 4.1.3.4 and 4.2.2.7",
        ),
        "segmentation" => (
            "cuts segments wrongly",
            "Linux Documentation/networking/segmentation-offloads.rst",
        ),
        "merging" => (
            "merges packets that must stay apart",
            "Linux Documentation/networking/segmentation-offloads.rst",
        ),
        "size" => ("does not pass packets of its MTU", "ip-link(8)"),
        "counters" => (
            "counts wrongly",
            "Linux Documentation/networking/statistics.rst",
        ),
        "queues" => (
            "does not spread flows over its receive queues",
            "Linux Documentation/networking/scaling.rst",
        ),
        _ => (
            "gives time stamps that run backward",
            "Linux Documentation/networking/timestamping.rst",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Change, Host, Interface};

    fn run(checks: Vec<NicCheck>) -> Run {
        let interface = Interface {
            name: "eth0".to_owned(),
            ..Interface::default()
        };
        let host = Host {
            interfaces: vec![interface],
            ..Host::default()
        };
        Run {
            hosts: vec![host],
            checks,
            ..Run::default()
        }
    }

    fn check(id: &str, state: NicState) -> NicCheck {
        NicCheck {
            id: id.to_owned(),
            group: "transmit".to_owned(),
            offload: "tx-checksumming on".to_owned(),
            state,
            tried: 70,
            wrong: 20,
            example: Some(NicExample {
                what: "UDP checksum".to_owned(),
                offset: Some(40),
                expected: "ffff".to_owned(),
                seen: "0000".to_owned(),
                frame: Some("0200".to_owned()),
            }),
            change: Some(Change {
                commands: vec!["ethtool -K eth0 tx off".to_owned()],
                ..Change::default()
            }),
            ..NicCheck::default()
        }
    }

    #[test]
    fn what_one_change_avoids_is_one_finding_with_its_proof() {
        let wrong = |id| check(id, NicState::Wrong);
        let run = run(vec![
            wrong("tx-udp4-sum"),
            wrong("tx-udp6-sum"),
            check("tx-tcp4-sum", NicState::Right),
            check("tx-tcp6-sum", NicState::NotAWire),
        ]);
        let found = findings(&run);
        assert_eq!(found.len(), 1);
        let found = &found[0];
        assert_eq!(found.title, "eth0 sends wrong packets (tx-checksumming on)");
        assert_eq!(found.evidence.len(), 2);
        let proof = "tx-udp4-sum: UDP checksum at byte 40 of the frame: expected ffff, seen 0000; the frame: 0200";
        assert_eq!(found.why, proof);
        assert!(found.change.is_some());
    }

    #[test]
    fn an_interface_that_is_right_has_no_finding() {
        assert_eq!(findings(&run(vec![check("x", NicState::Right)])), []);
    }
}
