// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes that shell commands of the user set. How each is restored is in the journal before its first command runs.

use linerate_change::{Exclusive, Journal, Owner, Phase, Trace as _};
use linerate_method::matrix::{Axes, is_setting};
use linerate_model::failure::Failure;

use super::request::{PlannedAxis, Request};
use super::settings::Refusal;
use crate::cli::ab::switch::{HOW, LEFT_OPEN, intend, interrupted, shell};
use crate::cli::session::Session;
use crate::cli::tune;

/// Those of a matrix.
pub(super) struct Commands<'a> {
    axes: Vec<Commanded<'a>>,
    /// `None` in a lab that cannot write one.
    journal: Option<Journal>,
    /// In a lab with namespaces of its own: the process outside of it.
    lab: Option<Owner>,
    _alone: Option<Exclusive>,
}

struct Commanded<'a> {
    axis: &'a PlannedAxis,
    /// The value whose command ran last, or was tried.
    last: Option<String>,
    /// In the journal.
    number: Option<u64>,
}

impl<'a> Commands<'a> {
    /// No command runs yet. As long as this exists, no other program changes settings.
    ///
    /// # Errors
    /// Another one does, or there is no place for a journal.
    pub(super) fn of(request: &'a Request, session: &mut Session) -> Result<Self, Failure> {
        let axes = request.axes.iter().filter(|axis| axis.has_commands());
        let axes = axes.map(|axis| Commanded {
            axis,
            last: None,
            number: None,
        });
        let axes: Vec<Commanded<'a>> = axes.collect();
        let changes = request.axes.iter().any(|axis| is_setting(&axis.name));
        // Where the machine grants no namespaces, its own settings are changed.
        let is_apart = request.lab && session.lab_peer.is_some();
        let (journal, alone) = match (changes, is_apart) {
            (true, false) => {
                if tune::is_left_open() {
                    session.console.say(LEFT_OPEN);
                }
                let alone = tune::persist::alone("linerate matrix", "change settings")?;
                (Some(tune::journal()?), Some(alone))
            }
            // The settings of a lab end with it. What commands do outside of it does not.
            (true, true) if !axes.is_empty() => (journal_of_lab(session), None),
            _ => (None, None),
        };
        Ok(Self {
            axes,
            journal,
            lab: session.lab_owner.filter(|_| is_apart),
            _alone: alone,
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|one| one.axis.name.as_str())
    }

    /// Whether a cell needs a command.
    pub(super) fn are_due(&self, axes: &Axes) -> bool {
        self.axes.iter().any(|one| one.is_due(axes))
    }

    /// Runs the commands of a cell whose values are not in force.
    ///
    /// # Errors
    /// One failed: it runs again before the next cell.
    pub(super) fn bring(&mut self, axes: &Axes, session: &mut Session) -> Result<(), Refusal> {
        let (journal, lab) = (&mut self.journal, self.lab);
        let mut due = self.axes.iter_mut().filter(|one| one.is_due(axes));
        due.try_for_each(|one| {
            let journal = journal.as_mut().map(|journal| (journal, lab));
            one.bring(axes, journal, session)
        })
    }

    /// Runs the commands that restore, the last axis first.
    ///
    /// # Errors
    /// The first that failed; the others ran.
    pub(super) fn back(&mut self, session: &mut Session) -> Result<(), Failure> {
        let mut ended = Ok(());
        for one in self.axes.iter_mut().rev() {
            ended = ended.and(one.back(self.journal.as_mut(), session));
        }
        ended
    }
}

/// A lab measures without a journal, too.
fn journal_of_lab(session: &mut Session) -> Option<Journal> {
    let journal = tune::journal();
    if let Err(failure) = &journal {
        session.console.alert(&format!(
            "{}: if this process is killed, what the commands did outside of the lab remains",
            failure.why
        ));
    }
    journal.ok()
}

impl Commanded<'_> {
    fn is_due(&self, axes: &Axes) -> bool {
        self.last.as_ref() != axes.get(&self.axis.name)
    }

    fn first(&self) -> Option<&str> {
        self.axis.values.first()?.command.as_deref()
    }

    fn bring(
        &mut self,
        axes: &Axes,
        journal: Option<(&mut Journal, Option<Owner>)>,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        let name = &self.axis.name;
        let mut values = self.axis.values.iter();
        let value = values.find(|value| axes.get(name) == Some(&value.name));
        let Some((value, command)) = value.and_then(|value| Some((value, value.command.as_ref()?)))
        else {
            return Ok(());
        };
        let restore = self.axis.restore.as_deref().or(self.first());
        if let (Some((journal, lab)), None) = (journal, self.number) {
            let who = format!("matrix {name}");
            let number = intend(journal, &who, command, restore.unwrap_or_default(), lab);
            let failed = |why| Refusal::Over(Failure::measuring("record how to restore", why));
            self.number = Some(number.map_err(failed)?);
        }
        // Whatever it did before it failed is restored, and it runs again.
        self.last = Some(String::new());
        let what = format!("set {name} to {}", value.name);
        let interrupt = session.interrupt.clone();
        let ended = shell(&what, command, &interrupt, "", &mut session.console);
        if interrupt.requested().is_some() {
            return Err(Refusal::Over(interrupted()));
        }
        ended.map_err(|failure| Refusal::Failed(format!("{}: {}", failure.what, failure.why)))?;
        self.last = Some(value.name.clone());
        Ok(())
    }

    fn back(
        &mut self,
        journal: Option<&mut Journal>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let Some(last) = self.last.take() else {
            return Ok(());
        };
        let first = self.axis.values.first();
        let is_first = first.is_some_and(|first| first.name == last);
        let command = match &self.axis.restore {
            Some(restore) => restore,
            None if is_first => return self.forget(journal),
            None => first
                .and_then(|first| first.command.as_ref())
                .unwrap_or(&last),
        };
        // One signal does not interrupt it.
        let insists = session.interrupt.beyond(1);
        let what = format!("restore {}", self.axis.name);
        let by_hand = format!("run it in a shell: `{command}`");
        shell(&what, command, &insists, HOW, &mut session.console)
            .map_err(|failure| failure.hint(by_hand))?;
        session.console.say(&format!("restored by `{command}`"));
        self.forget(journal)
    }

    fn forget(&mut self, journal: Option<&mut Journal>) -> Result<(), Failure> {
        let Some((journal, number)) = journal.zip(self.number.take()) else {
            return Ok(());
        };
        let failed = |why| Failure::measuring("record that it is restored", why);
        journal.step(number, Phase::Restored).map_err(failed)
    }
}
