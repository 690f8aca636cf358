// SPDX-License-Identifier: MIT OR Apache-2.0
//! A candidate that harms a host, or with which nothing can be measured: it is rolled back, and the campaign continues
//! without it.

use linerate_model::failure::{Failure, Kind};
use linerate_model::output::CandidateState;

use super::super::trial::Gave;
use super::super::{find, texts};
use super::Trials;

impl Trials<'_, '_> {
    /// What the trial of a candidate gave; nothing if it was rolled back.
    ///
    /// # Errors
    /// The trial failed for another reason, or a host is not as it was: the campaign ends.
    pub(super) fn unless_harmful(
        &mut self,
        candidate: usize,
        ended: Result<Gave, Failure>,
    ) -> Result<Option<Gave>, Failure> {
        let failure = match ended {
            Ok(gave) => return Ok(Some(gave)),
            Err(failure) if failure.kind == Kind::Interrupted => return Err(failure),
            Err(failure) => failure,
        };
        match self.harm(candidate)? {
            None => Err(failure),
            Some(why) => {
                self.roll_back(&[candidate], &why);
                match self.stage.left() {
                    [] => Ok(None),
                    _ => Err(failure),
                }
            }
        }
    }

    /// What a candidate did: an alarm was raised, or nothing can be measured with it, and without it all is well.
    fn harm(&mut self, candidate: usize) -> Result<Option<String>, Failure> {
        if self.stage.harmed_by(candidate) {
            return Ok(self.stage.rolled_back().map(|one| one.why));
        }
        let why = self.stage.unmeasured();
        // An alarm while only others were in force.
        let Some(why) = why.filter(|_| !self.stage.is_rolled_back()) else {
            return Ok(None);
        };
        let words = self.measurements[candidate].words.clone();
        let name = format!("without-{}", candidate + 1);
        find::measured(self.session, &words, &name, &mut || self.stage.alarm())?;
        Ok(Some(format!("nothing can be measured with it: {why}")))
    }

    /// Notes that these were undone, also for later campaigns.
    fn roll_back(&mut self, candidates: &[usize], why: &str) {
        for candidate in candidates {
            let Some(one) = self.tuning.candidates.get_mut(*candidate) else {
                continue;
            };
            one.state = CandidateState::RolledBack;
            one.reason = Some(why.to_owned());
            self.session.console.say(&texts::tried(one));
            let proposal = self.stage.proposal(*candidate);
            if let Err(error) = self.list.add(proposal, why) {
                let text =
                    format!("later campaigns will not know that it was rolled back: {error}");
                self.session.console.alert(&text);
            }
        }
    }

    /// Before the campaign ends early: which changes were in force when an alarm was raised.
    pub(super) fn note_alarm(&mut self) {
        if let Some(one) = self.stage.rolled_back() {
            self.roll_back(&one.candidates, &one.why);
        }
    }
}
