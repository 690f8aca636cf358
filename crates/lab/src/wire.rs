// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab's wire: carries frames between two interfaces in user space, with impairments. One thread per direction; a
//! third writes the log.
//!
//! Frames that the wire loses because it is overloaded are counted apart from those that an impairment drops.

mod ceiling;
mod counters;
mod ecn;
mod log;
mod nic;
mod relay;
mod report;
mod senders;
mod spec;
mod store;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use linerate_linux::ethtool_features::InForce;
use linerate_linux::packet::PacketReceiver;

use super::{LabError, cannot};
pub use ceiling::Ceiling;
pub use counters::{DirectionCounters, WireCounters};
pub use ecn::EcnChange;
use log::Log;
pub use nic::Nic;
pub(super) use nic::RECEIVE_QUEUES;
use relay::Relay;
pub use report::{DirectionReport, WireReport};
pub(super) use senders::Senders;
pub use spec::WireSpec;

/// A wire that carries frames until it is dropped.
#[derive(Debug)]
pub(super) struct Wire {
    stop: Arc<AtomicBool>,
    /// The links at both ends are in use. What arrives earlier cannot be delivered: it is
    /// neither carried nor counted.
    enabled: Arc<AtomicBool>,
    /// Each returns its direction's counts.
    relays: Vec<JoinHandle<DirectionReport>>,
    log: Option<Log>,
    counters: WireCounters,
}

/// An end of the wire.
pub(super) struct Port {
    pub receiver: PacketReceiver,
    pub senders: Senders,
}

/// Both ends, the longest frame, and the offloads of the near end's host if the wire is its card.
pub(super) struct Ports {
    pub near: Port,
    pub far: Port,
    pub frame_bytes_max: usize,
    pub offloads: Option<Arc<InForce>>,
}

impl Wire {
    /// Starts to carry frames.
    pub(super) fn start(
        ports: Ports,
        spec: &WireSpec,
        log: Option<&Path>,
    ) -> Result<Self, LabError> {
        let log = log.map(|path| Log::create(path, spec)).transpose()?;
        let mut wire = Self {
            stop: Arc::default(),
            enabled: Arc::default(),
            relays: Vec::new(),
            log,
            counters: WireCounters::default(),
        };
        let Ports {
            near,
            far,
            frame_bytes_max,
            offloads,
        } = ports;
        let directions = [
            ("a-b", near.receiver, far.senders, 0),
            ("b-a", far.receiver, near.senders, 1),
        ];
        let began = Instant::now();
        for (name, from, to, number) in directions {
            let relay = Relay {
                name,
                from,
                to,
                began,
                impairment: spec.direction(number),
                transmission: spec
                    .nic
                    .map(|nic| nic.transmission(number, frame_bytes_max, offloads.clone())),
                reception: (spec.nic.filter(|_| number == 1))
                    .and_then(|nic| nic.reception(frame_bytes_max, offloads.clone())),
                ecn: spec.ecn,
                frame_bytes_max,
                log: wire.log.as_ref().map(|log| log.direction(name)),
                stop: Arc::clone(&wire.stop),
                enabled: Arc::clone(&wire.enabled),
                published: wire.counters.direction(number),
            };
            wire.relays
                .push(relay.spawn().map_err(cannot("start the wire"))?);
        }
        Ok(wire)
    }

    /// Carries frames from now on.
    pub(super) fn enable(&self) {
        self.enabled.store(true, Ordering::Relaxed);
    }

    /// What it counts while it runs.
    pub(super) fn counters(&self) -> WireCounters {
        self.counters.clone()
    }

    /// Stops the wire and completes its log.
    pub(super) fn finish(mut self) -> WireReport {
        self.stop_and_count()
    }

    fn stop_and_count(&mut self) -> WireReport {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.relays.drain(..).filter_map(|relay| relay.join().ok());
        let directions = ended.collect();
        let log_error = self
            .log
            .take()
            .and_then(|log| log.finish(&directions).err());
        WireReport {
            directions,
            log_error: log_error.map(|error| error.to_string()),
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop_and_count();
    }
}
