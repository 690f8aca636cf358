// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune status` and `restore`: the changes in the journal, and how they are undone.

use std::io;

use linerate_change::{
    End, Host, Journal, Open, Place, Restored, Undo, World, command, forget, restore, restore_kept,
    standing, undo,
};
use linerate_linux::host::boot_id;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, Role, SettingChange};

use super::journal;
use super::texts::interface;
use crate::cli::session;

/// What is not undone, and what was kept and is in force.
pub(super) fn status() -> Result<Vec<SettingChange>, Failure> {
    let mut host = host()?;
    let row = |one: &Open| {
        let (state, reason) = match one.kept {
            true => of_kept(&mut host, one),
            false => (state(one), None),
        };
        change(one, state, reason)
    };
    let all = contents(&journal()?)?;
    // It is restored with its change.
    let own = all.iter().filter(|one| !one.is_coupled());
    Ok(own.map(row).collect())
}

/// Changes of settings that were kept, and the values in force are still those.
pub(super) fn kept() -> Result<Vec<Open>, Failure> {
    let mut host = host()?;
    let mut all = contents(&journal()?)?;
    all.retain(|one| {
        one.kept && !one.is_coupled() && of_kept(&mut host, one).0 == ChangeState::Kept
    });
    Ok(all)
}

pub(super) fn state(open: &Open) -> ChangeState {
    let is_of_this_boot = boot_id().is_some_and(|boot| boot == open.boot_id);
    match is_of_this_boot && open.owner.is_alive() {
        true => ChangeState::UnderWay,
        false => ChangeState::Open,
    }
}

/// Another program may have changed it since, and its device may be gone.
fn of_kept(host: &mut Host, open: &Open) -> (ChangeState, Option<String>) {
    if let Err(why) = host.same(&open.key.place) {
        return (ChangeState::Elsewhere, Some(why));
    }
    if open.undo != Undo::Write {
        return (ChangeState::Kept, None);
    }
    match host.read(&open.key) {
        Ok(value) if Some(&value) == open.effective.as_ref() => (ChangeState::Kept, None),
        Ok(value) => (ChangeState::Foreign, Some(now(open, &value))),
        Err(why) => (ChangeState::Elsewhere, Some(why.to_string())),
    }
}

fn now(open: &Open, value: &str) -> String {
    match (open.key.is_volatile(), value) {
        (true, value) => format!("it is {value} now"),
        (false, "") => "it was removed".to_owned(),
        (false, _) => "it was edited".to_owned(),
    }
}

/// Undoes what is left; with `kept` also what was kept.
pub(super) fn restored(force: bool, kept: bool) -> Result<Vec<SettingChange>, Failure> {
    let mut journal = journal()?;
    contents(&journal)?;
    if journal.is_restoring() {
        session::say("another process is restoring changes: waiting for it");
    }
    let mut host = host()?;
    let boot = boot_id().unwrap_or_default();
    let ended = match kept {
        true => restore_kept(&mut journal, &mut host, &boot, force),
        false => restore(&mut journal, &mut host, &boot, force),
    };
    let ended = ended.map_err(|error| Failure::measuring("restore", error))?;
    let shown = ended
        .iter()
        .filter(|one| !(one.open.is_coupled() && one.end.is_closed()));
    Ok(shown.map(|one| of_end(one, &boot)).collect())
}

/// Closes these, and undoes nothing.
pub(super) fn forgotten(ids: &[u64]) -> Result<Vec<SettingChange>, Failure> {
    let mut journal = journal()?;
    let all = contents(&journal)?;
    let of_id = |id: &u64| listed(&all, *id);
    let chosen = ids.iter().map(of_id).collect::<Result<Vec<&Open>, _>>()?;
    for open in &chosen {
        let failed = |error| Failure::measuring(format!("forget change {}", open.change), error);
        forget(&mut journal, open.change).map_err(failed)?;
    }
    let row = |open: &Open| change(open, ChangeState::Forgotten, None);
    Ok(chosen.into_iter().map(row).collect())
}

