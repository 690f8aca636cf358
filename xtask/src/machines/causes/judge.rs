// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a provoked cause left: whether it was named first, its counters and ledger are right, `inspect` showed it, and the
//! guest is as before.

use std::path::Path;

use linerate_knowledge as knowledge;
use serde_json::Value;

use super::Cause;
use crate::machines::nic::Nic;
use crate::machines::results::{Finding, Results, findings, lost_by_stage};
use crate::tally::Tally;

/// A cause on a NIC.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(super) nic: &'static Nic,
    pub(super) cause: &'static Cause,
    /// Why it was not provoked.
    pub(super) not_here: Option<String>,
    /// The rule whose finding came first, of those above *possible*.
    pub(in crate::machines) first: Option<String>,
    /// Whether that is right.
    pub(in crate::machines) is_named: bool,
    /// There was no harm to name.
    pub(super) is_harmless: bool,
    /// What else is wrong.
    pub(in crate::machines) wrong: Vec<String>,
    /// The program's version and the guest's kernel.
    pub(super) versions: Option<(String, String)>,
    /// The day.
    pub(super) date: Option<String>,
}

impl Judged {
    pub(super) fn of(nic: &'static Nic, cause: &'static Cause, directory: &Path) -> Self {
        let results = Results::of(nic, directory);
        let was_provoked = !results.file(&format!("{}.steps", cause.name)).is_empty();
        let why = cause.why_not_on(nic);
        let why = why.or((!was_provoked).then_some("not measured"));
        let not_here = why.map(str::to_owned);
        let measure = document(&results, cause.name);
        let document = measure.as_ref().cloned().unwrap_or_default();
        let text = |at: &str| Some(document.pointer(at)?.as_str()?.to_owned());
        let sure = sure(&document, cause);
        let mut wrong = Vec::new();
        let (mut first, mut is_named) = (None, false);
        let is_harmless = cause.or_nothing || cause.or_harmless && did_no_harm(&document);
        if not_here.is_none() {
            first = sure.first().map(|one| one.rule.clone());
            is_named = measure.is_ok() && is_right(&document, cause, &sure);
            wrong = mistakes(&results, cause, &document);
        }
        Self {
            nic,
            cause,
            not_here,
            first,
            is_named,
            is_harmless,
            wrong,
            versions: text("/tool/version").zip(text("/hosts/0/kernel")),
            date: text("/started").and_then(|time| Some(time.split('T').next()?.to_owned())),
        }
    }

    pub(in crate::machines) fn name(&self) -> &'static str {
        self.cause.name
    }

    /// Whether it was provoked.
    pub(in crate::machines) fn is_here(&self) -> bool {
        self.not_here.is_none()
    }

    /// Prints and counts it.
    pub(super) fn tell(&self, tally: &mut Tally) {
        let what = format!("{}: {}", self.nic.name, self.cause.name);
        if let Some(why) = &self.not_here {
            return tally.skip(&what, why);
        }
        let first = self.first.as_deref().unwrap_or("nothing");
        let mut wrong = self.wrong.clone();
        if !self.is_named {
            wrong.insert(0, format!("{first} comes first"));
        }
        let result = match wrong.is_empty() {
            true => Ok(format!("first: {first}")),
            false => Err(wrong.join("; ")),
        };
        tally.check(&what, result);
    }
}

/// What is concluded of a cause: when its run was explained again, or else when it was measured.
pub(in crate::machines) fn document(results: &Results, name: &str) -> Result<Value, String> {
    let of = |kind: &str| results.document(&format!("{name}.{kind}"));
    of("explained").or_else(|_| of("measure"))
}

/// Findings above *possible*, without what is true of the machine that emulates.
fn sure(document: &Value, cause: &Cause) -> Vec<Finding> {
    let mut all = findings(document);
    let of_this_machine = |one: &Finding| {
        OF_THIS_MACHINE.contains(&one.cause.as_str()) && !cause.first.contains(&one.cause.as_str())
    };
    all.retain(|one| one.strength != "weak" && !of_this_machine(one));
    all
}

/// The first finding is of the cause; or there is none, where none is needed.
fn is_right(document: &Value, cause: &Cause, sure: &[Finding]) -> bool {
    let or_nothing = cause.or_nothing || cause.or_harmless && did_no_harm(document);
    match sure.first() {
        None => {
            or_nothing
                && document["error"].is_null()
                && (cause.searches() || !mostly_lost(document))
        }
        Some(first) if cause.first.contains(&first.cause.as_str()) => true,
        // A full processor is no fault, and true of a machine that is emulated.
        Some(_) => {
            or_nothing
                && sure.iter().all(|one| {
                    one.cause == "processor-full" || cause.first.contains(&one.cause.as_str())
                })
        }
    }
}

/// Harm is what a run shows: packets that were lost, or less than was requested. A processor that takes interrupts next to
/// another program does neither while it has time for both: interrupts come before programs.
fn did_no_harm(document: &Value) -> bool {
    let tests = document["tests"].as_array().map_or(&[][..], Vec::as_slice);
    let is_unharmed = |test: &Value| {
        let rate = |name: &str| test[name].as_f64();
        let met = rate("requested_bits_per_second").zip(rate("delivered_bits_per_second"));
        test["lost_packets"] == 0
            && met.is_some_and(|(requested, delivered)| delivered >= MET * requested)
    };
    !tests.is_empty() && tests.iter().all(is_unharmed)
}

