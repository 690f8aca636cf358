// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/stat`: where the CPUs spent their time. Source: proc_stat(5), fs/proc/stat.c.

/// The file's first lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// All CPUs together.
    pub all: Option<CpuTimes>,
    /// Each online CPU with its number.
    pub cpus: Vec<(u32, CpuTimes)>,
}

/// Time since boot, in ticks of `USER_HZ` (100 a second on every Linux of today).
///
/// `guest` times are left out: the kernel has them in `user` and `nice` already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User mode.
    pub user: u64,
    /// User mode of low priority.
    pub nice: u64,
    /// Kernel mode.
    pub system: u64,
    /// Idle.
    pub idle: u64,
    /// Idle with input or output outstanding.
    pub iowait: u64,
    /// Hard interrupts.
    pub irq: u64,
    /// Soft interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    /// All ticks.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.busy()
            .wrapping_add(self.idle)
            .wrapping_add(self.iowait)
    }

    /// By the names of proc_stat(5).
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("user", self.user),
            ("nice", self.nice),
            ("system", self.system),
            ("idle", self.idle),
            ("iowait", self.iowait),
            ("irq", self.irq),
            ("softirq", self.softirq),
            ("steal", self.steal),
        ]
    }

    /// Ticks that were not idle, stolen ones included.
    #[must_use]
    pub const fn busy(&self) -> u64 {
        let work = self.user.wrapping_add(self.nice).wrapping_add(self.system);
        work.wrapping_add(self.irq)
            .wrapping_add(self.softirq)
            .wrapping_add(self.steal)
    }
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Stat {
    let mut stat = Stat::default();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else {
            continue;
        };
        let (number, times) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some(times) = cpu_times(times) else {
            continue;
        };
        match number.parse() {
            Ok(cpu) => stat.cpus.push((cpu, times)),
            Err(_) if number.is_empty() => stat.all = Some(times),
            Err(_) => {}
        }
    }
    stat
}

impl Stat {
    /// The ticks by name: `cpu.user` for all CPUs together, `cpu3.softirq` for one.
    #[must_use]
    pub fn counters(&self) -> Vec<(String, u64)> {
        let each = self
            .cpus
            .iter()
            .map(|(cpu, times)| (format!("cpu{cpu}"), times));
        let all = self.all.iter().map(|times| ("cpu".to_owned(), times));
        all.chain(each)
            .flat_map(|(who, times)| {
                times
                    .named()
                    .map(|(name, ticks)| (format!("{who}.{name}"), ticks))
            })
            .collect()
    }
}

fn cpu_times(text: &str) -> Option<CpuTimes> {
    let mut ticks = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    let mut next = || ticks.next().flatten();
    Some(CpuTimes {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next().unwrap_or(0),
        irq: next().unwrap_or(0),
        softirq: next().unwrap_or(0),
        steal: next().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_cpu() {
        let stat = parse(
            "cpu  9 0 3 90 1 2 5 4 0 0\ncpu0 1 0 3 40 1 2 5 4 0 0\ncpu12 8 0 0 50\nintr 1 2\ncpufreq x\n",
        );
        assert_eq!(
            stat.all.map(|all| (all.total(), all.busy())),
            Some((114, 23))
        );
        assert_eq!(stat.cpus.len(), 2);
        let counters = stat.counters();
        assert_eq!(counters.len(), 24);
        assert!(counters.contains(&("cpu.softirq".to_owned(), 5)));
        assert!(counters.contains(&("cpu12.user".to_owned(), 8)));
        assert_eq!(
            stat.cpus[1],
            (
                12,
                CpuTimes {
                    user: 8,
                    idle: 50,
                    ..CpuTimes::default()
                }
            )
        );
    }
}
