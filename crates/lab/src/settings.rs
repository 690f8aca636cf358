// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of a host of the lab, made as those of any host are: by `change`, which reads each back.

use std::io;

use linerate_change::{Change, Hand as _, Local, Memory, Outcome, Undo, Wanted, parse};

use super::{Host, LabError};

/// Makes the settings of a command line in this host. They end with the lab.
///
/// # Errors
/// The command line sets nothing that `change` knows, or the kernel does not take it.
pub(super) fn set(host: &Host, line: &str) -> Result<(), LabError> {
    let what = format!("configure host {}: {line}", host.name);
    host.configure(&what, || all(line))
}

/// `name` without its `net.`.
pub(super) fn sysctl(host: &Host, name: &str, value: &str) -> Result<(), LabError> {
    set(host, &format!("sysctl -w net.{name}='{value}'"))
}

/// Writes a file of an interface in sysfs.
pub(super) fn echo(host: &Host, value: &str, path: &str) -> Result<(), LabError> {
    set(host, &format!("echo {value} > {path}"))
}

fn all(line: &str) -> io::Result<()> {
    let wanted = parse(line).ok_or_else(|| io::Error::other("no such setting is known"))?;
    let mut here = Local::here(Memory::default())?;
    wanted.into_iter().try_for_each(|one| make(&mut here, one))
}

fn make(here: &mut Local<Memory>, wanted: Wanted) -> io::Result<()> {
    let Wanted {
        knob,
        interface,
        value,
    } = wanted;
    let key = here.key(&knob, interface.as_deref())?;
    let change = Change {
        key,
        new: value,
        undo: Undo::Write,
        because: "a fault of the lab".to_owned(),
    };
    match here.apply(change)? {
        Outcome::Applied { .. } | Outcome::InForce => Ok(()),
        Outcome::Ineffective => Err(io::Error::other(format!("{knob} is as before"))),
        Outcome::Unreadable(why) | Outcome::Refused(why) | Outcome::Half { why, .. } => Err(why),
    }
}
