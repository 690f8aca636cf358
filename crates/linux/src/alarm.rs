// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must undo a change at once: a link that is lost for long, a warning of the kernel, memory that runs out, heat.

mod heat;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use linerate_wire::proc::meminfo;

use crate::{nic, proc};
use heat::Heat;

/// Watches a host from a moment on.
#[derive(Debug)]
pub struct Alarm {
    /// The kernel's log, read up to that moment; absent where this user may not read it.
    log: Option<File>,
    /// An interface that had a carrier, and since when it has none.
    links: Vec<(String, Option<Instant>)>,
    /// Less memory than this is too little.
    floor_bytes: Option<u64>,
    heat: Heat,
}

impl Alarm {
    /// From now on: the machine, and those of `interfaces` that have a carrier.
    #[must_use]
    pub fn since_now<'a>(interfaces: impl IntoIterator<Item = &'a str>) -> Self {
        let links = Self::of_links(interfaces);
        Self {
            log: end_of_log().ok(),
            floor_bytes: floor_bytes(&proc::read("meminfo").unwrap_or_default()),
            heat: Heat::of(links.links.iter().map(|(name, _)| name.as_str())),
            ..links
        }
    }

    /// From now on: only those of `interfaces` that have a carrier. For a network namespace, which has a machine in common with
    /// others.
    #[must_use]
    pub fn of_links<'a>(interfaces: impl IntoIterator<Item = &'a str>) -> Self {
        let has_carrier = |name: &&str| carrier(name) == Some(true);
        let links = interfaces.into_iter().filter(has_carrier);
        Self {
            log: None,
            links: links.map(|name| (name.to_owned(), None)).collect(),
            floor_bytes: None,
            heat: Heat::default(),
        }
    }

    /// Why the change must be undone. It is asked at least once per second.
    pub fn raised(&mut self) -> Option<String> {
        self.link_lost(Instant::now())
            .or_else(|| self.kernel_warned())
            .or_else(|| self.memory_short(&proc::read("meminfo").unwrap_or_default()))
            .or_else(|| self.heat.reached())
    }

    fn link_lost(&mut self, now: Instant) -> Option<String> {
        let lost = self.links.iter_mut().find_map(|(name, since)| {
            *since = match carrier(name) {
                Some(true) => None,
                _ => Some(since.unwrap_or(now)),
            };
            let lasts = since.is_some_and(|since| now.duration_since(since) >= LINK_LOST);
            lasts.then(|| name.clone())
        });
        lost.map(|name| format!("{name} has had no link for {} s", LINK_LOST.as_secs()))
    }

    fn kernel_warned(&mut self) -> Option<String> {
        let log = self.log.as_mut()?;
        let mut record = vec![0; RECORD_BYTES];
        loop {
            match log.read(&mut record) {
                Ok(0) => return None,
                Ok(length) => {
                    if let Some(line) = warning(&String::from_utf8_lossy(record.get(..length)?)) {
                        return Some(format!("the kernel reported {line}"));
                    }
                }
                // Records were overwritten meanwhile.
                Err(why)
                    if matches!(why.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) => {}
                Err(_) => return None,
            }
        }
    }

    fn memory_short(&self, text: &str) -> Option<String> {
        let (available, floor) = (available_bytes(text)?, self.floor_bytes?);
        let mib = |bytes: u64| bytes >> 20;
        (available < floor).then(|| {
            format!(
                "{} MiB of memory are available, less than {} MiB",
                mib(available),
                mib(floor)
            )
        })
    }
}

fn carrier(interface: &str) -> Option<bool> {
    nic::link(interface).ok().map(|link| link.carrier)
}

fn end_of_log() -> io::Result<File> {
    let mut log = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg")?;
    log.seek(SeekFrom::End(0))?;
    Ok(log)
}

/// The text of a record `priority,sequence,microseconds,flags;text` that reports a fault of the kernel or of a driver.
fn warning(record: &str) -> Option<&str> {
    let (_, text) = record.split_once(';')?;
    let line = text.lines().next()?;
    let is_one = WARNINGS.iter().any(|word| line.contains(word));
    is_one.then_some(line)
}

