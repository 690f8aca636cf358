// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system controls that a transfer depends on. A network namespace shows its own.

use std::path::Path;

use super::{RawSetting, setting};
use crate::sysfs;

/// Dotted names and values, blanks between the numbers of one.
pub(super) fn read() -> RawSetting {
    let root = Path::new("/proc/sys");
    let core = sysfs::names(&root.join("net/core")).into_iter();
    let core = core
        .map(|name| format!("net/core/{name}"))
        .filter(|path| !path.ends_with("key"));
    let chosen = CHOSEN.iter().map(|path| (*path).to_owned());
    let value = |path: String| {
        let text = sysfs::line(&root.join(&path))?;
        let words: Vec<&str> = text.split_whitespace().collect();
        Some((path.replace('/', "."), words.join(" ")))
    };
    setting("sysctl", core.chain(chosen).filter_map(value).collect())
}

const CHOSEN: &[&str] = &[
    "net/ipv4/ip_forward",
    "net/ipv4/ipfrag_high_thresh",
    "net/ipv4/ipfrag_time",
    "net/ipv4/conf/all/rp_filter",
    "net/ipv4/neigh/default/gc_thresh1",
    "net/ipv4/neigh/default/gc_thresh2",
    "net/ipv4/neigh/default/gc_thresh3",
    "net/ipv4/neigh/default/unres_qlen_bytes",
    "net/ipv4/tcp_adv_win_scale",
    "net/ipv4/tcp_autocorking",
    "net/ipv4/tcp_available_congestion_control",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_dsack",
    "net/ipv4/tcp_early_retrans",
    "net/ipv4/tcp_ecn",
    "net/ipv4/tcp_limit_output_bytes",
    "net/ipv4/tcp_low_latency",
    "net/ipv4/tcp_max_reordering",
    "net/ipv4/tcp_mem",
    "net/ipv4/tcp_moderate_rcvbuf",
    "net/ipv4/tcp_mtu_probing",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_notsent_lowat",
    "net/ipv4/tcp_pacing_ca_ratio",
    "net/ipv4/tcp_pacing_ss_ratio",
    "net/ipv4/tcp_recovery",
    "net/ipv4/tcp_reordering",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_tso_win_divisor",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_wmem",
    "net/ipv4/udp_early_demux",
    "net/ipv4/udp_mem",
    "net/ipv4/udp_rmem_min",
    "net/ipv4/udp_wmem_min",
    "net/ipv6/conf/all/disable_ipv6",
    "net/netfilter/nf_conntrack_buckets",
    "net/netfilter/nf_conntrack_count",
    "net/netfilter/nf_conntrack_max",
    "kernel/bpf_stats_enabled",
    "kernel/nmi_watchdog",
    "kernel/numa_balancing",
    "kernel/sched_autogroup_enabled",
    "kernel/sched_rt_runtime_us",
    "kernel/timer_migration",
    "vm/min_free_kbytes",
    "vm/swappiness",
];
