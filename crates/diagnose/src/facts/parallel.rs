// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several flows, queues and processors: who shares what.

mod flows;
mod queues;
mod steering;

use super::known::names;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "flows" "" "parallel streams with known rates" ""
    "flow_spread" "ratio" "rate of the fastest stream, of that of the slowest" ""
    "flows_of_one_flow" "ratio" "the most that several flows of a table carry together, of what its one flow carries" ""
    "flows_add_up_partly" "" "whether several flows together are faster than one, by 1.3 times or more, but not as much faster as they are more" ""
    "queues" "" "receive queues of the interface" "ethtool -l {interface}"
    "queues_max" "" "maximum number of receive queues" "ethtool -l {interface}"
    "tx_queues" "" "transmit queues of the interface" "ethtool -l {interface}"
    "queue_counters_known" "" "whether packets were counted for each receive queue" "ethtool -S {interface}"
    "queues_used" "" "receive queues with 1 % of the packets or more" "ethtool -S {interface}"
    "queue_top_share" "ratio" "share of the packets on the fullest receive queue" "ethtool -S {interface}"
    "tx_queues_used" "" "transmit queues with 1 % of the packets or more" "ethtool -S {interface}"
    "collision_probability" "ratio" "the probability that two or more of these flows share one of these queues" ""
    "expected_distinct_queues" "" "queues that this number of flows uses on average" ""
    "expected_max_load" "flows" "flows on the fullest queue, on average" ""
    "udp_hash_has_ports" "" "whether the card hashes the ports of UDP flows" "ethtool -n {interface} rx-flow-hash udp4"
    "rps_includes_irq_cpu" "" "whether packets are also handed to the processor that takes the interrupts" "cat /sys/class/net/{interface}/queues/rx-0/rps_cpus"
    "rps_cpus_user" "ratio" "user-mode share of the processor that has least of it, of those to which RPS hands packets" "cat /sys/class/net/{interface}/queues/rx-0/rps_cpus; mpstat -P ALL 1"
    "rps_other_cpus_user" "ratio" "user-mode share of the processor that has least of it, of those to which RPS hands none" "cat /sys/class/net/{interface}/queues/rx-0/rps_cpus; mpstat -P ALL 1"
    "napi_threaded" "" "whether the interface polls in kernel threads (threaded NAPI)" "cat /sys/class/net/{interface}/threaded"
    "irq_pinned" "" "whether each interrupt of the interface is set to one processor" "grep . /proc/irq/*/smp_affinity_list"
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    queues::collect(evidence, facts);
    flows::collect(evidence, facts);
    steering::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
