// SPDX-License-Identifier: MIT OR Apache-2.0
//! Send times: absolute deadlines in integer arithmetic, small batches, and bounded catch-up.
//!
//! Packet `k` of a flow is due at `start + k · payload bits / rate`, computed from `k` each time, so
//! that errors do not accumulate. Packets go out in batches of an eighth of the declared burst, each at the
//! deadline of its first packet. Timers wake late: a delay of up to about half a
//! burst is caught up at once, a longer one at *rate + a quarter of a burst per millisecond* (5 %
//! above the rate with the default burst). Hence
//!
//! > no window of 1 ms carries more than `rate · 1 ms + one burst`,
//!
//! even if the sender is descheduled inside a send call. The batches conform to the generic cell rate
//! algorithm (ITU-T I.371 annex A) at the catch-up rate, which admits per window its rate times
//! window and tolerance, plus one batch; one more batch may leave arbitrarily late. Packets still unsent
//! at the end are lateness of the sender, never loss of the path.
//!
//! ```
//! use linerate_method::pacing::{Pace, Pacer, PacerConfig, default_burst_packets};
//! let rate = Some(1_000_000_000);
//! let mut pacer = Pacer::new(PacerConfig {
//!     bits_per_second: rate,
//!     payload_bytes: 1470,
//!     burst_packets: default_burst_packets(rate, 1470),
//!     start_ns: 0,
//! });
//! assert_eq!(pacer.next(0), Pace::Send(2));
//! pacer.sent(2);
//! assert_eq!(pacer.next(3_000), Pace::WaitUntil(23_520));
//! ```

/// The requested load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacerConfig {
    /// Payload bits per second; `None` or 0 is unlimited.
    pub bits_per_second: Option<u64>,
    /// Payload of one packet in bytes.
    pub payload_bytes: u32,
    /// The declared burst, at least 3: the smallest that leaves room to catch up.
    pub burst_packets: u32,
    /// When the first packet is due, by the clock of all calls.
    pub start_ns: u64,
}

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Send this many packets at once, then call [`Pacer::sent`].
    Send(u32),
    /// Nothing is due before this time.
    WaitUntil(u64),
}

/// How far the sender fell behind schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lateness {
    /// The largest delay of a batch after its deadline.
    pub behind_ns_max: u64,
    /// Packets that were due but not sent.
    pub unsent_packets: u64,
}

/// The schedule of one flow.
#[derive(Debug, Clone)]
pub struct Pacer {
    config: PacerConfig,
    sent_packets: u64,
    granted_at_ns: u64,
    not_before_ns: u64,
    behind_ns_max: u64,
}

impl Pacer {
    /// A schedule that starts at `config.start_ns`.
    pub fn new(config: PacerConfig) -> Self {
        let bits_per_second = config.bits_per_second.filter(|&rate| rate > 0);
        let burst_packets = config.burst_packets.max(MIN_BURST_PACKETS);
        let payload_bytes = config.payload_bytes.max(1);
        Self {
            config: PacerConfig {
                bits_per_second,
                payload_bytes,
                burst_packets,
                ..config
            },
            sent_packets: 0,
            granted_at_ns: config.start_ns,
            not_before_ns: config.start_ns,
            behind_ns_max: 0,
        }
    }

    /// Returns the batch to send now, or when the next one is due.
    pub fn next(&mut self, now_ns: u64) -> Pace {
        let due_ns = self.deadline_ns(self.sent_packets);
        let ready_ns = due_ns.max(self.not_before_ns);
        if now_ns < ready_ns {
            return Pace::WaitUntil(ready_ns);
        }
        if self.config.bits_per_second.is_some() {
            self.behind_ns_max = self.behind_ns_max.max(now_ns - due_ns);
        }
        self.granted_at_ns = now_ns;
        Pace::Send(self.batch_packets())
    }

    /// Records that `packets` of the last batch were sent (fewer if the socket took fewer). The gap to the next batch
    /// counts from the start of this one, so a slow send call does not reduce the rate.
    pub fn sent(&mut self, packets: u32) {
        self.sent_packets += u64::from(packets);
        let earliest_ns = self.granted_at_ns.saturating_sub(self.tolerance_ns());
        let space_ns = self.catching_up_ns(u64::from(packets));
        self.not_before_ns = self.not_before_ns.max(earliest_ns).saturating_add(space_ns);
    }

