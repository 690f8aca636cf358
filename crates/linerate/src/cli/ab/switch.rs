// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands that set up A and B, and restore the configuration.

use std::fmt::Display;
use std::process::Command;
use std::time::Duration;

use linerate_change::{
    Exclusive, Host, Journal, Key, Owner, Phase, Place, Taken, Trace, Undo, quoted,
};
use linerate_linux::signal::Interrupt;
use linerate_method::experiment::Arm;

use super::child::{Ended, Reach, Running};
use super::question::Setup;
use crate::cli::args::AbArgs;
use crate::cli::session::Session;
use crate::cli::tune;
use crate::output::Console;
use linerate_model::failure::{Failure, printable};

/// Sets up A or B.
#[derive(Debug)]
pub(super) struct Switch<'a> {
    a: &'a str,
    b: &'a str,
    restore: Option<&'a str>,
    /// What was set up last, or tried.
    last: Option<Arm>,
    recorded: Recorded,
    /// In a lab: the process outside of it.
    lab: Option<Owner>,
}

/// Whether the journal has how the configuration is restored, should this process be killed.
#[derive(Debug)]
enum Recorded {
    /// Nothing was changed yet.
    NotYet,
    /// Under this number. On this host, no other program changes settings meanwhile.
    As {
        journal: Journal,
        number: u64,
        _alone: Option<Exclusive>,
    },
    /// The user knows that it could not be.
    Not,
}

/// Why the journal does not have it.
enum Unrecorded {
    /// Another program changes settings.
    Taken(Failure),
    /// It cannot be written.
    Why(String),
}

impl<'a> Switch<'a> {
    /// In a `lab`, only what the commands change outside of its namespaces remains.
    pub(super) fn of(args: &'a AbArgs, lab: Option<Owner>) -> Self {
        Self {
            a: &args.a,
            b: &args.b,
            restore: args.restore.as_deref(),
            last: None,
            recorded: Recorded::NotYet,
            lab,
        }
    }

    /// Before the first command runs: a killed process restores nothing itself.
    ///
    /// # Errors
    /// Another program changes settings.
    fn record(&mut self, console: &mut Console) -> Result<(), Failure> {
        if !matches!(self.recorded, Recorded::NotYet) {
            return Ok(());
        }
        // Inside a lab nobody else's process is seen.
        if self.lab.is_none() && tune::is_left_open() {
            console.say(LEFT_OPEN);
        }
        self.recorded = match self.begun() {
            Ok(recorded) => recorded,
            Err(Unrecorded::Taken(failure)) => return Err(failure),
            Err(Unrecorded::Why(why)) => {
                let restore = self.restore.unwrap_or(self.a);
                console.alert(&format!(
                    "how the configuration is restored is not in the journal: {why}\n  ab continues, and \
                     restores it at the end; if this process is killed, run `{restore}` yourself"
                ));
                Recorded::Not
            }
        };
        Ok(())
    }

    fn begun(&self) -> Result<Recorded, Unrecorded> {
        let failed = |why: &dyn Display| Unrecorded::Why(why.to_string());
        let mut journal = tune::journal().map_err(|failure| failed(&failure.why))?;
        // Labs do not disturb each other.
        let alone = match self.lab {
            Some(_) => None,
            None => Some(alone(&journal)?),
        };
        let restore = self.restore.unwrap_or(self.a);
        let intended = intend(&mut journal, "ab", self.b, restore, self.lab);
        let number = intended.map_err(Unrecorded::Why)?;
        Ok(Recorded::As {
            journal,
            number,
            _alone: alone,
        })
    }

    fn forget(&mut self, console: &mut Console) {
        if let Recorded::As {
            journal, number, ..
        } = &mut self.recorded
            && let Err(error) = journal.step(*number, Phase::Restored)
        {
            console.alert(&error.to_string());
        }
    }
}

fn alone(journal: &Journal) -> Result<Exclusive, Unrecorded> {
    let taken = |taken: Taken| match taken {
        Taken::By { .. } => {
            Unrecorded::Taken(Failure::measuring("compare", taken).hint("wait until it has ended"))
        }
        Taken::Unavailable(error) => Unrecorded::Why(error.to_string()),
    };
    journal.exclusive("linerate ab").map_err(taken)
}

