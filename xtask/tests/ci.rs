// SPDX-License-Identifier: MIT OR Apache-2.0
//! `.ci/run`: which steps it has, and that a step that runs next to others prints in one piece and fails the whole.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn every_step_is_there_and_what_is_begun_is_joined() {
    let run = read(".ci/run");
    for step in [
        "cargo fmt --all --check",
        "cargo clippy --workspace --all-targets --quiet -- -D warnings",
        "cargo doc --workspace --no-deps",
        "cargo test --workspace\n",
        " xtask fuzz --seconds",
        " xtask check-knowledge",
        " xtask corpus",
        " xtask dist --check --packages; }",
        " xtask machines --short",
        " xtask machines --recorded --binary",
        " xtask foreign-tests --short",
    ] {
        assert_eq!(run.matches(step).count(), 1, "{step}");
    }
    let names = |word: &str| -> Vec<String> {
        let lines = run.lines().filter_map(|line| line.strip_prefix(word));
        lines
            .filter_map(|rest| {
                Some(
                    rest.trim_start()
                        .strip_prefix('\'')?
                        .split_once('\'')?
                        .0
                        .to_owned(),
                )
            })
            .collect()
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let begun = ["background ", "below 10 ", "below 19 "].map(names);
    assert!(begun.iter().all(|names| !names.is_empty()), "{begun:?}");
    assert_eq!(sorted(begun.concat()), sorted(names("joined ")));
    assert!(begun[0].contains(&"machines with real drivers".to_owned()));
}

/// The binaries are compiled before: none is compiled for machines alone. Tests with numbers stop what compiles next to them.
#[test]
fn machines_come_after_the_binaries_and_after_tests_with_numbers() {
    let run = read(".ci/run");
    let at = |text: &str| run.find(text).unwrap_or_else(|| panic!("no {text:?}"));
    let order = [
        "\nstep 'tests, compiled'",
        "\njoined 'foreign compilers, emulators'",
        "\nbelow 10 'foreign targets, compiled'",
        "\nbelow 19 'what only computes'",
        "\nstep 'tests (the README command)';    tests\n",
        "\nstep 'tests on a busy machine';       held busy\n",
        "\njoined 'foreign targets, compiled'",
        "\nbackground 'machines with real drivers'",
        "\nbackground 'foreign targets, packages'",
    ]
    .map(at);
    assert!(order.is_sorted(), "{order:?}");
    let tools = &run[at("\nemulators()")..];
    for package in [
        "qemu-system-x86",
        "qemu-system-arm",
        "device-tree-compiler",
        "kmod",
    ] {
        assert!(tools.contains(&format!(":{package}")), "{package}");
    }
}

/// It compiles nothing but the task: the program is that of the tests.
#[test]
fn recorded_runs_are_explained_by_the_program_of_the_tests() {
    let run = read(".ci/run");
    let at = |text: &str| run.find(text).unwrap_or_else(|| panic!("no {text:?}"));
    let tests = at("cargo test --workspace\n");
    assert!(tests < at("\nstep 'recorded machines';             recorded\n"));
}

#[test]
fn bash_reads_it() {
    for file in [".ci/run", ".ci/steps", ".ci/held", ".ci/runner"] {
        let read = Command::new("bash")
            .arg("-n")
            .arg(root().join(file))
            .output();
        let Ok(read) = read else {
            return println!("skipped: bash is not installed");
        };
        assert!(read.status.success(), "{file}: {}", text(&read.stderr));
    }
}

#[test]
fn steps_next_to_each_other_print_in_one_piece() {
    let Some(ended) = script(
        "slow() { echo one; until [ -e \"$1\" ]; do sleep 0.01; done; echo two; }\n\
         background 'a slow one' slow \"$TMP/go\"\n\
         step 'a quick one'; echo quick; touch \"$TMP/go\"\n\
         joined 'a slow one'; step 'last'",
    ) else {
        return println!("skipped: bash is not installed");
    };
    let printed = text(&ended.stdout);
    let lines: Vec<&str> = printed
        .lines()
        .map(|line| line.split(['(', ':']).next().unwrap_or(line).trim())
        .collect();
    assert_eq!(ended.status.code(), Some(0), "{printed}");
    assert_eq!(
        lines,
        [
            "",
            "== a quick one",
            "quick",
            "",
            "== a slow one",
            "one",
            "two",
            "",
            "== last"
        ]
    );
}

