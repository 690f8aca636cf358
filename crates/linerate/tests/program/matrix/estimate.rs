// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a matrix estimates of its time: beforehand, and, where that was wrong, what is left.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use super::{matrix, place};
use crate::support::{Server, until};

/// A command that takes longer than all that was estimated; the matrix is ended when both lines are there.
#[test]
fn the_time_is_estimated_beforehand_and_corrected() {
    let (place, server) = (place("estimate"), Server::ours("--quiet"));
    let address = format!("127.0.0.1:{}", server.port);
    let words = [
        address.as_str(),
        "-t",
        "100ms",
        "--rounds",
        "200",
        "-b",
        "10M",
    ];
    let axes = ["--axes", "size=64,1448", "--set", "wait: a=sleep 2"];
    let mut command = matrix(&place, &[&words[..], &axes[..]].concat());
    let said = place.join("said");
    command.stdout(Stdio::null());
    let mut child = command
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let text = || {
        let text = fs::read_to_string(&said).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let beforehand = || {
        between(
            &text(),
            "matrix: 2 cells; 400 runs in 200 rounds, about ",
            ";",
        )
    };
    let left = || between(&text(), "a run takes ", " left");
    until("both times are there", || {
        beforehand().is_some() && left().is_some()
    });
    let id = child.id().to_string();
    let mut kill = Command::new("kill");
    assert!(kill.args(["-TERM", &id]).status().unwrap().success());
    child.wait().unwrap();
    let (beforehand, left) = (beforehand().unwrap(), left().unwrap());
    assert!(beforehand.contains(" each: "), "{}", text());
    assert!(left.contains(": about "), "{}", text());
}

/// The text after `start`, up to `end`.
fn between(text: &str, start: &str, end: &str) -> Option<String> {
    let (_, rest) = text.split_once(start)?;
    let (found, _) = rest.split_once(end)?;
    Some(found.to_owned())
}
