// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watches a host while a change is open, which no other one may harm: who made the change asks for the alarm about once
//! a second, and undoes it.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crate::apply::Outcome;
use crate::entry::Change;
use crate::hand::Hand;
use crate::provisional::Provisional;
use crate::restore::End;

/// Why what was changed must be undone at once; compared with the moment at which the watch began.
pub type Watch = Box<dyn FnMut() -> Option<String> + Send>;

/// Begins a watch, with the interfaces of these names.
pub type Begin<'a> = Box<dyn FnMut(&[String]) -> Watch + Send + 'a>;

/// A host that is watched from before the first open change until none is open.
pub struct Guarded<'a, H> {
    hand: H,
    begin: Begin<'a>,
    interfaces: Vec<String>,
    open: BTreeSet<u64>,
    watch: Option<Watch>,
}

impl<'a, H: Hand> Guarded<'a, H> {
    /// With these interfaces, and those of [`Hand::watch`].
    pub fn new(hand: H, interfaces: Vec<String>, begin: Begin<'a>) -> Self {
        Self {
            hand,
            begin,
            interfaces,
            open: BTreeSet::new(),
            watch: None,
        }
    }

    /// A change by `make`, under a watch that began before it.
    fn make(&mut self, make: impl FnOnce(&mut H) -> io::Result<Outcome>) -> io::Result<Outcome> {
        if self.watch.is_none() {
            self.watch = Some((self.begin)(&self.interfaces));
        }
        let made = make(&mut self.hand);
        if let Ok(Outcome::Applied { change, .. } | Outcome::Half { change, .. }) = made {
            self.open.insert(change);
        }
        self.rest();
        made
    }

    fn closed(&mut self, change: u64) {
        self.open.remove(&change);
        self.rest();
    }

    /// Nothing is watched where nothing is open.
    fn rest(&mut self) {
        if self.open.is_empty() {
            self.watch = None;
        }
    }
}

impl<H: Hand> Hand for Guarded<'_, H> {
    crate::hand::reads_by_its_hand!();

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        self.make(|hand| hand.apply(change))
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        let end = self.hand.undo(change)?;
        if end.is_closed() {
            self.closed(change);
        }
        Ok(end)
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.hand.keep(change)?;
        self.closed(change);
        Ok(())
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        for name in interfaces {
            if !self.interfaces.contains(name) {
                self.interfaces.push(name.clone());
            }
        }
        Ok(())
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        Ok(self.watch.as_mut().and_then(|watch| watch()))
    }
}

impl<P: Provisional> Provisional for Guarded<'_, P> {
    fn apply_within(&mut self, change: Change, within: Duration) -> io::Result<Outcome> {
        self.make(|hand| hand.apply_within(change, within))
    }

    fn confirm(&mut self, change: u64) -> io::Result<()> {
        self.hand.confirm(change)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::entry::{Key, Place, Undo};

    /// A host whose changes have the numbers 0, 1 …; those to `refused` are.
    #[derive(Default)]
    struct Made(u64);

    impl Hand for Made {
        fn key(&mut self, knob: &str, _interface: Option<&str>) -> io::Result<Key> {
            Ok(Key {
                knob: knob.to_owned(),
                place: Place::Host,
            })
        }

        fn read(&mut self, _key: &Key) -> io::Result<String> {
            Ok(String::new())
        }

        fn apply(&mut self, change: Change) -> io::Result<Outcome> {
            if change.new == "refused" {
                return Ok(Outcome::Refused(io::ErrorKind::PermissionDenied.into()));
            }
            self.0 += 1;
            Ok(Outcome::Applied {
                change: self.0 - 1,
                old: String::new(),
                effective: change.new,
            })
        }

        fn undo(&mut self, _change: u64) -> io::Result<End> {
            Ok(End::Undone)
        }

        fn keep(&mut self, _change: u64) -> io::Result<()> {
            Ok(())
        }
    }

    fn change(hand: &mut impl Hand, new: &str) -> Change {
        Change {
            key: hand.key("a", None).unwrap(),
            new: new.to_owned(),
            undo: Undo::Write,
            because: String::new(),
        }
    }

    #[test]
    fn a_host_is_watched_as_long_as_a_change_is_open() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&begun);
        let begin: Begin<'_> = Box::new(move |names| {
            note.lock().unwrap().push(names.join(" "));
            let watch: Watch = Box::new(|| Some("the link".to_owned()));
            watch
        });
        let mut hand = Guarded::new(Made::default(), vec!["eth0".to_owned()], begin);
        hand.watch(&["eth0".to_owned(), "eth1".to_owned()]).unwrap();
        assert_eq!(hand.alarm().unwrap(), None);
        let refused = change(&mut hand, "refused");
        hand.apply(refused).unwrap();
        assert_eq!(hand.alarm().unwrap(), None, "nothing was changed");
        for new in ["1", "2"] {
            let change = change(&mut hand, new);
            hand.apply(change).unwrap();
        }
        hand.undo(1).unwrap();
        assert_eq!(hand.alarm().unwrap().as_deref(), Some("the link"));
        hand.keep(0).unwrap();
        assert_eq!(hand.alarm().unwrap(), None);
        let all = begun.lock().unwrap().clone();
        assert_eq!(all, ["eth0 eth1", "eth0 eth1"], "before each first change");
    }
}
