// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which candidates are in force: they are applied and undone like a pile, the last one first.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use linerate_change::{Change, End, Hand, Key, Outcome, Undo, command};
use linerate_model::order;
use linerate_model::output::{Host, Role};

use super::candidate::Proposal;

/// The hosts whose settings can be changed.
pub(in crate::cli) type Hands<'h> = BTreeMap<Role, Box<dyn Hand + Send + 'h>>;

/// One setting of a candidate, in force.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    /// The host.
    pub(super) host: Role,
    /// The number by which it is undone.
    pub(super) number: u64,
    /// The setting.
    pub(super) key: Key,
    /// What was in force before.
    pub(super) before: String,
    /// What was written.
    pub(super) after: String,
    /// What is in force.
    pub(super) effective: String,
}

impl Applied {
    /// What a person would type to undo it.
    pub(super) fn undo(&self) -> String {
        command(&self.key, &self.before)
    }
}

/// Why a candidate is not in force.
#[derive(Debug)]
pub(in crate::cli) enum Trouble {
    /// The host does not take it; nothing of it is in force.
    Impossible(String),
    /// The host is no longer as it was meant to be: the campaign ends.
    Lost(String),
    /// What was in force harmed the host, and is undone.
    Harmful(String),
}

/// What was undone at once, as it harmed a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RolledBack {
    /// The candidates that were in force.
    pub(super) candidates: Vec<usize>,
    /// What happened.
    pub(super) why: String,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

/// What is in force of all candidates.
pub(in crate::cli) struct Stage<'h> {
    hands: Hands<'h>,
    candidates: Vec<Proposal>,
    pile: Vec<(usize, Vec<Applied>)>,
    /// Settings that could not be restored, and why.
    left: Vec<String>,
    /// When the hosts were looked at last.
    looked: Instant,
    rolled_back: Option<RolledBack>,
    unmeasured: Option<String>,
    /// Whether a candidate that changes nothing is one.
    takes_idle: bool,
}

impl<'h> Stage<'h> {
    pub(in crate::cli) fn new(hands: Hands<'h>, candidates: Vec<Proposal>) -> Self {
        Self {
            hands,
            candidates,
            pile: Vec::new(),
            left: Vec::new(),
            looked: Instant::now(),
            rolled_back: None,
            unmeasured: None,
            takes_idle: false,
        }
    }

    /// Also takes candidates whose values are in force already: a grid has what is there as a value, too.
    pub(in crate::cli) const fn with_idle(mut self) -> Self {
        self.takes_idle = true;
        self
    }

    /// Brings exactly these candidates in force, in the order of their numbers.
    ///
    /// # Errors
    /// One is not possible, the host is lost, or what was in force harmed it.
    pub(in crate::cli) fn bring(&mut self, set: &[usize]) -> Result<(), Trouble> {
        if let Some(why) = self.look() {
            return Err(Trouble::Harmful(why));
        }
        let mut wanted = set.to_vec();
        order::by(&mut wanted, Ord::cmp);
        let same = self.pile.iter().zip(&wanted);
        let same = same.take_while(|((one, _), other)| one == *other).count();
        self.undo_down_to(same)?;
        for candidate in &wanted[same..] {
            let applied = self.applied(*candidate)?;
            self.pile.push((*candidate, applied));
        }
        Ok(())
    }

    /// Why all that was in force is undone at once. Asked again and again, it looks once per second.
    pub(in crate::cli) fn alarm(&mut self) -> Option<String> {
        match self.looked.elapsed() < LOOK {
            true => None,
            false => self.look(),
        }
    }

    fn look(&mut self) -> Option<String> {
        if self.pile.is_empty() {
            return None;
        }
        self.looked = Instant::now();
        let (lost, why) = self.trouble()?;
        // What is changed here does not cut off another host.
        let is_suspect = |one: &usize| lost.is_none_or(|host| self.candidates[*one].host == host);
        let in_force = self.pile.iter().map(|(candidate, _)| *candidate);
        let candidates: Vec<usize> = in_force.filter(is_suspect).collect();
        self.clear();
        lost.iter().for_each(|host| drop(self.hands.remove(host)));
        self.rolled_back = (!candidates.is_empty()).then(|| RolledBack {
            candidates,
            why: why.clone(),
        });
        Some(why)
    }

