// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which words the lines of a text have, found in one pass, so that few readers need to look at a long text's lines.

use std::sync::LazyLock;

use crate::weigh::observed::Line;

/// By a line's place, the marks that it has.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<u128>);

impl Marks {
    pub(super) fn of(lines: &[Line<'_>]) -> Self {
        Self(lines.iter().map(|line| bits(line.text)).collect())
    }

    /// Whether a line has one of these marks; all of them are in the table.
    pub(super) fn has(&self, at: usize, mask: u128) -> bool {
        self.0.get(at).is_none_or(|bits| bits & mask != 0)
    }
}

/// What [`Marks::has`] takes. A mark that the table lacks selects every line that has any.
pub(super) fn mask(marks: &[&str]) -> u128 {
    let bit = |mark: &&str| MARKS.iter().position(|known| known == mark);
    marks
        .iter()
        .map(|mark| bit(mark).map_or(u128::MAX, |at| 1 << at))
        .fold(0, |all, one| all | one)
}

fn bits(text: &str) -> u128 {
    let bytes = text.as_bytes();
    let [first, second] = &**LETTERS;
    let mut found = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        let mut open = first[usize::from(pair[0])] & second[usize::from(pair[1])] & !found;
        while open != 0 {
            let mark = open.trailing_zeros();
            let is_there = MARKS
                .get(mark as usize)
                .is_some_and(|mark| bytes[at..].starts_with(mark.as_bytes()));
            found |= u128::from(is_there) << mark;
            open &= open - 1;
        }
    }
    found
}

/// The marks that have a letter as their first, and as their second one.
static LETTERS: LazyLock<Box<[[u128; 256]; 2]>> = LazyLock::new(|| {
    let mut letters = [[0; 256]; 2];
    for (number, mark) in MARKS.iter().enumerate().take(128) {
        for (at, letter) in mark.bytes().enumerate().take(2) {
            letters[at][usize::from(letter)] |= 1 << number;
        }
    }
    Box::new(letters)
});

/// At most 128, of two letters at least.
const MARKS: &[&str] = &[
    "DROP",
    "REJECT",
    " drop",
    " reject",
    "Chain ",
    "chain ",
    "hook output",
    "MASQUERADE",
    "SNAT",
    "DNAT",
    " masquerade",
    " snat to ",
    "MSS",
    "maxseg",
    "--set-mss",
    "--clamp-mss",
    "mtu_fix",
    " DPT=",
    "efused",
    "imed out",
    "imeout",
    "o route to host",
    "nreachable",
    "% packet loss",
    "HTTP/",
    "... connected.",
    "Connected to ",
    "bytes from ",
    "FAILED",
    "INCOMPLETE",
    "ndpoint",
    "[AF_INET]",
    "remote ",
    "fwmark: ",
    "] local ",
    " expires ",
    "gateway ",
    "netmask ",
    "address ",
    "skmem:(",
    "wanted: ",
    "requested ",
    "orphan",
    "FRAG:",
    " dport=",
    "ForwDatagrams",
    "802.1Q",
    "802.1ad",
    "is-at ",
    "mtu",
    "bits/sec",
    "iperf",
    "state",
    " min",
    "second",
    " s ",
    "pppoe-",
    "PPPoE [ses",
    "PPP session is ",
    "link/ppp",
    ": gre",
    ": GREv0, ",
    "proto esp spi",
    ": ESP(spi=",
    "INSTALLED, TUNNEL",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_marks() {
        let texts = ["a DROP", "ESTABLISHED", ""];
        let lines: Vec<Line<'_>> = texts
            .iter()
            .zip(1..)
            .map(|(text, number)| Line { number, text })
            .collect();
        let marks = Marks::of(&lines);
        let seen: Vec<bool> = (0..3)
            .map(|at| marks.has(at, mask(&["DROP", "REJECT"])))
            .collect();
        assert_eq!(seen, [true, false, false]);
        assert!(MARKS.len() <= 128);
        assert_eq!(mask(&["not there"]), u128::MAX);
    }
}
