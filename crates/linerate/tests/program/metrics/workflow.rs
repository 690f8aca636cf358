// SPDX-License-Identifier: MIT OR Apache-2.0
//! `packaging/github/linerate.yml` is a workflow, and its commands are the program's.

use crate::report::made::place;
use crate::support::python::{python, reader};
use std::path::{Path, PathBuf};
use std::process::Command;

fn file() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("packaging/github/linerate.yml")
}

/// Its lines that run the program.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(file()).unwrap();
    let lines = text.lines().map(str::trim);
    let commands = lines.filter(|line| line.starts_with("linerate "));
    commands.map(str::to_owned).collect()
}

/// As the runner does: one after another in one directory, by a shell. Whether this machine meets the expectations
/// does not matter here.
#[test]
fn its_commands_are_understood() {
    let place = place("workflow");
    let program = Path::new(env!("CARGO_BIN_EXE_linerate")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let commands = commands();
    assert!(
        commands[0].contains("check --lab --quick --expect"),
        "{commands:?}"
    );
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let output = Command::new("bash")
            .args(["-e", "-c", &command])
            .current_dir(&place)
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", place.join("summary.md"))
            .env("XDG_STATE_HOME", &place)
            .output()
            .unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        let measures = command.starts_with("linerate check");
        let is_verdict = measures && matches!(code, Some(1 | 4));
        assert!(
            code == Some(0) || is_verdict,
            "{command}: {code:?} {reported}"
        );
    }
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    assert!(read("linerate.xml").contains("<testsuite "));
    assert!(read("linerate.html").contains("</html>"));
    assert!(read("summary.md").contains('|'));
    assert!(place.join("run/run.json").exists());
}

#[test]
fn it_is_yaml_with_the_keys_of_a_workflow() {
    const READ: &str = "import sys, yaml
text = yaml.safe_load(open(sys.argv[1]))
steps = text['jobs']['measure']['steps']
assert text['permissions'] == {'contents': 'read'}, text
assert all(step.keys() & {'run', 'uses'} for step in steps), steps
print(len(steps))";
    let path = file().display().to_string();
    let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(output) = python("pyyaml", here, READ, &[&path]) else {
        return;
    };
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4");
}

#[test]
fn actionlint_accepts_it() {
    let how = "GOBIN=$PWD/target/readers/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";
    let Some(actionlint) = reader("actionlint", how) else {
        return;
    };
    let output = Command::new(actionlint)
        .arg("-no-color")
        .arg(file())
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{reported}");
}
