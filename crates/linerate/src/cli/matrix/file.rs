// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan as TOML: read from a file, and written into the run directory in one form, so that equal plans are equal texts.

use std::fmt::Write as _;
use std::path::Path;

use linerate_knowledge::keys::{self, FromToml, Given, Keys, Word, Wrong};
use linerate_knowledge::{Mistakes, toml_table};
use linerate_lab::{Fault, Topology};
use linerate_model::failure::Failure;
use linerate_model::output::Value;

use super::request::{PlannedAxis, PlannedValue, Request};
use crate::cli::values;
use crate::input;

toml_table! {
    RawPlan {
        name: String = or_default,
        host: Option<String> = or_default,
        host6: Option<Word> = or_default,
        lab: bool = or_default,
        topology: Option<Word> = or_default,
        fault: Vec<Word> = or_default,
        rows: Vec<String> = or_default,
        rounds: Option<u32> = or_default,
        time: Option<Word> = or_default,
        rate: Option<Word> = or_default,
        seed: Option<u64> = or_default,
        settle: Option<Word> = or_default,
        flags: Vec<String> = or_default,
        axis: Vec<RawAxis> = need,
    }
}

toml_table! {
    RawAxis {
        name: String = need,
        values: Vec<PlannedValue> = need,
        restore: Option<String> = or_default,
    }
}

impl FromToml for PlannedValue {
    /// A word, a number, or `{ name = "…", command = "…" }`.
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        if given.get_ref().is_table() {
            let mut keys = Keys::of(given, &["name", "command"])?;
            return Ok(Self {
                name: keys.need("name")?,
                command: keys.or_default("command")?,
            });
        }
        let name = match Value::from_toml(given)? {
            Value::Text(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Flag(true) => "on".to_owned(),
            Value::Flag(false) => "off".to_owned(),
        };
        Ok(Self {
            name,
            command: None,
        })
    }
}

/// Reads a plan.
///
/// # Errors
/// The file cannot be read, or has a mistake: each with its line.
pub(super) fn read(path: &Path) -> Result<Request, Failure> {
    let what = || format!("read the plan {}", path.display());
    let text = input::named(path).map_err(|error| Failure::usage(what(), error))?;
    let name = path.display().to_string();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let read = keys::read(&name, &text, |raw: &RawPlan, mistakes| {
        request(raw, stem.as_deref().unwrap_or_default(), mistakes)
    });
    read.map_err(|mistakes| {
        let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::usage(what(), texts.join("\n"))
            .hint("linerate matrix --axes … --dry-run prints a plan")
    })
}

fn request(raw: &RawPlan, stem: &str, mistakes: &mut Mistakes<'_>) -> Request {
    let name = match raw.name.as_str() {
        "" => stem,
        name => name,
    };
    let faults = raw.fault.iter();
    let topology = parsed(&raw.topology, mistakes, |word| {
        word.parse::<Topology>().map(|known| known.to_string())
    });
    Request {
        name: name.to_owned(),
        host: raw.host.clone(),
        host6: parsed(&raw.host6, mistakes, |word| {
            word.parse().map_err(|_| "an IPv6 address".to_owned())
        }),
        lab: raw.lab,
        topology,
        fault: faults
            .filter_map(|word| {
                parsed(&Some(word.clone()), mistakes, |text| {
                    text.parse::<Fault>().map(|_| text.to_owned())
                })
            })
            .collect(),
        rows: raw.rows.clone(),
        rounds: raw.rounds,
        time_ms: parsed(&raw.time, mistakes, values::duration),
        rate: parsed(&raw.rate, mistakes, |text| {
            values::paced_rate(text).map(|_| text.to_owned())
        }),
        seed: raw.seed,
        settle_ms: parsed(&raw.settle, mistakes, values::settle),
        flags: raw.flags.clone(),
        axes: raw.axis.iter().map(axis).collect(),
    }
}

fn axis(raw: &RawAxis) -> PlannedAxis {
    PlannedAxis {
        name: raw.name.clone(),
        values: raw.values.clone(),
        restore: raw.restore.clone(),
    }
}

