// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of causes and NICs, and its section of `docs/machines.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::Judged;
use crate::machines::page;

/// One row per cause, one column per NIC, and their sum.
pub(in crate::machines) fn markdown(all: &[Judged]) -> String {
    let mut nics: Vec<&str> = Vec::new();
    let mut causes: Vec<&str> = Vec::new();
    for judged in all {
        push_new(&mut nics, judged.nic.name);
        push_new(&mut causes, judged.cause.name);
    }
    let mut text = format!(
        "| cause | measured by | {} |\n| --- | --- |{}\n",
        nics.join(" | "),
        " --- |".repeat(nics.len())
    );
    for cause in causes {
        let of_cause: Vec<&Judged> = all.iter().filter(|one| one.cause.name == cause).collect();
        let of_nic = |nic: &&str| {
            of_cause
                .iter()
                .find(|one| one.nic.name == *nic)
                .map_or_else(none, |one| cell(one))
        };
        let cells: Vec<String> = nics.iter().map(of_nic).collect();
        let measure = of_cause.first().map_or("", |one| one.cause.measure);
        text += &format!("| {cause} | `{measure}` | {} |\n", cells.join(" | "));
    }
    text + "\n" + &sum(all) + "\n" + &absent(all)
}

/// Why cells are empty.
fn absent(all: &[Judged]) -> String {
    let mut by_why: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for judged in all {
        if let Some(why) = &judged.not_here {
            let key = (judged.cause.name, why.as_str());
            by_why.entry(key).or_default().push(judged.nic.name);
        }
    }
    let mut text = String::new();
    for ((cause, why), nics) in by_why {
        text += &format!("- no {cause}: {} ({why})\n", nics.join(", "));
    }
    text
}

fn push_new<'n>(names: &mut Vec<&'n str>, name: &'n str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// The rule that came first.
fn cell(judged: &Judged) -> String {
    if judged.not_here.is_some() {
        return none();
    }
    let first = judged.first.as_deref().unwrap_or("nothing");
    match (judged.is_named, judged.wrong.is_empty()) {
        (true, true) => first.to_owned(),
        (true, false) => format!("{first} ({})", judged.wrong.join("; ").replace('|', "/")),
        (false, _) => format!("**{first}**"),
    }
}

/// Of the causes that do harm, how many come first, and how many there are.
pub(in crate::machines) fn named_of(all: &[Judged]) -> (usize, usize) {
    right(all, false)
}

/// Of those that did no harm, or of the others, how many are right, and how many there are.
fn right(all: &[Judged], is_harmless: bool) -> (usize, usize) {
    let here = all.iter().filter(|one| one.is_here());
    let these = here.filter(|one| one.is_harmless == is_harmless);
    let named = these.clone().filter(|one| one.is_named).count();
    (named, these.count())
}

/// Causes that must be named, apart from what does no harm: a silent program would be right there.
fn sum(all: &[Judged]) -> String {
    let here: Vec<&Judged> = all.iter().filter(|one| one.is_here()).collect();
    let ((named, of), (unblamed, harmless)) = (named_of(all), right(all, true));
    let clean = here.iter().filter(|one| one.wrong.is_empty()).count();
    format!(
        "Of {} cells {of} have a cause that does harm, and the first finding is right in {named} of them ({} %). {harmless} are the \
         untouched machine or a setting that does no harm, and nothing wrong is found in {unblamed} of them. Counters, ledger, \
         `inspect` and undoing are right in {clean}.\n",
        here.len(),
        (100 * named).checked_div(of).unwrap_or(0)
    )
}

fn none() -> String {
    "–".to_owned()
}

/// Puts the section into the page.
pub(super) fn write(all: &[Judged]) -> Result<(), String> {
    let page =
        fs::read_to_string(page::path()).map_err(|why| format!("docs/machines.md: {why}"))?;
    let new = replaced(&page, &text(all)).ok_or("docs/machines.md: no section of causes")?;
    fs::write(page::path(), new).map_err(|why| format!("docs/machines.md: {why}"))
}

/// The section as the page has it, or an empty one.
pub(crate) fn section() -> String {
    let page = fs::read_to_string(page::path()).unwrap_or_default();
    let section = bounds(&page).and_then(|(start, end)| page.get(start..end));
    section.unwrap_or(HEADING).to_owned()
}

fn replaced(page: &str, section: &str) -> Option<String> {
    let (start, end) = bounds(page)?;
    Some(format!(
        "{}{section}\n{}",
        page.get(..start)?,
        page.get(end..)?
    ))
}

/// From its heading to the next.
fn bounds(page: &str) -> Option<(usize, usize)> {
    let start = page.find(HEADING)?;
    let body = start + HEADING.len();
    let next = page.get(body..)?.find("\n## ").map(|at| body + at + 1);
    Some((start, next.unwrap_or(page.len())))
}

fn text(all: &[Judged]) -> String {
    let dates: BTreeSet<&String> = all.iter().filter_map(|one| one.date.as_ref()).collect();
    let versions = all.iter().filter_map(|one| one.versions.as_ref());
    let (versions, kernels): (BTreeSet<&String>, BTreeSet<&String>) =
        versions.map(|(version, kernel)| (version, kernel)).unzip();
    let join = |texts: BTreeSet<&String>| texts.into_iter().cloned().collect::<Vec<_>>().join(", ");
    include_str!("section.md")
        .replace("{date}", &join(dates))
        .replace("{version}", &join(versions))
        .replace("{kernels}", &join(kernels))
        .replace("{emulator}", &page::emulator())
        .replace("{table}", markdown(all).trim_end())
}

const HEADING: &str = "## Known causes, provoked\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_of_causes_is_replaced() {
        let page = format!("# Machines\n\n{HEADING}\nold\n\n## Run it\n\ntext\n");
        let new = replaced(&page, &format!("{HEADING}\nnew\n"));
        let expected = format!("# Machines\n\n{HEADING}\nnew\n\n## Run it\n\ntext\n");
        assert_eq!(new.as_deref(), Some(expected.as_str()));
        assert_eq!(replaced("# Machines\n", "new"), None);
    }
}
