// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--short`: what must be true of an unmodified machine.
//!
//! A host that is busy with other work gives an emulator less of a processor, and the guest's clock loses ticks. Rates, and
//! which and how many findings are true, depend on that. What is checked on every host does not: exit codes, documents,
//! names of driver and counters, accounts, ledgers, and that no finding is of another chip or proposes what this one cannot do.
//! On a host that was idle also how many findings there are, and of what the first is; and each test was offered in full.
//! What the load of a moment can change is judged of a second boot, if it is wrong in the first.

use serde_json::Value;

use super::causes::{OF_THIS_MACHINE, adds_up};
use super::expected::{documents, driver, few, of_this_chip, possible};
use super::host::Others;
use super::results::{Ended, Finding, Results, findings, setting};
use crate::tally::Tally;

/// Checks one machine.
pub(super) fn check(results: &Results, tally: &mut Tally) {
    let name = results.nic.name;
    let host = Host::of(results);
    let mut check = |what: &str, result| tally.check(&format!("{name}: {what}"), result);
    check("host", Ok(host.said()));
    check("steps", steps(results, &host));
    check("documents", documents(results));
    check("driver", driver(results));
    check("counters", counters(results));
    check("accounts", accounts(results));
    let inspect = results.document("inspect").unwrap_or_default();
    for step in CHECKS {
        let document = results.document(step);
        check(
            step,
            document.and_then(|one| found(&one, results, &inspect, &host)),
        );
    }
}

/// What is wrong, and may be right at the next boot.
pub(super) fn of_the_load(results: &Results) -> Option<String> {
    let host = Host::of(results);
    let steps = steps(results, &host).map(drop);
    let checks = CHECKS.iter().filter(|_| host.was_idle());
    let of_rates = |step: &&str| {
        let found = findings(&results.document(step)?);
        let wrong = first_of_an_untouched_machine(&found).and(few(&found).map(drop));
        wrong.map_err(|why| format!("{step}: {why}"))
    };
    checks.map(of_rates).chain([steps]).find_map(Result::err)
}

/// The host, while this machine ran.
struct Host {
    /// Processors that other programs took; unknown of an older result.
    others: Option<f64>,
}

impl Host {
    fn of(results: &Results) -> Self {
        let others = results.json(FILE).ok();
        Self {
            others: others.and_then(|others| others["other_programs_processors"].as_f64()),
        }
    }

    fn was_idle(&self) -> bool {
        self.others.is_some_and(|others| others < IDLE)
    }

    fn said(&self) -> String {
        let how = if self.was_idle() { "idle" } else { "busy" };
        let taken = self
            .others
            .map_or("an unknown number of".to_owned(), |others| {
                format!("{others:.2}")
            });
        format!("{how}: other programs took {taken} processors")
    }
}

/// Writes what `others` took to the results in `directory`.
pub(super) fn keep(others: Option<&Others>, directory: &std::path::Path) -> Result<(), String> {
    let taken = others.and_then(Others::processors);
    let document = serde_json::json!({ "other_programs_processors": taken });
    std::fs::write(directory.join(FILE), format!("{document}\n"))
        .map_err(|why| format!("{FILE}: {why}"))
}

/// Each ended as it should, and its document has the same exit code.
fn steps(results: &Results, host: &Host) -> Result<String, String> {
    let steps = results.steps()?;
    let judged: Vec<_> = steps
        .iter()
        .map(|step| (step, ended(step, results, host)))
        .collect();
    let wrong: Vec<String> = judged
        .iter()
        .filter_map(|(step, ended)| {
            Some(format!(
                "{} {}: {}",
                step.name,
                step.status,
                ended.as_ref().err()?
            ))
        })
        .collect();
    match wrong.is_empty() {
        true => Ok(format!("{} ended as they should", steps.len())),
        false => Err(wrong.join("; ")),
    }
}

