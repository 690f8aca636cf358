// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces as ip-link(8) sets them: up or down, under a bridge or not, a bridge that is there or not.

use std::io;

use linerate_linux::nic;
use linerate_linux::rtnl::{Rtnl, RtnlError};

use crate::knob::invalid;

/// `up` or `down`, as a person set it.
pub(crate) fn state(interface: &str) -> io::Result<String> {
    let is_up = nic::link(interface)?.up;
    Ok(if is_up { UP } else { DOWN }.to_owned())
}

pub(crate) fn set_state(interface: &str, value: &str) -> io::Result<()> {
    let is_up = match value {
        UP => true,
        DOWN => false,
        _ => return Err(invalid("neither up nor down")),
    };
    asked(|rtnl| rtnl.set_up(interface, is_up))
}

/// The name of the bridge or bond, or [`NO_MASTER`].
pub(crate) fn master(interface: &str) -> io::Result<String> {
    let links = nic::list()?;
    let own = links.iter().find(|link| link.name == interface);
    let own = own.ok_or(io::ErrorKind::NotFound)?;
    let Some(index) = own.controller else {
        return Ok(NO_MASTER.to_owned());
    };
    let master = links.iter().find(|link| link.index == index);
    let name = master.map(|link| link.name.clone());
    name.ok_or_else(|| io::ErrorKind::NotFound.into())
}

pub(crate) fn set_master(interface: &str, value: &str) -> io::Result<()> {
    match value {
        NO_MASTER => asked(|rtnl| rtnl.release(interface)),
        bridge => asked(|rtnl| rtnl.enslave(interface, bridge)),
    }
}

/// [`PRESENT`] or [`ABSENT`].
pub(crate) fn bridge(name: &str) -> io::Result<String> {
    match nic::link(name) {
        Ok(link) if link.kind.as_deref() == Some("bridge") => Ok(PRESENT.to_owned()),
        Ok(_) => Err(invalid(format!("{name} is not a bridge"))),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(ABSENT.to_owned()),
        Err(why) => Err(why),
    }
}

/// A bridge is made and taken up: one setting, because both end with it.
pub(crate) fn set_bridge(name: &str, value: &str) -> io::Result<()> {
    match value {
        PRESENT => {
            asked(|rtnl| rtnl.bridge(name))?;
            asked(|rtnl| rtnl.set_up(name, true))
        }
        ABSENT => asked(|rtnl| rtnl.delete(name)),
        _ => Err(invalid("neither present nor absent")),
    }
}

/// As the kernel takes it, without what a shell would read otherwise.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    (1..=15).contains(&name.len()) && name.chars().all(is_letter) && !name.starts_with(['.', '-'])
}

/// The kind of error stays: a missing permission has its own remedy.
fn asked(order: impl FnOnce(&mut Rtnl) -> Result<(), RtnlError>) -> io::Result<()> {
    let of = |error: RtnlError| io::Error::new(error.source.kind(), error);
    let mut rtnl = Rtnl::open().map_err(of)?;
    order(&mut rtnl).map_err(of)
}

pub(crate) const UP: &str = "up";
pub(crate) const DOWN: &str = "down";
pub(crate) const NO_MASTER: &str = "nomaster";
pub(crate) const PRESENT: &str = "present";
pub(crate) const ABSENT: &str = "absent";
