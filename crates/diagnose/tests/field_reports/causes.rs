// SPDX-License-Identifier: MIT OR Apache-2.0
//! A text → what was concluded of it.

use std::collections::BTreeSet;

use linerate_diagnose::explain::{Explanation, explain};
use linerate_diagnose::rules;
use linerate_model::output::Finding;
use linerate_paste as paste;

pub(crate) const IMX6: &str = include_str!("imx6.txt");
pub(crate) const IMX6_AFTER: &str = include_str!("imx6-after.txt");
pub(crate) const IMX6_COMMENTS: &str = include_str!("imx6-comments.txt");
pub(crate) const IMX6_PAUSE: &str = include_str!("imx6-pause.txt");
pub(crate) const IMX6_REGISTERS: &str = include_str!("imx6-registers.txt");
pub(crate) const ANDROID: &str = include_str!("android.txt");
pub(crate) const MPC8240: &str = include_str!("mpc8240.txt");
pub(crate) const SOLARIS: &str = include_str!("solaris.txt");
pub(crate) const TEN64: &str = include_str!("ten64.txt");

/// All of them.
pub(crate) const REPORTS: &[&str] = &[
    IMX6,
    IMX6_AFTER,
    IMX6_COMMENTS,
    IMX6_PAUSE,
    IMX6_REGISTERS,
    ANDROID,
    MPC8240,
    SOLARIS,
    TEN64,
];

/// One per state in the text.
pub(crate) fn explanations(text: &str) -> Vec<Explanation> {
    let records = paste::read(text).records;
    let explained = records
        .iter()
        .map(|record| explain(record, rules::embedded()));
    explained.collect()
}

pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let all = explanations(text).into_iter();
    all.flat_map(|explanation| explanation.findings).collect()
}

/// The first cause behind what is said of the measurement itself.
pub(crate) fn first(text: &str) -> Finding {
    let is_validity = |finding: &Finding| {
        let mut rules = rules::embedded().iter();
        rules.any(|rule| rule.id == finding.rule && rule.validity)
    };
    let causes = findings(text).into_iter();
    let mut causes = causes.filter(|finding| !is_validity(finding) && !finding.informational);
    causes.next().unwrap_or_default()
}

/// The causes that are not only worth knowing.
pub(crate) fn causes(text: &str) -> BTreeSet<String> {
    let findings = findings(text).into_iter();
    let reported = findings.filter(|finding| !finding.informational);
    reported.map(|finding| finding.cause).collect()
}

/// All that is named, worth knowing or more.
pub(crate) fn known(text: &str) -> BTreeSet<String> {
    let findings = findings(text).into_iter();
    findings.map(|finding| finding.cause).collect()
}

/// Rules that fired.
pub(crate) fn fired(text: &str) -> BTreeSet<String> {
    let findings = findings(text).into_iter();
    findings.map(|finding| finding.rule).collect()
}

/// What a rule that cannot tell wants to be run.
pub(crate) fn asks(text: &str, rule: &str) -> Vec<String> {
    let untold = explanations(text)
        .into_iter()
        .flat_map(|all| all.cannot_tell);
    let mine = untold.filter(|untold| untold.rule == rule);
    mine.flat_map(|untold| untold.missing).collect()
}

/// Frames that a cause accounts for.
pub(crate) fn lost_by(text: &str, cause: &str) -> Option<u64> {
    let mut findings = findings(text).into_iter();
    findings
        .find(|finding| finding.cause == cause)?
        .explains
        .lost_packets
}
