// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process that makes a change, so that what is under way is not undone by another.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process. Its number is given to another one day; together with its start it is unique until reboot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// Clock ticks from boot to its start: field 22 of proc_pid_stat(5).
    pub start_ticks: u64,
}

impl Owner {
    /// This process. Without `/proc` its start is unknown: 0.
    #[must_use]
    pub fn this() -> Self {
        let pid = std::process::id();
        let start_ticks = start_ticks(pid).unwrap_or(0);
        Self { pid, start_ticks }
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        start_ticks(self.pid) == Some(self.start_ticks)
    }
}

fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    of_stat(&stat)
}

/// The name, field 2, may have spaces and parentheses. A zombie runs no more.
fn of_stat(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.nth(18)?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_one_with_another_start_is_another() {
        let this = Owner::this();
        assert!(this.is_alive() && this.start_ticks > 0);
        let former = Owner {
            start_ticks: this.start_ticks + 1,
            ..this
        };
        assert!(!former.is_alive());
    }

    #[test]
    fn a_name_with_spaces_and_a_zombie() {
        let of = |state: &str| {
            let fields: Vec<String> = (4..=30).map(|field| field.to_string()).collect();
            of_stat(&format!("7 (a) b) {state} {}\n", fields.join(" ")))
        };
        assert_eq!(of("S"), Some(22));
        assert_eq!(of("Z"), None);
    }
}
