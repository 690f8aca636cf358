// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab, for real: every topology, wire and fault, with packets through it.
//!
//! libtest starts threads, and a process with threads cannot enter a user namespace: so this
//! harness is its own, and each test has a process of its own, several at once. As libtest does, it answers
//! `--list` and takes a name to filter by. Without namespaces every test is printed and counted as skipped.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod alarms;
mod commands;
mod crashes;
mod cut;
mod dataplane;
mod endings;
mod faults;
mod frames;
mod nic;
mod offload;
mod role;
mod scratch;
mod serve_reads;
mod settings;
mod topologies;
mod traffic;
mod verdict;
mod wire;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, Output};
use std::sync::Mutex;
use std::thread;

use linerate_lab::Isolation;
use linerate_linux::sandbox::Privilege;
use verdict::{Outcome, Verdict};

/// A name and what to do on the isolation that there is.
type Test = (&'static str, fn(&Isolation) -> Outcome);

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(role::VARIABLE) {
        return role::play(&role);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let filter = words.iter().find(|word| !word.starts_with('-'));
    let mut tests = all();
    if has("--exact") {
        tests.retain(|(name, _)| filter.is_some_and(|wanted| wanted == name));
        return tests.first().map_or(ExitCode::from(FAILED), run);
    }
    tests.retain(|(name, _)| filter.is_none_or(|part| name.contains(part)));
    if has("--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    run_in_processes(tests)
}

fn all() -> Vec<Test> {
    [
        topologies::TESTS,
        wire::TESTS,
        nic::TESTS,
        offload::TESTS,
        faults::TESTS,
        endings::TESTS,
        commands::TESTS,
        settings::TESTS,
        crashes::TESTS,
        cut::TESTS,
        dataplane::TESTS,
        alarms::TESTS,
        serve_reads::TESTS,
    ]
    .concat()
}

/// Runs one test in this process, which its exit code reports.
fn run((name, test): &Test) -> ExitCode {
    let user = std::env::var_os("LINERATE_TEST_USER_NAMESPACE").is_some();
    let isolation = Isolation::enter_with(user.then_some(Privilege::UserNamespace));
    let outcome = match &isolation {
        Isolation::Namespaces(_) => catch_unwind(AssertUnwindSafe(|| test(&isolation)))
            .unwrap_or_else(|_| Err(Verdict::Failed("panicked".to_owned()))),
        Isolation::Loopback { because } => Err(Verdict::Skipped(because.to_string())),
    };
    let (code, word) = match outcome {
        Ok(()) => (PASSED, "ok".to_owned()),
        Err(Verdict::Skipped(why)) => (SKIPPED, format!("skipped: {why}")),
        Err(Verdict::Failed(why)) => (FAILED, format!("FAILED: {why}")),
    };
    println!("test {name} ... {word}");
    ExitCode::from(code)
}

/// Runs each test in a process, [`AT_ONCE`] of them side by side.
fn run_in_processes(tests: Vec<Test>) -> ExitCode {
    let codes = Mutex::new(Vec::new());
    let names = Mutex::new(tests.into_iter().map(|(name, _)| name));
    let work = || {
        loop {
            let next = names.lock().unwrap().next();
            let Some(name) = next else { return };
            let code = run_in_process(name).unwrap_or_else(|error| {
                println!("test {name} ... FAILED: {error}");
                FAILED
            });
            codes.lock().unwrap().push(code);
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let codes = codes.into_inner().unwrap();
    let count = |wanted| codes.iter().filter(|&&code| code == wanted).count();
    let [passed, skipped] = [PASSED, SKIPPED].map(count);
    let failed = codes.len() - passed - skipped;
    println!("test result: {passed} passed; {failed} failed; {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}

fn run_in_process(name: &str) -> io::Result<u8> {
    let this = std::env::current_exe()?;
    let ended = Command::new(this).args(["--exact", name]).output()?;
    let Output { stdout, stderr, .. } = &ended;
    io::stderr().write_all(stderr)?;
    io::stdout().write_all(stdout)?;
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    code.ok_or_else(|| io::Error::other(ended.status.to_string()))
}

const PASSED: u8 = 0;
const FAILED: u8 = 1;
/// As automake's test driver counts it.
const SKIPPED: u8 = 77;
/// They wait more than they work.
const AT_ONCE: usize = 4;
