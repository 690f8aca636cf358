// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune`: the changes of settings in the journal, and how they are undone or made permanent.

mod aim;
mod campaign;
pub(super) mod candidate;
pub(super) mod explore;
pub(super) mod far;
pub(super) mod find;
pub(super) mod hands;
mod measurement;
mod mechanism;
mod permission;
pub(super) mod persist;
mod reach;
mod rolled_back;
mod set;
pub(super) mod stage;
pub(super) mod status;
mod texts;
mod times;
pub(super) mod trial;

use std::collections::BTreeMap;

use linerate_change::{Journal, open};
use linerate_linux::host::boot_id;
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, SettingChange};
use linerate_report::Detail;

use super::args::{DocumentFlags, TuneAction, TuneArgs};
use super::document::document;
use super::session;
use crate::exit::Exit;
use crate::store;

/// Runs the command.
pub(super) fn run(args: &TuneArgs, options: BTreeMap<String, String>) -> Exit {
    let (flags, ended) = match &args.action {
        None => return campaign::run(&args.campaign, options),
        Some(TuneAction::Set {
            line,
            keep,
            document,
        }) => (
            *document,
            set::run(line, *keep).and_then(|changes| listed(changes, *document)),
        ),
        Some(TuneAction::Status { document }) => (
            *document,
            status::status().and_then(|changes| listed(changes, *document)),
        ),
        Some(TuneAction::Restore {
            force,
            kept,
            forget,
            document,
        }) => {
            let changes = match forget.is_empty() {
                true => status::restored(*force, *kept),
                false => status::forgotten(forget),
            };
            (
                *document,
                changes.and_then(|changes| undone(changes, *document)),
            )
        }
        Some(TuneAction::Persist { root, document }) => {
            (*document, persist::run(root.as_deref(), *document))
        }
    };
    match ended {
        Ok(exit) => exit,
        Err(failure) => session::refuse("tune", flags.json, &failure),
    }
}

/// The journal of this user, in this boot.
///
/// # Errors
/// There is no place for it.
pub(super) fn journal() -> Result<Journal, Failure> {
    let path = store::journal().map_err(|why| Failure::measuring("find the journal", why))?;
    Ok(Journal::at(&path, &boot_id().unwrap_or_default()))
}

/// Whether a process that has ended left a change.
pub(super) fn is_left_open() -> bool {
    let contents = journal().ok().and_then(|journal| journal.contents().ok());
    let all = contents.map_or_else(Vec::new, |contents| open(&contents.entries));
    all.iter()
        .any(|one| status::state(one) == ChangeState::Open)
}

/// Exit code 1 where a process that has ended left a change. What was kept is meant to stay.
fn listed(changes: Vec<SettingChange>, flags: DocumentFlags) -> Result<Exit, Failure> {
    let is_left = changes.iter().any(|one| one.state == ChangeState::Open);
    let next = is_left.then(|| "linerate tune restore".to_owned());
    shown(changes, is_left, next.into_iter().collect(), flags)
}

/// Exit code 1 where something is left that no running process will undo.
fn undone(changes: Vec<SettingChange>, flags: DocumentFlags) -> Result<Exit, Failure> {
    let is_left =
        |one: &SettingChange| !one.state.is_closed() && one.state != ChangeState::UnderWay;
    let is_left = changes.iter().any(is_left);
    shown(changes, is_left, Vec::new(), flags)
}

fn shown(
    changes: Vec<SettingChange>,
    is_left: bool,
    next_commands: Vec<String>,
    flags: DocumentFlags,
) -> Result<Exit, Failure> {
    let exit = match is_left {
        true => Exit::ExpectationFailed,
        false => Exit::Ok,
    };
    let mut output = document("tune");
    output.next_commands = next_commands;
    output.exit_code = exit.code();
    output.changes = changes;
    flags.print(&output, Detail::Full)?;
    Ok(exit)
}