/// The change with this number, if no running process will undo it.
fn listed(all: &[Open], id: u64) -> Result<&Open, Failure> {
    let refused = |why: &str| {
        Failure::usage(format!("forget change {id}"), why)
            .hint("`linerate tune status` lists the changes and their numbers")
    };
    let mut own = all.iter().filter(|one| !one.is_coupled());
    match own.find(|one| one.change == id) {
        None => Err(refused("no change has this number, or it is undone")),
        Some(one) if state(one) == ChangeState::UnderWay => {
            Err(refused(&format!("process {} still runs", one.owner.pid)))
        }
        Some(one) => Ok(one),
    }
}

fn host() -> Result<Host, Failure> {
    Host::here().map_err(|why| Failure::measuring("find this host", why))
}

/// What is not undone and may be in force. Lines that cannot be read are reported.
pub(super) fn contents(journal: &Journal) -> Result<Vec<Open>, Failure> {
    let contents = journal.contents();
    let contents = contents.map_err(|error| {
        let path = error.path.display().to_string();
        Failure::measuring("list the changes", error)
            .hint(format!(
                "read {path}: its commands would be run; if they are yours, see that the file and the directories above it \
                 belong to you and no other user may write to them (chown, chmod go-w), or set XDG_STATE_HOME"
            ))
    })?;
    for line in contents.damaged {
        session::say(&format!(
            "line {line} of the journal is damaged and was ignored"
        ));
    }
    let boot = boot_id().unwrap_or_default();
    let mut all = standing(&contents.entries);
    all.retain(|one| !one.kept || one.outlives(&boot));
    Ok(all)
}

pub(in crate::cli) fn of_end(one: &Restored, boot: &str) -> SettingChange {
    let (state, reason) = match &one.end {
        End::Undone if is_of_earlier_boot(&one.open, boot) => (
            ChangeState::Restored,
            Some("what it set stays in force until the next boot".to_owned()),
        ),
        End::Undone | End::WasUndone => (ChangeState::Restored, None),
        End::Vanished => (ChangeState::Vanished, None),
        End::UnderWay => (ChangeState::UnderWay, None),
        End::Foreign { value } => (
            ChangeState::Foreign,
            Some(format!(
                "{}; --force restores it all the same",
                now(&one.open, value)
            )),
        ),
        End::AfterAnother => (
            ChangeState::Failed,
            Some("a later change of the same setting is not restored".to_owned()),
        ),
        End::Elsewhere(why) => (ChangeState::Elsewhere, Some(why.clone())),
        End::Failed(why) => (ChangeState::Failed, Some(by_hand(&one.open, why))),
        End::Differs { value } => (
            ChangeState::Failed,
            Some(format!("it was written, and is {value}")),
        ),
    };
    change(&one.open, state, reason)
}

/// A command may fail each time.
fn by_hand(open: &Open, why: &io::Error) -> String {
    match open.undo {
        Undo::Write => why.to_string(),
        Undo::Command { .. } => format!(
            "{why}; undo it by hand, then `linerate tune restore --forget {}`",
            open.change
        ),
    }
}

/// A file from which this host was configured when it was booted.
fn is_of_earlier_boot(open: &Open, boot: &str) -> bool {
    !open.key.is_volatile() && open.key.place == Place::Host && open.boot_id != boot
}

pub(super) fn change(open: &Open, state: ChangeState, reason: Option<String>) -> SettingChange {
    let is_of_user = open.undo != Undo::Write;
    let commands = (!is_of_user).then(|| command(&open.key, &open.new));
    SettingChange {
        host: Role::Local,
        id: open.change,
        started: Date::at(open.wall_ns).to_string(),
        knob: open.key.knob.clone(),
        interface: interface(&open.key),
        before: (!is_of_user).then(|| open.old.clone()),
        after: open.new.clone(),
        effective: open.effective.clone(),
        because: open.because.clone(),
        pid: open.owner.pid,
        state,
        reason,
        commands: commands.into_iter().collect(),
        undo: vec![undo(open)],
        kept: open.kept,
        comparison: None,
        persisted_file: open.key.file(),
    }
}
