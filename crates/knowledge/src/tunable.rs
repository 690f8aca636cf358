// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that can be changed: what each means, its bounds, the values worth trying, the risk, and what changes with it.

mod read;
mod values;

use std::sync::LazyLock;

use super::words;
use crate::packed;
use crate::pattern::Pattern;

pub use read::{check_tunables, parse_tunables};
use values::Attempt;

/// A setting, or several that have everything in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Tunable {
    /// The names of `linerate_change`: `ethtool -G rx`, `sysfs queues/rx-N/rps_cpus`.
    pub knobs: Vec<Knobs>,
    /// What it does, in a sentence without its full stop.
    pub means: String,
    /// The unit of its numbers; nothing for words.
    pub unit: Option<String>,
    /// The smallest number that makes sense.
    pub least: Option<u64>,
    /// The largest; a driver or the memory may have a smaller one.
    pub most: Option<u64>,
    /// How a number is chosen from the one in force.
    pub raise_only: bool,
    /// What a change costs.
    pub risk: Risk,
    /// What else has the same setting.
    pub scope: Scope,
    /// Which end of a transfer it speeds up; nothing for both.
    pub side: Option<Side>,
    /// What it can improve.
    pub goals: Vec<Goal>,
    /// Settings that the kernel may change with it.
    pub coupled: Vec<String>,
    /// Drivers with which it does not work, or is dangerous.
    pub not_on: Vec<NotOn>,
    /// It is changed only with this consent.
    pub consent: Option<Consent>,
    /// Where all of this is from.
    pub sources: Vec<String>,
    attempts: Vec<Attempt>,
    changes: Fields,
}

/// A name with a capital `N` for any number, or a `*` for any word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knobs {
    text: String,
    /// Nothing where a capital `N` is an option of `ethtool`.
    numbered: Option<Pattern>,
}

/// A driver with which a setting is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOn {
    /// As `ethtool -i` shows it.
    pub driver: String,
    /// Why.
    pub because: String,
}

words! {
    /// What a change costs.
    Risk {
        /// Nothing: traffic continues.
        Live = "live",
        /// The link or a queue stops for a moment.
        Blip = "blip",
        /// It is in force after a reboot only.
        Reboot = "reboot",
    }
}

words! {
    /// What a setting is of.
    Scope {
        /// One for the machine.
        Host = "host",
        /// One for each network namespace.
        Namespace = "namespace",
        /// One for each interface.
        Interface = "interface",
    }
}

words! {
    /// An end of a transfer.
    Side {
        /// The one that sends the data.
        Sender = "sender",
        /// The one that receives them.
        Receiver = "receiver",
    }
}

words! {
    /// What can become better.
    Goal {
        /// More bits or packets per second.
        Throughput = "throughput",
        /// Fewer packets lost.
        Loss = "loss",
        /// Less delay.
        Latency = "latency",
        /// Less work for the processors.
        Cpu = "cpu",
        /// More hosts or connections are reached; one that is reached becomes no faster.
        Reach = "reach",
    }
}

words! {
    /// A consent without which a setting is never changed automatically.
    Consent {
        /// Pause frames stop everything that sends to a shared port.
        Pause = "pause",
        /// Every host of the network needs the same MTU.
        Mtu = "mtu",
        /// A filter of forged addresses, or what this host answers to.
        Addresses = "addresses",
        /// What the firewall and connection tracking let pass.
        Firewall = "firewall",
        /// The machine needs more power and becomes warmer.
        Power = "power",
    }
}

words! {
    /// Which of several numbers is changed.
    Fields {
        /// All of them.
        Each = "each",
        /// The last one: the maximum of `tcp_rmem`.
        Last = "last",
    }
}

