// SPDX-License-Identifier: MIT OR Apache-2.0
//! What PHY, module and error correction report, and what is concluded from it.

use linerate_model::output::Role;
use linerate_model::record::Record;

use super::{LINK, PEER, first};
use crate::fixtures::{Fixture, pasted, run, udp};

const MODULE: &str = "ethtool -m";

/// Of an SFP whose limits are -20 and 0 dBm received, -8 and 1 dBm sent, 78 °C.
fn module(received: &str, sent: &str, bias: &str, celsius: &str) -> Record {
    let values = [
        ("Receiver signal average optical power", received),
        ("Laser output power", sent),
        ("Laser bias current", bias),
        ("Module temperature", celsius),
        ("Laser rx power high alarm threshold", "0.00 dBm"),
        ("Laser rx power low alarm threshold", "-20.00 dBm"),
        ("Laser output power high alarm threshold", "1.00 dBm"),
        ("Laser output power low alarm threshold", "-8.00 dBm"),
        (
            "Module temperature high alarm threshold",
            "78.00 degrees C / 172.40 degrees F",
        ),
    ];
    pasted().set(Role::Local, MODULE, &values)
}

#[test]
fn a_module_is_judged_by_its_own_limits() {
    let fine = module("-5.20 dBm", "-2.45 dBm", "6.398 mA", "38.50 degrees C");
    assert_eq!(fine.findings(), [""; 0]);
    for (record, rule) in [
        (
            module("-22.01 dBm", "-2.45 dBm", "6.398 mA", "38.50 degrees C"),
            "L25",
        ),
        (
            module("-inf dBm", "-2.45 dBm", "6.398 mA", "38.50 degrees C"),
            "L25",
        ),
        (
            module("1.30 dBm", "-2.45 dBm", "6.398 mA", "38.50 degrees C"),
            "L26",
        ),
        (
            module("-5.20 dBm", "-11.70 dBm", "6.398 mA", "38.50 degrees C"),
            "L27",
        ),
        (
            module("-5.20 dBm", "-2.45 dBm", "6.398 mA", "81.00 degrees C"),
            "L28",
        ),
    ] {
        assert_eq!(first(&record), rule);
    }
    // A laser that is switched off sends nothing, and is not broken.
    let off = module("-5.20 dBm", "-inf dBm", "0.000 mA", "38.50 degrees C");
    assert_eq!(off.findings(), [""; 0]);
}

#[test]
fn of_several_lanes_those_in_use_are_judged() {
    let lanes = |third: &str| {
        let values = [
            ("Laser tx bias current (Channel 1)", "6.750 mA"),
            ("Laser tx bias current (Channel 2)", "0.000 mA"),
            ("Laser tx bias current (Channel 3)", third),
            (
                "Rcvr signal avg optical power(Channel 1)",
                "0.9522 mW / -0.21 dBm",
            ),
            ("Rcvr signal avg optical power(Channel 2)", "-inf dBm"),
            ("Rcvr signal avg optical power(Channel 3)", "-inf dBm"),
            ("Laser rx power low alarm threshold", "-13.40 dBm"),
        ];
        let values =
            values.map(|(name, value)| (name, value.rsplit(" / ").next().unwrap_or(value)));
        first(&pasted().set(Role::Local, MODULE, &values))
    };
    assert_eq!(lanes("0.000 mA"), "");
    assert_eq!(lanes("6.750 mA"), "L25");
}

#[test]
fn a_poor_signal_and_a_broken_cable() {
    let quality = |index: &str, link: &str| {
        first(&pasted().set(
            Role::Local,
            "ethtool",
            &[("SQI", index), ("Link detected", link)],
        ))
    };
    assert_eq!(quality("1/7", "yes"), "L29");
    assert_eq!(quality("3/7", "yes"), "");
    assert_ne!(quality("0/7", "no (No cable)"), "L29", "no link, no signal");
    let cable = |second: &str| {
        let values = [
            ("Pair A code", "OK"),
            ("Pair B code", second),
            ("Pair B, fault length", "4.20m"),
        ];
        first(&pasted().set(Role::Local, "ethtool --cable-test", &values))
    };
    assert_eq!(cable("Open Circuit"), "L31");
    assert_eq!(cable("OK"), "");
    assert_eq!(cable("Noise"), "");
}

