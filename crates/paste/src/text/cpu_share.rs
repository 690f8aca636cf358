// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPU time by state, from mpstat, top and vmstat.

/// Shares in percent by the names of `/proc/stat`: `user nice system idle iowait irq softirq steal`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuShare {
    /// The processor; `None` for all together.
    pub cpu: Option<u32>,
    /// Name and percent.
    pub shares: Vec<(&'static str, f64)>,
}

impl CpuShare {
    /// The kernel's name of a column of mpstat, top or vmstat.
    pub(super) fn name(column: &str) -> Option<&'static str> {
        Some(match column {
            "%usr" | "%user" | "us" | "usr" => "user",
            "%nice" | "ni" | "nic" => "nice",
            "%sys" | "%system" | "sy" | "sys" => "system",
            "%iowait" | "wa" | "io" => "iowait",
            "%irq" | "hi" | "irq" => "irq",
            "%soft" | "si" | "sirq" => "softirq",
            "%steal" | "st" => "steal",
            "%idle" | "id" | "idle" => "idle",
            _ => return None,
        })
    }
}
