// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands that set up A and B, and what is left behind.

use std::process::Command;
use std::time::Duration;

use linerate_linux::signal::Interrupt;
use linerate_method::experiment::Arm;

use super::child;
use crate::cli::args::AbArgs;
use crate::error::Failure;

/// Sets up A or B.
#[derive(Debug)]
pub(super) struct Switch<'a> {
    a: &'a str,
    b: &'a str,
    restore: Option<&'a str>,
    settle: Duration,
    /// What was set up last, or tried.
    last: Option<Arm>,
}

impl<'a> Switch<'a> {
    pub(super) fn of(args: &'a AbArgs) -> Self {
        Self {
            a: &args.a,
            b: &args.b,
            restore: args.restore.as_deref(),
            settle: Duration::from_millis(args.settle),
            last: None,
        }
    }

    /// Runs the command of one, before each of its runs: both are treated alike. Then lets it settle.
    ///
    /// # Errors
    /// The command failed, or the user interrupted.
    pub(super) fn to(&mut self, arm: Arm, interrupt: &Interrupt) -> Result<(), Failure> {
        self.last = Some(arm);
        let (name, command) = match arm {
            Arm::A => ("A", self.a),
            Arm::B => ("B", self.b),
        };
        shell(&format!("set up {name}"), command, Some(interrupt))?;
        match child::pause(self.settle, interrupt) {
            true => Ok(()),
            false => Err(interrupted()),
        }
    }

    /// Puts back what was there: by --restore, else by the command of A. Nothing interrupts it. What was run,
    /// if anything had to be, and how it ended.
    pub(super) fn back(&self) -> Option<(&'a str, Result<(), Failure>)> {
        let command = match (self.last?, self.restore) {
            (_, Some(restore)) => restore,
            (Arm::A, None) => return None,
            (Arm::B, None) => self.a,
        };
        Some((command, shell("restore what was there", command, None)))
    }
}

pub(super) fn interrupted() -> Failure {
    Failure::interrupted("finish the comparison")
}

/// Runs a command by the shell.
fn shell(what: &str, line: &str, interrupt: Option<&Interrupt>) -> Result<(), Failure> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    let what = format!("{what}: `{line}`");
    let ended = child::run(command, interrupt).map_err(|error| Failure::measuring(&what, error))?;
    if interrupt.is_some_and(|interrupt| interrupt.requested().is_some()) {
        return Err(interrupted());
    }
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stderr, ended.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let said = said.lines().map(str::trim).find(|line| !line.is_empty());
    let why = match said {
        Some(said) => format!("{}: {said}", ended.status),
        None => ended.status.to_string(),
    };
    Err(Failure::measuring(what, why).hint("the command by itself in a shell"))
}
