// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes each change provisional, and confirms it over the path that it may have cut.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::apply::Outcome;
use crate::entry::{Change, Key};
use crate::hand::Hand;
use crate::provisional::Provisional;
use crate::restore::End;

/// Why a path does not work now; asked again until the deadline.
pub type Probe<'a> = Box<dyn FnMut(&Key) -> Result<(), String> + Send + 'a>;

/// A host of which no change stays that cuts the path.
pub struct Confirming<'a, P> {
    hand: P,
    within: Duration,
    probe: Probe<'a>,
}

impl<'a, P: Provisional> Confirming<'a, P> {
    /// Each change is undone by the host unless it is confirmed within this time. That it can be confirmed is all that is asked of
    /// it: enough where the confirmation goes the way of the change, to a far host.
    pub fn new(hand: P, within: Duration) -> Self {
        Self::probing(hand, within, Box::new(|_| Ok(())))
    }

    /// The path is probed before the confirmation: for changes of this host, whose confirmation crosses no link.
    pub fn probing(hand: P, within: Duration, probe: Probe<'a>) -> Self {
        Self {
            hand,
            within,
            probe,
        }
    }

    /// The host itself.
    pub fn hand(&mut self) -> &mut P {
        &mut self.hand
    }

    /// Nothing answered while the change was made: whether the host is reached again when the time is over.
    fn is_back(&mut self, key: &Key, end: Instant) -> io::Result<()> {
        thread::sleep(end.saturating_duration_since(Instant::now()));
        self.hand.read(key).map(drop)
    }

    fn works(&mut self, key: &Key, end: Instant) -> Result<(), String> {
        loop {
            let probed = (self.probe)(key);
            if probed.is_ok() || Instant::now() + STEP >= end {
                return probed;
            }
            thread::sleep(STEP);
        }
    }

    /// Confirms a change that is in force, or says why it is undone.
    fn confirmed(&mut self, change: u64, key: &Key, end: Instant) -> io::Result<Option<String>> {
        let why = match self.works(key, end) {
            Ok(()) => match self.hand.confirm(change) {
                Ok(()) => return Ok(None),
                Err(late) if late.kind() == io::ErrorKind::TimedOut => late.to_string(),
                Err(lost) => return Err(lost),
            },
            Err(why) => why,
        };
        match self.hand.undo(change)? {
            undone if undone.is_closed() => Ok(Some(why)),
            other => Err(io::Error::other(format!("{why}; not undone: {other:?}"))),
        }
    }
}

impl<P: Provisional> Hand for Confirming<'_, P> {
    crate::hand::reads_by_its_hand!();

    /// A change that cuts the path is refused, and undone.
    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        let (key, end) = (change.key.clone(), Instant::now() + self.within);
        let outcome = match self.hand.apply_within(change, self.within) {
            Err(late) if late.kind() == io::ErrorKind::TimedOut => {
                self.is_back(&key, end)?;
                return Ok(Outcome::Refused(cut(&late.to_string())));
            }
            made => made?,
        };
        let Outcome::Applied { change, .. } = outcome else {
            return Ok(outcome);
        };
        Ok(match self.confirmed(change, &key, end)? {
            None => outcome,
            Some(why) => Outcome::Refused(cut(&why)),
        })
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        self.hand.undo(change)
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.hand.keep(change)
    }

    fn watch(&mut self, interfaces: &[String]) -> io::Result<()> {
        self.hand.watch(interfaces)
    }

    fn alarm(&mut self) -> io::Result<Option<String>> {
        self.hand.alarm()
    }
}

fn cut(why: &str) -> io::Error {
    let why = format!("it cut the path to this host, and is undone: {why}");
    io::Error::new(io::ErrorKind::TimedOut, why)
}

const STEP: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Place, Undo};
    use crate::provisional::rolled_back;

    /// A host that answers as a test sets it, and what was asked of it.
    #[derive(Default)]
    struct Host {
        answers_late: bool,
        is_rolled_back: bool,
        asked: Vec<&'static str>,
    }

    impl Hand for Host {
        fn key(&mut self, _knob: &str, _interface: Option<&str>) -> io::Result<Key> {
            Ok(key())
        }

        fn read(&mut self, _key: &Key) -> io::Result<String> {
            self.asked.push("read");
            Ok("old".to_owned())
        }

        fn apply(&mut self, _change: Change) -> io::Result<Outcome> {
            self.asked.push("apply without a deadline");
            Ok(Outcome::InForce)
        }

        fn undo(&mut self, _change: u64) -> io::Result<End> {
            self.asked.push("undo");
            Ok(End::Undone)
        }

        fn keep(&mut self, _change: u64) -> io::Result<()> {
            Ok(())
        }
    }

    impl Provisional for Host {
        fn apply_within(&mut self, _change: Change, _within: Duration) -> io::Result<Outcome> {
            self.asked.push("apply");
            if self.answers_late {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Ok(Outcome::Applied {
                change: 1,
                old: "old".to_owned(),
                effective: "new".to_owned(),
            })
        }

        fn confirm(&mut self, change: u64) -> io::Result<()> {
            self.asked.push("confirm");
            match self.is_rolled_back {
                true => Err(rolled_back(change)),
                false => Ok(()),
            }
        }
    }

    fn key() -> Key {
        Key {
            knob: "a".to_owned(),
            place: Place::Host,
        }
    }

    fn applied(hand: &mut impl Hand) -> Outcome {
        let change = Change {
            key: key(),
            new: "new".to_owned(),
            undo: Undo::Write,
            because: "a test".to_owned(),
        };
        hand.apply(change).unwrap()
    }

    #[test]
    fn a_change_that_can_be_confirmed_stays() {
        let mut hand = Confirming::new(Host::default(), Duration::from_secs(60));
        let made = applied(&mut hand);
        assert!(
            matches!(made, Outcome::Applied { change: 1, .. }),
            "{made:?}"
        );
        assert_eq!(hand.hand().asked, ["apply", "confirm"]);
    }

    #[test]
    fn a_change_that_cuts_the_path_is_refused() {
        let late = Host {
            answers_late: true,
            ..Host::default()
        };
        let rolled_back = Host {
            is_rolled_back: true,
            ..Host::default()
        };
        let dead = |_: &Key| Err("no answer from 192.0.2.7".to_owned());
        for (host, probe, asked) in [
            (late, None, &["apply", "read"][..]),
            (rolled_back, None, &["apply", "confirm", "undo"]),
            (Host::default(), Some(dead), &["apply", "undo"]),
        ] {
            let within = Duration::from_millis(1);
            let mut hand = match probe {
                None => Confirming::new(host, within),
                Some(probe) => Confirming::probing(host, within, Box::new(probe)),
            };
            let made = applied(&mut hand);
            let Outcome::Refused(why) = &made else {
                panic!("{made:?}")
            };
            assert!(why.to_string().contains("it cut the path"), "{why}");
            assert_eq!(hand.hand().asked, asked);
        }
    }

    /// A link that negotiates again is no reason to give a change up.
    #[test]
    fn a_path_is_probed_until_it_works() {
        let mut failures = 2;
        let probe = move |_: &Key| match failures {
            0 => Ok(()),
            _ => {
                failures -= 1;
                Err("no carrier".to_owned())
            }
        };
        let within = Duration::from_secs(60);
        let mut hand = Confirming::probing(Host::default(), within, Box::new(probe));
        assert!(matches!(applied(&mut hand), Outcome::Applied { .. }));
    }
}