fn ended(step: &Ended, results: &Results, host: &Host) -> Result<(), String> {
    let document = results.document(&step.name).unwrap_or_default();
    match document["exit_code"].as_i64() {
        Some(code) if code != step.status => return Err(format!("its document has {code}")),
        _ if step.is_right => return Ok(()),
        _ => {}
    }
    let reasons = invalid(&document);
    let is_excused = step.status == INVALID && !host.was_idle() && !reasons.is_empty();
    match reasons
        .iter()
        .find(|why| !is_excused || !why.contains(NOT_OFFERED))
    {
        None if is_excused => Ok(()),
        why => Err(why.map_or("wrong exit code", String::as_str).to_owned()),
    }
}

/// Why tests are not valid.
fn invalid(document: &Value) -> Vec<String> {
    let tests = document["tests"].as_array().into_iter().flatten();
    let reasons = tests.filter_map(|test| test["invalid_reason"].as_str());
    reasons.map(str::to_owned).collect()
}

/// The driver has counters, and the tables have each.
fn counters(results: &Results) -> Result<String, String> {
    let (all, unknown) = (results.counters(), results.unknown_counters());
    match (all.len(), unknown.as_slice()) {
        (0, _) => Err("ethtool -S shows none".to_owned()),
        (count, []) => Ok(format!("{count}, each in a table")),
        (_, unknown) => Err(format!("without meaning here: {}", unknown.join(", "))),
    }
}

/// sent = received + lost, and lost = the stages + the rest, in each test and direction.
fn accounts(results: &Results) -> Result<String, String> {
    for step in ACCOUNTED {
        let document = results.document(step)?;
        adds_up(&document).map_err(|why| format!("{step}: {why}"))?;
        let is_counted = |test: &Value| test["sent_packets"].as_u64() > Some(0);
        let tests = document["tests"].as_array();
        if !tests.is_some_and(|tests| !tests.is_empty() && tests.iter().all(is_counted)) {
            return Err(format!("{step}: nothing was sent"));
        }
    }
    Ok(format!("{} add up", ACCOUNTED.len()))
}

/// Possible, of this chip; few on an idle host, where the first is of a processor or a socket, which limit an emulated machine.
fn found(
    document: &Value,
    results: &Results,
    inspect: &Value,
    host: &Host,
) -> Result<String, String> {
    let found = findings(document);
    possible(&found, setting(inspect, "ethtool -k"))?;
    let of_this_chip = of_this_chip(&found, results.nic.driver)?;
    if !host.was_idle() {
        return Ok(of_this_chip);
    }
    first_of_an_untouched_machine(&found)?;
    few(&found)
}

/// The first above *possible* is of what limits an emulated machine, or of the machine that emulates.
pub(super) fn first_of_an_untouched_machine(found: &[Finding]) -> Result<(), String> {
    match found.iter().find(|one| one.strength != "weak") {
        Some(one)
            if !FIRST.contains(&one.cause.as_str())
                && !OF_THIS_MACHINE.contains(&one.cause.as_str()) =>
        {
            Err(format!(
                "{} ({}) comes first: {}",
                one.rule, one.cause, one.title
            ))
        }
        _ => Ok(()),
    }
}

/// What limits an untouched machine with one processor: the processor, and the receiver that waits for it.
const FIRST: [&str; 4] = [
    "processor-full",
    "receiver-paused",
    "receiver-too-slow",
    "udp-receive-buffer-overflowed",
];

const CHECKS: [&str; 2] = ["check-from-guest", "check-from-host"];

/// Tests between two linerates: both ends count.
const ACCOUNTED: [&str; 4] = [
    "udp-below-up",
    "udp-below-down",
    "udp-above-up",
    "udp-above-down",
];

/// Exit code 4, and how the reason reads if the sender had no time to send.
const INVALID: i64 = 4;
const NOT_OFFERED: &str = "datagrams were not sent, so the requested rate was not tested";

/// Other programs, in processors: the bookkeeping of an idle host takes less.
const IDLE: f64 = 0.1;

const FILE: &str = "host.json";
