// SPDX-License-Identifier: MIT OR Apache-2.0
//! The README's example of a small receive buffer, run as it stands there.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::load::Load;
use crate::turns::Turn;

/// Words that stand in the README's example and in what the program prints, whatever the numbers.
const SAID: [&str; 9] = [
    "loss ledger: where each lost packet died",
    "at the receiving socket's buffer (rx-socket, remote)",
    "findings, by lost packets explained",
    "where: the remote host, eth0; proven: by a counter",
    "evidence: ",
    "why: The kernel puts a datagram into the socket's buffer or drops it.",
    "try, on the remote host:",
    "net.core.rmem_max",
    "verify: run the same again",
];
/// The finding, with its place where nothing else is wrong: before it there may be what others on
/// this machine cause.
const FINDING: &str = "the receiving socket overflowed: it got a buffer of 16384 bytes instead of";
const FIRST: &str = "1. the receiving socket overflowed: it got a buffer of 16384 bytes instead of";
/// The causes that may precede it on a busy machine.
const BUSY: [&str; 2] = ["sender-had-no-processor", "receiver-had-no-processor"];
const CAUSE: &str = "udp-receive-buffer-too-small";

#[test]
fn the_readme_shows_what_is_said_of_a_small_buffer() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = one_line(&std::fs::read_to_string(readme).unwrap());
    for words in SAID.iter().chain([&FIRST]) {
        assert!(readme.contains(words), "the README lacks {words:?}");
    }
    let mut wrong = Vec::new();
    for _ in 0..ATTEMPTS {
        let _turn = Turn::alone();
        let before = Load::measure();
        let Some(said) = Said::now() else {
            return println!("skipped: no lab on this machine");
        };
        let quiet = before.is_quiet() && Load::measure().is_quiet();
        if said.as_in_the_readme(quiet) {
            return println!("said on a machine {before}: {}", said.causes.join(", "));
        }
        wrong.push((quiet, format!("{before}: {:?}: {}", said.causes, said.text)));
    }
    let busy = wrong.iter().all(|(quiet, _)| !quiet);
    assert!(busy, "the program says otherwise: {wrong:#?}");
    println!("skipped: the machine is busy: {wrong:#?}");
}

struct Said {
    text: String,
    /// All that are not only worth knowing, in their order.
    causes: Vec<String>,
}

impl Said {
    /// `None` where there is no lab.
    fn now() -> Option<Self> {
        let run = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme-small-buffer");
        let _absent = std::fs::remove_dir_all(&run);
        let run = run.to_str().unwrap();
        let output = linerate(&[
            "check", "--lab", "--quick", "--fault", "rcvbuf", "-v", "-o", run,
        ]);
        if String::from_utf8_lossy(&output.stderr).contains("loopback") {
            return None;
        }
        let explained = linerate(&["explain", "--json", run]).stdout;
        let document: Value = serde_json::from_slice(&explained).unwrap();
        let findings = document["findings"].as_array().unwrap().iter();
        let causes = findings
            .filter(|finding| finding["informational"] != true)
            .filter_map(|finding| finding["cause"].as_str().map(str::to_owned));
        Some(Self {
            text: one_line(&String::from_utf8_lossy(&output.stdout)),
            causes: causes.collect(),
        })
    }

    fn as_in_the_readme(&self, quiet: bool) -> bool {
        let mut before = self.causes.iter().take_while(|cause| *cause != CAUSE);
        let finding = if quiet { FIRST } else { FINDING };
        let first = before.all(|cause| !quiet && BUSY.contains(&cause.as_str()));
        first
            && SAID
                .iter()
                .chain([&finding])
                .all(|words| self.text.contains(words))
    }
}

fn linerate(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(words)
        .output()
        .unwrap()
}

/// Lines are broken where the terminal ends.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

const ATTEMPTS: usize = 6;