/// A sixteenth of the memory, at least 16 MiB; half of what is available now where that is less.
fn floor_bytes(text: &str) -> Option<u64> {
    let total = value(text, "MemTotal")?;
    let wanted = (total / 16).max(16 << 20);
    Some(wanted.min(available_bytes(text)? / 2))
}

fn available_bytes(text: &str) -> Option<u64> {
    value(text, "MemAvailable")
}

fn value(text: &str, name: &str) -> Option<u64> {
    let all = meminfo::parse(text);
    all.into_iter()
        .find_map(|(found, value)| (found == name).then_some(value))
}

/// A link that a change restarts has negotiated again after a few seconds.
const LINK_LOST: Duration = Duration::from_secs(10);
const RECORD_BYTES: usize = 8192;
/// kernel/panic.c (`__warn`), arch/*/kernel/traps.c, kernel/hung_task.c, kernel/watchdog.c, net/sched/sch_generic.c, mm/oom_kill.c.
const WARNINGS: [&str; 10] = [
    "WARNING: CPU:",
    "WARNING: at ",
    "Oops",
    "BUG: ",
    "kernel BUG at ",
    "NETDEV WATCHDOG",
    "soft lockup",
    "rcu_sched self-detected stall",
    "blocked for more than",
    "Out of memory: ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_the_kernel_is_one_and_a_link_message_is_not() {
        let text = "WARNING: CPU: 0 PID: 9 at net/sched/sch_generic.c:525 dev_watchdog+0x1f0/0x200";
        assert_eq!(
            warning(&format!("4,1,2,-;{text}\n SUBSYSTEM=x\n")),
            Some(text)
        );
        for (text, is_one) in [
            (
                "NETDEV WATCHDOG: eth0 (fec): transmit queue 0 timed out",
                true,
            ),
            ("Internal error: Oops - BUG: 0 [#1] SMP ARM", true),
            ("e1000e 0000:00:02.0 eth0: NIC Link is Down", false),
            ("audit: type=1400", false),
        ] {
            assert_eq!(
                warning(&format!("6,1,2,-;{text}\n")).is_some(),
                is_one,
                "{text}"
            );
        }
    }

    #[test]
    fn a_link_is_lost_when_it_was_there_and_has_gone_for_long() {
        let begin = Instant::now();
        let mut alarm = Alarm {
            log: None,
            links: vec![("lo".to_owned(), None), ("no-such-if".to_owned(), None)],
            floor_bytes: None,
            heat: Heat::default(),
        };
        assert_eq!(alarm.link_lost(begin), None);
        assert_eq!(alarm.link_lost(begin + LINK_LOST / 2), None);
        let why = alarm.link_lost(begin + LINK_LOST).unwrap();
        assert_eq!(why, "no-such-if has had no link for 10 s");
        let alarm = Alarm::since_now(["lo", "no-such-if"]);
        assert_eq!(alarm.links.len(), 1, "only one with a carrier can lose it");
    }

    #[test]
    fn memory_below_the_floor_is_too_little() {
        let text = |available: u64| format!("MemTotal: 1024000 kB\nMemAvailable: {available} kB\n");
        let alarm = Alarm {
            log: None,
            links: Vec::new(),
            floor_bytes: floor_bytes(&text(512_000)),
            heat: Heat::default(),
        };
        assert_eq!(alarm.memory_short(&text(64_000)), None);
        let why = alarm.memory_short(&text(63_999)).unwrap();
        assert_eq!(why, "62 MiB of memory are available, less than 62 MiB");
        assert_eq!(
            floor_bytes(&text(8_000)),
            Some(4_000 << 10),
            "a small machine"
        );
    }

    #[test]
    fn this_host_is_in_order() {
        assert_eq!(Alarm::since_now(["lo"]).raised(), None);
    }
}