    /// What harms a host, or which one is lost.
    fn trouble(&mut self) -> Option<(Option<Role>, String)> {
        let mut hands = self.hands.iter_mut();
        hands.find_map(|(host, hand)| match hand.alarm() {
            Ok(alarm) => alarm.map(|why| (None, why)),
            Err(lost) => Some((Some(*host), lost.to_string())),
        })
    }

    /// Undoes all, also after one that could not be undone.
    fn clear(&mut self) {
        while !self.pile.is_empty() {
            if let Err(Trouble::Lost(why)) = self.undo_down_to(0)
                && !self.left.contains(&why)
            {
                self.left.push(why);
            }
        }
    }

    /// What was undone at once since this was called last.
    pub(super) fn rolled_back(&mut self) -> Option<RolledBack> {
        self.rolled_back.take()
    }

    /// Whether a candidate was among it.
    pub(super) fn harmed_by(&self, candidate: usize) -> bool {
        let one = self.rolled_back.as_ref();
        one.is_some_and(|one| one.candidates.contains(&candidate))
    }

    /// Takes in why a run could not be measured; nothing for one that could.
    pub(super) fn measured(&mut self, unmeasured: Option<String>) {
        self.unmeasured = unmeasured;
    }

    /// Why the last run, which had more in force than others, could not be measured.
    pub(super) fn unmeasured(&mut self) -> Option<String> {
        self.unmeasured.take()
    }

    /// Whether something was undone at once since.
    pub(super) fn is_rolled_back(&self) -> bool {
        self.rolled_back.is_some()
    }

    /// Has the interfaces watched that carry the tests, and those whose settings are changed.
    ///
    /// # Errors
    /// A host is no longer reached.
    pub(in crate::cli) fn watch(&mut self, hosts: &[Host]) -> Result<(), Trouble> {
        for (role, hand) in &mut self.hands {
            let carrying = hosts.iter().filter(|host| host.role == *role);
            let carrying = carrying.flat_map(|host| host.interfaces.iter().map(|one| &one.name));
            let changed = self.candidates.iter().filter(|one| one.host == *role);
            let changed = changed.flat_map(|one| &one.wanted);
            let changed = changed.filter_map(|one| one.interface.as_ref());
            let all: Vec<String> = carrying.chain(changed).cloned().collect();
            hand.watch(&all)?;
        }
        Ok(())
    }

    pub(super) fn proposal(&self, candidate: usize) -> &Proposal {
        &self.candidates[candidate]
    }

    /// The settings of one candidate, as long as it is in force.
    pub(super) fn settings(&self, candidate: usize) -> Option<&[Applied]> {
        let mut pile = self.pile.iter();
        let (_, applied) = pile.find(|(one, _)| *one == candidate)?;
        Some(applied)
    }

    /// What undoes a candidate that is in force, as a person would type it.
    pub(super) fn undo_of(&self, candidate: usize) -> Vec<String> {
        let settings = self.settings(candidate).unwrap_or_default();
        settings.iter().rev().map(Applied::undo).collect()
    }

    /// Settings that are not as they were, and why.
    pub(in crate::cli) fn left(&self) -> &[String] {
        &self.left
    }

    /// Keeps the active changes permanently: nothing undoes them automatically any more. The other host's first: if the
    /// connection to it is lost, the changes here are still undone.
    ///
    /// # Errors
    /// It cannot be recorded. What is not recorded is still in force, and can be undone.
    pub(super) fn keep(&mut self) -> Result<(), Trouble> {
        let is_here = |(candidate, _): &(usize, _)| self.candidates[*candidate].host == Role::Local;
        order::by_key(&mut self.pile, is_here);
        while let Some((_, applied)) = self.pile.first() {
            let all: Vec<(Role, u64)> = applied.iter().map(|one| (one.host, one.number)).collect();
            for (host, number) in all {
                self.hand(host)?.keep(number)?;
            }
            self.pile.remove(0);
        }
        Ok(())
    }

    /// All of it, even if one cannot be undone: the first such is the error.
    fn undo_down_to(&mut self, height: usize) -> Result<(), Trouble> {
        let mut ended = Ok(());
        while self.pile.len() > height {
            let Some((_, applied)) = self.pile.pop() else {
                break;
            };
            ended = ended.and(self.undo(applied));
        }
        ended
    }

