// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processors and interrupts: load, spread, coalescing, NAPI, frequencies, idle states, scheduling.

mod collapse;
mod full;
mod idle;
mod interrupts;
mod latency;
mod load;
mod set_up;
mod softnet;
mod stall;

pub(super) use full::before as busy_before;
pub(super) use interrupts::{busiest_cpu, vectors};
pub(crate) use load::Shares;

use super::known::names;
use super::{Facts, Known};
use crate::evidence::Evidence;
use linerate_model::output::{LinkKind, Role, Test};
use linerate_model::record::Record;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "ends_share_machine" "" "whether both ends are one machine, as far as both report" "cat /proc/sys/kernel/random/boot_id"
    "cpus" "" "processors online" "nproc"
    "busiest_cpu" "ratio" "busy share of the busiest processor" "mpstat -P ALL 1"
    "other_cpus_busy" "ratio" "mean busy share of all processors except the busiest" "mpstat -P ALL 1"
    "most_softirq_cpu" "ratio" "share of interrupts and soft interrupts on the processor that has most of them" "mpstat -P ALL 1"
    "most_user_cpu" "ratio" "user-mode share of the processor that has most of it" "mpstat -P ALL 1"
    "cpu_idle" "ratio" "idle share of all processors together" "mpstat 1"
    "cpu_idle_least" "ratio" "idle share of all processors together during the test, at least: the readings enclose a longer time" "mpstat 1"
    "cpu_missing_ratio" "ratio" "share of the time of which the processors have no ticks: a virtual machine was not run" "mpstat 1"
    "an_end_is_full" "" "whether an end of the test had no idle processor time, or may have had none as its readings are further apart than the test is long; no if nothing is known, or if both are one machine" "mpstat 1"
    "busy_with_programs" "" "whether programs are known to have taken the processors: 80 % of one before the test, or half of the busiest during it, in user mode" "mpstat -P ALL 1 5"
    "cpu_steal" "ratio" "steal: time in which the virtual machine was ready and did not run" "mpstat 1"
    "run_delay_ratio" "ratio" "share of the time that threads waited for the most contended processor; above 1 if several waited" "cat /proc/schedstat"
    "irq_vectors" "" "interrupts of the interface" "grep {interface} /proc/interrupts"
    "irq_active_vectors" "" "interrupt vectors with 1 % of the interrupts or more; unknown in a test of one flow" "grep {interface} /proc/interrupts"
    "irq_count" "events" "interrupts of the interface" "grep {interface} /proc/interrupts"
    "irq_top_cpu_share" "ratio" "share of the interface's interrupts on the processor with most of them" "grep {interface} /proc/interrupts"
    "irq_cpu_softirq" "ratio" "share of interrupts and soft interrupts on that processor" "mpstat -P ALL 1"
    "irq_cpu_user" "ratio" "share of programs in user mode on that processor" "mpstat -P ALL 1"
    "irq_cpu_taken" "" "whether another program than the test's receiver is known to have used half of the processor that takes the interface's interrupts" "grep {interface} /proc/interrupts; mpstat -P ALL 1"
    "irq_portals" "" "whether the interrupts are those of DPAA2 portals" "grep dpio /proc/interrupts"
    "irq_vector_per_second" "1/s" "interrupts per second of the busiest vector" "grep {interface} /proc/interrupts   # before a test and after it, with what the test printed"
    "irq_per_packet" "ratio" "interrupts per packet, both directions" "grep {interface} /proc/interrupts; ip -s link show {interface}"
    "irq_moves" "events" "how often an interrupt of the interface moved to another processor" "grep {interface} /proc/interrupts"
    "irq_shared" "" "whether the interrupt is shared with another device" "grep {interface} /proc/interrupts"
    "rx_pps" "1/s" "packets per second that the interface received" "ip -s link show {interface}"
    "softnet_dropped" "packets" "packets dropped because a processor's backlog was full" "cat /proc/net/softnet_stat"
    "softnet_flow_limit" "packets" "packets dropped by the flow limit of a backlog" "cat /proc/net/softnet_stat"
    "time_squeezes" "events" "how often NAPI's budget was used up with work remaining" "cat /proc/net/softnet_stat"
    "time_squeeze_per_second" "1/s" "how often per second NAPI's budget was used up with work remaining" "cat /proc/net/softnet_stat   # before a test and after it, with what the test printed"
    "received_rps_per_second" "1/s" "how often per second a processor received packets from another (RPS)" "cat /proc/net/softnet_stat   # before a test and after it, with what the test printed"
    "idle_rtt_ms" "ms" "median idle round-trip time" "ping <peer>"
    "loaded_rtt_ms" "ms" "median round-trip time under load, the lower of both directions" "ping <peer>"
    "probe_stall_phases" "" "phases of the latency probe under load with an answer that took 80 ms or more, 20 times the median and 4 times TCP's longest round trip" "ping <peer>"
    "probe_stall_ms" "ms" "the longest answer of the probe in each of these phases, at least" "ping <peer>"
    "probe_ends_busy" "" "whether other programs used the processors of an end: half of one before the load, or 2 % of steal" "mpstat -P ALL 1 5"
    "adaptive_rx" "" "adaptive interrupt coalescing: on, off" "ethtool -c {interface}"
    "rx_usecs" "µs" "how long a received frame may wait for an interrupt" "ethtool -c {interface}"
    "coalesce_ms" "ms" "how long coalescing may hold a received frame" "ethtool -c {interface}"
    "coalescing_known" "" "whether the driver has coalescing settings" "ethtool -c {interface}"
    "legacy_driver_replacement" "" "the driver that makes better use of the same chip" "ethtool -i {interface}"
    "governor" "" "cpufreq governor of processor 0" "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    "frequency_held_low" "" "whether the governor keeps the frequency low under load" "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    "cpu_frequency_ratio" "ratio" "mean frequency of the processors, of their maximum" "grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"
    "deepest_idle_us" "µs" "exit latency of the deepest enabled idle state" "grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/latency"
    "device_numa_node" "" "NUMA node of the interface; -1 where there is only one" "cat /sys/class/net/{interface}/device/numa_node"
    "busiest_cpu_node" "" "NUMA node of the busiest processor" "lscpu"
    "fair_group_sched" "" "CONFIG_FAIR_GROUP_SCHED: y" "zgrep FAIR_GROUP_SCHED /proc/config.gz"
    "sched_autogroup" "" "whether each session is a group: 1 or 0" "sysctl kernel.sched_autogroup_enabled"
    "kernel_debug_options" "" "kernel options for debugging, which cost time" "zgrep -E 'KASAN|LOCKDEP|PROVE_LOCKING|DEBUG_PAGEALLOC|PREEMPT_RT' /proc/config.gz"
    "receive_collapse_ratio" "ratio" "received rate at the highest offered rate, of the highest received rate" "linerate sweep <peer> -R"
    "tcp_receive_of_send_ratio" "ratio" "best TCP rate into a host, of the best rate out of it" "linerate tcp <peer>; linerate tcp <peer> -R"
    "wait_mode" "" "whether an i.MX kernel of the 3.0 series may put its processor into WAIT: on, off" "cat /proc/version /proc/cmdline"
    "bpf_stats" "" "whether every BPF program is timed: 1 or 0" "sysctl kernel.bpf_stats_enabled"
};