const FEC: &str = "ethtool -I --show-fec";

#[test]
fn what_was_lost_while_a_link_came_up_is_no_fault() {
    let since_boot =
        |blocks| first(&pasted().read(Role::Local, FEC, &[("uncorrectable_blocks", blocks)]));
    assert_eq!(since_boot(3), "");
    assert_eq!(since_boot(4000), "L08");
    let in_test = run(vec![udp("t1", 100_000, 0)]).counted(
        "t1",
        PEER,
        FEC,
        &[("uncorrectable_blocks", 3), ("corrected_blocks", 90)],
    );
    assert!(in_test.findings().contains(&"L08".to_owned()));
    let bins = |worst| {
        let counters = [
            ("symbol_errors 0-0", 9_000_000),
            ("symbol_errors 1-3", 700),
            ("symbol_errors 12-15", worst),
        ];
        first(&pasted().read(Role::Local, FEC, &counters))
    };
    assert_eq!(bins(0), "");
    // The blocks that could not be corrected were not counted.
    let both = [("symbol_errors 12-15", 2), ("uncorrectable_blocks", 0)];
    assert_eq!(first(&pasted().read(Role::Local, FEC, &both)), "L08b");
}

/// What a PHY, its code and its index report stands at the stage `wire`; what a healthy link reports does not.
#[test]
fn what_the_phy_reports_is_evidence_of_the_wire() {
    let evidence = |bins: &[(&str, u64)], phy: u64, quality: &str| {
        let record = run(vec![udp("t1", 800_000, 350)])
            .counted("t1", PEER, LINK, &[("rx_packets", 799_650)])
            .counted("t1", PEER, FEC, bins)
            .counted("t1", PEER, "phydev", &[("RxErrors", phy)]);
        let values = [("SQI", quality), ("Link detected", "yes")];
        let ledger = record.set(PEER, "ethtool", &values).explained().ledger;
        let stages = ledger[0].stages.iter();
        let of_wire = stages.filter(|stage| stage.stage == "wire");
        let all = of_wire.flat_map(|stage| stage.evidence.clone());
        let facts: Vec<String> = all
            .map(|one| format!("{} {}", one.fact, one.value))
            .collect();
        facts
    };
    let corrected = ("corrected_blocks", 90);
    let [low, last] = [700, 2].map(|count| ("symbol_errors 12-15", count));
    let none = ("symbol_errors 12-15", 0);
    let usual = ("symbol_errors 1-3", low.1);
    let healthy = evidence(&[corrected, usual, none], 0, "7/7");
    assert!(
        !healthy.iter().any(|fact| {
            ["corrected", "symbol", "RxErrors", "sqi"]
                .iter()
                .any(|word| fact.starts_with(word))
        }),
        "{healthy:?}"
    );
    let broken = evidence(&[corrected, usual, last], 12, "1/7");
    for fact in [
        "symbol_errors 12-15 2",
        "RxErrors 12",
        "sqi 1",
        "corrected_blocks 90",
    ] {
        assert!(broken.contains(&fact.to_owned()), "{fact} in {broken:?}");
    }
}

/// Errors of the signal support what was found on the wire, and are not counted with it.
#[test]
fn blocks_are_evidence_of_the_wire_and_claim_nothing() {
    let record = run(vec![udp("t1", 800_000, 350)])
        .counted(
            "t1",
            PEER,
            LINK,
            &[("rx_crc_errors", 350), ("rx_packets", 799_650)],
        )
        .counted("t1", PEER, FEC, &[("uncorrectable_blocks", 40)]);
    let ledger = record.explained().ledger;
    let wire = ledger[0].stages.iter().find(|stage| stage.stage == "wire");
    let wire = wire.unwrap_or_else(|| panic!("{ledger:?}"));
    assert!(wire.hi <= 350, "{wire:?}");
    assert!(
        wire.evidence
            .iter()
            .any(|one| one.fact == "uncorrectable_blocks"),
        "{wire:?}"
    );
}
