// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why due datagrams were not sent, and what to try: from the senders' counters and the load of
//! their host.

use super::Fold;
use linerate_model::output::{Cpu, Role, Test};
use linerate_model::record::Side;
use linerate_model::units::format::{TIMES, with_unit};

/// Why a sender fell short, for a person.
pub(super) struct Cause {
    /// To be read after a colon.
    pub(crate) why: String,
    /// What to try.
    pub(crate) try_: &'static str,
}

/// Returns the datagrams that were due but not sent, and all that were due; `None` without a schedule.
pub(super) fn unsent_of_due(test: &Test) -> Option<(u64, u64)> {
    let unsent = test.unsent_packets?;
    Some((unsent, unsent + test.sent_packets.unwrap_or(0)))
}

/// Returns the likeliest cause, certain ones first.
pub(super) fn cause(test: &Test, fold: &Fold<'_>) -> Cause {
    let failed = fold.tx().find_map(|tx| tx.failure.as_deref());
    let refused = test.refused_packets.unwrap_or(0);
    match (failed, test.unsent_packets.unwrap_or(0)) {
        (Some(reason), _) => failure(reason),
        (None, unsent) if refused > 0 && refused >= unsent => Cause {
            why: format!(
                "the sender's kernel refused {refused} sends (ENOBUFS: its queue is full; EPERM: a firewall rule)"
            ),
            try_: "a lower -b; on the sending host `tc -s qdisc` and `nft list ruleset`",
        },
        _ => late(test),
    }
}

/// A stream that the kernel ended.
fn failure(reason: &str) -> Cause {
    let try_ = if reason.contains("EMSGSIZE") {
        "a smaller -l, or no --dont-fragment; `ip route get` and `tracepath` to the peer show the MTU"
    } else if reason.contains("EPERM") {
        "`nft list ruleset` or `iptables -S OUTPUT` on the sending host"
    } else {
        "`ip route get` to the peer and `ip -s link` on the sending host; is the peer still running?"
    };
    Cause {
        why: reason.to_owned(),
        try_,
    }
}

/// The kernel accepted everything, but late.
fn late(test: &Test) -> Cause {
    let behind = test.sender_behind_ns_max.filter(|&behind_ns| behind_ns > 0);
    let behind = behind.map_or_else(
        || "it was not scheduled before the end".to_owned(),
        |behind_ns| {
            let behind = with_unit(behind_ns as f64, TIMES);
            format!("it fell up to {behind} behind schedule")
        },
    );
    match sending_host(test) {
        Some(busy) if busy >= FULL => Cause {
            why: format!(
                "the sender was short of CPU time: {behind}, a CPU of its host was {:.0} % busy",
                busy * 100.0
            ),
            try_: "stop other load there, pin the sender (-A), use a larger -l, --mode gso, a lower -b, or -b 0 (unlimited)",
        },
        Some(_) => Cause {
            why: format!("the sender was delayed: {behind}, with no CPU of its host fully busy"),
            try_: "a lower -b, or -b 0 (unlimited); `ip -s link` and `tc -s qdisc` on the sending host: its interface may be full",
        },
        None => Cause {
            why: format!("the sender was late: {behind}"),
            try_: "a lower -b, or a pinned sender (-A)",
        },
    }
}

/// The busy share of the busiest processor of the host that sends.
fn sending_host(test: &Test) -> Option<f64> {
    let cpu = match Side::Sender.role(test) {
        Role::Local => test.cpu.local,
        Role::Remote | Role::Device => test.cpu.remote,
    };
    cpu.map(|cpu: Cpu| cpu.busiest_cpu)
}

/// A CPU that is busier than this has no time left.
const FULL: f64 = 0.9;
