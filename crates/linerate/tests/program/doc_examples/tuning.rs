// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worked example of `docs/tuning.md`: the shell session of its text, in the lab that its first command makes. Each
//! command ends with 0 and prints what the document shows: its words exactly, numbers and line breaks freely.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::shown::is_shown;
use super::{Step, empty_home, page, path, steps};

/// All steps of the section's `console` blocks.
fn steps_of_the_section() -> Vec<Step> {
    let page = page("tuning");
    let (_, section) = page.split_once("\n## A worked example\n").unwrap();
    steps(section.split("\n## ").next().unwrap())
}

/// What a command printed, and its exit code, in files of the home directory.
struct Ran {
    said: String,
    code: String,
}

/// The session in an empty home directory. Nothing where the machine grants no lab.
fn session(home: &Path, lab: &Step, inside: &[Step]) -> Option<Vec<Ran>> {
    // The shell of the lab reads the other commands, as from a keyboard.
    let mut child = Command::new("sh")
        .args(["-c", &format!("exec {}", lab.command)])
        .current_dir(home)
        .envs([("HOME", home), ("SHELL", Path::new("/bin/sh"))])
        .env("PATH", path())
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(fs::File::create(home.join("lab")).unwrap())
        .spawn()
        .unwrap();
    let script = inside.iter().zip(0..).map(|(step, at)| {
        let Step { command, .. } = step;
        format!("{{ {command}\n}} </dev/null >~/{at}.out 2>~/{at}.err; echo $? >~/{at}.code\n")
    });
    let script: String = script.collect();
    let mut shell = child.stdin.take().unwrap();
    // A lab that ended early does not read it.
    let _ended = shell.write_all(script.as_bytes());
    drop(shell);
    child.wait().unwrap();
    let lab = fs::read_to_string(home.join("lab")).unwrap_or_default();
    if lab.contains("grants no network namespaces") {
        println!("skipped: no lab on this machine");
        return None;
    }
    let read = |name: String| fs::read_to_string(home.join(name)).unwrap_or_default();
    let ran = (0..inside.len()).map(|at| Ran {
        said: read(format!("{at}.out")),
        code: read(format!("{at}.code")) + &read(format!("{at}.err")),
    });
    Some(ran.collect())
}

/// The first step that is not as the document shows it.
fn differs(home: &Path, steps: &[Step], ran: &[Ran]) -> Option<String> {
    steps.iter().zip(ran).find_map(|(step, ran)| {
        let said = ran.said.replace(&home.display().to_string(), HOME);
        let is_right = ran.code.starts_with("0\n") && is_shown(&step.shows, &said);
        (!is_right).then(|| {
            format!(
                "$ {}\n{said}\nexit code {}\nthe document:\n{}",
                step.command, ran.code, step.shows
            )
        })
    })
}

#[test]
fn the_worked_example_is_as_written() {
    if Command::new("sysctl").arg("--version").output().is_err() {
        return println!("skipped: no sysctl(8)");
    }
    let steps = steps_of_the_section();
    let (lab, inside) = steps.split_first().unwrap();
    assert!(lab.command.starts_with("linerate lab --fault "));
    for needed in NEEDED {
        let has = |step: &Step| step.command.starts_with(needed);
        assert!(inside.iter().any(has), "no `{needed}` in the example");
    }
    let mut seen = Vec::new();
    // What a busy machine spoils is done again.
    for _ in 0..ATTEMPTS {
        let home = empty_home("worked-example");
        let Some(ran) = session(&home, lab, inside) else {
            return;
        };
        match differs(&home, inside, &ran) {
            None => return assert_restored(inside, &ran),
            Some(why) => seen.push(why),
        }
    }
    panic!("{}", seen.join("\n----\n"));
}

/// Numbers are compared nowhere else: the setting had another value, and has its old one again.
fn assert_restored(steps: &[Step], ran: &[Ran]) {
    let of = |command: &'static str| {
        let ran = steps
            .iter()
            .zip(ran)
            .filter(move |(step, _)| step.command.starts_with(command));
        ran.map(|(_, ran)| ran.said.split_whitespace().collect::<Vec<_>>())
    };
    let values: Vec<_> = of("sysctl net").collect();
    assert!(values.len() >= 2, "{values:?}");
    assert_eq!(values.first(), values.last());
    assert!(of("sysctl -p ").all(|applied| applied != values[0]));
}

/// In the document.
const HOME: &str = "/home/me";
const NEEDED: [&str; 8] = [
    "linerate tcp ",
    "linerate tune 198.18.0.2 --dry-run",
    "linerate tune 198.18.0.2 --",
    "linerate tune status",
    "linerate tune persist --root ",
    "cat ",
    "sysctl -p ",
    "linerate tune restore --kept",
];
const ATTEMPTS: usize = 4;
