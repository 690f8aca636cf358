// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/schedstat`: how long tasks ran and waited on each CPU. Source: Documentation/scheduler/sched-stats.rst.

/// One CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSchedule {
    /// Its number.
    pub cpu: u32,
    /// Time that tasks ran, nanoseconds.
    pub running_ns: u64,
    /// Time that runnable tasks waited, nanoseconds.
    pub waiting_ns: u64,
    /// Time slices run.
    pub timeslices: u64,
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Vec<CpuSchedule> {
    text.lines().filter_map(cpu).collect()
}

/// The counters by CPU: `cpu0.run_delay` is how long runnable tasks waited, nanoseconds.
#[must_use]
pub fn counters(cpus: &[CpuSchedule]) -> Vec<(String, u64)> {
    let named = |cpu: &CpuSchedule| (format!("cpu{}.run_delay", cpu.cpu), cpu.waiting_ns);
    cpus.iter().map(named).collect()
}

fn cpu(line: &str) -> Option<CpuSchedule> {
    let mut words = line.strip_prefix("cpu")?.split_whitespace();
    let cpu = words.next()?.parse().ok()?;
    let mut numbers = words.skip(6).map(|word| word.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(CpuSchedule {
        cpu,
        running_ns: next()?,
        waiting_ns: next()?,
        timeslices: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_last_three_fields() {
        let text =
            "version 15\ntimestamp 4295\ncpu1 0 0 0 0 0 0 111 22 3\ndomain0 3 1 2\ncpu2 0 0\n";
        let expected = CpuSchedule {
            cpu: 1,
            running_ns: 111,
            waiting_ns: 22,
            timeslices: 3,
        };
        assert_eq!(parse(text), [expected]);
        assert_eq!(counters(&parse(text)), [("cpu1.run_delay".to_owned(), 22)]);
    }
}
