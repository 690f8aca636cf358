// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device in the middle: what limits it at each rate that was found, and what all rates together say.

mod losses;
mod rates;
mod trial;

use crate::evidence::Evidence;
use linerate_model::output::LedgerEntry;

use super::known::{lost_at, names};
use super::{Facts, Known};

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "device_is_this_machine" "" "whether the device shares the tester's machine, as far as both report" "cat /proc/sys/kernel/random/boot_id"
    "tester_limited" "" "whether the tester was near its maximum" ""
    "trial_frame_bytes" "bytes" "frame size of the trial that decided, with FCS" ""
    "trial_loss_ratio" "ratio" "frames that did not arrive, of those that were to be sent" ""
    "device_damaged_frames" "frames" "came back with a wrong length, checksum or payload" "linerate forward <port> <port>"
    "device_flows" "" "flows that share the frames" ""
    "device_cpus" "" "processors of the device" "nproc"
    "device_busiest_cpu" "ratio" "busy share of the device's busiest processor during the trial" "mpstat -P ALL 1   # on the device"
    "device_busiest_cpu_number" "" "number of the device's busiest processor" "mpstat -P ALL 1   # on the device"
    "device_softirq_cpu" "ratio" "interrupt and soft-interrupt share of that processor" "mpstat -P ALL 1   # on the device"
    "device_other_cpus_busy" "ratio" "mean busy share of the other processors" "mpstat -P ALL 1   # on the device"
    "device_cpus_busy" "ratio" "mean busy share of all processors" "mpstat -P ALL 1   # on the device"
    "device_packets_top_cpu_share" "ratio" "share of the packets on the processor that took most of them" "cat /proc/net/softnet_stat   # on the device"
    "device_queues" "" "receive queues of the port that took the frames" "ethtool -S {interface}   # on the device"
    "device_queue_top" "" "number of the fullest receive queue" "ethtool -S {interface}   # on the device"
    "device_queue_top_share" "ratio" "share of the packets on the fullest queue" "ethtool -S {interface}   # on the device"
    "device_squeezes_per_second" "1/s" "how often per second NAPI's budget was used up with work remaining" "cat /proc/net/softnet_stat   # on the device"
    "device_pause_frames" "frames" "pause frames that the device's ports sent or obeyed" "ethtool -I -a {interface}   # on the device"
    "forward_sizes" "" "frame sizes whose rate the device limited: neither the tester nor the line was full" "linerate forward <port> <port>"
    "forward_pps" "1/s" "highest of their frame rates" "linerate forward <port> <port>"
    "forward_packet_us" "µs" "time per frame at that rate" "linerate forward <port> <port>"
    "forward_pps_flat" "" "whether all of them, the largest at least twice the smallest, reach the same frames per second, within 10 %" "linerate forward <port> <port>"
    "forward_bits_flat" "" "whether all of them, the largest at least twice the smallest, reach the same bits per second, within 3 %" "linerate forward <port> <port>"
    "forward_bits_layer" "" "layer in whose bits the rates agree best" "linerate forward <port> <port>"
    "forward_bits_per_second" "bit/s" "mean rate at that layer" "linerate forward <port> <port>"
    "forward_byte_bits_per_second" "bit/s" "byte-limited rate, from a line through time per frame and frame size" "linerate forward <port> <port>"
    "forward_byte_rate_of_line" "ratio" "byte-limited rate, of the line rate" "linerate forward <port> <port>"
    "forward_fixed_us" "µs" "fixed time per frame, from the same line" "linerate forward <port> <port>"
    "forward_lossy_loads" "" "how many different loads of one size lost frames" "linerate forward <port> <port>"
    "forward_constant_frames" "" "whether these loads, the highest at least four times the lowest, all lost about the same few frames" "linerate forward <port> <port>"
    "forward_constant_ratio" "" "whether they all lost about the same share of their frames" "linerate forward <port> <port>"
    "forward_usual_loss_frames" "frames" "frames that these loads lost, median" "linerate forward <port> <port>"
    "forward_usual_loss_ratio" "ratio" "share of the frames that these loads lost, median" "linerate forward <port> <port>"
};

#[rustfmt::skip]
pub(super) const STAGES: &[Known] = lost_at! {
    "fwd_wire_in" "frames" "lost before the device received them" "ip -s -s link   # on the device"
    "fwd_rx_mac" "frames" "lost in the device's receiving MAC" "ethtool -S {interface}   # on the device"
    "fwd_rx_ring" "frames" "lost at the device's receive ring" "ethtool -S {interface}   # on the device"
    "fwd_softnet" "frames" "lost in the backlog of the device's kernel" "cat /proc/net/softnet_stat   # on the device"
    "fwd_conntrack" "frames" "dropped by the device's connection tracking" "conntrack -S   # on the device"
    "fwd_ip" "frames" "lost in the device's IP: routing and filters" "nstat -az   # on the device"
    "fwd_neighbour" "frames" "dropped by the device while it resolved a neighbour" "cat /proc/net/stat/arp_cache   # on the device"
    "fwd_bridge" "frames" "lost between the device's two ports" "ip -s -s link   # on the device"
    "fwd_qdisc" "frames" "dropped by the device's qdisc on the way out" "tc -s qdisc   # on the device"
    "fwd_tx_ring" "frames" "lost at the device's transmit ring" "ethtool -S {interface}   # on the device"
    "fwd_tx_mac" "frames" "lost in the device's sending MAC" "ethtool -S {interface}   # on the device"
    "fwd_wire_out" "frames" "sent by the device and never received" "ip -s -s link   # on the device"
};

pub(super) fn collect(evidence: &Evidence<'_>, ledger: &[LedgerEntry], facts: &mut Facts) {
    if evidence.record.run.results.is_empty() {
        return;
    }
    trial::collect(evidence.record, ledger, facts);
    rates::collect(evidence.record, facts);
    losses::collect(evidence.record, facts);
}

#[cfg(test)]
mod tests;
