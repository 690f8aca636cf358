// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --offloads [--kept] [--write] [--binary PATH]... [NIC...]`: `nic-check` of real drivers, with each offload on and off.
//! The agent at the other end is reached over the link itself. Nothing may be called wrong of a model that does it right; what
//! is known to be wrong of one is in [`KNOWN`].

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::guest::Hardware;
use super::image;
use super::network::HOST;
use super::nic::{Board, Nic};
use super::results::Results;
use super::session::Session;
use super::steps::At;
use super::table::rows;
use super::{Options, boot, missing, missing_for, page, parts, place};
use crate::Outcome;
use crate::tally::Tally;

/// Checks each NIC, and prints the table of all. Whether nothing was called wrong but what is known.
pub(super) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    if let Some(why) = missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let mut tally = Tally::default();
    let mut judged = Vec::new();
    for nic in &options.nics {
        let directory = place().join(nic.directory()).join("offloads");
        if !options.kept && !booted(nic, &options, &directory, &mut tally)? {
            continue;
        }
        let document = Results::of(nic, &directory).document(STEP);
        tally.check(&format!("{}: offloads", nic.name), verdict(nic, &document));
        judged.extend(document.ok().map(|document| (*nic, document)));
    }
    let table = table(&judged);
    println!("\n{table}");
    if options.write {
        page::write_offloads(&table)?;
    }
    Ok(tally.close())
}

fn booted(
    nic: &'static Nic,
    options: &Options,
    directory: &Path,
    tally: &mut Tally,
) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(why) = missing_for(nic.board) {
        tally.skip(nic.name, why);
        return Ok(false);
    }
    let ours = options.binary(Board::Pc)?;
    let of_guest: PathBuf = match nic.board {
        Board::Pc => ours.clone(),
        board => options.binary(board)?,
    };
    let image = image::image(nic.board, &of_guest, &place().join("cache"))?;
    let booted = boot(nic, &image, &ours, directory, "--inside-offloads");
    let is_right = booted.is_ok();
    tally.check(nic.name, booted);
    Ok(is_right)
}

/// All of one machine, in the namespaces that were made for it.
pub(super) fn inside(words: &[&str]) -> Outcome {
    let (nic, image, linerate, directory) = parts(words)?;
    let hardware = Hardware {
        processors: if nic.board == Board::Pc { 2 } else { 1 },
        does_offloads: true,
        ..Hardware::default()
    };
    let mut session = Session::boot(nic, &image, &hardware, &linerate, &directory)?;
    answer(&linerate)?;
    session.shell(At::Guest, "settle", "sleep 3")?;
    let checked = format!(
        "linerate nic-check eth0 {HOST} --toggle --json -o $OUT/{STEP}.run --remote-command 'nc {HOST} {PORT}'"
    );
    let status = session.shell(At::Guest, STEP, &checked)?;
    println!("  {STEP} {status}");
    session.fetch()?;
    Ok(true)
}

/// An agent for each connection, as a relay would start it.
fn answer(linerate: &Path) -> Result<(), String> {
    let listener = TcpListener::bind((HOST, PORT)).map_err(|why| why.to_string())?;
    let linerate = linerate.to_owned();
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let Ok(input) = stream.try_clone() else {
                continue;
            };
            let agent = Command::new(&linerate)
                .args(["agent", "--stdio", "--frames"])
                .stdin(Stdio::from(OwnedFd::from(input)))
                .stdout(Stdio::from(OwnedFd::from(stream)))
                .spawn();
            if let Ok(mut agent) = agent {
                let _ended = agent.wait();
            }
        }
    };
    thread::Builder::new()
        .spawn(serve)
        .map(drop)
        .map_err(|why| why.to_string())
}

/// Some was judged, and nothing is wrong but what is known.
fn verdict(nic: &Nic, document: &Result<Value, String>) -> Result<String, String> {
    let document = document.as_ref().map_err(Clone::clone)?;
    let wrong = named(document, "wrong");
    let known = KNOWN.iter().find(|(name, _)| *name == nic.name);
    let known = known.map_or(&[][..], |(_, known)| known);
    let unknown: Vec<&String> = wrong
        .iter()
        .filter(|id| !known.contains(&id.as_str()))
        .collect();
    let right = named(document, "right").len();
    match (right, unknown.as_slice()) {
        (0, _) => Err(format!("nothing is right: {}", document["error"])),
        (_, []) => Ok(format!("{right} right, {} wrong as known", wrong.len())),
        (_, unknown) => Err(format!("called wrong: {unknown:?}")),
    }
}

/// The checks in a state, with the offload that was on or off.
fn named(document: &Value, state: &str) -> Vec<String> {
    let checks = document["checks"].as_array().into_iter().flatten();
    let some = checks.filter(|check| check["state"] == state);
    let mut names: Vec<String> = some
        .filter_map(|check| check["id"].as_str().map(str::to_owned))
        .collect();
    names.dedup();
    names
}

fn table(all: &[(&Nic, Value)]) -> String {
    let row = |(nic, document): &(&Nic, Value)| {
        let count = |state| named(document, state).len().to_string();
        let listed = |state| match named(document, state) {
            names if names.is_empty() => "–".to_owned(),
            names => names.join(", "),
        };
        [
            nic.name.to_owned(),
            nic.driver.to_owned(),
            count("right"),
            listed("wrong"),
            listed("not-a-wire"),
            listed("not-possible"),
        ]
    };
    rows(COLUMNS, all.iter().map(row))
}

const COLUMNS: [&str; 6] = [
    "NIC",
    "driver",
    "right",
    "wrong",
    "not a wire",
    "not possible",
];
const STEP: &str = "nic-check";
const PORT: u16 = 7001;
/// What the emulator's model of a NIC does wrong.
const KNOWN: [(&str, &[&str]); 0] = [];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_called_wrong_and_is_not_known_fails() {
        let document = |state: &str| {
            Ok(json!({ "checks": [
                { "id": "rx-udp4-good", "state": "right" },
                { "id": "tx-udp4-sum", "state": state },
            ] }))
        };
        let nic = Nic::named("e1000e").unwrap();
        assert!(verdict(nic, &document("right")).is_ok());
        assert!(verdict(nic, &document("wrong")).is_err());
        assert!(verdict(nic, &Ok(json!({}))).is_err());
        let all = [(nic, document("wrong").unwrap())];
        let table = table(&all);
        assert!(
            table.contains("| e1000e | e1000e | 1 | tx-udp4-sum | – | – |"),
            "{table}"
        );
    }
}
