// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a check of an interface found wrong → findings: the proof is the frame that was seen.

use linerate_model::output::{Evidence, Finding, NicCheck, NicExample, NicState, Value};
use linerate_model::run::Run;

/// A finding for each group of properties that one change would avoid.
#[must_use]
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let is_wrong = |check: &&NicCheck| check.state == NicState::Wrong;
    let wrong = run.checks.iter().filter(is_wrong);
    // What is merged does not arrive as it was sent, whatever its checksum.
    let (first, others): (Vec<_>, Vec<_>) = wrong.partition(|check| merges_most(check));
    let wrong = [first, others].concat();
    let mut groups: Vec<Vec<&NicCheck>> = Vec::new();
    for check in &wrong {
        let same = |group: &&mut Vec<&NicCheck>| {
            let first = group.first();
            first.is_some_and(|first| is_alike(first, check) || is_cause(first, check))
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(check),
            None => groups.push(vec![check]),
        }
    }
    groups
        .iter()
        .filter_map(|group| finding(run, group))
        .collect()
}

fn is_alike(one: &NicCheck, other: &NicCheck) -> bool {
    (&one.group, &one.offload) == (&other.group, &other.offload)
}

fn merges_most(check: &NicCheck) -> bool {
    check.group == "merging" && 2 * check.wrong > check.tried
}

/// Whether `first` being wrong explains `other`: what is cut, or has a VLAN tag, has the wrong checksums that everything sent
/// has, and is cut as wrongly; what is merged, or dropped, is missing elsewhere; between queues there is no order of time.
fn is_cause(first: &NicCheck, other: &NicCheck) -> bool {
    let what = |check: &NicCheck, end: &str| {
        let example = check.example.as_ref();
        example.is_some_and(|example| example.what.ends_with(end))
    };
    let example = other.example.as_ref();
    let is_missing = example
        .is_some_and(|example| example.seen == "nothing" || example.what.starts_with("growth of"));
    match (&*first.group, &*other.group) {
        ("transmit", "segmentation" | "vlan") => what(first, "checksum") && what(other, "checksum"),
        ("segmentation", "vlan") => {
            let cut = first.example.as_ref();
            cut.is_some_and(|cut| what(other, &cut.what))
        }
        ("queues", "time") => splits_flows(first),
        ("merging", "receive") => merges_most(first) && is_missing,
        ("receive", "merging") => is_missing || what(other, "a bad checksum"),
        _ => false,
    }
}

fn splits_flows(check: &NicCheck) -> bool {
    let mut example = check.example.iter();
    example.any(|example| example.what.starts_with("TCP flow from"))
}

fn finding(run: &Run, wrong: &[&NicCheck]) -> Option<Finding> {
    let first = wrong.first()?;
    let local = run.hosts.first()?;
    let interface = local.interfaces.first().map(|link| link.name.clone());
    let source = source(&first.group);
    let evidence = wrong.iter().map(|check| Evidence {
        fact: check.id.clone(),
        value: Value::Number(check.wrong as f64),
        unit: format!("of {} wrong", check.tried),
        source: check.reason.clone().unwrap_or_else(|| check.what.clone()),
    });
    Some(Finding {
        rule: format!("nic-{}", first.group),
        cause: format!("nic-{}-wrong", first.group),
        title: title(first),
        strength: "proven".to_owned(),
        interface,
        evidence: evidence.collect(),
        change: first.change.clone(),
        verify: run.command.join(" "),
        why: wrong
            .iter()
            .find_map(|check| proof(check))
            .unwrap_or_default()
            + &difference(run, first),
        source: source.to_owned(),
        ..Finding::default()
    })
}

/// What the interface does wrong, with which offload, and where that decides, in which frames.
fn title(check: &NicCheck) -> String {
    let what = check.example.as_ref().map_or("", |example| &*example.what);
    let does = match check.group.as_str() {
        "transmit" if what.ends_with("checksum") => &*format!("sends a wrong {what}"),
        "transmit" if what.starts_with("bytes after the packet") => {
            "sends frames that are too long for their packets"
        }
        "transmit" => "sends wrong packets",
        "receive" => "judges received packets wrongly",
        "segmentation" => "cuts packets wrongly",
        "merging" => "merges packets that must stay apart",
        "size" => "does not pass packets of its MTU",
        "counters" => "counts wrongly",
        "queues" if splits_flows(check) => "does not keep a flow on one receive queue",
        "queues" => "does not spread flows over its receive queues",
        "vlan" if what.ends_with("checksum") => &*format!("sends a wrong {what} under a VLAN tag"),
        "vlan" if what.ends_with("tag") => "inserts VLAN tags wrongly",
        "vlan" => "sends wrong packets under a VLAN tag",
        _ => "gives time stamps that run backward",
    };
    let with = match check.offload.as_str() {
        "" => String::new(),
        offload => format!(" ({offload})"),
    };
    let reason = check.reason.as_deref().unwrap_or_default();
    match reason.ends_with("all others right") {
        true => format!("{does}{with}: {reason}"),
        false => format!("{does}{with}"),
    }
}