/// As the product's `met_request`.
const MET: f64 = 0.98;

/// Most of a test did not arrive: then something must be named.
fn mostly_lost(document: &Value) -> bool {
    let mut tests = document["tests"].as_array().into_iter().flatten();
    tests.any(|test| test["loss_ratio"].as_f64().is_some_and(|lost| lost > 0.5))
}

fn mistakes(results: &Results, cause: &Cause, document: &Value) -> Vec<String> {
    let checks = [
        steps(results, cause),
        as_before(results, cause),
        seen(results, cause),
        adds_up(document),
        died(document, cause),
        moved(document, cause),
        in_tables(document, results.nic),
    ];
    checks.into_iter().filter_map(Result::err).collect()
}

/// It was set up, measured and undone.
fn steps(results: &Results, cause: &Cause) -> Result<(), String> {
    let step = results.json(&format!("{}.steps", cause.name))?;
    // 4: measured, but not at the requested rate.
    let is_right = |key: &str| step[key] == 0 || key == "measured" && step[key] == 4;
    let mut keys = ["set", "inspected", "measured", "undone"].into_iter();
    match keys.find(|key| !is_right(key)) {
        None => Ok(()),
        Some(key) => Err(format!("{key}: status {}", step[key])),
    }
}

/// After it was undone, the guest is as before.
fn as_before(results: &Results, cause: &Cause) -> Result<(), String> {
    let [before, after] =
        ["before", "after"].map(|kind| results.text(&format!("{}.{kind}", cause.name)));
    let is_new = |line: &&str| !before.lines().any(|other| other == *line);
    match after.lines().find(is_new) {
        None if before.lines().count() == after.lines().count() => Ok(()),
        None => Err("something that was there is gone".to_owned()),
        Some(line) => Err(format!("not undone: {}", line.trim())),
    }
}

/// `inspect` showed what was set.
fn seen(results: &Results, cause: &Cause) -> Result<(), String> {
    let document = results.document(&format!("{}.inspect", cause.name))?;
    let settings = document["settings"]
        .as_array()
        .ok_or("inspect: no settings")?;
    for (source, key, value) in cause.seen {
        let of_it = settings.iter().filter(|one| one["source"] == *source);
        let read: Vec<&Value> = of_it
            .map(|one| &one["values"][*key])
            .filter(|value| !value.is_null())
            .collect();
        if !read
            .iter()
            .any(|read| read.as_str().is_some_and(|read| read.starts_with(value)))
        {
            return Err(format!(
                "inspect shows {key} of {source} as {read:?}, not {value}"
            ));
        }
    }
    Ok(())
}

/// sent = received + lost, and lost = the stages + the rest.
pub(in crate::machines) fn adds_up(document: &Value) -> Result<(), String> {
    let list = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    for test in list("tests") {
        let count = |key: &str| test[key].as_i64();
        if let (Some(sent), Some(received), Some(lost)) = (
            count("sent_packets"),
            count("received_packets"),
            count("lost_packets"),
        ) && sent != received + lost
        {
            return Err(format!(
                "{}: {sent} sent, {received} received, {lost} lost",
                test["id"]
            ));
        }
    }
    for entry in list("ledger") {
        let stages = entry["stages"].as_array().cloned().unwrap_or_default();
        let least: i64 = stages.iter().filter_map(|stage| stage["lo"].as_i64()).sum();
        let counts = entry["lost_packets"]
            .as_i64()
            .zip(entry["unattributed_hi"].as_i64());
        if let Some((lost, rest)) = counts
            && least + rest != lost
        {
            return Err(format!(
                "{}: {least} at stages and {rest} of {lost} lost",
                entry["test_id"]
            ));
        }
    }
    Ok(())
}

/// Packets died where the cause is.
fn died(document: &Value, cause: &Cause) -> Result<(), String> {
    let lost = lost_by_stage(document);
    let is_there = cause.dies_at.iter().any(|stage| lost.contains_key(*stage));
    match cause.dies_at.is_empty() || is_there {
        true => Ok(()),
        false => Err(format!(
            "lost at {lost:?}, not at {}",
            cause.dies_at.join(" or ")
        )),
    }
}

/// The counters increased that must.
fn moved(document: &Value, cause: &Cause) -> Result<(), String> {
    let all: Vec<&Value> = counters(document)
        .filter(|one| one["host"] == "local")
        .collect();
    let rest = |name: &&&str| !all.iter().any(|one| one["name"] == **name);
    match cause.moved.iter().find(rest) {
        None => Ok(()),
        Some(name) => Err(format!("{name} did not increase")),
    }
}

fn counters(document: &Value) -> impl Iterator<Item = &Value> {
    let tests = document["tests"].as_array().into_iter().flatten();
    tests
        .filter_map(|test| test["counters"].as_array())
        .flatten()
}