    fn undo(&mut self, applied: Vec<Applied>) -> Result<(), Trouble> {
        let each = applied.iter().rev().map(|one| self.undo_one(one));
        let all: Vec<Result<(), Trouble>> = each.collect();
        all.into_iter().collect()
    }

    /// A far host that is lost is let go: its agent undoes what is open there, and nothing waits for it once more.
    fn undo_one(&mut self, one: &Applied) -> Result<(), Trouble> {
        let end = self.hand(one.host)?.undo(one.number);
        if end.is_err() && one.host == Role::Remote {
            self.hands.remove(&one.host);
        }
        let why = match end {
            Ok(end) => unrestored(&end),
            Err(lost) => Some(lost.to_string()),
        };
        why.map_or(Ok(()), |why| {
            let why = format!("{}: {why}", one.key);
            self.left.push(why.clone());
            Err(Trouble::Lost(why))
        })
    }

    /// All settings of one candidate, or none.
    fn applied(&mut self, candidate: usize) -> Result<Vec<Applied>, Trouble> {
        let Proposal {
            host,
            wanted,
            finding,
            ..
        } = self.candidates[candidate].clone();
        let because = format!("{} {}", finding.rule, finding.title);
        let mut all = Vec::new();
        for one in wanted {
            let key = self.hand(host)?.key(&one.knob, one.interface.as_deref());
            let key = key.map_err(|why| Trouble::Impossible(why.to_string()));
            match key.and_then(|key| self.one(host, key, one.value, because.trim())) {
                Ok(applied) => all.extend(applied),
                Err(Trouble::Impossible(why)) => {
                    self.undo(all)?;
                    return Err(Trouble::Impossible(why));
                }
                Err(lost) => return Err(lost),
            }
        }
        match all.is_empty() && !self.takes_idle {
            true => Err(Trouble::Impossible("it is in force already".to_owned())),
            false => Ok(all),
        }
    }

    /// Nothing where the value is in force already.
    fn one(
        &mut self,
        host: Role,
        key: Key,
        new: String,
        because: &str,
    ) -> Result<Option<Applied>, Trouble> {
        let change = Change {
            key: key.clone(),
            new: new.clone(),
            undo: Undo::Write,
            because: because.to_owned(),
        };
        let impossible = |why: String| Err(Trouble::Impossible(format!("{key}: {why}")));
        match self.hand(host)?.apply(change)? {
            Outcome::InForce => Ok(None),
            Outcome::Applied {
                change: number,
                old,
                effective,
            } => Ok(Some(Applied {
                host,
                number,
                key,
                before: old,
                after: new,
                effective,
            })),
            Outcome::Ineffective => impossible("the write had no effect".to_owned()),
            Outcome::Unreadable(why) => impossible(format!("cannot be read: {why}")),
            Outcome::Refused(why) => impossible(format!("refused: {why}")),
            Outcome::Half { change, why } => {
                let end = self.hand(host)?.undo(change)?;
                match unrestored(&end) {
                    None => impossible(format!("refused: {why}")),
                    Some(left) => Err(Trouble::Lost(format!("{key}: {left}"))),
                }
            }
        }
    }

    fn hand(&mut self, host: Role) -> Result<&mut (dyn Hand + Send + 'h), Trouble> {
        let hand = self.hands.get_mut(&host).map(AsMut::as_mut);
        hand.ok_or_else(|| {
            Trouble::Impossible(
                "the settings of that host are out of reach; try --remote".to_owned(),
            )
        })
    }
}

/// Why a setting is not as it was before.
fn unrestored(end: &End) -> Option<String> {
    match end {
        End::Undone | End::WasUndone | End::Vanished => None,
        End::UnderWay => Some("another process changes it".to_owned()),
        End::Foreign { value } => Some(format!(
            "another program has set it to {value} in the meantime; left unchanged"
        )),
        End::AfterAnother => Some("a later change of it is not restored".to_owned()),
        End::Elsewhere(why) => Some(why.clone()),
        End::Failed(why) => Some(format!("cannot be restored: {why}")),
        End::Differs { value } => Some(format!("was restored, and is {value}")),
    }
}

/// How often the hosts are looked at while something is in force.
const LOOK: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
