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
        "cargo xtask fuzz --seconds",
        "cargo xtask check-knowledge",
        "cargo xtask corpus",
        "cargo xtask dist --check --packages",
        "cargo xtask machines --short",
        "cargo xtask machines --recorded --binary",
        "cargo xtask foreign-tests --short",
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
    assert_eq!(names("background "), names("joined "));
    assert!(names("background ").contains(&"machines with real drivers".to_owned()));
}

/// The binaries are built by the step before: none is compiled for machines alone.
#[test]
fn machines_come_after_the_binaries_and_after_tests_with_numbers() {
    let run = read(".ci/run");
    let at = |text: &str| run.find(text).unwrap_or_else(|| panic!("no {text:?}"));
    let order = [
        "\njoined 'foreign compilers, emulators'",
        "cargo test --workspace\n",
        "step 'tests on a busy machine'",
        "\nbackground 'foreign targets, packages'",
        "\nbackground 'machines with real drivers'",
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
    for file in [".ci/run", ".ci/steps"] {
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