/// Every counter of the driver that increased is in its table.
fn in_tables(document: &Value, nic: &Nic) -> Result<(), String> {
    let Some(table) = knowledge::driver(nic.driver) else {
        return Ok(());
    };
    let mut of_driver = counters(document).filter(|one| {
        one["host"] == "local" && one["source"] == "ethtool -S" && one["interface"] == "eth0"
    });
    let is_unknown = |one: &&Value| {
        let name = one["name"].as_str().unwrap_or_default();
        knowledge::counter(table, name).is_none()
            && !table.is_blind(knowledge::Group::Ethtool, name)
    };
    match of_driver.find(is_unknown) {
        None => Ok(()),
        Some(one) => Err(format!("{} increased and is in no table", one["name"])),
    }
}

/// What other work on this machine causes, and is rightly reported.
pub(in crate::machines) const OF_THIS_MACHINE: [&str; 4] = [
    "sender-limited",
    "sender-had-no-processor",
    "receiver-had-no-processor",
    "receiver-waited-for-cpu",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::causes::named;
    use serde_json::json;

    fn judged(cause: &str, found: &[(&str, &str)]) -> bool {
        let cause = named(cause).unwrap();
        let finding = |(cause, strength): &(&str, &str)| json!({ "rule": "X", "cause": cause, "strength": strength });
        let all: Vec<Value> = found.iter().map(finding).collect();
        let document = json!({ "error": null, "findings": all });
        is_right(&document, cause, &sure(&document, cause))
    }

    #[test]
    fn the_first_finding_above_possible_must_be_of_the_cause() {
        let right = ("own-queue-drops", "proven");
        let other = ("loss-on-the-path", "consistent");
        assert!(judged("tbf", &[right, other]));
        assert!(judged("tbf", &[("loss-on-the-path", "weak"), right]));
        assert!(!judged("tbf", &[other, right]));
        assert!(!judged("tbf", &[]));
    }

    #[test]
    fn nothing_is_right_on_an_untouched_machine() {
        assert!(judged("untouched", &[]));
        assert!(judged("untouched", &[("processor-full", "proven")]));
        assert!(judged(
            "untouched",
            &[("sender-had-no-processor", "proven")]
        ));
        assert!(!judged(
            "untouched",
            &[("receive-ring-too-small", "consistent")]
        ));
    }

    #[test]
    fn a_cause_without_harm_needs_no_name_and_one_with_harm_does() {
        let judged = |lost: u64, delivered: f64, found: &[Value]| {
            let test = json!({ "requested_bits_per_second": 1e8, "delivered_bits_per_second": delivered, "lost_packets": lost });
            let document = json!({ "error": null, "tests": [test], "findings": found });
            let cause = named("irq-on-busy-cpu").unwrap();
            is_right(&document, cause, &sure(&document, cause))
        };
        let other = json!({ "rule": "X", "cause": "receive-ring-too-small", "strength": "proven" });
        assert!(judged(0, 1e8, &[]));
        assert!(!judged(0, 1e8, &[other]), "something wrong is named");
        assert!(!judged(7, 1e8, &[]), "packets were lost");
        assert!(!judged(0, 0.6e8, &[]), "the rate was not met");
        assert!(
            !did_no_harm(&json!({ "tests": [] })),
            "nothing was measured"
        );
    }

    #[test]
    fn work_of_others_counts_where_it_is_the_cause() {
        assert!(judged(
            "cpu-burnt",
            &[("sender-had-no-processor", "proven")]
        ));
        assert!(!judged("cpu-burnt", &[]));
    }

    #[test]
    fn sent_is_received_and_lost_and_lost_is_the_stages_and_the_rest() {
        let document = |received, least, rest| {
            json!({
                "tests": [{ "id": "u1", "sent_packets": 100, "received_packets": received, "lost_packets": 30 }],
                "ledger": [{ "test_id": "u1", "lost_packets": 30, "stages": [{ "lo": least }], "unattributed_hi": rest }],
            })
        };
        assert_eq!(adds_up(&document(70, 28, 2)), Ok(()));
        assert!(adds_up(&document(71, 28, 2)).is_err());
        assert!(adds_up(&document(70, 28, 3)).is_err());
    }

    #[test]
    fn a_counter_that_no_table_has_is_found() {
        let nic = Nic::named("e1000e").unwrap();
        let moved_by = |name: &str| {
            let counter = json!({ "host": "local", "interface": "eth0", "source": "ethtool -S", "name": name });
            in_tables(&json!({ "tests": [{ "counters": [counter] }] }), nic)
        };
        assert_eq!(moved_by("rx_missed_errors"), Ok(()));
        assert!(moved_by("rx_frobnicated").is_err());
    }

    #[test]
    fn packets_must_have_died_where_the_cause_is() {
        let lost_at = |stage: &str| {
            let document = json!({ "ledger": [{ "stages": [{ "stage": stage, "lo": 5 }] }] });
            died(&document, named("police").unwrap())
        };
        assert_eq!(lost_at("rx-softnet"), Ok(()));
        assert!(lost_at("wire").is_err());
    }
}
