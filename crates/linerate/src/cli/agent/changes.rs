// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of this host for `tune` on another one, and the process that undoes changes when the one that made them has died.

use std::io;
use std::path::Path;
use std::process::Command;

use linerate_change::remote::{Hello, PROTOCOL, Seat, settings};
use linerate_change::{
    Ending, Guarded, Host, Journal, Local, Warded, Watch, attend as answer, open, stand,
};
use linerate_linux::alarm::Alarm;
use linerate_linux::management::Management;
use linerate_linux::signal::Interrupt;
use linerate_linux::{daemon, host};
use linerate_model::failure::Failure;

use crate::cli::tune::journal;

/// Answers requests until standard input ends, and undoes what is still open then.
pub(super) fn attend() -> Result<(), Failure> {
    let failed = |why: io::Error| Failure::measuring("change settings for another host", why);
    // Before threads start.
    let interrupt = Interrupt::install().map_err(failed)?;
    let journal = journal()?;
    let management = Management::of_session();
    let hello = hello(&journal, &management);
    let mut hand = warded(journal, &management).map_err(failed)?;
    let seat = Seat {
        hello,
        settings: &settings,
        management: &|interface| management.by(interface),
        stop: &|| interrupt.requested().is_some(),
    };
    let ending = answer(io::stdin(), io::stdout(), &mut hand, &seat).map_err(failed)?;
    ended(&ending)
}

/// This host, its changes recorded in `journal`, and undone by another process should this one die. It is watched while a
/// change is open, with the interfaces that carry the session.
///
/// # Errors
/// That process cannot be started.
pub(crate) fn warded<'h>(
    journal: Journal,
    management: &Management,
) -> io::Result<Guarded<'h, Warded<Local<Journal>>>> {
    let path = journal.path().to_owned();
    let mut helper = Command::new("/proc/self/exe");
    helper.args(["agent", "--stdio", "--warden"]);
    let hand = Warded::begin(Local::here(journal)?, &path, helper)?;
    let carrying = management.interfaces().into_iter();
    let carrying = carrying.map(|(name, _)| name).collect();
    Ok(Guarded::new(hand, carrying, Box::new(since_now)))
}

fn since_now(names: &[String]) -> Watch {
    let mut alarm = Alarm::since_now(names.iter().map(String::as_str));
    Box::new(move || alarm.raised())
}

fn hello(journal: &Journal, management: &Management) -> Hello {
    let this = host::describe([]);
    let contents = journal.contents().unwrap_or_default();
    let left = open(&contents.entries);
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        hostname: this.hostname.unwrap_or_default(),
        boot_id: this.boot_id.unwrap_or_default(),
        uid: host::effective_user(),
        management: management.interfaces(),
        left: left.iter().filter(|one| !one.owner.is_alive()).count(),
        ..Hello::default()
    }
}

fn ended(ending: &Ending) -> Result<(), Failure> {
    match ending.is_open() {
        false => Ok(()),
        true => Err(
            Failure::measuring("undo all changes", format!("after {}", ending.why))
                .hint("linerate tune status"),
        ),
    }
}

/// Watches over the process at standard input: the end of its session, its terminal and its group is none here.
pub(super) fn watch() -> Result<(), Failure> {
    let failed = |why: io::Error| Failure::measuring("watch over another process", why);
    daemon::leave_session().map_err(failed)?;
    // A signal to all processes of a service must not end this one before the others.
    let _ignored = Interrupt::install().map_err(failed)?;
    let mut world = Host::here().map_err(failed)?;
    let boot = host::boot_id().unwrap_or_default();
    let journal = |path: &Path| Journal::at(path, &boot);
    stand(io::stdin(), io::stdout(), &mut world, journal).map_err(failed)
}
