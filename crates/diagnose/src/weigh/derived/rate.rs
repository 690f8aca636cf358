// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates as people and tools write them: `941 Mbits/sec`, `38MB/s`, `2.5 Gbit`.

/// The highest rate that words name, bits a second. What may be bits or bytes (`30 mb/s`) is none.
pub(super) fn rate_of(words: &[&str]) -> Option<f64> {
    rates_of(words).max_by(f64::total_cmp)
}

/// All rates that words name, bits a second.
pub(super) fn rates_of<'w>(words: &'w [&'w str]) -> impl Iterator<Item = f64> + 'w {
    let each = words.iter().enumerate();
    each.filter_map(|(at, word)| {
        let (digits, own) = split(word)?;
        let unit = if own.is_empty() {
            words.get(at + 1).copied()?
        } else {
            own
        };
        Some(number(digits)? * bits(unit)?)
    })
}

/// `940Mbit/s` as number and unit.
fn split(word: &str) -> Option<(&str, &str)> {
    let word = word.trim_start_matches(['~', '≈', '<', '>', '(', '=', '*', '`']);
    word.starts_with(|letter: char| letter.is_ascii_digit())
        .then_some(())?;
    let end = word.find(|letter: char| !letter.is_ascii_digit() && !".-".contains(letter));
    word.split_at_checked(end.unwrap_or(word.len()))
}

/// `941`, and of `900-940` the larger one.
fn number(digits: &str) -> Option<f64> {
    let last = digits.trim_end_matches(['.', '-']);
    last.rsplit('-').next()?.parse().ok()
}

/// Bits a second in one of a unit.
fn bits(unit: &str) -> Option<f64> {
    let unit = unit.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let mut letters = unit.chars();
    let prefix = letters.next()?;
    let rest = letters.as_str();
    let scale = match prefix {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' => 1e9,
        't' | 'T' => 1e12,
        'b' if unit.eq_ignore_ascii_case("bits/sec") || unit == "bit/s" => return Some(1.0),
        _ => return None,
    };
    Some(scale * of_rest(prefix, rest)?)
}

fn of_rest(prefix: char, rest: &str) -> Option<f64> {
    let lower = rest.to_ascii_lowercase();
    match lower.as_str() {
        "bit" | "bits" | "bit/s" | "bits/s" | "bit/sec" | "bits/sec" | "bps" | "bits/second"
            if !bytes(prefix, rest) =>
        {
            Some(1.0)
        }
        "igabit" | "egabit" | "bit/second" => Some(1.0),
        "bps" | "byte/s" | "bytes/s" | "bytes/sec" | "byte/sec" => Some(8.0),
        "b/s" | "b/sec" => match (prefix, rest.starts_with('B')) {
            (_, true) => Some(8.0),
            ('m' | 'k' | 'g', false) => None,
            _ => Some(1.0),
        },
        "ib/s" | "ibyte/s" | "ibytes/s" => Some(8.0 * 1.048_576),
        _ => None,
    }
}

/// `MBps` is bytes, `Mbps`, `mbps` and `MBPS` are bits.
fn bytes(prefix: char, rest: &str) -> bool {
    prefix.is_ascii_uppercase() && rest == "Bps"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        let read = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            rate_of(&words).map(|rate| rate / 1e6)
        };
        for (text, rate) in [
            ("941 Mbits/sec", Some(941.0)),
            ("about ~38MB/s", Some(304.0)),
            ("2.5 Gbit", Some(2500.0)),
            ("900-940Mbps", Some(940.0)),
            ("112 MBps,", Some(896.0)),
            ("100 Mb/s", Some(100.0)),
            ("30 mb/s", None),
            ("1500 bytes", None),
            ("10 minutes", None),
            ("8 MB", None),
        ] {
            assert_eq!(read(text), rate, "{text}");
        }
    }
}
