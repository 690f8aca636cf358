// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/sockstat` and `sockstat6`: a protocol, then names and values. Source: net/ipv4/proc.c.

/// Reads the file; a name is `protocol.name`, such as `TCP.mem` (pages of memory).
#[must_use]
pub fn parse(text: &str) -> Vec<(String, u64)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .flat_map(protocol)
        .collect()
}

fn protocol((name, rest): (&str, &str)) -> Vec<(String, u64)> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let pair = |pair: &[&str]| {
        Some((
            format!("{}.{}", name.trim(), pair[0]),
            pair[1].parse().ok()?,
        ))
    };
    words.chunks_exact(2).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs() {
        let expected = [("TCP.inuse", 1), ("TCP.mem", 56), ("UDP.mem", 2)];
        let text = "TCP: inuse 1 mem 56\nUDP: mem 2 odd\nnoise\n";
        assert_eq!(
            parse(text),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }
}
