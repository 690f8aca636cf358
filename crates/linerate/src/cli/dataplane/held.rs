// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host that forwards, from its first change to the last restored one. Dropped earlier, the process that watches over
//! changes restores them, as after `kill -9`.

use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use linerate_change::dataplane::{Plan, Plane, Step};
use linerate_change::{Change, Hand, Journal, Open, Outcome, Restored, Trace, Undo};
use linerate_linux::signal::Interrupt;
use linerate_linux::xdp_forward::{Attached, Forwarder, Way};
use linerate_model::failure::Failure;
use linerate_model::output::{ChangeState, Dataplane, DataplaneVerdict, Output, SettingChange};

use super::ports::Ports;
use super::texts;
use crate::cli::document::document;
use crate::cli::tune::status;
use crate::exit::Exit;

/// The changes that are made, and the program that is attached.
pub(super) struct Held<H> {
    hand: H,
    journal: Journal,
    what: String,
    made: Vec<Open>,
    forwarder: Option<Forwarder>,
    ports: Option<Ports>,
    begun: Instant,
}

impl<H: Hand> Held<H> {
    /// Nothing is changed yet; `what` is to be done.
    pub(super) fn begin(hand: H, journal: Journal, what: &str) -> Self {
        Self {
            hand,
            journal,
            what: what.to_owned(),
            made: Vec::new(),
            forwarder: None,
            ports: None,
            begun: Instant::now(),
        }
    }

    /// Makes the changes of a plan.
    ///
    /// # Errors
    /// One was refused, or cannot be recorded.
    pub(super) fn change(&mut self, plan: &Plan) -> Result<(), Failure> {
        let mut numbers = Vec::new();
        for step in &plan.steps {
            numbers.extend(self.make(step)?);
        }
        let all = self.journal.open();
        let mut all = all.map_err(|why| Failure::measuring(&*self.what, why))?;
        all.retain(|open| numbers.contains(&open.change));
        self.made = all;
        Ok(())
    }

    /// The number of the change; nothing where it was in force already.
    fn make(&mut self, step: &Step) -> Result<Option<u64>, Failure> {
        let what = self.what.clone();
        let failed = |why| texts::refused(&what, step, &why);
        let key = self.hand.key(&step.knob, step.interface.as_deref());
        let change = Change {
            key: key.map_err(failed)?,
            new: step.value.clone(),
            undo: Undo::Write,
            because: "linerate dataplane".to_owned(),
        };
        match self.hand.apply(change).map_err(failed)? {
            Outcome::Applied { change, .. } => Ok(Some(change)),
            Outcome::InForce => Ok(None),
            Outcome::Ineffective => Err(failed(ErrorKind::Unsupported.into())),
            Outcome::Unreadable(why) | Outcome::Refused(why) | Outcome::Half { why, .. } => {
                Err(failed(why))
            }
        }
    }

    /// Attaches the program, if it is one that forwards, and begins to count.
    ///
    /// # Errors
    /// The kernel refuses the program.
    pub(super) fn attach(&mut self, plane: Plane, names: [&str; 2]) -> Result<(), Failure> {
        let way = if plane.routes() {
            Way::Route
        } else {
            Way::Bridge
        };
        if plane.is_xdp() {
            let started = Forwarder::start(way, names);
            self.forwarder =
                Some(started.map_err(|error| texts::not_attached(&self.what, &error))?);
        }
        self.ports = Some(Ports::read(names));
        self.begun = Instant::now();
        Ok(())
    }

    /// What was changed.
    pub(super) fn made(&self) -> &[Open] {
        &self.made
    }

    /// How the program is attached.
    pub(super) fn attached(&self) -> Option<&Attached> {
        self.forwarder.as_ref().map(Forwarder::attached)
    }

    /// Until a signal, or the end of the time.
    pub(super) fn wait(&self, time_ms: Option<u64>, interrupt: &Interrupt) {
        let end = time_ms.map(|time| self.begun + Duration::from_millis(time));
        let is_over = || end.is_some_and(|end| Instant::now() >= end);
        while interrupt.requested().is_none() && !is_over() {
            thread::sleep(STEP);
        }
    }

    /// Counts, and restores everything, the last change first.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub(super) fn end(mut self, plane: Plane, plan: Plan) -> Result<Output, Failure> {
        let mut output = document("dataplane");
        output.dataplane = Some(self.described(plane, plan));
        output.duration_s = self.begun.elapsed().as_secs_f64();
        // Before the settings: nothing is forwarded while they are restored.
        self.forwarder = None;
        output.changes = self.restore()?;
        if let Some(next) = next(&output.changes) {
            output.exit_code = Exit::ExpectationFailed.code();
            output.next_commands = vec![next.to_owned()];
        }
        Ok(output)
    }

    fn described(&self, plane: Plane, plan: Plan) -> Dataplane {
        let attached = self.attached();
        Dataplane {
            plane: texts::plane(plane).to_owned(),
            mode: texts::mode(plane).map(str::to_owned),
            bridge: plan.bridge,
            attached: attached.map(|how| texts::attached(how).to_owned()),
            generic_because: attached.and_then(texts::generic_because).map(str::to_owned),
            held_s: self.begun.elapsed().as_secs_f64(),
            ports: self.ports.as_ref().map_or_else(Vec::new, Ports::growth),
            verdicts: self.forwarder.as_ref().map_or_else(Vec::new, verdicts),
            notes: plan.notes,
        }
    }

    fn restore(&mut self) -> Result<Vec<SettingChange>, Failure> {
        let mut all = Vec::new();
        for open in std::mem::take(&mut self.made).into_iter().rev() {
            let failed = |why| Failure::measuring("restore", why).hint("linerate tune restore");
            let end = self.hand.undo(open.change).map_err(failed)?;
            let boot = open.boot_id.clone();
            all.push(status::of_end(&Restored { open, end }, &boot));
        }
        Ok(all)
    }
}

/// What restores the changes that are not; nothing where all are.
fn next(changes: &[SettingChange]) -> Option<&'static str> {
    let has = |state| changes.iter().any(|one| one.state == state);
    let is_restored = changes.iter().all(|one| one.state.is_closed());
    match (is_restored, has(ChangeState::Foreign)) {
        (true, _) => None,
        (false, true) => Some("linerate tune restore --force"),
        (false, false) => Some("linerate tune restore"),
    }
}

fn verdicts(forwarder: &Forwarder) -> Vec<DataplaneVerdict> {
    let counts = forwarder.counts().into_iter().flatten();
    let each = counts.map(|(verdict, frames)| DataplaneVerdict {
        verdict: verdict.name().to_owned(),
        frames,
        to_kernel: verdict.passed_to_kernel(),
    });
    each.collect()
}

/// A signal is noticed within this time.
const STEP: Duration = Duration::from_millis(50);
