// SPDX-License-Identifier: MIT OR Apache-2.0
//! One counter, one growth: what the facts, the ledger and `Test.counters` say of it agree, whatever the driver, the
//! width of its counters and the way in which they were read.

mod records;

use linerate_diagnose::evidence::{Evidence, moved_counters};
use linerate_diagnose::explain::{Explanation, explain};
use linerate_diagnose::rules;
use linerate_knowledge::{Counts, Driver, Width};
use linerate_model::output::{LedgerEntry, MovedCounter, Role, Stage};
use proptest::prelude::*;

use records::{Case, Identity, LOST, Reading};

/// The facts that say what died at a stage of the receiver.
const STAGES: [(&str, &str); 2] = [("rx_mac_drops", "rx-mac"), ("rx_ring_drops", "rx-ring")];

/// Of the drops in the MAC those for lack of room: frames that are too short or too long die there, too.
const A_PART: &str = "rx-mac";

/// What the facts say of the receiver's interface.
fn fact(explanation: &Explanation, name: &str, test: Option<&str>) -> Option<u64> {
    let mut all = explanation.facts.iter();
    let found = all.find(|fact| {
        fact.name == name
            && fact.test_id.as_deref() == test
            && fact.host == Some(Role::Remote)
            && fact.interface.as_deref() == Some("eth0")
    })?;
    Some(found.value.number()? as u64)
}

fn line<'e>(entry: &'e LedgerEntry, stage: &str) -> Option<&'e Stage> {
    entry.stages.iter().find(|one| one.stage == stage)
}

/// Whether a register of this stage may wrap unseen.
fn is_narrow(driver: &Driver, stage: &str) -> bool {
    let drops = driver
        .counters
        .iter()
        .filter(|one| one.counts == Counts::Drop);
    drops.clone().any(|one| one.width == Width::U16)
        && drops.clone().any(|one| one.stage.word() == stage)
}

/// The fact lies within the claim. It is the claim's upper end where no register may have wrapped unseen, and where a table
/// says which drops are for lack of room.
fn fact_agrees(
    case: &Case,
    entry: &LedgerEntry,
    known: bool,
    counted: Option<u64>,
    stage: &str,
) -> Result<(), TestCaseError> {
    let line = line(entry, stage);
    let Some(counted) = counted else {
        prop_assert!(
            !known || stage == A_PART || line.is_none_or(|line| line.hi == 0),
            "no fact for {:?}",
            line
        );
        return Ok(());
    };
    prop_assert!(
        counted == 0 || line.is_some(),
        "a fact of {} and no line of {}",
        counted,
        stage
    );
    let Some(line) = line else { return Ok(()) };
    prop_assert!(
        (line.lo <= counted || stage == A_PART) && counted <= line.hi,
        "{} outside of {:?}",
        counted,
        line
    );
    // What other stages lost for certain is taken off an upper end that nothing else bounds.
    let unseen = line.hi > LOST / 2 && is_narrow(case.driver, stage);
    prop_assert!(
        !known || unseen || stage == A_PART || counted == line.hi,
        "{} is not {:?}",
        counted,
        line
    );
    Ok(())
}

/// What the document says of the counters that an evidence of the ledger adds up.
fn document_agrees(case: &Case, line: &Stage, moved: &[MovedCounter]) -> Result<(), TestCaseError> {
    for evidence in line
        .evidence
        .iter()
        .filter(|one| one.source != "the test's account")
    {
        let of_name = |one: &&MovedCounter| {
            one.host == line.host
                && one.source == evidence.source
                && case.is_of(&evidence.fact, &one.name)
        };
        let sum: u64 = moved.iter().filter(of_name).map(|one| one.delta).sum();
        prop_assert_eq!(
            evidence.value.number(),
            Some(sum as f64),
            "{} in {:?}",
            evidence.fact,
            moved
        );
    }
    Ok(())
}

fn agree(case: &Case) -> Result<(), TestCaseError> {
    let record = case.record();
    let explanation = explain(&record, rules::embedded());
    let known = Evidence::of(&record).driver(Role::Remote, "eth0").is_some();
    for test in &record.run.tests {
        let entry = explanation
            .ledger
            .iter()
            .find(|entry| entry.test_id == test.id);
        let entry = entry.ok_or_else(|| TestCaseError::fail("no entry"))?;
        let measured = (!record.pasted).then_some(test.id.as_str());
        for (name, stage) in STAGES {
            fact_agrees(
                case,
                entry,
                known,
                fact(&explanation, name, measured),
                stage,
            )?;
        }
        if measured.is_some() {
            let moved = moved_counters(&Evidence::of(&record), test);
            for line in &entry.stages {
                document_agrees(case, line, &moved)?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn facts_ledger_and_document_agree(case in records::case()) {
        agree(&case)?;
    }
}

/// `IEEE_rx_macerr` has 16 bits: at a gigabit it wraps in less than a second.
#[test]
fn a_register_of_16_bits_that_wraps_is_a_lower_bound_everywhere() {
    let case = Case {
        identity: Identity::Named,
        reading: Reading::Measured { tests: 1 },
        ..Case::of("fec", &[("IEEE_rx_macerr", 63_000, 1000)])
    };
    let record = case.record();
    let explanation = explain(&record, rules::embedded());
    assert_eq!(fact(&explanation, "rx_mac_drops", Some("t1")), Some(4000));
    let rx_mac = line(&explanation.ledger[0], "rx-mac").unwrap();
    assert!(rx_mac.lo <= 4000 && rx_mac.hi == LOST, "{rx_mac:?}");
    let moved = moved_counters(&Evidence::of(&record), &record.run.tests[0]);
    let macerr = moved.iter().find(|one| one.name == "IEEE_rx_macerr");
    assert_eq!(macerr.map(|one| one.delta), Some(4000));
}

/// `ethtool -S` alone, without `ethtool -i`: its names say which driver it is.
#[test]
fn a_recognised_driver_has_a_finding_and_a_line_of_the_ledger() {
    let case = Case {
        identity: Identity::Recognised,
        reading: Reading::PastedTwice,
        ..Case::of("fec", &[("IEEE_rx_macerr", 100, 1150)])
    };
    let explanation = explain(&case.record(), rules::embedded());
    assert_eq!(fact(&explanation, "rx_mac_drops", None), Some(4600));
    let finding = explanation
        .findings
        .iter()
        .find(|one| one.rule.starts_with('F'));
    assert!(finding.is_some(), "{:?}", explanation.findings);
    let rx_mac = line(&explanation.ledger[0], "rx-mac").unwrap();
    assert!(rx_mac.hi >= 4600, "{rx_mac:?}");
}
