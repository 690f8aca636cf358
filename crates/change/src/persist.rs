// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that make a change permanent: a file for `sysctl.d`, a udev rule, a drop-in of a `.link` file, a systemd unit.
//!
//! What goes where follows from the setting, and from what else is configured on the machine ([`Surroundings`]). Where a file
//! would have no effect, or another program would undo it, there is none, and a reason ([`Refusal`]).

mod conflict;
mod files;
mod header;
mod ifupdown;
mod interrupt;
mod kind;
mod link;
mod name;
mod networkd;
mod surroundings;
mod sysctl;
#[cfg(test)]
mod tests;
mod udev;
mod unit;
mod write;

use crate::entry::{Key, Place};
use crate::open::Open;
use kind::Kind;

pub use files::Files;
pub(crate) use name::is_ours;
pub use surroundings::{Config, Interface, Surroundings};
pub use write::{Written, write};

/// A change that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The setting.
    pub key: Key,
    /// What it is set to.
    pub value: String,
    /// The rule that wanted it, and what it brought: one line.
    pub because: String,
}

impl Kept {
    /// That of the journal.
    #[must_use]
    pub fn of(open: &Open) -> Self {
        let value = open.effective.as_ref().unwrap_or(&open.new);
        Self {
            key: open.key.clone(),
            value: value.clone(),
            because: open.because.clone(),
        }
    }
}

/// A file that makes a change permanent, or one of several that do so together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIn {
    /// Its absolute path in the system that it configures.
    pub path: String,
    /// All of it.
    pub content: String,
    /// Commands after which it is effective without a reboot.
    pub activates: Vec<String>,
    /// The command that removes it.
    pub removes: String,
}

/// Why there is no file, and what can be done instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: String,
    /// What to put where, a line each; perhaps nothing.
    pub by_hand: Vec<String>,
}

impl Refusal {
    fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            by_hand: Vec::new(),
        }
    }

    fn by_hand(mut self, line: impl Into<String>) -> Self {
        self.by_hand.push(line.into());
        self
    }
}

/// The files of each change, in the order of the changes.
#[must_use]
pub fn persist(kept: &[Kept], around: &Surroundings) -> Vec<Result<Vec<DropIn>, Refusal>> {
    kept.iter().map(|one| files(one, around)).collect()
}

fn files(kept: &Kept, around: &Surroundings) -> Result<Vec<DropIn>, Refusal> {
    let kind = Kind::of(&kept.key.knob).ok_or_else(|| Refusal::new("it is not a setting"))?;
    may_stay(kept, kind, around)?;
    of_the_machine(&kept.key.place, around)?;
    if around.systemd.is_none() {
        return Err(without_systemd(kept));
    }
    conflict::none(kept, kind, around)?;
    match kind {
        Kind::Sysctl(name) => sysctl::file(kept, name, around).map(|file| vec![file]),
        _ if kind.needs_link_up() || kind.is_of_the_host() => unit::files(kept, kind, around),
        _ => match link::file(kept, around) {
            Some(file) => Ok(vec![file]),
            None => udev::file(kept, kind, around).map(|file| vec![file]),
        },
    }
}

fn may_stay(kept: &Kept, kind: Kind<'_>, around: &Surroundings) -> Result<(), Refusal> {
    let is_one_line = |text: &str| !text.contains(['\n', '\r', '\0', '"', '\\']);
    match kind {
        Kind::Latency => Err(Refusal::new(
            "a process holds it, and the kernel releases it when that process ends",
        )
        .by_hand("start a service that keeps /dev/cpu_dma_latency open")),
        Kind::Mtu => Err(Refusal::new("the MTU belongs to the network configuration")
            .by_hand(conflict::mtu(kept, around))),
        Kind::Discipline if kept.value.starts_with("default") => {
            Err(Refusal::new("it is the default: a boot sets it"))
        }
        _ if !is_one_line(&kept.value) || !is_one_line(&kept.key.knob) => {
            Err(Refusal::new("its value does not fit in one line"))
        }
        _ => Ok(()),
    }
}

/// What is read at boot has effect in the namespace of process 1 only.
fn of_the_machine(place: &Place, around: &Surroundings) -> Result<(), Refusal> {
    let netns = match place {
        Place::Host | Place::Image { .. } => return Ok(()),
        Place::Namespace { netns } | Place::Interface { netns, .. } => *netns,
    };
    match around.netns.is_none_or(|first| first == netns) {
        true => Ok(()),
        false => Err(Refusal::new(format!(
            "it is in the network namespace net:[{netns}], and files have effect at boot, in that of process 1"
        ))),
    }
}

/// Neither udev nor `systemd-sysctl` will read a file.
fn without_systemd(kept: &Kept) -> Refusal {
    let refusal = Refusal::new("systemd does not run this system");
    match kept.key.knob.split_once(' ') {
        Some(("sysctl", name)) => {
            refusal.by_hand(format!("/etc/sysctl.conf: {name}={}", kept.value))
        }
        _ => refusal.by_hand(format!(
            "/etc/rc.local, or a script that runs when the interface comes up: {}",
            crate::command(&kept.key, &kept.value)
        )),
    }
}
