// SPDX-License-Identifier: MIT OR Apache-2.0
//! However a lab ends, nothing of it is left.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::Test;
use super::role::VARIABLE;
use super::traffic::eventually;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("killed_outside_leaves_nothing", |_| killed(Who::Outside)),
    ("killed_inside_leaves_nothing", |_| killed(Who::Inside)),
    ("terminated_leaves_nothing", |_| killed(Who::Terminated)),
    ("terminated_by_timeout_leaves_nothing", |_| {
        killed(Who::WithItsGroup)
    }),
    ("forbidden_namespaces_are_named", |_| {
        forbidden_namespaces_are_named()
    }),
];

enum Who {
    /// `kill -9` of the process that was started.
    Outside,
    /// `kill -9` of the program inside.
    Inside,
    /// SIGTERM of the process that was started.
    Terminated,
    /// The same and SIGTERM of its group, as timeout(1) sends them.
    WithItsGroup,
}

fn killed(who: Who) -> Outcome {
    let mark = format!("lab-{}-{}", std::process::id(), who_number(&who));
    let mut lab = start(&mark)?;
    let standing = marked(&mark);
    // Outside, process 1, the program, `sleep`, the shell and its two.
    ensure(standing.len() >= 6, || {
        format!("only {standing:?} carry the mark")
    })?;
    let namespaces: Vec<_> = standing.iter().filter_map(|pid| network_of(*pid)).collect();
    let (signal, pid) = match who {
        Who::Outside => ("-KILL", lab.id()),
        Who::Terminated | Who::WithItsGroup => ("-TERM", lab.id()),
        Who::Inside => ("-KILL", inside(&standing, lab.id())?),
    };
    let mut targets = vec![pid.to_string()];
    if matches!(who, Who::WithItsGroup) {
        targets.push(format!("-{pid}"));
    }
    let sent = Command::new("kill")
        .args([signal, "--"])
        .args(targets)
        .status()?;
    ensure(sent.success(), || format!("kill {signal} {pid}: {sent}"))?;
    let status = lab.wait()?;
    ensure(!status.success(), || format!("ended with {status}"))?;
    ensure(eventually(|| marked(&mark).is_empty()), || {
        format!("left: {:?}", marked(&mark))
    })?;
    let ours = network_of(std::process::id());
    let left = || {
        let kept = all_pids().into_iter().filter_map(network_of);
        kept.filter(|net| namespaces.contains(net) && Some(net) != ours.as_ref())
            .count()
    };
    ensure(eventually(|| left() == 0), || {
        format!("{} processes in the lab's namespaces", left())
    })
}

/// Where the machine forbids them: which switch, what lifts it, and the loopback instead.
fn forbidden_namespaces_are_named() -> Outcome {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.env(VARIABLE, "forbid-namespaces").output()?;
    let said = String::from_utf8(output.stdout)?;
    if said == "unwritable\n" {
        return Err(Verdict::Skipped(
            "user.max_user_namespaces cannot be set".to_owned(),
        ));
    }
    for part in [
        "loopback instead of a lab: user namespaces are switched off by user.max_user_namespaces=0",
        "sysctl -w user.max_user_namespaces=",
        "a lab at 127.0.0.1",
        "cannot inject a fault",
    ] {
        ensure(said.contains(part), || {
            format!("'{part}' is not in '{said}'")
        })?;
    }
    Ok(())
}

fn who_number(who: &Who) -> u8 {
    match who {
        Who::Outside => 0,
        Who::Inside => 1,
        Who::Terminated => 2,
        Who::WithItsGroup => 3,
    }
}

/// This program as a lab with sleepers, standing.
fn start(mark: &str) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .env(VARIABLE, "lab-with-sleepers")
        .env("LINERATE_TEST_MARK", mark);
    let mut lab = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    if let Some(out) = lab.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    ensure(line == "standing\n", || format!("the lab said '{line}'"))?;
    // The shell needs a moment to start its own.
    let all = eventually(|| marked(mark).len() >= 6);
    ensure(all, || format!("only {:?} carry the mark", marked(mark)))?;
    Ok(lab)
}

/// The processes whose environment holds the mark.
fn marked(mark: &str) -> Vec<u32> {
    let mark = format!("LINERATE_TEST_MARK={mark}\0");
    let has = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .windows(mark.len())
            .any(|window| window == mark.as_bytes())
    };
    all_pids().into_iter().filter(has).collect()
}

fn all_pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn network_of(pid: u32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// The grandchild of the process that was started: outside, process 1, the program.
fn inside(standing: &[u32], outside: u32) -> Outcome<u32> {
    let child_of = |parent| {
        standing
            .iter()
            .copied()
            .find(|pid| parent_of(*pid) == Some(parent))
    };
    let program = child_of(outside).and_then(child_of);
    program.ok_or_else(|| Verdict::Failed("no program inside".to_owned()))
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}