#[test]
fn one_that_fails_ends_all_and_leaves_nothing() {
    let Some(ended) = script(
        "broken() { echo begins; false; echo goes on; }\n\
         endless() { echo here; sh -c 'echo $$ >\"$TMP/pid\"; while :; do sleep 0.1; done'; }\n\
         background 'endless' endless\n\
         background 'broken' broken\n\
         until [ -s \"$TMP/pid\" ]; do sleep 0.01; done\n\
         joined 'broken'; echo 'never here'",
    ) else {
        return println!("skipped: bash is not installed");
    };
    let printed = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("begins\nfailed: broken: status 1"),
        "{printed}"
    );
    assert!(
        printed.contains("== endless: began at ")
            && printed.contains("s, was ended")
            && printed.contains("\nhere\n"),
        "{printed}"
    );
    assert!(
        !printed.contains("goes on") && !printed.contains("never"),
        "{printed}"
    );
    assert!(text(&ended.stderr).is_empty(), "{}", text(&ended.stderr));
}

/// A program that appends to a file is stopped while tests with numbers run, and continues next to the others.
#[test]
fn tests_with_numbers_stop_what_runs_below_them() {
    let Some(ended) = script(
        "endless() { while :; do echo >>\"$TMP/ticks\"; sleep 0.01; done; }\n\
         ticks() { wc -l <\"$TMP/ticks\"; }\n\
         grows() { local before; before=$(ticks); until [ \"$(ticks)\" -gt \"$before\" ]; do sleep 0.01; done; }\n\
         stopped() { until [[ $(<\"/proc/$1/stat\") == *') T '* ]]; do sleep 0.01; done; }\n\
         export -f ticks grows stopped\n\
         below 19 'endless' endless\n\
         until [ -s \"$TMP/ticks\" ]; do sleep 0.01; done\n\
         printf '#!/usr/bin/env bash\\neval \"$*\"\\n' >\"$TMP/measured-1\"; chmod +x \"$TMP/measured-1\"\n\
         cp \"$TMP/measured-1\" \"$TMP/program-1\"\n\
         .ci/runner \"$TMP/program-1\" grows; echo 'next to others'\n\
         held stopped \"${group_of[endless]}\"; echo 'held'\n\
         .ci/runner \"$TMP/measured-1\" \"stopped ${group_of[endless]}; exit 7\" || echo \"alone: $?\"\n\
         grows; echo 'continues'",
    ) else {
        return println!("skipped: bash is not installed");
    };
    let printed = text(&ended.stdout);
    assert!(
        printed.starts_with("next to others\nheld\nalone: 7\ncontinues\n"),
        "{printed}{}",
        text(&ended.stderr)
    );
}

/// What a signal ends while it is stopped is gone, too.
#[test]
fn what_is_stopped_ends_with_the_rest() {
    let Some(ended) = script(
        "endless() { sh -c 'echo $$ >\"$TMP/pid\"; while :; do sleep 0.1; done'; }\n\
         below 19 'endless' endless\n\
         until [ -s \"$TMP/pid\" ]; do sleep 0.01; done\n\
         fails() { until [[ $(<\"/proc/$1/stat\") == *') T '* ]]; do sleep 0.01; done; exit 3; }\n\
         held fails \"${group_of[endless]}\"",
    ) else {
        return println!("skipped: bash is not installed");
    };
    assert_eq!(ended.status.code(), Some(3), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).contains("== endless: began at "));
}

/// Runs a script as `.ci/run` is run; nothing where bash is missing. `$TMP` is a directory of its own; once it has ended,
/// the process whose number is in `$TMP/pid` has ended, too.
fn script(lines: &str) -> Option<Output> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "ci-{}-{}",
        std::process::id(),
        lines.len()
    ));
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let text = format!("set -euo pipefail\n. .ci/steps\n{lines}\n");
    let ended = Command::new("bash")
        .args(["-c", &text])
        .env("TMP", &place)
        .current_dir(root())
        .output()
        .ok();
    if let Ok(id) = fs::read_to_string(place.join("pid")) {
        let stat = Path::new("/proc").join(id.trim()).join("stat");
        let end = Instant::now() + Duration::from_secs(20);
        // It was killed before bash ended; a zombie waits for init only.
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(Instant::now() < end, "process {} is left", id.trim());
            thread::sleep(Duration::from_millis(10));
        }
    }
    let _done = fs::remove_dir_all(&place);
    ended
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
