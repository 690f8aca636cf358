// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search run to its end against a simulated device, with its log.

use linerate_method::search::{Bounds, Controller, Ended, Goal, Measurement, Step};
use linerate_method::simulated::{Device, Simulated};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub(crate) duration_s: f64,
    pub(crate) load_fps: f64,
    pub(crate) measured: Measurement,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Log {
    pub(crate) entries: Vec<Entry>,
    pub(crate) results: Vec<Bounds>,
    pub(crate) ended: Option<Ended>,
}

impl Log {
    pub(crate) fn traffic_s(&self) -> f64 {
        self.entries.iter().map(|entry| entry.duration_s).sum()
    }
}

pub(crate) fn search(goals: &[Goal], (min, max): (f64, f64), device: Device, seed: u64) -> Log {
    let controller = Controller::new(goals, min, max).unwrap_or_else(|error| panic!("{error}"));
    drive(controller, &mut Simulated::new(device, seed))
}

/// Drives the search to its end; more trials than any search takes are a defect.
pub(crate) fn drive(mut controller: Controller, device: &mut Simulated) -> Log {
    let mut entries = Vec::new();
    while let Step::Measure {
        load_fps,
        duration_s,
    } = controller.next()
    {
        assert!(
            entries.len() < 5000,
            "the search does not end: {controller:?}"
        );
        let measured = device.offer(load_fps, duration_s);
        entries.push(Entry {
            duration_s,
            load_fps,
            measured,
        });
        controller.report(measured);
    }
    Log {
        entries,
        results: controller.results(),
        ended: controller.ended(),
    }
}
