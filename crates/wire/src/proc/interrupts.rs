// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/interrupts` and `/proc/softirqs`: a table with a column for each online CPU. Source: fs/proc/interrupts.c.

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// Numbers of the CPUs, by column.
    pub cpus: Vec<u32>,
    /// One entry a line.
    pub lines: Vec<Line>,
}

/// One interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number or name, such as `24`, `NMI` or `NET_RX`.
    pub name: String,
    /// Count by column; lines such as `ERR` have one for all.
    pub counts: Vec<u64>,
    /// Chip, trigger and handlers, as written.
    pub description: String,
}

impl Line {
    /// Number and description in one word, as counters are named by: `24:IO-APIC 5-edge eth0-rx-0`; a soft
    /// interrupt has only its name.
    #[must_use]
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        for (index, word) in self.description.split_whitespace().enumerate() {
            label.push(if index == 0 { ':' } else { ' ' });
            label.push_str(word);
        }
        label
    }

    /// Whether one of its handlers is named by `device`, alone or among other words: `eth0`, `i40e-eth0-TxRx-0`,
    /// `2188000.ethernet`.
    #[must_use]
    pub fn is_of(&self, device: &str) -> bool {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        let stands_alone = |(at, _): (usize, &str)| {
            let (before, rest) = self.description.split_at(at);
            !before.ends_with(is_name) && !rest[device.len()..].starts_with(is_name)
        };
        !device.is_empty() && self.description.match_indices(device).any(stands_alone)
    }
}

impl Interrupts {
    /// The counters of the lines that `wanted` names, by label and CPU: `NET_RX/cpu0`. A line with one count for
    /// all CPUs goes by its label.
    pub fn counters(&self, wanted: impl Fn(usize, &Line) -> bool) -> Vec<(String, u64)> {
        let mut counters = Vec::new();
        let lines = self
            .lines
            .iter()
            .enumerate()
            .filter(|(index, line)| wanted(*index, line));
        for (_, line) in lines {
            let label = line.label();
            match line.counts[..] {
                [all] if self.cpus.len() > 1 => counters.push((label, all)),
                _ => counters.extend(
                    self.cpus
                        .iter()
                        .zip(&line.counts)
                        .map(|(cpu, count)| (format!("{label}/cpu{cpu}"), *count)),
                ),
            }
        }
        counters
    }
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Interrupts {
    let mut table = Interrupts::default();
    for line in text.lines() {
        if table.cpus.is_empty() {
            table.cpus = heading(line);
        } else {
            table.lines.extend(interrupt(line, table.cpus.len()));
        }
    }
    table
}

/// The CPUs of a heading; none if the line is no heading.
fn heading(line: &str) -> Vec<u32> {
    let cpu = |word: &str| word.strip_prefix("CPU")?.parse().ok();
    line.split_whitespace()
        .map(cpu)
        .collect::<Option<Vec<u32>>>()
        .unwrap_or_default()
}

fn interrupt(line: &str, columns: usize) -> Option<Line> {
    let (name, rest) = line.split_once(':')?;
    let mut rest = rest.trim_start();
    let mut counts = Vec::new();
    while counts.len() < columns {
        let (word, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Ok(count) = word.parse() else {
            break;
        };
        counts.push(count);
        rest = tail.trim_start();
    }
    let line = Line {
        name: name.trim().to_owned(),
        counts,
        description: rest.trim_end().to_owned(),
    };
    (!line.counts.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of an i.MX6 (fec), of a PC, and of a shared interrupt.
    #[test]
    fn a_line_belongs_to_the_device_that_its_handler_names() {
        let line = |description: &str| Line {
            description: description.to_owned(),
            ..Line::default()
        };
        let fec = line("GPC 118 Level     2188000.ethernet");
        assert!(fec.is_of("2188000.ethernet"));
        assert!(!fec.is_of("188000.ethernet") && !fec.is_of("2188000") && !fec.is_of(""));
        let queue = line("PCI-MSI 524288-edge      eth0-rx-0");
        assert!(queue.is_of("eth0") && !queue.is_of("eth") && !queue.is_of("th0"));
        assert!(line("PCI-MSI 524289-edge i40e-eth0-TxRx-0").is_of("eth0"));
        assert!(!line("IO-APIC 11-fasteoi eth01").is_of("eth0"));
        assert!(line("IO-APIC 11-fasteoi uhci_hcd:usb1, eth0").is_of("eth0"));
    }

    #[test]
    fn reads_columns_and_description() {
        let table = parse(
            "           CPU0       CPU3       \n 24:          1          5  IO-APIC   5-edge      eth0-rx-0\nERR:          7\nbroken\n",
        );
        assert_eq!(table.cpus, [0, 3]);
        assert_eq!(table.lines[0].counts, [1, 5]);
        assert_eq!(
            table.lines[0].description,
            "IO-APIC   5-edge      eth0-rx-0"
        );
        let expected = Line {
            name: "ERR".to_owned(),
            counts: vec![7],
            description: String::new(),
        };
        assert_eq!(table.lines[1..], [expected]);
        let counters = table.counters(|_, _| true);
        let expected = [
            ("24:IO-APIC 5-edge eth0-rx-0/cpu0", 1),
            ("24:IO-APIC 5-edge eth0-rx-0/cpu3", 5),
            ("ERR", 7),
        ];
        assert_eq!(
            counters,
            expected.map(|(name, value)| (name.to_owned(), value))
        );
        assert_eq!(table.counters(|_, line| line.name == "25"), []);
    }

    #[test]
    fn soft_interrupts_go_by_name() {
        let table =
            parse("                    CPU0       CPU1\n      NET_RX:          7          9\n");
        let expected = [("NET_RX/cpu0", 7), ("NET_RX/cpu1", 9)];
        assert_eq!(
            table.counters(|_, line| line.name == "NET_RX"),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }
}
