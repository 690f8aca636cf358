// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/interrupts`: a table of hundreds of lines, of which a test moves a few.
//!
//! The first reading of a test has every line; the later ones have those of the test's interface and
//! those that moved. For a line that begins to move late the previous reading is added, so that no growth
//! is missed.

use super::Audience;
use super::reading::Reading;
use linerate_linux::clock;
use linerate_linux::proc_kept::Kept;
use linerate_linux::sysfs;
use linerate_model::order::Gather as _;
use linerate_wire::proc::interrupts::{Interrupts, Line, parse};
use std::collections::{BTreeMap, BTreeSet};

/// The table, with what is known of its lines.
#[derive(Debug)]
pub(super) struct InterruptSource {
    kept: Kept,
    audience: Audience,
    lines: Lines,
}

#[derive(Debug, Default)]
struct Lines {
    interfaces: Vec<String>,
    /// Interrupts of their devices, by number.
    own: BTreeSet<String>,
    first: BTreeMap<String, Vec<u64>>,
    moved: BTreeSet<String>,
    previous: Option<(u64, Interrupts)>,
    /// The previous reading had every line.
    complete: bool,
}

impl InterruptSource {
    pub(super) fn open(interfaces: Vec<String>, audience: Audience) -> Option<Self> {
        let own = interfaces.iter().flat_map(|name| sysfs::interrupts(name));
        let lines = Lines {
            own: own.gather(),
            interfaces,
            ..Lines::default()
        };
        let kept = Kept::open("interrupts").ok()?;
        Some(Self {
            kept,
            audience,
            lines,
        })
    }

    pub(super) fn restart(&mut self) {
        self.lines.first.clear();
        self.lines.moved.clear();
        self.lines.previous = None;
    }

    pub(super) fn read(&mut self) -> Vec<Reading> {
        let Ok(table) = self.kept.read().map(|text| parse(&text)) else {
            return Vec::new();
        };
        let now_ns = clock::monotonic_ns();
        match self.audience {
            Audience::User => self.lines.select(now_ns, table),
            Audience::Peer => {
                let own = |_: usize, line: &Line| self.lines.is_own(line);
                vec![reading(None, table.counters(own))]
            }
        }
    }
}

impl Lines {
    fn select(&mut self, now_ns: u64, table: Interrupts) -> Vec<Reading> {
        let mut readings = Vec::new();
        if self.first.is_empty() {
            let named = |line: &Line| (line.name.clone(), line.counts.clone());
            self.first = table.lines.iter().map(named).gather();
            let entries: usize = table.lines.iter().map(|line| line.counts.len()).sum();
            let few = entries <= MOST_ENTRIES;
            self.complete = few;
            readings.push(reading(
                None,
                table.counters(|_, line| few || self.is_own(line)),
            ));
        } else {
            let news = self.notice(&table);
            let complete = std::mem::take(&mut self.complete);
            if let (true, Some((t_ns, before))) = (news && !complete, &self.previous) {
                readings.push(reading(
                    Some(*t_ns),
                    before.counters(|_, line| self.concerns(line)),
                ));
            }
            readings.push(reading(None, table.counters(|_, line| self.concerns(line))));
        }
        self.previous = Some((now_ns, table));
        readings
    }

    /// Takes note of the lines that moved; whether there are more than before.
    fn notice(&mut self, table: &Interrupts) -> bool {
        let known = self.moved.len();
        for line in &table.lines {
            if self
                .first
                .get(&line.name)
                .is_none_or(|first| *first != line.counts)
            {
                self.moved.insert(line.name.clone());
            }
        }
        self.moved.len() > known
    }

    fn concerns(&self, line: &Line) -> bool {
        self.moved.contains(&line.name) || self.is_own(line)
    }

    /// By number, or by the name that the driver gave it: `eth0`, `eth0-rx-1`, `mlx5_comp3@eth0`.
    fn is_own(&self, line: &Line) -> bool {
        let numbered = line.name.bytes().all(|byte| byte.is_ascii_digit());
        let mentions = |interface: &String| line.is_of(interface);
        numbered && (self.own.contains(&line.name) || self.interfaces.iter().any(mentions))
    }
}

fn reading(t_ns: Option<u64>, counters: Vec<(String, u64)>) -> Reading {
    Reading {
        t_ns,
        ..Reading::of_host("/proc/interrupts", counters)
    }
}

/// Of a larger table only lines of the interface and lines that move are kept.
const MOST_ENTRIES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(counts: [[u64; 2]; 3]) -> Interrupts {
        let [eth, disk, timer] = counts;
        parse(&format!(
            " CPU0 CPU1\n24: {} {} PCI-MSI 0-edge eth0-rx-0\n25: {} {} PCI-MSI 1-edge disk\nLOC: {} {} Local timer interrupts\n",
            eth[0], eth[1], disk[0], disk[1], timer[0], timer[1],
        ))
    }

    fn names(reading: &Reading) -> Vec<&str> {
        reading
            .counters
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn lines() -> Lines {
        Lines {
            interfaces: vec!["eth0".to_owned()],
            ..Lines::default()
        }
    }

    #[test]
    fn later_readings_have_what_concerns_the_test() {
        let mut lines = lines();
        let first = lines.select(1, table([[5, 0], [7, 7], [1, 1]]));
        assert_eq!((first.len(), first[0].counters.len()), (1, 6));
        let second = lines.select(2, table([[5, 0], [7, 7], [2, 1]]));
        let moving = "LOC:Local timer interrupts/cpu0";
        assert_eq!(second.len(), 1, "the first reading had every line");
        assert_eq!(names(&second[0])[2], moving);
        assert_eq!(second[0].counters.len(), 4, "the disk does not move");
    }

    #[test]
    fn a_line_that_moves_late_adds_the_previous_reading() {
        let mut lines = lines();
        lines.select(1, table([[5, 0], [7, 7], [1, 1]]));
        lines.select(2, table([[6, 0], [7, 7], [2, 1]]));
        let third = lines.select(3, table([[6, 0], [7, 8], [2, 1]]));
        assert_eq!(third.len(), 2);
        assert_eq!(third[0].t_ns, Some(2));
        assert_eq!(names(&third[0]), names(&third[1]));
        let disk = ("25:PCI-MSI 1-edge disk/cpu1".to_owned(), 7);
        assert!(third[0].counters.contains(&disk), "{third:?}");
    }

    #[test]
    fn a_line_is_the_interface_s_by_number_or_by_a_word_of_its_name() {
        let mut lines = lines();
        lines.own.insert("30".to_owned());
        let line = |name: &str, description: &str| Line {
            name: name.to_owned(),
            counts: vec![1],
            description: description.to_owned(),
        };
        assert!(lines.is_own(&line("30", "virtio2-input.0")));
        assert!(lines.is_own(&line("31", "PCI-MSI mlx5_comp3@eth0")));
        assert!(!lines.is_own(&line("32", "PCI-MSI eth01-rx")));
        assert!(!lines.is_own(&line("LOC", "eth0")));
    }
}
