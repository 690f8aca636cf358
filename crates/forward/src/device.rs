// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's own numbers: an agent on it is asked before and after each trial's traffic, never during it.
//!
//! A device that stops answering costs no trial: what is not known is absent, and it is said once.

mod line;
mod open;

use linerate_model::output::{DeviceSource, Host, Role, TrialDevice};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use line::Line;
use linerate_endpoint::extension::Part;
use linerate_endpoint::token::ClientAuth;

/// What a device's samples before and after a trial's traffic come to. The caller gives it: this crate draws no
/// conclusions from counters. `None` if the device was not read at both times.
pub type Digest = fn(before: &[Sample], after: &[Sample]) -> Option<TrialDevice>;

/// An agent on the device, as long as it answers.
#[derive(Debug)]
pub struct Device {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    digest: Digest,
    line: Option<Line>,
    source: DeviceSource,
    host: Host,
    settings: Vec<Setting>,
    /// Of the trial that runs: before it, and after it.
    before: Vec<Sample>,
    after: Vec<Sample>,
    /// Of the trial that ended last.
    ended: Vec<Sample>,
    /// What nobody has been told yet.
    warning: Option<String>,
}

impl Device {
    fn new(
        mut line: Line,
        digest: Digest,
        source: DeviceSource,
        auth: ClientAuth,
    ) -> Result<Self, String> {
        let given = auth.nonce().is_some();
        let mut host = line.hello(auth, HELLO_WITHIN)?;
        host.role = Role::Device;
        host.agent = true;
        let mut settings = line.settings(PATIENCE)?;
        if host.withheld.is_some() {
            settings.clear();
        }
        let warning = host.withheld.filter(|_| given);
        Ok(Self {
            state: Mutex::new(State {
                digest,
                line: Some(line),
                source,
                host,
                settings,
                before: Vec::new(),
                after: Vec::new(),
                ended: Vec::new(),
                warning: warning.map(|withheld| format!("of the device: {}", withheld.text())),
            }),
        })
    }

    /// Who it says it is.
    pub fn host(&self) -> Host {
        self.state().host.clone()
    }

    /// How it is set up.
    pub fn settings(&self) -> Vec<Setting> {
        self.state().settings.clone()
    }

    /// Who tells, and whether it still does.
    pub fn source(&self) -> DeviceSource {
        self.state().source.clone()
    }

    /// To be called right before the traffic.
    pub fn before(&self) {
        let mut state = self.state();
        state.after.clear();
        let everything = state.read(Part::Before);
        let load = state.read(Part::Load);
        state.before = everything;
        state.before.extend(load);
    }

    /// To be called when the last frame was sent.
    pub fn traffic_ended(&self) {
        let mut state = self.state();
        state.after = state.read(Part::Load);
    }

    /// To be called when no frame is under way any more: what the device counted.
    pub fn after(&self) -> Option<TrialDevice> {
        let mut state = self.state();
        let everything = state.read(Part::After);
        // The load was read when it ended; what came later dilutes it.
        let load = std::mem::take(&mut state.after);
        let is_load = |sample: &Sample| load.iter().any(|known| known.same_source(sample));
        let everything: Vec<_> = everything.into_iter().filter(|one| !is_load(one)).collect();
        let before = std::mem::take(&mut state.before);
        let after: Vec<Sample> = load.into_iter().chain(everything).collect();
        let counted = (state.digest)(&before, &after);
        state.ended = before.into_iter().chain(after).collect();
        counted
    }

    /// The raw samples of the trial that ended last, once.
    pub fn take_samples(&self, trial_id: u32) -> Vec<Sample> {
        let mut samples = std::mem::take(&mut self.state().ended);
        for sample in &mut samples {
            sample.group = Some(format!("trial-{trial_id}"));
        }
        samples
    }

    /// That it stopped answering, once.
    pub fn take_warning(&self) -> Option<String> {
        self.state().warning.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Nothing, once it did not answer.
    fn read(&mut self, part: Part) -> Vec<Sample> {
        let Some(line) = &mut self.line else {
            return Vec::new();
        };
        match line.samples(part, PATIENCE) {
            Ok(samples) => samples,
            Err(why) => {
                // Who is interrupted is not told of a device.
                let interrupted = line.is_interrupted();
                self.warning = (!interrupted).then(|| {
                    format!("the device tells nothing of itself any more: {why}; the trials go on without")
                });
                self.source.stopped = Some(why);
                self.line = None;
                Vec::new()
            }
        }
    }
}

/// ssh may ask for a password.
const HELLO_WITHIN: Duration = Duration::from_secs(60);
/// Some drivers settle for seconds.
const PATIENCE: Duration = Duration::from_secs(10);
