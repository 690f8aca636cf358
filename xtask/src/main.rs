// SPDX-License-Identifier: MIT OR Apache-2.0
//! The project's own tasks: `cargo xtask TASK`. A program apart: it knows the linerate it
//! builds only by its command line and its `--json`; of its crates it uses those that read
//! the tables of `knowledge/`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a task has to say it says on the terminal"
)]

mod bench;
mod build;
mod corpus;
mod dist;
mod faults;
mod fuzz;
mod knowledge;
mod machines;
mod package;
mod ports;
mod process;
mod soak;
mod svd;
mod tally;

use std::error::Error;
use std::process::ExitCode;

/// What a task ends with: whether what it found is good.
type Outcome = Result<bool, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.split_first() {
        Some((&"dist", rest)) => dist::run(rest),
        Some((&"foreign-tests", rest)) => dist::foreign::run(rest),
        Some((&"bench", rest)) => bench::run(rest),
        // What `bench` starts of itself.
        Some((&"bare", rest)) => bench::bare::run(rest),
        Some((&"faults", rest)) => faults::run(rest),
        Some((&"fuzz", rest)) => fuzz::run(rest),
        Some((&"soak", rest)) => soak::run(rest),
        Some((&"machines", rest)) => machines::run(rest),
        Some((&"corpus", rest)) => corpus::run(rest),
        Some((&"check-knowledge", rest)) => knowledge::run(rest),
        Some((&"svd", rest)) => svd::run(rest),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask dist [--check] [--packages] [--reproducible] [--build] [TARGET...]   static binaries, their size against the budget
                                                --check: run them, under qemu-user where foreign
                                                --packages: deb, rpm, apk, tar, container image, SBOM and checksums
                                                --reproducible: build again in another directory and compare the bytes
                                                --check --packages: install, upgrade and purge the native deb in a clean Debian root
       cargo xtask foreign-tests [TARGET...]    unit tests for another processor (32 bits, big endian), under qemu-user
       cargo xtask bench [OPTION...] [ROW...]   us and the peers in turn (see bench/README.md)
       cargo xtask soak [--rounds N] [LINE...]  healthy labs again and again: none may have a finding
       cargo xtask soak --server [--minutes N]  clients that come, go, lie and die: the server holds at the end what it held
       cargo xtask faults [FAULT...]            check over each fault of the lab and over pairs: what was set, what was named
       cargo xtask faults --tune [FAULT...]     campaigns of tune over faults whose remedy the lab owns, and over healthy and noisy labs
       cargo xtask machines [--short] [--write] [NIC...]  real drivers under QEMU: what is read, measured and named (root)
       cargo xtask machines --small [--write] [MACHINE...]  little memory, no clock, nothing to write to, an old kernel
       cargo xtask machines --causes [--cause NAME]... [NIC...]  known causes set up there: which finding comes first
       cargo xtask machines --settings [--kept] [NIC...]  settings of real drivers, changed and restored (root)
       cargo xtask machines --middle [--write] [NIC|MODE...]  a guest with two NICs in the middle of `forward` (root)
       cargo xtask machines --recorded [--write] [NIC...]  recorded runs of these, explained and judged again (no emulator, no root)
       cargo xtask machines --record [--from PLACE]... [NIC...]  records what `machines` has stored
       cargo xtask fuzz [--build] [--seconds N] [--keep] [TARGET...]  every fuzz target for this long (nightly)
       cargo xtask corpus [--learn]             the real cases of corpus/: how many are named
       cargo xtask check-knowledge              every mistake in the tables of knowledge/
       cargo xtask svd FILE.svd [PERIPHERAL]    a CMSIS-SVD peripheral as a draft of a register map";