impl Setup for Switch<'_> {
    /// Runs the command of one: both are treated alike.
    fn to(&mut self, arm: Arm, session: &mut Session) -> Result<(), Failure> {
        self.record(&mut session.console)?;
        self.last = Some(arm);
        let command = match arm {
            Arm::A => self.a,
            Arm::B => self.b,
        };
        let interrupt = session.interrupt.clone();
        let what = format!("set up {arm:?}");
        let ended = shell(&what, command, &interrupt, "", &mut session.console);
        if interrupt.requested().is_some() {
            return Err(interrupted());
        }
        ended
    }

    /// Puts back what was there: by --restore, else by the command of A. One signal does not interrupt it: who
    /// pressed Ctrl-C once too often wants it done all the same. What was run, if anything had to be, and how
    /// it ended.
    fn back(
        &mut self,
        interrupt: &Interrupt,
        console: &mut Console,
    ) -> Option<(String, Result<(), Failure>)> {
        let command = match (self.last?, self.restore) {
            (_, Some(restore)) => restore,
            (Arm::A, None) => {
                self.forget(console);
                return None;
            }
            (Arm::B, None) => self.a,
        };
        let insists = interrupt.beyond(1);
        let ended = shell(
            "restore the previous configuration",
            command,
            &insists,
            HOW,
            console,
        );
        if ended.is_ok() {
            self.forget(console);
        }
        let by_hand = format!("run it in a shell, the configuration may have changed: `{command}`");
        let ended = ended.map_err(|failure| failure.hint(by_hand));
        Some((command.to_owned(), ended))
    }
}

pub(in crate::cli) fn interrupted() -> Failure {
    Failure::interrupted("finish the comparison")
}

/// Records how `restore` undoes what a command is about to set, which the command `who` runs; the number of the change.
/// In a `lab` that is the process outside of it: inside, processes have other numbers.
///
/// # Errors
/// It is not on the disk.
pub(in crate::cli) fn intend(
    journal: &mut Journal,
    who: &str,
    new: &str,
    restore: &str,
    lab: Option<Owner>,
) -> Result<u64, String> {
    let (key, line) = match lab {
        Some(_) => (key_of_lab(who), again_in_lab(restore)),
        None => (key_of_host(who)?, restore.to_owned()),
    };
    let intended = Phase::Intended {
        key,
        old: String::new(),
        new: new.to_owned(),
        undo: Undo::Command {
            line,
            directory: Some(working_directory()?),
        },
        because: format!("linerate {who}"),
        owner: lab.unwrap_or_else(Owner::this),
    };
    journal.begin(intended).map_err(|why| why.to_string())
}

fn key_of_host(who: &str) -> Result<Key, String> {
    let host = Host::here().map_err(|why| why.to_string())?;
    Ok(host.key(who))
}

/// The lab's namespaces end with it: whoever restores is outside of them.
fn key_of_lab(who: &str) -> Key {
    Key {
        knob: format!("{who} --lab"),
        place: Place::Host,
    }
}

/// The command in a new lab: what it sets there is not set on this host, and what it does to files is done. The shell gets the
/// same text as in the first lab: `lab --restoring` fills in no `{peer}`. What undoes a change names its own program.
fn again_in_lab(line: &str) -> String {
    format!(
        "\"${{LINERATE:-linerate}}\" lab --no-serve --restoring -- /bin/sh -c {}",
        quoted(line)
    )
}

/// Where relative paths of the user's commands start.
fn working_directory() -> Result<String, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|why| format!("the working directory is not known: {why}"))?;
    let named = here.into_os_string().into_string();
    named.map_err(|name| format!("the working directory {} is not UTF-8", name.display()))
}

/// Runs a command by the shell. Of one that takes long it is said so, and `how` it can be ended.
pub(in crate::cli) fn shell(
    what: &str,
    line: &str,
    interrupt: &Interrupt,
    how: &str,
    console: &mut Console,
) -> Result<(), Failure> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    let hint = "run the command in a shell";
    let failed =
        |why: &dyn Display| Failure::measuring(format!("{what}: `{line}`"), why).hint(hint);
    let mut announced = false;
    let mut tick = |since: Duration| {
        if since > LONG && !std::mem::replace(&mut announced, true) {
            console.say(&format!("still waiting for `{line}` ({what}){how}"));
        }
        true
    };
    let ended = Running::start(command, Reach::Group)
        .and_then(|running| running.finish(interrupt, &mut tick))
        .map_err(|error| failed(&error))?;
    if ended.status.success() {
        return Ok(());
    }
    Err(failed(&match complaint(&ended) {
        Some(said) => format!("{}: {said}", ended.status),
        None => ended.status.to_string(),
    }))
}

/// The first line that a process said, on stderr if it said something there.
pub(super) fn complaint(ended: &Ended) -> Option<String> {
    let texts = [&ended.stderr, &ended.stdout];
    texts.into_iter().find_map(|said| first_line(said))
}

/// The first line of an output that is not empty, cleaned.
fn first_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines().map(|line| printable(line.trim()));
    lines.find(|line| !line.is_empty())
}

pub(in crate::cli) const LEFT_OPEN: &str =
    "an earlier run left a configuration that is not restored: see `linerate tune status`";
/// After this time the user is informed what is awaited.
const LONG: Duration = Duration::from_secs(30);
/// What is given up leaves the host as it was set up last.
pub(in crate::cli) const HOW: &str = "; press Ctrl-C twice to give up";
