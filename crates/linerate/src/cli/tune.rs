// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune`: the changes of settings in the journal, and how they are undone.

mod campaign;
mod candidate;
mod find;
mod hands;
mod measurement;
mod mechanism;
mod reach;
mod set;
mod stage;
mod told;
mod trial;

use std::collections::BTreeMap;

use linerate_change::{
    End, Host, Journal, Open, Place, Restored, Undo, command, open, restore, undo,
};
use linerate_linux::host::boot_id;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, Role, SettingChange};
use linerate_report::Detail;

use super::args::{DocumentFlags, TuneAction, TuneArgs};
use super::document::document;
use super::session;
use crate::exit::Exit;
use crate::store;

/// Runs the command.
pub(super) fn run(args: &TuneArgs, options: BTreeMap<String, String>) -> Exit {
    let (flags, changes) = match &args.action {
        None => return campaign::run(&args.campaign, options),
        Some(TuneAction::Set { line, document }) => (*document, set::run(line)),
        Some(TuneAction::Status { document }) => (*document, status()),
        Some(TuneAction::Restore { force, document }) => (*document, restored(*force)),
    };
    match changes.and_then(|changes| shown(changes, flags)) {
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

fn status() -> Result<Vec<SettingChange>, Failure> {
    let all = contents(&journal()?)?;
    let row = |one: &Open| change(one, state(one), None);
    Ok(all.iter().map(row).collect())
}

fn state(open: &Open) -> ChangeState {
    let is_of_this_boot = boot_id().is_some_and(|boot| boot == open.boot_id);
    match is_of_this_boot && open.owner.is_alive() {
        true => ChangeState::UnderWay,
        false => ChangeState::Open,
    }
}

/// Whether a process that has ended left a change.
pub(super) fn is_left_open() -> bool {
    let contents = journal().ok().and_then(|journal| journal.contents().ok());
    let all = contents.map_or_else(Vec::new, |contents| open(&contents.entries));
    all.iter().any(|one| state(one) == ChangeState::Open)
}

fn restored(force: bool) -> Result<Vec<SettingChange>, Failure> {
    let mut journal = journal()?;
    contents(&journal)?;
    let mut host = Host::here().map_err(|why| Failure::measuring("find this host", why))?;
    let boot = boot_id().unwrap_or_default();
    let ended = restore(&mut journal, &mut host, &boot, force);
    let ended = ended.map_err(|error| Failure::measuring("restore", error))?;
    Ok(ended.iter().map(of_end).collect())
}

/// What is open. Lines that cannot be read are reported.
fn contents(journal: &Journal) -> Result<Vec<Open>, Failure> {
    let contents = journal.contents();
    let contents = contents.map_err(|error| {
        let path = error.path.display().to_string();
        Failure::measuring("list the changes", error)
            .hint(format!("read {path}; if it is yours: chmod go-w {path}"))
    })?;
    for line in contents.damaged {
        session::say(&format!(
            "line {line} of the journal is damaged and was ignored"
        ));
    }
    Ok(open(&contents.entries))
}

fn of_end(one: &Restored) -> SettingChange {
    let (state, reason) = match &one.end {
        End::Undone | End::WasUndone => (ChangeState::Restored, None),
        End::Vanished => (ChangeState::Vanished, None),
        End::UnderWay => (ChangeState::UnderWay, None),
        End::Foreign { value } => (
            ChangeState::Foreign,
            Some(format!(
                "it is {value} now; --force restores it all the same"
            )),
        ),
        End::AfterAnother => (
            ChangeState::Failed,
            Some("a later change of the same setting is not restored".to_owned()),
        ),
        End::Elsewhere(why) => (ChangeState::Elsewhere, Some(why.clone())),
        End::Failed(why) => (ChangeState::Failed, Some(why.to_string())),
        End::Differs { value } => (
            ChangeState::Failed,
            Some(format!("it was written, and is {value}")),
        ),
    };
    change(&one.open, state, reason)
}

fn change(open: &Open, state: ChangeState, reason: Option<String>) -> SettingChange {
    let interface = match &open.key.place {
        Place::Interface { device, .. } => Some(device.name.clone()),
        Place::Host | Place::Namespace { .. } => None,
    };
    let is_of_user = open.undo != Undo::Write;
    let commands = (!is_of_user).then(|| command(&open.key, &open.new));
    SettingChange {
        host: Role::Local,
        id: open.change,
        started: Date::at(open.wall_ns).to_string(),
        knob: open.key.knob.clone(),
        interface,
        before: (!is_of_user).then(|| open.old.clone()),
        after: open.new.clone(),
        effective: open.effective.clone(),
        because: open.because.clone(),
        pid: open.owner.pid,
        state,
        reason,
        commands: commands.into_iter().collect(),
        undo: vec![undo(open)],
        kept: false,
        comparison: None,
        persisted_file: None,
    }
}

/// Exit code 1 where something is left that no running process will undo.
fn shown(changes: Vec<SettingChange>, flags: DocumentFlags) -> Result<Exit, Failure> {
    let is_left =
        |one: &SettingChange| !one.state.is_closed() && one.state != ChangeState::UnderWay;
    let exit = match changes.iter().any(is_left) {
        true => Exit::ExpectationFailed,
        false => Exit::Ok,
    };
    let mut output = document("tune");
    if changes.iter().any(|one| one.state == ChangeState::Open) {
        output.next_commands = vec!["linerate tune restore".to_owned()];
    }
    output.exit_code = exit.code();
    output.changes = changes;
    flags.print(&output, Detail::Full)?;
    Ok(exit)
}
