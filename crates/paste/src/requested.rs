// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was requested: the rate, from a heading of a script (`----------bandwidth 400`, `700Mbits/sec:`) or from the
//! options of iperf, and its number of streams.

use crate::text::bits_per_second;

/// The rate of a heading that consists of nothing else.
pub(super) fn of_heading(line: &str) -> Option<f64> {
    let line = line.trim_matches(|letter: char| "-=#*_: ".contains(letter));
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    if let ["bandwidth" | "Bandwidth" | "rate" | "Rate", number] = words[..] {
        return rate(number, 1e6);
    }
    let test = words.len() <= 3
        && words
            .iter()
            .skip(1)
            .all(|word| ["UDP", "TCP", "test", "Test"].contains(word));
    let number = words.first().filter(|_| test)?;
    number.contains("bit").then(|| rate(number, 1.0))?
}

/// The rate of `-b 400M` or `-b400M`; iperf counts by 1000, and by bits without a letter.
pub(super) fn of_command(command: &str) -> Option<f64> {
    rate(option(command, ["-b", "--bandwidth"])?, 1.0)
}

/// The streams of `-P 4`.
pub(super) fn streams(command: &str) -> Option<u32> {
    option(command, ["-P", "--parallel"])?.parse().ok()
}

/// The value of an option: `-b 400M`, `-b400M`, `--bandwidth=400M`.
fn option<'c>(command: &'c str, names: [&str; 2]) -> Option<&'c str> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let mut after = names.iter().filter_map(|name| word.strip_prefix(name));
        match after.next() {
            Some("") => return words.next(),
            Some(value) => return Some(value.trim_start_matches('=')),
            None => {}
        }
    }
    None
}

fn rate(word: &str, unit: f64) -> Option<f64> {
    let digits = word
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(word.len());
    let number: f64 = word[..digits].parse().ok()?;
    let factor = match &word[digits..] {
        "" => unit,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        name => bits_per_second(1.0, name)?,
    };
    Some(number * factor).filter(|rate| rate.is_finite() && *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_options() {
        for (line, expected) in [
            ("----------bandwidth 400", Some(400e6)),
            ("700Mbits/sec:", Some(700e6)),
            ("1Gbit/s UDP test", Some(1e9)),
            ("bandwidth is 400", None),
            ("4000", None),
        ] {
            assert_eq!(of_heading(line), expected, "{line}");
        }
        assert_eq!(
            of_command("iperf -c 192.0.2.1 -u -b 400M -t 2"),
            Some(400e6)
        );
        assert_eq!(of_command("iperf -u -b1000M"), Some(1e9));
    }
}
