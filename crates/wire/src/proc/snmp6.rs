// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/snmp6` and `/proc/net/dev_snmp6/*`: one name and value per line. Source: net/ipv6/proc.c.

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Vec<(String, i64)> {
    let pair = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, value) = (words.next()?, words.next()?.parse().ok()?);
        words.next().is_none().then(|| (name.to_owned(), value))
    };
    text.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_name_and_value() {
        let text =
            "Udp6InDatagrams                 \t12\nUdp6RcvbufErrors\t0\n\nprose of three 4\n";
        let expected = [
            ("Udp6InDatagrams".to_owned(), 12),
            ("Udp6RcvbufErrors".to_owned(), 0),
        ];
        assert_eq!(parse(text), expected);
    }
}
