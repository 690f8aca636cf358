// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/meminfo`. Source: proc_meminfo(5).

/// Reads the file; values that carry `kB` are in bytes, the others (counts of huge pages) as written.
#[must_use]
pub fn parse(text: &str) -> Vec<(String, u64)> {
    text.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<(String, u64)> {
    let (name, rest) = line.split_once(':')?;
    let mut words = rest.split_whitespace();
    let value: u64 = words.next()?.parse().ok()?;
    let factor = if words.next() == Some("kB") { 1024 } else { 1 };
    Some((name.trim().to_owned(), value.checked_mul(factor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_become_bytes() {
        let expected = [
            ("MemTotal".to_owned(), 65_536 << 10),
            ("HugePages_Total".to_owned(), 3),
        ];
        assert_eq!(
            parse("MemTotal:          65536 kB\nHugePages_Total:       3\nnoise: x\n"),
            expected
        );
    }
}