/// A word as a flag takes it; what it cannot be is a mistake.
fn parsed<T>(
    word: &Option<Word>,
    mistakes: &mut Mistakes<'_>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let word = word.as_ref()?;
    match parse(word.get_ref()) {
        Ok(value) => Some(value),
        Err(expected) => {
            let wrong = format!("`{}`", word.get_ref());
            mistakes.at(word.span().start, wrong, &expected);
            None
        }
    }
}

/// The plan as text, without omitted options.
pub(super) fn text(request: &Request) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    line("name", Some(quoted(&request.name)));
    line("host", request.host.as_deref().map(quoted));
    let host6 = request.host6.map(|address| quoted(&address.to_string()));
    line("host6", host6);
    line("lab", request.lab.then(|| "true".to_owned()));
    line("topology", request.topology.as_deref().map(quoted));
    line("fault", list(&request.fault));
    line("rows", list(&request.rows));
    line("rounds", request.rounds.map(|rounds| rounds.to_string()));
    let ms = |ms: u64| quoted(&format!("{ms}ms"));
    line("time", request.time_ms.map(ms));
    line("rate", request.rate.as_deref().map(quoted));
    line("settle", request.settle_ms.map(ms));
    line("flags", list(&request.flags));
    line("seed", request.seed.map(|seed| seed.to_string()));
    for axis in &request.axes {
        text.push_str(&axis_text(axis));
    }
    text
}

fn axis_text(axis: &PlannedAxis) -> String {
    let value = |value: &PlannedValue| match &value.command {
        None => quoted(&value.name),
        Some(command) => {
            let (name, command) = (quoted(&value.name), quoted(command));
            format!("{{ name = {name}, command = {command} }}")
        }
    };
    let values: Vec<String> = axis.values.iter().map(value).collect();
    let restore = axis.restore.as_deref().map(quoted);
    let restore = restore.map_or_else(String::new, |line| format!("restore = {line}\n"));
    let (name, values) = (quoted(&axis.name), values.join(", "));
    format!("\n[[axis]]\nname = {name}\nvalues = [{values}]\n{restore}")
}

/// Nothing for an empty list.
fn list(texts: &[String]) -> Option<String> {
    let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    (!all.is_empty()).then(|| format!("[{}]", all.join(", ")))
}

/// A basic string of TOML has the escapes of JSON.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understood(text: &str) -> Result<Request, String> {
        let read = keys::read("plan.toml", text, |raw: &RawPlan, mistakes| {
            request(raw, "plan", mistakes)
        });
        read.map_err(|all| all.iter().map(|one| format!("{one}\n")).collect())
    }

    const PLAN: &str = r#"
host = "192.0.2.7"
time = "500ms"
rounds = 3
[[axis]]
name = "mtu"
values = [100, 1500]
[[axis]]
name = "driver"
values = [{name = "qfe", command = "./use \"qfe\"; sync"}, {name = "hme", command = "./use hme"}]
restore = "./use qfe"
"#;

    #[test]
    fn a_plan_is_read_and_what_is_written_reads_the_same() {
        let plan = understood(PLAN).unwrap();
        assert_eq!((plan.name.as_str(), plan.time_ms), ("plan", Some(500)));
        assert_eq!(plan.axes[0].values[1].name, "1500");
        let command = plan.axes[1].values[0].command.as_deref();
        assert_eq!(command, Some("./use \"qfe\"; sync"));
        assert_eq!(understood(&text(&plan)).unwrap(), plan);
        let whole = Request {
            name: "a \"name\"\n".to_owned(),
            host: None,
            host6: "2001:db8::7".parse().ok(),
            lab: true,
            topology: Some("bridge".to_owned()),
            fault: vec!["loss=1%".to_owned()],
            rows: vec!["mtu".to_owned()],
            rate: Some("10M".to_owned()),
            seed: Some(7),
            settle_ms: Some(0),
            flags: vec!["-w".to_owned(), "4M".to_owned()],
            ..plan
        };
        assert_eq!(understood(&text(&whole)).unwrap(), whole);
    }

    #[test]
    fn a_mistake_has_its_line() {
        for (from, to, said) in [
            ("500ms", "soon", "plan.toml:3"),
            ("rounds", "round", "there is no key `round`"),
            ("[100, 1500]", "100", "a list"),
        ] {
            let why = understood(&PLAN.replace(from, to)).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}
