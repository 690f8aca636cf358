// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frequencies of processors while they are busy, first and last during a test. That of an idle one means nothing, and
//! two processors of one machine may differ.

use linerate_linux::cpu::SystemTimes;
use linerate_linux::setup::state::frequency_khz;
use linerate_model::order::Gather as _;
use linerate_model::setting::Setting;
use linerate_model::state::{BUSY_AFTER, BUSY_BEFORE, BUSY_CLOCK};

/// Looked at once a second.
#[derive(Debug, Default)]
pub(super) struct BusyClock {
    times: Option<SystemTimes>,
    seen: Vec<Seen>,
}

/// A processor, and its frequency when it was first and last seen busy.
#[derive(Debug, Clone, Copy)]
struct Seen {
    cpu: usize,
    first_khz: u64,
    last_khz: u64,
}

impl BusyClock {
    /// Begins a test.
    pub(super) fn restart(&mut self) {
        // Most virtual machines have no frequency: nothing is read there.
        let has_frequency = frequency_khz(0).is_some();
        *self = Self {
            times: has_frequency.then(|| SystemTimes::read().ok()).flatten(),
            seen: Vec::new(),
        };
    }

    /// Reads the frequency of the busiest processor, if it was busy since the last time.
    pub(super) fn look(&mut self) {
        let Some(before) = &self.times else { return };
        let Ok(now) = SystemTimes::read() else { return };
        let busiest = now.busiest_since(before);
        let busy = busiest.filter(|(_, load)| *load >= BUSY_RATIO);
        if let Some((cpu, khz)) = busy.and_then(|(cpu, _)| Some((cpu, frequency_khz(cpu)?))) {
            self.note(cpu, khz);
        }
        self.times = Some(now);
    }

    fn note(&mut self, cpu: usize, khz: u64) {
        match self.seen.iter_mut().find(|one| one.cpu == cpu) {
            Some(seen) => seen.last_khz = khz,
            None => self.seen.push(Seen {
                cpu,
                first_khz: khz,
                last_khz: khz,
            }),
        }
    }

    /// Both of the processor that lost most, if any was busy.
    pub(super) fn setting(&self) -> Option<Setting> {
        let kept = |one: &Seen| one.last_khz as f64 / one.first_khz.max(1) as f64;
        let seen = self.seen.iter();
        let slowest = seen.min_by(|one, other| kept(one).total_cmp(&kept(other)))?;
        let values = [
            (BUSY_BEFORE, slowest.first_khz),
            (BUSY_AFTER, slowest.last_khz),
        ];
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
    fn a_processor_is_compared_with_itself() {
        let mut clock = BusyClock::default();
        assert_eq!(clock.setting(), None, "none was busy");
        let (big, little) = (4, 0);
        for (cpu, khz) in [(big, 2_400_000), (little, 1_800_000), (big, 2_300_000)] {
            clock.note(cpu, khz);
        }
        let of = |clock: &BusyClock| {
            let values = clock.setting().unwrap().values;
            [BUSY_BEFORE, BUSY_AFTER].map(|name| values[name].clone())
        };
        assert_eq!(of(&clock), ["2400000", "2300000"]);
        clock.note(little, 900_000);
        assert_eq!(of(&clock), ["1800000", "900000"]);
    }
}
