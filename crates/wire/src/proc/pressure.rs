// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/pressure/*`: for how long tasks waited for a resource (Documentation/accounting/psi.rst).

/// Reads the file: `some_us`, for how long at least one task waited, and `full_us`, all of them. Microseconds.
#[must_use]
pub fn counters(text: &str) -> Vec<(&'static str, u64)> {
    let line = |line: &str| {
        let (word, rest) = line.split_once(' ')?;
        let name = match word {
            "some" => "some_us",
            "full" => "full_us",
            _ => return None,
        };
        let total = rest
            .split_whitespace()
            .find_map(|field| field.strip_prefix("total="))?;
        Some((name, total.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_averages_are_not() {
        let text = "some avg10=1.45 avg60=3.91 avg300=6.17 total=6437337351\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\nodd total=1\n";
        assert_eq!(counters(text), [("some_us", 6_437_337_351), ("full_us", 0)]);
        assert_eq!(counters("some avg10=1"), []);
    }
}
