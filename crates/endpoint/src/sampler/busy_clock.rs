// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frequency of a processor that is busy, first and last during a test. That of an idle one means nothing.

use linerate_linux::cpu::SystemTimes;
use linerate_linux::setup::state::frequency_khz;
use linerate_model::order::Gather as _;
use linerate_model::setting::Setting;
use linerate_model::state::{BUSY_AFTER, BUSY_BEFORE, BUSY_CLOCK};

/// Looked at once a second.
#[derive(Debug, Default)]
pub(super) struct BusyClock {
    times: Option<SystemTimes>,
    first_khz: Option<u64>,
    last_khz: Option<u64>,
}

impl BusyClock {
    /// Begins a test.
    pub(super) fn restart(&mut self) {
        // Most virtual machines have no frequency: nothing is read there.
        let has_frequency = frequency_khz(0).is_some();
        *self = Self {
            times: has_frequency.then(|| SystemTimes::read().ok()).flatten(),
            ..Self::default()
        };
    }

    /// Reads the frequency of the busiest processor, if it was busy since the last time.
    pub(super) fn look(&mut self) {
        let Some(before) = &self.times else { return };
        let Ok(now) = SystemTimes::read() else { return };
        let khz = now
            .busiest_since(before)
            .filter(|(_, busy_ratio)| *busy_ratio >= BUSY_RATIO)
            .and_then(|(cpu, _)| frequency_khz(cpu));
        self.note(khz);
        self.times = Some(now);
    }

    fn note(&mut self, khz: Option<u64>) {
        self.first_khz = self.first_khz.or(khz);
        self.last_khz = khz.or(self.last_khz);
    }

    /// Both, where two were read.
    pub(super) fn setting(&self) -> Option<Setting> {
        let (first, last) = self.first_khz.zip(self.last_khz)?;
        let values = [(BUSY_BEFORE, first), (BUSY_AFTER, last)];
        let values = values.map(|(name, khz)| (name.to_owned(), khz.to_string()));
        Some(Setting {
            source: BUSY_CLOCK.to_owned(),
            values: values.into_iter().gather(),
            ..Setting::default()
        })
    }
}

/// At this load a governor asks for the highest frequency (`up_threshold` of ondemand is 80 to 95 %).
const BUSY_RATIO: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_frequency_of_a_busy_processor() {
        let mut clock = BusyClock::default();
        assert_eq!(clock.setting(), None, "never busy");
        for khz in [
            None,
            Some(4_000_000),
            Some(3_900_000),
            None,
            Some(2_000_000),
            None,
        ] {
            clock.note(khz);
        }
        let values = clock.setting().unwrap().values;
        assert_eq!(values[BUSY_BEFORE], "4000000");
        assert_eq!(values[BUSY_AFTER], "2000000");
    }
}