static TUNABLES: LazyLock<Vec<Tunable>> = LazyLock::new(|| {
    let parsed = packed::TUNABLES
        .each()
        .map(|(file, text)| parse_tunables(file, &text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// The settings that the program knows.
#[must_use]
pub fn tunables() -> &'static [Tunable] {
    &TUNABLES
}

/// The entry of a setting; that of its first word where it has several (`ethtool -G rx tx`). The most specific name decides.
#[must_use]
pub fn tunable_of(knob: &str) -> Option<&'static Tunable> {
    let first = first_word(knob);
    let fits = TUNABLES.iter().filter_map(|tunable| {
        let knobs = tunable.knobs.iter().filter(|knobs| knobs.fits(&first));
        Some((knobs.map(Knobs::specific).max()?, tunable))
    });
    fits.max_by_key(|(specific, _)| *specific)
        .map(|(_, tunable)| tunable)
}

impl Tunable {
    /// Whether it is this setting's.
    #[must_use]
    pub fn is_of(&self, knob: &str) -> bool {
        self.knobs.iter().any(|knobs| knobs.fits(&first_word(knob)))
    }

    /// Values worth trying where `now` is in force, the best first: at most [`Tunable::MOST_VALUES`], each another than `now` and
    /// within the bounds. `max` is the largest value that the driver or the memory allows, where it is known.
    #[must_use]
    pub fn values(&self, now: &str, max: Option<&str>) -> Vec<String> {
        values::of(self, now, max)
    }

    /// Why it is not tried with a driver.
    #[must_use]
    pub fn refused_on(&self, driver: &str) -> Option<&str> {
        let found = self.not_on.iter().find(|one| one.driver == driver);
        found.map(|one| one.because.as_str())
    }

    /// A trial of each takes a minute.
    pub const MOST_VALUES: usize = 4;
}

impl Knobs {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            numbered: (!text.starts_with("ethtool ")).then(|| Pattern::new(text)),
        }
    }

    /// As in the table.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An example of what it stands for.
    #[must_use]
    pub fn example(&self) -> String {
        match &self.numbered {
            Some(pattern) if !self.text.contains('*') => pattern.with_number("0"),
            _ => self.text.replace('*', "lo"),
        }
    }

    fn fits(&self, knob: &str) -> bool {
        match self.text.split_once('*') {
            None => match &self.numbered {
                Some(pattern) => pattern.matches(knob),
                None => self.text == knob,
            },
            Some((before, after)) => {
                let any = knob
                    .strip_prefix(before)
                    .and_then(|rest| rest.strip_suffix(after));
                any.is_some_and(|any| !any.is_empty() && !any.contains(' '))
            }
        }
    }

    /// A name without a star precedes one with it.
    fn specific(&self) -> (bool, usize) {
        (!self.text.contains('*'), self.text.len())
    }
}

/// `ethtool -G rx tx` → `ethtool -G rx`. A kind of flow is a part of its name.
fn first_word(knob: &str) -> String {
    let mut words = knob.split(' ');
    let is_structure = ["-A", "-C", "-G", "-L"].contains(&words.nth(1).unwrap_or_default());
    match is_structure {
        true => knob.split(' ').take(3).collect::<Vec<_>>().join(" "),
        false => knob.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_name_decides() {
        let ring = tunable_of("ethtool -G rx tx").expect("rings");
        assert!(ring.is_of("ethtool -G rx") && ring.risk == Risk::Blip);
        let feature = |name: &str| tunable_of(&format!("ethtool -K {name}")).expect("a feature");
        assert!(
            feature("generic-receive-offload")
                .goals
                .contains(&Goal::Cpu)
        );
        assert_ne!(feature("generic-receive-offload"), feature("rx-all"));
        assert!(tunable_of("sysfs queues/rx-12/rps_cpus").is_some());
        assert!(tunable_of("sysfs queues/rx-/rps_cpus").is_none());
        assert!(tunable_of("no such setting").is_none());
    }

    #[test]
    fn nothing_dangerous_is_without_a_consent() {
        for (knob, consent) in [
            ("ethtool -A tx", Consent::Pause),
            ("ip link mtu", Consent::Mtu),
            ("sysctl net.ipv4.conf.eth0.rp_filter", Consent::Addresses),
            ("sysctl net.netfilter.nf_conntrack_max", Consent::Firewall),
            ("cpufreq scaling_governor", Consent::Power),
        ] {
            let found = tunable_of(knob).and_then(|tunable| tunable.consent);
            assert_eq!(found, Some(consent), "{knob}");
        }
    }
}
