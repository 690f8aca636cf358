// SPDX-License-Identifier: MIT OR Apache-2.0
//! How busy this host was with other programs, and how long all machines may take.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// What other programs took of this host's processors, since some moment.
#[derive(Debug)]
pub(super) struct Others {
    start: Instant,
    all: u64,
    own: u64,
}

impl Others {
    /// From now on; nothing where `/proc/stat` cannot be read.
    pub(super) fn since_now() -> Option<Self> {
        let (all, own) = ticks()?;
        let start = Instant::now();
        Some(Self { start, all, own })
    }

    /// How many processors they took on average.
    pub(super) fn processors(&self) -> Option<f64> {
        let (all, own) = ticks()?;
        let others = all.saturating_sub(self.all) as f64 - own.saturating_sub(self.own) as f64;
        let seconds = self.start.elapsed().as_secs_f64();
        Some((others / TICKS_PER_SECOND / seconds.max(0.1)).max(0.0))
    }
}

/// Of all processors and all programs, and of this program with all that it started.
fn ticks() -> Option<(u64, u64)> {
    let all = busy(&fs::read_to_string("/proc/stat").ok()?)?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let processes: Vec<Process> = stats.filter_map(|stat| Process::of(&stat)).collect();
    Some((all, of_family(&processes, std::process::id())))
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
fn busy(stat: &str) -> Option<u64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let times: Option<Vec<u64>> = line
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let times = times?;
    let at = |index: usize| times.get(index).copied().unwrap_or(0);
    Some([0, 1, 2, 5, 6, 7].map(at).iter().sum())
}

/// One process: its time, and that of its children that ended.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    id: u32,
    parent: u32,
    ticks: u64,
}

impl Process {
    /// proc(5): ppid is field 4, utime, stime, cutime and cstime are 14 to 17; the name, field 2, may have spaces.
    fn of(stat: &str) -> Option<Self> {
        let (head, rest) = stat.rsplit_once(") ")?;
        let id = head.split(' ').next()?.parse().ok()?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let times = fields.get(11..15)?.iter();
        Some(Self {
            id,
            parent: fields.get(1)?.parse().ok()?,
            ticks: times
                .map(|word| word.parse::<u64>().ok())
                .sum::<Option<u64>>()?,
        })
    }
}

/// The time of `id` and its descendants.
fn of_family(processes: &[Process], id: u32) -> u64 {
    let own = processes.iter().filter(|process| process.id == id);
    let children = processes.iter().filter(|process| process.parent == id);
    let of_children = children.map(|child| of_family(processes, child.id));
    own.map(|process| process.ticks).chain(of_children).sum()
}

/// The time for all machines of `--short`.
#[derive(Debug)]
pub(super) struct Budget {
    start: Instant,
    limit: Duration,
    others: Option<Others>,
}

impl Budget {
    pub(super) fn of(limit: Duration) -> Self {
        let (start, others) = (Instant::now(), Others::since_now());
        Self {
            start,
            limit,
            others,
        }
    }

    /// What remains of it.
    pub(super) fn rest(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }

    /// Why a machine has no time left. An error if this host was not busy: then the machines were too slow.
    pub(super) fn spent(&self) -> Result<String, String> {
        let taken = self.others.as_ref().and_then(Others::processors);
        let all = thread::available_parallelism().map_or(1, usize::from) as f64;
        let taken = taken.unwrap_or(0.0);
        let limit = self.limit.as_secs();
        let why = format!(
            "the {limit} s for all machines are over; other programs took {taken:.1} of {all} processors"
        );
        if taken > all * BUSY {
            Ok(why)
        } else {
            Err(why)
        }
    }
}

/// As `/proc` counts on every architecture of this host's end (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// A share of all processors: the emulator has less than the half that it needs.
const BUSY: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_idle_time_is_busy() {
        let stat = "cpu  10 20 30 400 500 60 70 80 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy(stat), Some(10 + 20 + 30 + 60 + 70 + 80));
        assert_eq!(busy("intr 5\n"), None);
    }

    #[test]
    fn own_time_has_that_of_descendants() {
        let stat = |id: u32, parent: u32| {
            let text = format!(
                "{id} (a b) c) S {parent} 7 7 0 -1 4194304 100 200 0 0 1 2 3 4 20 0 1 0 500"
            );
            Process::of(&text).unwrap()
        };
        let processes = [stat(5, 1), stat(7, 5), stat(8, 7), stat(9, 1)];
        assert_eq!(processes[1].parent, 5);
        assert_eq!([5, 7, 9].map(|id| of_family(&processes, id)), [30, 20, 10]);
        assert_eq!(Process::of("7 (a) S 1"), None);
    }

    #[test]
    fn time_that_is_over_is_an_error_unless_the_host_was_busy() {
        let of = |all| {
            let mut budget = Budget::of(Duration::ZERO);
            let (now, own) = ticks().unwrap();
            // As if `all` ticks of others had passed in the last second.
            budget.others = Some(Others {
                start: Instant::now() - Duration::from_secs(1),
                all: now - all,
                own,
            });
            budget.spent().is_ok()
        };
        let all = 100 * thread::available_parallelism().map_or(1, usize::from) as u64;
        assert_eq!(Budget::of(Duration::ZERO).rest(), Duration::ZERO);
        assert_eq!([of(0), of(all)], [false, true]);
    }
}