/// Whether both ends are one machine, and what shows it. A stock peer has no `boot_id`: then a test that leaves this host
/// by a wire goes to another one. A virtual link may lead to a container of this host.
pub(super) fn one_machine(record: &Record) -> Option<(bool, &'static str)> {
    let boot = |role| record.host(role).and_then(|host| host.boot_id.as_ref());
    let known = boot(Role::Local).is_some() && boot(Role::Remote).is_some();
    let shared = record.one_machine();
    let is_virtual = |test: &Test| matches!(test.link_kind, Some(LinkKind::Veth | LinkKind::Tap));
    match (known, shared) {
        (true, _) => Some((shared, "boot_id of both ends")),
        (false, true) => Some((true, "the tests' interface: the loopback")),
        (false, false) if record.tests().any(is_virtual) => None,
        (false, false) => Some((false, "the tests' interface: a wire, not the loopback")),
    }
}

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    if let Some((shared, source)) = one_machine(evidence.record) {
        facts.add_to_run("ends_share_machine", shared, source);
    }
    full::collect(evidence, facts);
    load::collect(evidence, facts);
    interrupts::collect(evidence, facts);
    softnet::collect(evidence, facts);
    latency::collect(evidence.record, facts);
    stall::collect(evidence, facts);
    collapse::collect(evidence, facts);
    set_up::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