    /// Returns the lateness at `end_ns` (the end of the test, or now).
    pub fn lateness(&self, end_ns: u64) -> Lateness {
        let due = self.packets_due_before(end_ns).unwrap_or(0);
        Lateness {
            behind_ns_max: self.behind_ns_max,
            unsent_packets: due.saturating_sub(self.sent_packets),
        }
    }

    /// Packets sent so far.
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// The largest batch of [`Self::next`].
    pub fn batch_packets(&self) -> u32 {
        (self.config.burst_packets / BATCHES_IN_A_BURST).max(1)
    }

    /// The declared burst.
    pub fn burst_packets(&self) -> u32 {
        self.config.burst_packets
    }

    /// The number of packets due before `end_ns`; `None` without a rate.
    pub fn packets_due_before(&self, end_ns: u64) -> Option<u64> {
        let rate = u128::from(self.config.bits_per_second?);
        let elapsed = u128::from(end_ns.saturating_sub(self.config.start_ns));
        let packets = (elapsed * rate).div_ceil(self.packet_bits() * NS_PER_S);
        Some(saturate(packets))
    }

    /// When packet `index` (from 0) is due; the start if there is no rate.
    pub fn deadline_ns(&self, index: u64) -> u64 {
        let Some(rate) = self.config.bits_per_second else {
            return self.config.start_ns;
        };
        let after = u128::from(index) * self.packet_bits() * NS_PER_S / u128::from(rate);
        self.config.start_ns.saturating_add(saturate(after))
    }

    /// The duration of `packets` at the catch-up rate.
    fn catching_up_ns(&self, packets: u64) -> u64 {
        let Some(rate) = self.config.bits_per_second else {
            return 0;
        };
        let rate = u128::from(rate)
            + u128::from(self.credit_packets()) * self.packet_bits() * WINDOWS_PER_S;
        saturate((u128::from(packets) * self.packet_bits() * NS_PER_S).div_ceil(rate))
    }

    /// How late a batch may be without delaying the next one: the rest of the burst at the catch-up rate,
    /// rounded down so that the bound holds.
    fn tolerance_ns(&self) -> u64 {
        let left = self.burst_left_packets() - self.credit_packets();
        self.catching_up_ns(u64::from(left)).saturating_sub(1)
    }

    /// Packets per millisecond above the rate, to catch up.
    fn credit_packets(&self) -> u32 {
        (self.burst_left_packets() / 3).max(1)
    }

    /// The burst minus the two batches that may cross the edges of a window.
    fn burst_left_packets(&self) -> u32 {
        self.config.burst_packets - 2 * self.batch_packets()
    }

    fn packet_bits(&self) -> u128 {
        u128::from(self.config.payload_bytes) * 8
    }
}

/// Returns the default burst: 200 µs at the requested rate, at least 8 packets (tolerance for late timers)
/// and at most 128 (batches of 16).
pub fn default_burst_packets(bits_per_second: Option<u64>, payload_bytes: u32) -> u32 {
    let Some(rate) = bits_per_second.filter(|&rate| rate > 0) else {
        return MAX_DEFAULT_BURST_PACKETS;
    };
    let bits = rate / BURSTS_PER_S;
    let packets = bits / (u64::from(payload_bytes.max(1)) * 8);
    packets.clamp(8, u64::from(MAX_DEFAULT_BURST_PACKETS)) as u32
}

/// Returns the burst with which each batch has `packets`.
pub fn burst_of_batches(packets: u32) -> u32 {
    packets.saturating_mul(BATCHES_IN_A_BURST)
}

fn saturate(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

const NS_PER_S: u128 = 1_000_000_000;
/// The bound is stated for windows of 1 ms.
const WINDOWS_PER_S: u128 = 1000;
const BATCHES_IN_A_BURST: u32 = 8;
/// A default burst lasts 200 µs.
const BURSTS_PER_S: u64 = 5_000;
const MIN_BURST_PACKETS: u32 = 3;
const MAX_DEFAULT_BURST_PACKETS: u32 = 128;

#[cfg(test)]
mod tests;
