// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate lab … -- COMMAND`, through this program in the role of it.

use std::process::{Command, Output};

use super::Test;
use super::role::VARIABLE;
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("exit_code_is_passed_on", |_| exit_code_is_passed_on()),
    ("peer_is_named_to_the_command", |_| {
        peer_is_named_to_the_command()
    }),
    ("unknown_program_is_named", |_| unknown_program_is_named()),
    ("peer_that_ends_is_reported", |_| {
        peer_that_ends_is_reported()
    }),
    ("a_peer_of_several_commands_runs_all_of_them", |_| {
        a_peer_of_several_commands_runs_all_of_them()
    }),
    ("old_kernel_filters_both", |_| old_kernel_filters_both()),
    ("the_wire_states_its_own_ceiling", |_| {
        the_wire_states_its_own_ceiling()
    }),
    ("stock_iperf3_runs_between_the_hosts", |_| {
        stock_iperf3_runs_between_the_hosts()
    }),
];

fn lab(words: &[&str]) -> Outcome<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    Ok(command.env(VARIABLE, "lab-command").args(words).output()?)
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn exit_code_is_passed_on() -> Outcome {
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + 15)] {
        let output = lab(&["--no-serve", "--", "sh", "-c", script])?;
        ensure(output.status.code() == Some(code), || {
            format!("{script}: {output:?}")
        })?;
    }
    Ok(())
}

fn peer_is_named_to_the_command() -> Outcome {
    let script = "echo {peer} $LINERATE_PEER; echo {peer6} $LINERATE_PEER6";
    let pair = lab(&["--no-serve", "--", "sh", "-c", script])?;
    let expected = "198.18.0.2 198.18.0.2\n2001:2::2 2001:2::2\n";
    ensure(out(&pair) == expected, || format!("{pair:?}"))?;
    let route = ["--topology", "route", "--no-serve", "--", "echo", "{peer}"];
    ensure(out(&lab(&route)?) == "198.18.1.2\n", || {
        "the route's peer".to_owned()
    })
}

fn unknown_program_is_named() -> Outcome {
    let output = lab(&["--no-serve", "--", "no-such-program"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure(said.contains("cannot run no-such-program"), || said.clone())?;
    ensure(output.status.code() == Some(3), || format!("{output:?}"))
}

fn peer_that_ends_is_reported() -> Outcome {
    let output = lab(&["--peer", "false", "--", "true"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure(
        said.contains("cannot start the peer") && said.contains("exit status: 1"),
        || said.clone(),
    )
}

fn a_peer_of_several_commands_runs_all_of_them() -> Outcome {
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("peer-of-several");
    let _before = std::fs::remove_file(&place);
    let first = format!("echo first > '{}'; \"$0\" serve --quiet", place.display());
    let peer = first.replace("$0", env!("CARGO_BIN_EXE_linerate"));
    let output = lab(&[
        "--peer",
        &peer,
        "--",
        env!("CARGO_BIN_EXE_linerate"),
        "tcp",
        "{peer}",
        "-n",
        "64K",
    ])?;
    ensure(output.status.success(), || format!("{output:?}"))?;
    let said = std::fs::read_to_string(&place).unwrap_or_default();
    ensure(said == "first\n", || said)
}

fn old_kernel_filters_both() -> Outcome {
    let state = "grep ^Seccomp: /proc/self/status";
    let output = lab(&["--old-kernel", "--no-serve", "--", "sh", "-c", state])?;
    ensure(out(&output) == "Seccomp:\t2\n", || format!("{output:?}"))
}

fn the_wire_states_its_own_ceiling() -> Outcome {
    let output = lab(&["--wire-ceiling"])?;
    let said = out(&output);
    let stated = ["60", "1514"].map(|bytes| {
        let words = format!("the wire carries {bytes}-byte frames: ");
        let line = said.lines().find_map(|line| line.strip_prefix(&words))?;
        line.split_once(" per second (")?.0.parse::<u64>().ok()
    });
    let whole = output.status.success() && stated.iter().all(Option::is_some);
    ensure(whole, || format!("{output:?}"))
}

fn stock_iperf3_runs_between_the_hosts() -> Outcome {
    if Command::new("iperf3").arg("-v").output().is_err() {
        return Err(Verdict::Skipped("no iperf3 here".to_owned()));
    }
    let words = [
        "--peer",
        "iperf3 -s",
        "--",
        "iperf3",
        "-c",
        "{peer}",
        "-n",
        "1M",
        "-J",
    ];
    let output = lab(&words)?;
    let complete = out(&output).contains("\"sum_received\"");
    ensure(output.status.success() && complete, || {
        format!("{output:?}")
    })
}
