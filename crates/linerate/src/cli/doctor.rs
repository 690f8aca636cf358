// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate doctor`: tries what works on this machine, with a remedy for what does not.

mod probe;

use std::io;

use linerate_model::output::Output;
use linerate_model::printable::Printable;
use serde::Serialize;

use super::args::DoctorArgs;
use super::{document, session};
use crate::exit::Exit;
use crate::output;
use linerate_model::failure::Failure;
use linerate_report::term::Style;

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// Stable name.
    id: &'static str,
    /// What works or does not.
    name: &'static str,
    /// `None`: unknown on this machine.
    works: Option<bool>,
    /// What was found.
    found: String,
    /// What helps.
    #[serde(rename = "try")]
    try_: Option<String>,
}

impl Check {
    fn works(id: &'static str, name: &'static str, found: impl Into<String>) -> Self {
        Self {
            id,
            name,
            works: Some(true),
            found: found.into(),
            try_: None,
        }
    }

    fn fails(
        id: &'static str,
        name: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            works: Some(false),
            try_: Some(remedy.into()),
            ..Self::works(id, name, found)
        }
    }

    fn unknown(id: &'static str, name: &'static str, found: impl Into<String>) -> Self {
        Self {
            works: None,
            ..Self::works(id, name, found)
        }
    }
}

/// Runs the command. What does not work is an answer, not a failure: exit 0.
pub(super) fn run(args: &DoctorArgs) -> Exit {
    let checks = probe::all();
    let text = match args.document.json {
        true => json(checks).map_err(|error| Failure::measuring("write the document", error)),
        false => Ok(Printable::coloured(&render(&checks, args.document.look()))),
    };
    session::ended(
        "doctor",
        false,
        text.and_then(|text| document::print(&text)),
    )
}

/// The common document plus the checks.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    output: Output,
    checks: Vec<Check>,
}

fn json(checks: Vec<Check>) -> io::Result<Printable> {
    let output = document::document("doctor");
    Ok(linerate_report::json::pretty(&Document { output, checks })?)
}

fn render(checks: &[Check], look: Style) -> String {
    let width = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        text.push_str(&row(check, width, look));
    }
    let failing = checks
        .iter()
        .filter(|check| check.works == Some(false))
        .count();
    text.push_str(&format!(
        "{} of {} checks passed",
        checks.len() - failing,
        checks.len()
    ));
    if look.ascii {
        output::ascii(&text)
    } else {
        text
    }
}

/// One check: its mark, its name, what was found, and the remedy below.
fn row(check: &Check, width: usize, look: Style) -> String {
    let (mark, color) = mark(check.works);
    let mark = format!("{mark:<3}");
    let mark = if look.color {
        format!("\x1b[{color}m{mark}\x1b[0m")
    } else {
        mark
    };
    let indent = MARK_COLUMNS + 1 + width + 2;
    let room = look.width.saturating_sub(indent);
    let mut text = format!("{mark} {:<width$}  ", check.name);
    text.push_str(&hanging(&check.found, indent, room));
    if let Some(remedy) = &check.try_ {
        text.push_str(&format!("    {:<width$}  ", ""));
        text.push_str(&hanging(&format!("try: {remedy}"), indent, room));
    }
    text
}

/// Broken at spaces into lines that begin below the first.
fn hanging(sentence: &str, indent: usize, room: usize) -> String {
    let broken = output::wrapped(sentence, room);
    broken.replace('\n', &format!("\n{}", " ".repeat(indent))) + "\n"
}

const MARK_COLUMNS: usize = 3;

/// A word in ASCII, a sign else; never the colour alone.
fn mark(works: Option<bool>) -> (&'static str, u8) {
    match works {
        Some(true) => ("✓", 32),
        Some(false) => ("✗", 31),
        None => ("?", 33),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(ascii: bool) -> Style {
        Style {
            width: 80,
            ascii,
            color: false,
            ..Style::default()
        }
    }

    fn checks() -> Vec<Check> {
        vec![
            Check::works("kernel", "kernel", "6.1.0"),
            Check::fails(
                "rmem",
                "4 MiB receive buffer",
                "208 KiB",
                "sudo sysctl -w net.core.rmem_max=4194304",
            ),
            Check::unknown("irq", "interrupts", "not readable"),
        ]
    }

    #[test]
    fn every_line_has_its_mark_and_every_failure_its_remedy() {
        assert_eq!(
            render(&checks(), look(false)),
            "✓   kernel                6.1.0\n\
             ✗   4 MiB receive buffer  208 KiB\n    \
             \x20                     try: sudo sysctl -w net.core.rmem_max=4194304\n\
             ?   interrupts            not readable\n\
             2 of 3 checks passed"
        );
    }

    #[test]
    fn a_long_finding_goes_on_below_its_beginning() {
        let model =
            "1, Some(R) Very(TM) Long Processor Name CPU @ 2.50GHz: sender and interrupts share it";
        let text = render(&[Check::works("cpus", "processors", model)], look(false));
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(
            text.contains("\n                  and interrupts share it"),
            "{text}"
        );
    }

    #[test]
    fn a_serial_console_reads_words() {
        let text = render(&checks(), look(true));
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains("\nno") && text.starts_with("ok"), "{text}");
    }

    #[test]
    fn the_document_is_one_and_has_the_checks() {
        let value: serde_json::Value = serde_json::from_str(&json(checks()).unwrap()).unwrap();
        assert_eq!(value["kind"], "doctor");
        assert_eq!(value["checks"][1]["works"], false);
        assert_eq!(value["error"], serde_json::Value::Null);
    }

    #[test]
    fn this_machine_can_be_examined() {
        let all = probe::all();
        let failing = all.iter().filter(|check| check.works == Some(false));
        assert!(failing.clone().all(|check| check.try_.is_some()), "{all:?}");
        let mut ids: Vec<&str> = all.iter().map(|check| check.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "ids are unique");
    }
}
