// SPDX-License-Identifier: MIT OR Apache-2.0
//! `perf top`, `perf report`: the share of the IOMMU, of reading the clock, of the lock of a queueing discipline.

use super::Fact;
use crate::weigh::observed::Line;

/// A function.
struct Row<'t> {
    symbol: &'t str,
    /// Its own, without what it calls.
    share: f64,
    /// Whether the call graph below it names sending.
    sends: Option<bool>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let rows = rows(lines);
    let known: f64 = rows.iter().map(|row| row.share).sum();
    let sum = |name: &'static str, takes: &dyn Fn(&Row<'_>) -> bool, is_known: bool| {
        let taken = || rows.iter().filter(|row| takes(row));
        let share: f64 = taken().fold(0.0, |sum, row| sum + row.share);
        let line = taken().next().or(rows.first())?.line;
        (share > 0.0 || is_known).then(|| Fact::new(name, share, line))
    };
    // The functions at the top are known: what is not among them is small.
    let is_top = rows.len() >= ROWS_LEAST && known > KNOWN_LEAST;
    let iommu = |row: &Row<'_>| IOMMU.iter().any(|part| row.symbol.contains(part));
    let clock = |row: &Row<'_>| CLOCKS.contains(&row.symbol);
    let lock = |row: &Row<'_>| LOCKS.contains(&row.symbol) && row.sends == Some(true);
    let has_graph = rows
        .iter()
        .any(|row| LOCKS.contains(&row.symbol) && row.sends.is_some());
    [
        sum("iommu_cpu_share", &iommu, is_top),
        sum("clock_cpu_share", &clock, is_top),
        sum("qdisc_lock_cpu_share", &lock, has_graph),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rows<'t>(lines: &[Line<'t>]) -> Vec<Row<'t>> {
    let mut all: Vec<Row<'t>> = Vec::new();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(row) = line.text.contains('%').then(|| row(line)).flatten() {
            all.push(row);
        } else if let Some(last) = all.last_mut().filter(|_| is_branch(line.text)) {
            let sends = line.text.contains("dev_queue_xmit")
                || line.text.contains("__dev_xmit_skb")
                || line.text.contains("sch_direct_xmit");
            last.sends = Some(sends || last.sends == Some(true));
        }
    }
    all
}

/// `  23.45%  [kernel]  [k] iommu_unmap`; of `Children` and `Self` the second is the function's own.
fn row<'t>(line: &Line<'t>) -> Option<Row<'t>> {
    let words: Vec<&str> = line.text.split_whitespace().take(16).collect();
    let shares = words.iter().map_while(|word| {
        word.strip_suffix('%')?
            .replace(',', ".")
            .parse::<f64>()
            .ok()
    });
    let own = shares
        .take(2)
        .last()
        .filter(|own| (0.0..=100.0).contains(own))?;
    let mark = words
        .iter()
        .position(|word| ["[k]", "[.]"].contains(word))?;
    Some(Row {
        symbol: words.get(mark + 1)?,
        share: own / 100.0,
        sends: None,
        line: line.number,
    })
}

/// The call graph below a row.
fn is_branch(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('|')
        || text.starts_with("--")
        || (!text.is_empty() && !text.contains(' ') && text.contains('_'))
}

const IOMMU: &[&str] = &[
    "iommu",
    "arm_smmu",
    "qi_submit",
    "iova",
    "__domain_mapping",
    "domain_unmap",
    "dma_pte",
    "io_pgtable",
    "arm_lpae",
];
const CLOCKS: &[&str] = &[
    "read_hpet",
    "acpi_pm_read",
    "acpi_pm_read_verified",
    "hpet_next_event",
    "pit_read",
];
const LOCKS: &[&str] = &[
    "native_queued_spin_lock_slowpath",
    "queued_spin_lock_slowpath",
    "_raw_spin_lock",
    "__pv_queued_spin_lock_slowpath",
];
const ROWS_LEAST: usize = 10;
const KNOWN_LEAST: f64 = 0.3;
const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn the_iommu_and_the_clock() {
        let text = "    25.00%  [kernel]  [k] arm_smmu_cmdq_issue_cmdlist\n    12.50%  [kernel]  [k] iommu_unmap\n     6.25%  [kernel]  [k] read_hpet\n";
        is(text, "iommu_cpu_share", Some("0.375"));
        is(text, "clock_cpu_share", Some("0.0625"));
        is(
            "    25.00%  [kernel]  [k] memcpy\n",
            "iommu_cpu_share",
            None,
        );
        let long: String = (0..10)
            .map(|n| format!("  5.00%  [kernel]  [k] function_{n}\n"))
            .collect();
        is(&long, "iommu_cpu_share", Some("0"));
        is("25.00% of iommu_unmap [k]\n", "iommu_cpu_share", None);
    }

    #[test]
    fn the_lock_of_a_qdisc() {
        let text = "    31.25%    31.25%  iperf3  [kernel.kallsyms]  [k] native_queued_spin_lock_slowpath\n            |\n            ---native_queued_spin_lock_slowpath\n               __dev_queue_xmit\n";
        is(text, "qdisc_lock_cpu_share", Some("0.3125"));
        is(
            &text.replace("__dev_queue_xmit", "futex_wait"),
            "qdisc_lock_cpu_share",
            Some("0"),
        );
        is(
            "    31.25%  [kernel]  [k] native_queued_spin_lock_slowpath\n",
            "qdisc_lock_cpu_share",
            None,
        );
    }
}
