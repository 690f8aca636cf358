// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/softnet_stat`, `rps_cpus`: which processor receives, used-up budgets, the flow limit, steering.

use super::Fact;
use crate::weigh::observed::Line;

/// What one processor counts: packets, drops, used-up budgets, drops of the flow limit.
type Row = [u64; 4];

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut facts = steering(lines).into_iter().collect::<Vec<Fact>>();
    let blocks = blocks(lines);
    let Some((last, line)) = blocks.last() else {
        return facts;
    };
    let first = blocks
        .first()
        .map(|(rows, _)| rows)
        .filter(|rows| blocks.len() > 1 && rows.len() == last.len());
    let grown = |(at, row): (usize, &Row)| {
        let before = first
            .and_then(|rows| rows.get(at))
            .copied()
            .unwrap_or_default();
        let mut row = *row;
        row.iter_mut()
            .zip(before)
            .for_each(|(now, before)| *now = now.saturating_sub(before));
        row
    };
    let rows: Vec<Row> = last.iter().enumerate().map(grown).collect();
    let sum = |of: usize| rows.iter().map(|row| row[of]).sum::<u64>() as f64;
    let (packets, dropped) = (sum(0), sum(1));
    let most = rows.iter().map(|row| row[0]).max().unwrap_or(0) as f64;
    let mut add = |name, share: f64, above: f64| {
        if above >= PACKETS_LEAST {
            let share = (share / above * 1e6).round() / 1e6;
            facts.push(Fact::new(name, share, *line));
        }
    };
    if rows.len() > 1 {
        add("softnet_top_cpu_share", most, packets);
    }
    add("time_squeeze_share", sum(2), packets);
    add("softnet_flow_limit_share", sum(3), dropped);
    facts
}

/// The tables, each with a row for each processor.
fn blocks(lines: &[Line<'_>]) -> Vec<(Vec<Row>, u64)> {
    let mut all: Vec<(Vec<Row>, u64)> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let row = row(line.text);
        if let Some(row) = row {
            if !is_open {
                all.push((Vec::new(), line.number));
            }
            if let Some((rows, _)) = all.last_mut() {
                rows.push(row);
            }
        }
        is_open = row.is_some();
    }
    all
}

/// Eight or more words of eight hexadecimal digits; the flow limit is the eleventh.
fn row(text: &str) -> Option<Row> {
    let text = text.trim();
    (text.as_bytes().get(8) == Some(&b' ')).then_some(())?;
    let number = |word: &str| (word.len() == 8).then(|| u64::from_str_radix(word, 16).ok())?;
    let words: Option<Vec<u64>> = text.split(' ').map(number).collect();
    let words = words.filter(|words| words.len() >= 9)?;
    let at = |n: usize| words.get(n).copied().unwrap_or(0);
    Some([at(0), at(1), at(2), at(10)])
}

/// Whether no queue has a mask of processors.
fn steering(lines: &[Line<'_>]) -> Option<Fact> {
    let mut masks = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.text.contains("rps_cpus"));
    let mut shown = None;
    let any = masks.find_map(|(at, line)| {
        if let Some(mask) = written(line.text) {
            return is_set(mask).filter(|set| *set).map(|_| line.number);
        }
        let (_, rest) = line.text.split_once("rps_cpus")?;
        let own = is_set(rest.trim_start_matches([':', '=', ' ', '\t']));
        let below = || {
            lines
                .get(at + 1..)?
                .iter()
                .map_while(|line| is_set(line.text))
                .reduce(|one, other| one || other)
        };
        let set = own.or_else(below)?;
        shown = Some(line.number);
        set.then_some(line.number)
    });
    let line = any.or(shown)?;
    Some(Fact::new("rps_off", any.is_none(), line))
}

/// `echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus`.
fn written(text: &str) -> Option<&str> {
    text.split_once("echo ")?.1.split(['>', '|']).next()
}

/// Whether a mask such as `00000000,0000000f` has a bit.
fn is_set(mask: &str) -> Option<bool> {
    let mask = mask.trim().trim_matches(['"', '\'']);
    let is_mask = !mask.is_empty()
        && mask.len() < 300
        && mask
            .bytes()
            .all(|letter| letter.is_ascii_hexdigit() || letter == b',');
    is_mask.then(|| mask.bytes().any(|letter| letter != b'0' && letter != b','))
}

/// Of fewer packets or drops a share says little.
const PACKETS_LEAST: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(is, facts);

    fn row_of(packets: &str, dropped: &str, squeezed: &str, limited: &str) -> String {
        format!(
            "{packets} {dropped} {squeezed} 00000000 00000000 00000000 00000000 00000000 00000000 00000000 {limited}\n"
        )
    }

    #[test]
    fn shares_of_processors() {
        let text = row_of("00000300", "00000040", "00000040", "00000020")
            + &row_of("00000100", "00000000", "00000000", "00000000");
        is(&text, "softnet_top_cpu_share", Some("0.75"));
        is(&text, "time_squeeze_share", Some("0.0625"));
        is(&text, "softnet_flow_limit_share", Some("0.5"));
        let later = row_of("00000400", "00000040", "00000040", "00000020")
            + &row_of("00000200", "00000000", "00000000", "00000000");
        is(
            &format!("{text}\n{later}"),
            "softnet_top_cpu_share",
            Some("0.5"),
        );
        is(
            &row_of("00000300", "00000000", "00000000", "00000000"),
            "softnet_top_cpu_share",
            None,
        );
        assert_eq!(values("deadbeef cafe is no table\n", facts), []);
    }

    #[test]
    fn steering_off() {
        is(
            "/sys/class/net/eth0/queues/rx-0/rps_cpus: 0\n",
            "rps_off",
            Some("true"),
        );
        is(
            "cat /sys/class/net/eth0/queues/rx-*/rps_cpus\n00000000,00000000\n00000000,0000000f\n",
            "rps_off",
            Some("false"),
        );
        is(
            "echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus\n",
            "rps_off",
            Some("false"),
        );
        is("should I set rps_cpus?\n", "rps_off", None);
    }
}
