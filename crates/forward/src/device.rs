// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's own counters: an agent on it is read before and after each trial's traffic, never during it.
//!
//! A device that stops answering costs no trial: its counters are absent then, and there is one warning.

mod connection;
mod open;

use linerate_endpoint::extension::Part;
use linerate_endpoint::token::ClientAuth;
use linerate_model::output::{DeviceSource, Host, Role, TrialDevice};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use connection::Connection;

/// Evaluates a device's samples from before and after a trial's traffic. The caller provides it: this crate draws no
/// conclusions from counters. Returns `None` if the device was not read at both times.
pub type Digest = fn(before: &[Sample], after: &[Sample]) -> Option<TrialDevice>;

/// An agent on the device, as long as it answers.
#[derive(Debug)]
pub struct Device {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    digest: Digest,
    connection: Option<Connection>,
    source: DeviceSource,
    host: Host,
    settings: Vec<Setting>,
    /// The samples of the running trial.
    before: Vec<Sample>,
    after: Vec<Sample>,
    /// The samples of the last trial.
    ended: Vec<Sample>,
    warning: Option<String>,
}

impl Device {
    fn new(
        mut connection: Connection,
        digest: Digest,
        source: DeviceSource,
        auth: ClientAuth,
    ) -> Result<Self, String> {
        let given = auth.nonce().is_some();
        let mut host = connection.hello(auth, HELLO_WITHIN)?;
        host.role = Role::Device;
        host.agent = true;
        let mut settings = connection.settings(PATIENCE)?;
        if host.withheld.is_some() {
            settings.clear();
        }
        let warning = host.withheld.filter(|_| given);
        Ok(Self {
            state: Mutex::new(State {
                digest,
                connection: Some(connection),
                source,
                host,
                settings,
                before: Vec::new(),
                after: Vec::new(),
                ended: Vec::new(),
                warning: warning.map(|withheld| format!("device: {}", withheld.text())),
            }),
        })
    }

    /// The host, as it identifies itself.
    pub fn host(&self) -> Host {
        self.state().host.clone()
    }

    /// The settings of the host.
    pub fn settings(&self) -> Vec<Setting> {
        self.state().settings.clone()
    }

    /// How it is read, and whether it has stopped.
    pub fn source(&self) -> DeviceSource {
        self.state().source.clone()
    }

    /// Reads the counters; call it right before the traffic.
    pub fn before(&self) {
        let mut state = self.state();
        state.after.clear();
        let everything = state.read(Part::Before);
        let load = state.read(Part::Load);
        state.before = everything;
        state.before.extend(load);
    }

    /// Reads the load; call it when the last frame was sent.
    pub fn traffic_ended(&self) {
        let mut state = self.state();
        state.after = state.read(Part::Load);
    }

    /// Reads the counters; call it when no frame is in flight any more. Returns what the device counted.
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

    /// Takes the raw samples of the last trial.
    pub fn take_samples(&self, trial_id: u32) -> Vec<Sample> {
        let mut samples = std::mem::take(&mut self.state().ended);
        for sample in &mut samples {
            sample.group = Some(format!("trial-{trial_id}"));
        }
        samples
    }

    /// Takes the warning that it stopped answering.
    pub fn take_warning(&self) -> Option<String> {
        self.state().warning.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns nothing after the first request without an answer.
    fn read(&mut self, part: Part) -> Vec<Sample> {
        let Some(connection) = &mut self.connection else {
            return Vec::new();
        };
        match connection.samples(part, PATIENCE) {
            Ok(samples) => samples,
            Err(why) => {
                // An interruption is not the device's fault.
                let interrupted = connection.is_interrupted();
                self.warning = (!interrupted)
                    .then(|| format!("the device stopped reporting: {why}; continuing without it"));
                self.source.stopped = Some(why);
                self.connection = None;
                Vec::new()
            }
        }
    }
}

/// ssh may ask for a password.
const HELLO_WITHIN: Duration = Duration::from_secs(60);
/// Some drivers take seconds.
const PATIENCE: Duration = Duration::from_secs(10);
