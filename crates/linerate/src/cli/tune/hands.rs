// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hosts of a lab, whose settings a campaign can change.

use std::io;

use linerate_change::{
    Change, End, Guarded, Hand, Key, Local, Memory, Outcome, Place, SideEffect, Watch,
};
use linerate_linux::alarm::Alarm;
use linerate_linux::netns::NetNs;
use linerate_model::failure::Failure;
use linerate_model::output::Role;

use super::stage::Hands;
use crate::cli::session::Session;

/// Both hosts of a lab. What belongs to the machine is refused; what is changed ends with the lab.
///
/// # Errors
/// The lab has no network namespaces.
pub(in crate::cli) fn of_lab<'h>(session: &Session) -> Result<Hands<'h>, Failure> {
    let Some(peer) = &session.lab_peer else {
        return Err(no_namespaces());
    };
    let failed = |why: io::Error| Failure::measuring("enter a host of the lab", why);
    let here = Local::here(Memory::default()).map_err(failed)?;
    let peer = peer.try_clone().map_err(failed)?;
    let there = peer
        .run(|| Local::here(Memory::default()))
        .map_err(failed)?;
    let there = Inside {
        namespace: peer,
        hand: OfLab(guarded(there.map_err(failed)?)),
    };
    Ok([
        (Role::Local, boxed(OfLab(guarded(here)))),
        (Role::Remote, boxed(there)),
    ]
    .into())
}

fn guarded<'h, H: Hand>(hand: H) -> Guarded<'h, H> {
    Guarded::new(hand, Vec::new(), Box::new(of_links))
}

/// The lab's hosts watch their own links: the rest of the machine has other users, and nothing in a lab can heat it.
fn of_links(names: &[String]) -> Watch {
    let mut alarm = Alarm::of_links(names.iter().map(String::as_str));
    Box::new(move || alarm.raised())
}

fn boxed<'h>(hand: impl Hand + Send + 'h) -> Box<dyn Hand + Send + 'h> {
    Box::new(hand)
}

fn no_namespaces() -> Failure {
    let why = "this machine grants no network namespaces, so the lab's settings would be its own";
    Failure::measuring("change settings in a lab", why)
        .hint("as root, or: sysctl user.max_user_namespaces")
}

/// A host of the lab: only what its network namespace owns can be changed.
struct OfLab<H>(H);

impl<H: Hand> Hand for OfLab<H> {
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
        let key = self.0.key(knob, interface)?;
        match is_of_namespace(&key) {
            true => Ok(key),
            false => Err(io::Error::other(format!(
                "{knob} belongs to the machine, not to the lab"
            ))),
        }
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        self.0.read(key)
    }

    fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
        self.0.most(key)
    }

    fn side_effects(&mut self, change: u64) -> io::Result<Vec<SideEffect>> {
        self.0.side_effects(change)
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        self.0.apply(change)
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        self.0.undo(change)
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.0.keep(change)
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        self.0.watch(interfaces)
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        self.0.alarm()
    }
}

/// The kernel shows a namespace none of `net.*` that it does not own, or lets it only read them.
fn is_of_namespace(key: &Key) -> bool {
    match key.place {
        Place::Interface { .. } => true,
        Place::Namespace { .. } => key.knob.starts_with("sysctl net."),
        Place::Host | Place::Image { .. } => false,
    }
}

/// A hand whose calls are made inside a network namespace.
struct Inside<H> {
    namespace: NetNs,
    hand: H,
}

impl<H: Hand + Send> Hand for Inside<H> {
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.key(knob, interface))?
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.read(key))?
    }

    fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.most(key))?
    }

    fn side_effects(&mut self, change: u64) -> io::Result<Vec<SideEffect>> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.side_effects(change))?
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.apply(change))?
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.undo(change))?
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.keep(change))?
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        self.hand.watch(interfaces)
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        let Self { namespace, hand } = self;
        namespace.run(|| hand.alarm())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_changes_nothing_that_belongs_to_the_machine() {
        let key = |knob: &str, place| Key {
            knob: knob.to_owned(),
            place,
        };
        let namespace = || Place::Namespace { netns: 1 };
        for (key, own) in [
            (key("sysctl net.ipv4.tcp_rmem", namespace()), true),
            (key("sysctl vm.min_free_kbytes", namespace()), false),
            (
                key("sysctl kernel.sched_autogroup_enabled", namespace()),
                false,
            ),
            (key("irq 31", Place::Host), false),
        ] {
            assert_eq!(is_of_namespace(&key), own, "{key}");
        }
    }
}
