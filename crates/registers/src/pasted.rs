// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register values in pasted text: `NAME:0xADDRESS =0xVALUE`, `NAME = 0xVALUE`, `NAME: 0xVALUE`,
//! and `0xOFFSET: NAME (what it is) 0xVALUE`, which `ethtool -d` prints of Intel's devices.

use super::number::unsigned;

/// A register value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The register's name, as it was written.
    pub name: String,
    /// Its physical address, if the text has it.
    pub address: Option<u64>,
    /// Its value.
    pub value: u64,
}

/// Returns every value in the text, in order. Everything else is skipped.
pub fn readings(text: &str) -> impl Iterator<Item = Reading> {
    text.lines().flat_map(of_line)
}

/// Returns every value of a line. Only the beginning of an overlong line is read.
fn of_line(line: &str) -> Vec<Reading> {
    let mut found = Vec::new();
    let mut rest = beginning(line);
    if let Some(reading) = of_ethtool(rest) {
        return vec![reading];
    }
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let at_word = &rest[start..];
        let in_a_word = rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match reading(at_word) {
            Some((reading, left)) if !in_a_word => {
                found.push(reading);
                rest = left;
            }
            _ => rest = at_word.trim_start_matches(is_of_name),
        }
    }
    found
}

/// `0x00170: FCTTV (Flow ctrl tx timer value) 0x0000FFFF`. The offset is not an address.
fn of_ethtool(line: &str) -> Option<Reading> {
    let (offset, rest) = line.trim().strip_prefix("0x")?.split_once(": ")?;
    let plain = !offset.is_empty() && offset.bytes().all(|b| b.is_ascii_hexdigit());
    let (name, rest) = rest.trim_start().split_once([' ', '\t', '('])?;
    let (_, value) = rest.rsplit_once(')')?;
    let named = !name.is_empty() && name.chars().all(is_of_name);
    (plain && named).then_some(())?;
    Some(Reading {
        name: name.to_owned(),
        address: None,
        value: unsigned(value.trim().strip_prefix("0x").map(|_| value)?)?,
    })
}

/// Parses a value whose name begins the text; returns it and the rest of the text.
fn reading(text: &str) -> Option<(Reading, &str)> {
    let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (first, left, sign) = sign_and_number(rest)?;
    let reading = |address, value| Reading {
        name: name.to_owned(),
        address,
        value,
    };
    // A number after a colon is the address if an equals sign follows.
    match sign_and_number(left) {
        Some((value, left, '=')) if sign != '=' => Some((reading(Some(first), value), left)),
        _ => Some((reading(None, first), left)),
    }
}

/// ` =0x1f` → the number, the rest of the text, and the sign before it.
fn sign_and_number(text: &str) -> Option<(u64, &str, char)> {
    let text = text.trim_start_matches([' ', '\t', ')']);
    let sign = text.chars().next().filter(|c| "=:@(".contains(*c))?;
    let text = text[1..].trim_start_matches([' ', '\t']);
    // Quoted-printable mail writes the sign as `=3D`.
    let text = match text.strip_prefix("3D") {
        Some(behind) if sign == '=' => behind.trim_start_matches(' '),
        _ => text,
    };
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (digits, left) = text.split_at(end.unwrap_or(text.len()));
    number(digits).map(|number| (number, left, sign))
}

/// Eight digits with a zero in front, or with letters, are hexadecimal whatever stands before.
fn number(digits: &str) -> Option<u64> {
    let all_hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let bare = digits.len() == 8 && all_hexadecimal;
    let has_letters = digits.bytes().any(|b| b.is_ascii_alphabetic());
    if bare && (digits.starts_with('0') || has_letters) {
        return u64::from_str_radix(digits, 16).ok();
    }
    unsigned(digits)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')
}

fn beginning(line: &str) -> &str {
    let mut end = line.len().min(LONGEST_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

const LONGEST_LINE: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::readings;

    fn written(text: &str) -> Vec<String> {
        let write = |r: super::Reading| match r.address {
            Some(address) => format!("{}@{address:x}={:x}", r.name, r.value),
            None => format!("{}={:x}", r.name, r.value),
        };
        readings(text).map(write).collect()
    }

    #[test]
    fn every_way_to_write_a_value() {
        for (text, expected) in [
            (
                "ENET_RCR:0x02188084 =0x05ee0264",
                "ENET_RCR@2188084=5ee0264",
            ),
            ("ENET_RCR:0x02188084=0x05ee0264", "ENET_RCR@2188084=5ee0264"),
            (
                "> ENET_RCR:0x02188084 =3D0x05ee0264=20",
                "ENET_RCR@2188084=5ee0264",
            ),
            ("RCR (0x02188084) = 0x05ee0264", "RCR@2188084=5ee0264"),
            ("RCR @0x84 = 5", "RCR@84=5"),
            ("  RCR = 0x05ee0264;", "RCR=5ee0264"),
            ("RCR: 0x05ee0264", "RCR=5ee0264"),
            ("RCR=05ee0264", "RCR=5ee0264"),
            ("RCR=00000310", "RCR=310"),
            ("RCR=310", "RCR=136"),
            ("root@board:~# RCR=0x1", "RCR=1"),
            (
                "0x00000: CTRL (Device control register)   0x581C0241",
                "CTRL=581c0241",
            ),
            (
                "0x00170: FCTTV       (Flow ctrl tx timer) 0x0000FFFF",
                "FCTTV=ffff",
            ),
        ] {
            assert_eq!(written(text), [expected], "{text}");
        }
        assert_eq!(
            written("RCR=0x1, TCR=0x2 OPD:0x3"),
            ["RCR=1", "TCR=2", "OPD=3"]
        );
    }

    #[test]
    fn prose_is_passed_over() {
        for text in [
            "",
            "= 0x5",
            "the value was wrong",
            "RCR=",
            "RCR=zebra",
            "RCR 0x05ee0264",
            "RCR:",
            "ärger=x",
            "x=0x1_0000_0000_0000_0000_0",
            "0x00000: CTRL (Device control register)",
            "0x00000: CTRL 0x5",
            "0x: (a) 0x5",
        ] {
            assert_eq!(written(text), Vec::<String>::new(), "{text}");
        }
    }
}
