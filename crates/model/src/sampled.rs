// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the processors were during a test, as counters of a sample: the number of times that a function was running.

use crate::output::SamplingMissing;

/// The source of such a sample.
pub const SOURCE: &str = "perf_event cpu-clock";
/// Counter: records that were lost.
pub const LOST: &str = "lost";
/// Counter: how often a second each processor was looked at.
pub const HZ: &str = "hz";
/// How often, where the kernel allows it and the samples have room: a prime, so that what happens every few milliseconds is
/// not always, or never, seen.
pub const USUAL_HZ: u64 = 997;
/// In place of a function: user mode.
pub const USER: &str = "(user)";
/// In place of a function: the idle task.
pub const IDLE: &str = "(idle)";
/// In place of a function: a program that has no part in the test.
pub const OTHERS: &str = "(others)";
/// In place of a function: an address that is of none.
pub const UNKNOWN: &str = "(unknown)";

/// Where a processor was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'t> {
    /// Its number.
    pub cpu: u32,
    /// The function.
    pub function: &'t str,
    /// The module that has it.
    pub module: Option<&'t str>,
    /// The nearest of its callers that begins a context other than a program's.
    pub under: Option<&'t str>,
}

impl<'t> Place<'t> {
    /// The counter's name: `1 veth_xmit [veth] < handle_softirqs`.
    #[must_use]
    pub fn name(&self) -> String {
        let Self { cpu, function, .. } = self;
        let module = self.module.map(|name| format!(" [{name}]"));
        let under = self.under.map(|name| format!(" < {name}"));
        let [module, under] = [module, under].map(Option::unwrap_or_default);
        format!("{cpu} {function}{module}{under}")
    }

    /// Reads a counter's name; `None` for one of another kind.
    #[must_use]
    pub fn read(name: &'t str) -> Option<Self> {
        let (cpu, rest) = name.split_once(' ')?;
        let (place, under) = match rest.split_once(" < ") {
            Some((place, under)) => (place, Some(under)),
            None => (rest, None),
        };
        let (function, module) = match place.split_once(" [") {
            Some((function, module)) => (function, Some(module.trim_end_matches(']'))),
            None => (place, None),
        };
        Some(Self {
            cpu: cpu.parse().ok()?,
            function,
            module,
            under,
        })
    }
}

/// The counter that says why there are no others.
#[must_use]
pub const fn missing_name(missing: SamplingMissing) -> &'static str {
    match missing {
        SamplingMissing::NotAllowed => "missing: not allowed",
        SamplingMissing::NoPerf => "missing: no perf_event_open",
        SamplingMissing::NoSymbols => "missing: no symbols",
        SamplingMissing::Unknown => "missing",
    }
}

/// Reads such a counter's name.
#[must_use]
pub fn missing_of(name: &str) -> Option<SamplingMissing> {
    let all = [
        SamplingMissing::NotAllowed,
        SamplingMissing::NoPerf,
        SamplingMissing::NoSymbols,
        SamplingMissing::Unknown,
    ];
    all.into_iter().find(|one| missing_name(*one) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for (module, under) in [
            (None, None),
            (Some("veth"), None),
            (None, Some("handle_softirqs")),
            (Some("veth"), Some("handle_softirqs")),
        ] {
            let place = Place {
                cpu: 12,
                function: "veth_xmit",
                module,
                under,
            };
            assert_eq!(Place::read(&place.name()), Some(place));
        }
        assert_eq!(Place::read(LOST), None);
        assert_eq!(Place::read(missing_name(SamplingMissing::NoSymbols)), None);
    }

    #[test]
    fn a_reason_is_read_as_it_is_written() {
        let missing = SamplingMissing::NoSymbols;
        assert_eq!(missing_of(missing_name(missing)), Some(missing));
        assert_eq!(missing_of("1 veth_xmit"), None);
    }
}
