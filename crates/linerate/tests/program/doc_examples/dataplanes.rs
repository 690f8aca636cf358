// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worked example of `docs/dataplanes.md`, in a network namespace of its own. Each command ends with 0 and prints what
//! the document shows: its words exactly, numbers and line breaks freely.

use std::fs;
use std::process::Command;

use super::shown::is_shown;
use super::{empty_home, page, path, steps};

#[test]
fn the_data_planes_are_as_written() {
    let page = page("dataplanes");
    let steps = steps(page.split("\n## On a router\n").next().unwrap());
    let home = empty_home("dataplanes");
    let script = steps.iter().zip(0..).map(|(step, at)| {
        let command = &step.command;
        format!("{{ {command}\n}} >{at}.out 2>{at}.err; echo $? >{at}.code\n")
    });
    let script: String = script.collect();
    let mut shell = Command::new("unshare");
    shell.args(["-Urn", "sh", "-c", &script]).current_dir(&home);
    shell.env("PATH", path()).env("XDG_STATE_HOME", &home);
    let ended = shell.env_remove("SSH_CONNECTION").output();
    let is_refused = |name: &str| fs::metadata(home.join(name)).is_err();
    if ended.is_err() || is_refused("0.code") {
        return println!("skipped: no unshare(1), or it makes no namespaces");
    }
    let read = |name: String| fs::read_to_string(home.join(name)).unwrap_or_default();
    for (at, step) in steps.iter().enumerate() {
        let (said, code) = (read(format!("{at}.out")), read(format!("{at}.code")));
        assert!(
            code == "0\n" && is_shown(&step.shows, &said),
            "$ {}\n{said}{}\nexit code {code}",
            step.command,
            read(format!("{at}.err"))
        );
    }
    assert!(steps.len() >= 5, "{} steps", steps.len());
}
