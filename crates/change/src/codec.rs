// SPDX-License-Identifier: MIT OR Apache-2.0
//! An entry as a line: the CRC-32 (IEEE 802.3) of its JSON in eight digits, a space, the JSON, a newline.

use linerate_model::crc32;

use crate::entry::Entry;

/// What a journal's bytes hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The entries that are whole.
    pub entries: Vec<Entry>,
    /// How the file ends.
    pub tail: Tail,
    /// Lines in the middle that cannot be read, from 1: the disk or a person damaged them.
    pub damaged: Vec<usize>,
}

/// How a journal ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// With a whole entry.
    #[default]
    Whole,
    /// In the middle of an entry, which was being written when the machine stopped: what follows this length is no entry.
    Torn {
        /// The bytes up to there.
        whole_bytes: usize,
    },
}

/// The line of an entry, with its newline.
///
/// # Errors
/// Never for entries of this crate: their keys are strings.
pub fn line(entry: &Entry) -> serde_json::Result<String> {
    let json = serde_json::to_string(entry)?;
    Ok(format!("{:08x} {json}\n", crc32::of(json.as_bytes())))
}

/// Reads a journal. Never fails: what is whole is there, and what is not is reported.
#[must_use]
pub fn contents(bytes: &[u8]) -> Contents {
    let mut all = Contents::default();
    let mut at = 0;
    for (index, piece) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_last = at + piece.len() == bytes.len();
        match parsed(piece) {
            Some(entry) => all.entries.push(entry),
            None if is_last => all.tail = Tail::Torn { whole_bytes: at },
            None => all.damaged.push(index + 1),
        }
        at += piece.len();
    }
    all
}

fn parsed(piece: &[u8]) -> Option<Entry> {
    let piece = piece.strip_suffix(b"\n")?;
    let (sum, json) = (piece.get(..8)?, piece.get(9..)?);
    let sum = u32::from_str_radix(str::from_utf8(sum).ok()?, 16).ok()?;
    (sum == crc32::of(json))
        .then(|| linerate_wire::json::read(json).ok())
        .flatten()
}
