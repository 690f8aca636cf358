// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/softnet_stat`: a line of hexadecimal words for each CPU. Source: net/core/net-procfs.c.

/// What one CPU's receive path counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoftnetCpu {
    /// The CPU; on kernels before 5.10, which do not write it, the number of the line (wrong with offline CPUs).
    pub cpu: u32,
    /// Packets taken from the backlog or a NAPI poll; wraps at 32 bits.
    pub processed: u32,
    /// Packets dropped because the backlog was full.
    pub dropped: u32,
    /// Times the budget ended with work left.
    pub time_squeeze: u32,
    /// Times another CPU's receive packet steering woke this one (3.x).
    pub received_rps: Option<u32>,
    /// Packets dropped by the flow limit (3.11).
    pub flow_limit_count: Option<u32>,
    /// Packets waiting (5.10).
    pub backlog_len: Option<u32>,
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Vec<SoftnetCpu> {
    (0..)
        .zip(text.lines())
        .filter_map(|(line_number, line)| cpu(line_number, line))
        .collect()
}

/// The counters: sums over all CPUs (`processed`, `dropped`, `time_squeeze`, `received_rps`,
/// `flow_limit_count`), and each CPU's own (`cpu0.processed` …).
#[must_use]
pub fn counters(cpus: &[SoftnetCpu]) -> Vec<(String, u64)> {
    let mut counters = Vec::new();
    for (name, pick) in FIELDS {
        let sum: Option<u64> = cpus.iter().map(|cpu| pick(cpu).map(u64::from)).sum();
        counters.extend(
            sum.filter(|_| !cpus.is_empty())
                .map(|sum| (name.to_owned(), sum)),
        );
        counters.extend(
            cpus.iter()
                .filter_map(|cpu| Some((format!("cpu{}.{name}", cpu.cpu), pick(cpu)?.into()))),
        );
    }
    counters
}

type Pick = fn(&SoftnetCpu) -> Option<u32>;

const FIELDS: [(&str, Pick); 5] = [
    ("processed", |cpu| Some(cpu.processed)),
    ("dropped", |cpu| Some(cpu.dropped)),
    ("time_squeeze", |cpu| Some(cpu.time_squeeze)),
    ("received_rps", |cpu| cpu.received_rps),
    ("flow_limit_count", |cpu| cpu.flow_limit_count),
];

fn cpu(line_number: u32, line: &str) -> Option<SoftnetCpu> {
    let words: Option<Vec<u32>> = line
        .split_whitespace()
        .map(|word| u32::from_str_radix(word, 16).ok())
        .collect();
    let words = words?;
    let word = |index: usize| words.get(index).copied();
    Some(SoftnetCpu {
        processed: word(0)?,
        dropped: word(1)?,
        time_squeeze: word(2)?,
        received_rps: word(9),
        flow_limit_count: word(10),
        backlog_len: word(11),
        cpu: word(12).unwrap_or(line_number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_sums_and_each_cpu_s() {
        let cpus = parse("00000001 00000002 00000000\n00000003 00000004 00000000\n");
        let counters: std::collections::BTreeMap<_, _> = counters(&cpus).into_iter().collect();
        assert_eq!((counters["processed"], counters["cpu1.dropped"]), (4, 4));
        assert!(
            !counters.contains_key("received_rps"),
            "an old kernel does not count it"
        );
        assert_eq!(counters.len(), 9);
        assert_eq!(super::counters(&[]), []);
    }

    #[test]
    fn reads_new_and_old_lines() {
        let new = "0000375f 00000002 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000004 00000005 \
                   00000006 00000003 00000000 00000000";
        let expected = SoftnetCpu {
            cpu: 3,
            processed: 0x375F,
            dropped: 2,
            time_squeeze: 10,
            received_rps: Some(4),
            flow_limit_count: Some(5),
            backlog_len: Some(6),
        };
        assert_eq!(parse(new), [expected]);
        let old = parse("00000001 00000000 00000000\n00000002 00000000 00000000\nnot hex here\n");
        assert_eq!(
            old.iter()
                .map(|cpu| (cpu.cpu, cpu.processed))
                .collect::<Vec<_>>(),
            [(0, 1), (1, 2)]
        );
        assert_eq!(old[0].received_rps, None);
    }
}
