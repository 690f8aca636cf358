// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of the settings that is read again after each test (the state vector): by the same sources and names, without
//! what is only described, and without tables that take long to read.

use super::{RawSetting, interface, present, processors, queues, sysctls, thermal};

/// Of one interface.
#[must_use]
pub fn of_interface(name: &str) -> Vec<RawSetting> {
    let own = crate::nic::settings::read(name).into_iter();
    let mut all: Vec<RawSetting> = own
        .filter(|(source, _)| *source != "ethtool -i")
        .map(|(source, values)| super::setting(source, values))
        .collect();
    all.push(interface::link(name));
    all.push(interface::queueing(name));
    all.push(queues::steering(name));
    all.extend(queues::affinity(name));
    all.extend(thermal::of_interface(name));
    present(all)
}

/// Of the host.
#[must_use]
pub fn of_host() -> Vec<RawSetting> {
    let mut all = vec![sysctls::read()];
    all.extend(processors::frequency_limits());
    all.extend(thermal::read());
    present(all)
}

/// The frequency of a processor in kHz; nothing if the kernel does not control it.
#[must_use]
pub fn frequency_khz(cpu: usize) -> Option<u64> {
    processors::frequency_khz(cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared by source and name with the first reading, they must be the same there.
    #[test]
    fn the_state_is_a_part_of_the_settings() {
        for (state, settings) in [
            (of_host(), super::super::of_host()),
            (of_interface("lo"), super::super::of_interface("lo")),
        ] {
            assert!(!state.is_empty());
            for one in &state {
                let mut same = settings.iter().filter(|other| other.source == one.source);
                let whole = same.next().unwrap_or_else(|| panic!("{}", one.source));
                let known = |name: &str| whole.values.iter().any(|(other, _)| other == name);
                assert!(
                    one.values.iter().all(|(name, _)| known(name)),
                    "{}",
                    one.source
                );
            }
        }
    }
}
