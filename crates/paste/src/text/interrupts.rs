// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/interrupts` and `/proc/softirqs` as pasted: through grep, so that the heading is gone, or with each line
//! wrapped. The rows are restored and read like the live file.

use linerate_wire::proc::interrupts::{Interrupts, parse};

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let asked = hint
        .file()
        .is_some_and(|file| file.ends_with("interrupts") || file.ends_with("softirqs"));
    let headings = lines.run(0, |line| is_heading(line) && line.len() < 8192);
    if headings.is_empty() && !(is_row(first) && (asked || is_interrupt(first))) {
        return None;
    }
    let from = headings.last().map_or(0, |(index, _)| index + 1);
    let rows = lines.run(from, |line| is_row(line) || is_rest(line));
    let text = joined(&headings, &rows);
    let table = parse(&text);
    let softirqs = table
        .lines
        .iter()
        .any(|line| ["NET_RX", "NET_TX", "TASKLET"].contains(&line.name.as_str()));
    let source = if softirqs {
        "/proc/softirqs"
    } else {
        "/proc/interrupts"
    };
    if table.lines.is_empty() {
        return Block::says_nothing(if rows.is_empty() { &headings } else { &rows }, source);
    }
    Some(Block {
        lines: rows.last().or(headings.last())?.0 + 1,
        format: source,
        content: vec![Counters::new(source, None, counters(&table))],
    })
}

/// `LABEL/cpuN`; the label of an interrupt is its number and its description.
fn counters(table: &Interrupts) -> Vec<(String, u64)> {
    let named = |line: &linerate_wire::proc::interrupts::Line| {
        let words: Vec<&str> = line.description.split_whitespace().collect();
        let label = if words.is_empty() {
            line.name.clone()
        } else {
            format!("{}:{}", line.name, words.join(" "))
        };
        let cells = table.cpus.iter().zip(line.counts.clone());
        cells
            .map(|(cpu, count)| (format!("{label}/cpu{cpu}"), count))
            .collect::<Vec<_>>()
    };
    table.lines.iter().flat_map(named).collect()
}

fn is_heading(line: &str) -> bool {
    let cpu = |word: &str| {
        word.strip_prefix("CPU")
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && words.all(cpu)
}

/// `124:  119703  0 …`.
fn is_row(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(':').filter(|_| line.len() < 8192) else {
        return false;
    };
    let name = name.trim();
    let label = name.parse::<u32>().is_ok()
        || (2..=8).contains(&name.len())
            && name.chars().all(|letter| {
                letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
            });
    let number = |word: &str| word.parse::<u64>().is_ok();
    label && rest.split_whitespace().next().is_some_and(number)
}

/// The second half of a wrapped row: numbers, or the description.
fn is_rest(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let number = first.parse::<u64>().is_ok();
    !line.contains(':') && line.len() < 512 && (number || is_chip(line))
}

/// Whether a row without heading can only be an interrupt.
fn is_interrupt(line: &str) -> bool {
    is_chip(line)
        || line.trim_start().starts_with("NET_RX:")
        || line.trim_start().starts_with("NET_TX:")
}

fn is_chip(line: &str) -> bool {
    let chips = [
        "GIC", "PCI-MSI", "IO-APIC", "ITS-", "MSI", "XT-PIC", "edge", "Edge", "Level", "level",
        "fasteoi", "MPIC", "OpenPIC", "INTC", "gpio", "mxs", "gpcv2", "GPC", "PLIC", "AIC",
        "xen-dyn",
    ];
    chips.iter().any(|chip| line.contains(chip))
}

/// Restores rows of one line each under one heading; a missing heading is made from the shortest row.
fn joined(headings: &[(usize, &str)], rows: &[(usize, &str)]) -> String {
    let mut text: Vec<String> = Vec::new();
    for (_, line) in rows {
        match text.last_mut() {
            Some(row) if !is_row(line) => {
                row.push(' ');
                row.push_str(line);
            }
            _ => text.push((*line).to_owned()),
        }
    }
    let heading: Vec<&str> = headings.iter().map(|(_, line)| *line).collect();
    let heading = if heading.is_empty() {
        made(&text)
    } else {
        heading.join(" ")
    };
    format!("{heading}\n{}", text.join("\n"))
}

fn made(rows: &[String]) -> String {
    let columns = |row: &String| {
        let numbers = row
            .split_whitespace()
            .skip(1)
            .take_while(|word| word.parse::<u64>().is_ok());
        numbers.count()
    };
    let count = rows.iter().map(columns).min().unwrap_or_default();
    let names: Vec<String> = (0..count).map(|cpu| format!("CPU{cpu}")).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn values(text: &str) -> Vec<(String, u64)> {
        match block_of(text, read).unwrap().content.remove(0) {
            Content::Counters(counters) => counters.values,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn whole_grepped_and_wrapped_say_the_same() {
        let whole = "           CPU0       CPU1\n124:     11970          3  ITS-fMSI 230000 Edge      dpio.8\n125:          0          4  ITS-fMSI 230001 Edge      dpio.7\nprose\n";
        let grepped = "124:     11970          3  ITS-fMSI 230000 Edge      dpio.8\n125:          0          4  ITS-fMSI 230001 Edge      dpio.7\n";
        let wrapped = "CPU0\nCPU1\n124:     11970\n    3  ITS-fMSI 230000 Edge      dpio.8\n125:          0          4\n  ITS-fMSI 230001 Edge      dpio.7\n";
        let expected = values(whole);
        assert_eq!(expected.len(), 4);
        assert_eq!(
            expected[0],
            ("124:ITS-fMSI 230000 Edge dpio.8/cpu0".to_owned(), 11970)
        );
        assert_eq!(values(grepped), expected);
        assert_eq!(values(wrapped), expected);
    }

    #[test]
    fn softirqs() {
        let read = values(
            "                    CPU0       CPU1\n          HI:          0          1\n      NET_RX:      10247        202\n",
        );
        assert!(read.contains(&("NET_RX/cpu0".to_owned(), 10247)));
    }
}
