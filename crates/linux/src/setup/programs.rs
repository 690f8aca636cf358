// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running programs that change settings of the network, interrupts or processors by themselves, also while one measures.

use std::collections::BTreeSet;
use std::fs;

use super::{RawSetting, setting};
use crate::sysfs;

/// Name → what it changes. Only programs of this process namespace are seen.
pub(super) fn running() -> RawSetting {
    let names = names();
    let known = PROGRAMS.iter().filter(|(name, _)| names.contains(*name));
    let known = known.map(|(name, what)| ((*name).to_owned(), (*what).to_owned()));
    setting(SOURCE, known.collect())
}

/// The names of the programs that are looked for.
pub fn known() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// The names of all processes: `comm` of proc_pid_comm(5), at most 15 bytes.
fn names() -> BTreeSet<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    };
    let processes = processes.filter(is_process);
    processes
        .filter_map(|entry| sysfs::line(&entry.path().join("comm")))
        .collect()
}

const SOURCE: &str = "ps -eo comm";

/// `comm`, and what it changes. Sources: the manual page of each.
const PROGRAMS: [(&str, &str); 16] = [
    (
        "NetworkManager",
        "addresses, routes, MTU, offloads, rings, coalescing",
    ),
    ("auto-cpufreq", "frequency governor"),
    ("bpftune", "TCP and socket sysctls"),
    ("connmand", "addresses, routes"),
    ("cpufreqd", "frequency governor"),
    ("dhclient", "addresses, routes, MTU"),
    ("dhcpcd", "addresses, routes, MTU"),
    ("dockerd", "IP forwarding, firewall rules"),
    ("gamemoded", "frequency governor"),
    ("irqbalance", "interrupt affinity"),
    ("kube-proxy", "connection tracking, firewall rules"),
    ("power-profiles-", "frequency governor"),
    ("systemd-network", "addresses, routes, MTU, offloads"),
    ("thermald", "processor frequency"),
    ("tlp", "frequency governor, power saving"),
    ("tuned", "sysctls, ethtool settings, frequency governor"),
];

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process of that name, until it is dropped.
    struct Process(Child);

    impl Drop for Process {
        fn drop(&mut self) {
            let _ended = self.0.kill().and_then(|()| self.0.wait());
        }
    }

    fn process(name: &str) -> io::Result<Process> {
        let folder = std::env::temp_dir().join(format!("linerate-ps-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let program = folder.join(name);
        fs::copy("/bin/sleep", &program)?;
        let mut command = Command::new(program);
        let child = command.arg("1000").stdin(Stdio::null()).spawn()?;
        fs::remove_dir_all(folder)?;
        Ok(Process(child))
    }

    #[test]
    fn a_program_that_changes_settings_is_seen_as_long_as_it_runs() {
        let seen = || {
            running()
                .values
                .into_iter()
                .any(|(name, _)| name == "bpftune")
        };
        let started = process("bpftune").unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        // Its name is that of the test until exec(3).
        while !seen() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(seen());
        drop(started);
        assert!(!seen());
    }

    #[test]
    fn names_are_as_long_as_the_kernel_keeps_them() {
        assert!(PROGRAMS.iter().all(|(name, _)| name.len() <= 15));
    }
}
