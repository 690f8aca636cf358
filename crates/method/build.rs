// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns `knowledge/profiles/*.toml` into constants (`profiles.rs`, included by `src/profile.rs`): the program reads no file
//! and carries no text for them. A value that is missing or unknown does not compile; one that is smaller than `strict`'s
//! without a reason is refused here.
#![expect(
    clippy::disallowed_methods,
    reason = "this reads files when the crate is built; the crate does not"
)]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use toml::{Table, Value};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(name);
    let directory = variable("CARGO_MANIFEST_DIR")?.join("../../knowledge/profiles");
    println!("cargo:rerun-if-changed={}", directory.display());
    let read = |name: &str| -> Outcome<Table> {
        let file = directory.join(format!("{name}.toml"));
        println!("cargo:rerun-if-changed={}", file.display());
        let wrong = |why: &dyn std::error::Error| format!("{}: {why}", file.display());
        let text = fs::read_to_string(&file).map_err(|why| wrong(&why))?;
        Ok(text.parse::<Table>().map_err(|why| wrong(&why))?)
    };
    let strict = read(NAMES[0])?;
    let mut code = String::from("impl Profile {\n");
    for name in NAMES {
        let profile = read(name)?;
        code += &must_give_reasons(&profile, &strict)
            .and_then(|()| constant(name, &profile))
            .map_err(|why| format!("knowledge/profiles/{name}.toml: {why}"))?;
    }
    code += &format!("}}\n{}", asked(&strict)?);
    Ok(fs::write(variable("OUT_DIR")?.join("profiles.rs"), code)?)
}

fn constant(name: &str, profile: &Table) -> Outcome<String> {
    let about = text(profile, "about")?;
    let mut code = format!(
        "/// {about}\npub const {}: Self = Self {{ search_limit_s: {}, ",
        name.to_uppercase(),
        profile
            .get("search_limit_s")
            .map_or("None".to_owned(), |seconds| format!("Some({seconds})"))
    );
    for (key, value) in profile {
        match (key.as_str(), value) {
            ("about" | "search_limit_s" | "asked" | "shorter", _) => {}
            ("waits", Value::Table(waits)) => {
                write!(code, "waits: Waits {{ {} }}, ", fields(waits))?
            }
            ("throughput", Value::Table(goal)) => {
                write!(code, "throughput: Goal {{ {} }}, ", fields(goal))?;
            }
            _ => write!(code, "{key}: {value}, ")?,
        }
    }
    Ok(code + "};\n")
}

fn fields(table: &Table) -> String {
    let fields = table.iter().map(|(key, value)| format!("{key}: {value}"));
    fields.collect::<Vec<_>>().join(", ")
}

/// What the RFCs ask, with the value of a profile that it is about.
fn asked(strict: &Table) -> Outcome<String> {
    let mut code = String::from("const ASKED: &[Asked] = &[\n");
    for entry in entries(strict, "asked") {
        let (what, value) = (text(entry, "what")?, text(entry, "value")?);
        writeln!(code, "({what:?}, |profile| profile.{value}),")?;
    }
    Ok(code + "];\n")
}

fn must_give_reasons(profile: &Table, strict: &Table) -> Outcome<()> {
    let reasons = entries(profile, "shorter").map(|entry| {
        text(entry, "because")?;
        text(entry, "value")
    });
    let reasons = reasons.collect::<Outcome<Vec<_>>>()?;
    for entry in entries(strict, "asked") {
        let value = text(entry, "value")?;
        let (ours, theirs) = (number(profile, value)?, number(strict, value)?);
        if (ours < theirs) != reasons.contains(&value) {
            let why = format!("{value} is {ours}, strict's {theirs}");
            let rule = "a smaller value, and no other, has one [[shorter]] with because";
            return Err(format!("{why}: {rule}").into());
        }
    }
    Ok(())
}

fn entries<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let entries = table.get(key).and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(Value::as_table)
}

fn text<'a>(table: &'a Table, key: &str) -> Outcome<&'a str> {
    let found = table.get(key).and_then(Value::as_str);
    Ok(found
        .filter(|text| !text.is_empty())
        .ok_or(format!("no text '{key}'"))?)
}

/// `value` or `table.value`.
fn number(profile: &Table, path: &str) -> Outcome<f64> {
    let found = match path.split_once('.') {
        Some((table, key)) => profile.get(table).and_then(|table| table.get(key)),
        None => profile.get(path),
    };
    Ok(found
        .and_then(Value::as_float)
        .ok_or(format!("no number '{path}'"))?)
}

/// The first is what the others are measured by.
const NAMES: [&str; 3] = ["strict", "lab", "quick"];