/// What the same check came to with the other value of its offload, if that was tried (`--toggle`).
fn difference(run: &Run, wrong: &NicCheck) -> String {
    let is_other = |check: &&NicCheck| check.id == wrong.id && check.offload != wrong.offload;
    let other = run.checks.iter().find(is_other);
    other.map_or_else(String::new, |other| {
        format!("; with {}: {}", other.offload, other.state.words())
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

fn source(group: &str) -> &'static str {
    match group {
        "transmit" => "RFC 768, RFC 1071, RFC 9293 section 3.1, RFC 8200 section 8.1",
        "receive" => "RFC 1122 sections 4.1.3.4 and 4.2.2.7",
        "segmentation" | "merging" => "Linux Documentation/networking/segmentation-offloads.rst",
        "vlan" => "IEEE 802.1Q section 9.6, Linux Documentation/networking/netdev-features.rst",
        "size" => "ip-link(8)",
        "counters" => "Linux Documentation/networking/statistics.rst",
        "queues" => "Linux Documentation/networking/scaling.rst",
        _ => "Linux Documentation/networking/timestamping.rst",
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
            NicCheck {
                group: "segmentation".to_owned(),
                offload: "tx-udp-segmentation on".to_owned(),
                ..wrong("tx-udp4-segments")
            },
        ]);
        let found = findings(&run);
        assert_eq!(found.len(), 1);
        let found = &found[0];
        assert_eq!(
            found.title,
            "sends a wrong UDP checksum (tx-checksumming on)"
        );
        assert_eq!(found.evidence.len(), 3);
        let proof = "tx-udp4-sum: UDP checksum at byte 40 of the frame: expected ffff, seen 0000; the frame: 0200";
        assert_eq!(found.why, proof);
        assert!(found.change.is_some());
    }

    #[test]
    fn a_wrong_tag_is_named_and_a_checksum_that_is_always_wrong_is_one_cause() {
        let of_vlan = |what: &str| {
            let mut check = check("tx-vlan-tag", NicState::Wrong);
            check.group = "vlan".to_owned();
            check.offload = "tx-vlan-offload on".to_owned();
            check.example.as_mut().unwrap().what = what.to_owned();
            check
        };
        let titles = |checks| {
            let found = findings(&run(checks)).into_iter();
            found.map(|one| one.title).collect::<Vec<_>>()
        };
        let tag = "inserts VLAN tags wrongly (tx-vlan-offload on)";
        assert_eq!(titles(vec![of_vlan("802.1Q tag")]), [tag]);
        let under = "sends a wrong UDP checksum under a VLAN tag (tx-vlan-offload on)";
        assert_eq!(titles(vec![of_vlan("UDP checksum")]), [under]);
        let always = check("tx-udp4-sum", NicState::Wrong);
        let one = titles(vec![always, of_vlan("UDP checksum")]);
        assert_eq!(one, ["sends a wrong UDP checksum (tx-checksumming on)"]);
    }

    #[test]
    fn what_is_right_with_the_offload_off_is_said() {
        let off = NicCheck {
            offload: "tx-checksumming off".to_owned(),
            ..check("tx-udp4-sum", NicState::Right)
        };
        let found = findings(&run(vec![check("tx-udp4-sum", NicState::Wrong), off]));
        assert!(found[0].why.ends_with("; with tx-checksumming off: right"));
    }

    #[test]
    fn what_merging_loses_is_no_second_cause() {
        let lost = |id: &str, group: &str| NicCheck {
            group: group.to_owned(),
            example: Some(NicExample {
                seen: "nothing".to_owned(),
                ..NicExample::default()
            }),
            ..check(id, NicState::Wrong)
        };
        let merging = NicCheck {
            wrong: 70,
            ..lost("rx-udp4-apart", "merging")
        };
        let rules = |checks| {
            let found = findings(&run(checks)).into_iter();
            found.map(|one| one.rule).collect::<Vec<_>>()
        };
        let receiving = lost("rx-udp4-good", "receive");
        assert_eq!(rules(vec![receiving.clone(), merging]), ["nic-merging"]);
        // Few were merged: it drops them.
        let few = lost("rx-udp4-apart", "merging");
        assert_eq!(rules(vec![receiving, few]), ["nic-receive"]);
    }

    #[test]
    fn bytes_after_a_packet_are_named() {
        let mut long = check("tx-udp4-length", NicState::Wrong);
        long.offload.clear();
        long.reason = Some("frames of 120 bytes".to_owned());
        long.example.as_mut().unwrap().what =
            "bytes after the packet in a frame of 120 bytes".to_owned();
        let title = &findings(&run(vec![long]))[0].title;
        assert_eq!(title, "sends frames that are too long for their packets");
    }

    #[test]
    fn time_stamps_of_a_flow_on_several_queues_are_no_second_cause() {
        let wrong = |id: &str, group: &str, what: &str| {
            let mut check = check(id, NicState::Wrong);
            check.group = group.to_owned();
            check.offload.clear();
            check.example.as_mut().unwrap().what = what.to_owned();
            check
        };
        let stamps = wrong("rx-time-stamps", "time", "time stamp");
        let rules = |what: &str| {
            let queues = wrong("rx-queues", "queues", what);
            let found = findings(&run(vec![queues, stamps.clone()])).into_iter();
            found.map(|one| one.rule).collect::<Vec<_>>()
        };
        assert_eq!(rules("TCP flow from port 31000"), ["nic-queues"]);
        assert_eq!(rules("48 TCP flows"), ["nic-queues", "nic-time"]);
    }

    #[test]
    fn an_interface_that_is_right_has_no_finding() {
        assert_eq!(findings(&run(vec![check("x", NicState::Right)])), []);
    }
}
