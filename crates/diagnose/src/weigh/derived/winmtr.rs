// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hops of WinMTR's reports. They have no number: a heading, or other lines between rows, begin a new report.

use linerate_paste::text::{WinMtrHop, is_winmtr_heading};

use crate::weigh::observed::Line;

/// A row in its report.
pub(super) struct Hop<'t> {
    /// From 1.
    pub(super) number: u32,
    pub(super) row: WinMtrHop<'t>,
    pub(super) line: u64,
}

/// All hops, one report after the other.
pub(super) fn hops<'t>(lines: &[Line<'t>]) -> Vec<Hop<'t>> {
    let mut hops: Vec<Hop<'t>> = Vec::new();
    let mut heading = None;
    for line in lines {
        if is_winmtr_heading(line.text) {
            heading = Some(line.number);
        }
        let Some(row) = WinMtrHop::of(line.text) else {
            continue;
        };
        let before = hops.last().map(|last| (last.line, last.number));
        let before = before.filter(|(at, _)| heading < Some(*at) && is_next(*at, line.number));
        let below = heading.is_some_and(|at| is_next(at, line.number));
        // Only the report has ` - ` in each row.
        if before.is_some() || below || line.text.contains(" - ") {
            hops.push(Hop {
                number: before.map_or(1, |(_, number)| number + 1),
                row,
                line: line.number,
            });
        }
    }
    hops
}

/// Whether at most a blank line or a rule is between two lines.
fn is_next(before: u64, line: u64) -> bool {
    line.saturating_sub(before) <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<(u32, u32, u64)> {
        let lines = text.lines().zip(1..);
        let lines: Vec<Line<'_>> = lines.map(|(text, number)| Line { number, text }).collect();
        let hops = hops(&lines).into_iter();
        hops.map(|hop| (hop.number, hop.row.loss_percent, hop.line))
            .collect()
    }

    #[test]
    fn rows_are_counted_in_each_report() {
        let heading = "|    Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last |\n|------|------|\n";
        let rows = "|   192.0.2.1 -    0 |  100 |  100 |    0 |    1 |    9 |    1 |\n\n|   192.0.2.9 -    7 |  100 |   93 |    0 |    1 |    9 |    1 |\n";
        let expected = [(1, 0, 3), (2, 7, 5), (1, 0, 8), (2, 7, 10)];
        assert_eq!(numbers(&[heading, rows, heading, rows].concat()), expected);
        let expected = [(1, 0, 1), (2, 7, 3), (1, 0, 6), (2, 7, 8)];
        assert_eq!(numbers(&[rows, "and\nlater\n", rows].concat()), expected);
    }

    #[test]
    fn rows_with_tabs_need_their_heading() {
        let row = "192.0.2.1\t1\t0\t100\t100\t0\t1\t9\t1\n";
        let heading = "Hostname\tNr\tLoss %\tSent\tRecv\tBest\tAvrg\tWorst\tLast\n";
        assert_eq!(numbers(row), []);
        assert_eq!(numbers(&[heading, row].concat()), [(1, 0, 2)]);
    }
}
