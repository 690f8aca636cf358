// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of an interface in sysfs that take what they show: what they held can be written back.

/// Whether `name` is one, below `/sys/class/net/INTERFACE`.
pub(crate) fn is_known(name: &str) -> bool {
    FILES.iter().any(|file| is_like(name, file))
}

/// A capital `N` is any number.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('N') {
        None => name == pattern,
        Some((before, after)) => {
            let number = name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(after));
            number.is_some_and(|number| number.parse::<u16>().is_ok())
        }
    }
}

/// Documentation/ABI/testing/sysfs-class-net, sysfs-class-net-queues.
pub(crate) const FILES: [&str; 8] = [
    "threaded",
    "gro_flush_timeout",
    "napi_defer_hard_irqs",
    "queues/rx-N/rps_cpus",
    "queues/rx-N/rps_flow_cnt",
    "queues/tx-N/xps_cpus",
    "queues/tx-N/xps_rxqs",
    "queues/tx-N/byte_queue_limits/limit_max",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_take_what_they_show() {
        for file in ["threaded", "queues/rx-0/rps_cpus", "queues/tx-15/xps_cpus"] {
            assert!(is_known(file), "{file}");
        }
        for none in [
            "queues/rx-/rps_cpus",
            "queues/rx-0/../rps_cpus",
            "queues/rx-x/rps_cpus",
            "bonding/xmit_hash_policy",
            "../threaded",
            "",
        ] {
            assert!(!is_known(none), "{none}");
        }
    }
}
