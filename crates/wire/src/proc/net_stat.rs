// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/stat/*` (`nf_conntrack`, `arp_cache` …): a heading, then a row of hexadecimal words for each CPU.
//! Source: net/netfilter/nf_conntrack_standalone.c, net/core/neighbour.c.

/// Reads the file: the sums over all CPUs. `entries` is how many there are now, and the same in each row.
#[must_use]
pub fn counters(text: &str) -> Vec<(String, u64)> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
    let mut sums: Vec<Option<u64>> = vec![None; names.len()];
    for line in lines {
        for ((name, sum), word) in names.iter().zip(&mut sums).zip(line.split_whitespace()) {
            let Ok(value) = u64::from_str_radix(word, 16) else {
                break;
            };
            *sum = Some(match (*name, *sum) {
                ("entries", _) => value,
                (_, sum) => sum.unwrap_or(0).saturating_add(value),
            });
        }
    }
    let named = names.iter().zip(sums);
    named
        .filter_map(|(name, sum)| Some(((*name).to_owned(), sum?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed_and_entries_are_not() {
        let text =
            "entries  searched drop\n0000000a 00000001 00000010\n0000000a 00000002 0000000f\n";
        let expected = [("entries", 10), ("searched", 3), ("drop", 31)];
        assert_eq!(
            counters(text),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }

    #[test]
    fn a_heading_alone_counts_nothing() {
        assert_eq!(counters("entries drop\n"), []);
        assert_eq!(counters("entries drop\nno hex\n"), []);
    }
}
