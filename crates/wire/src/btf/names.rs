// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where names stand among the strings. One pass finds many.

use super::reader::Reader;

/// Each of the names with the places where it stands as a whole string.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<(String, u32)>, Vec<String>);

impl Places {
    /// Looks for these from one end to the other.
    pub(super) fn find(strings: Reader<'_>, names: &[&str]) -> Self {
        let mut found = Vec::new();
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut at = 0;
        while at < strings.len() {
            let most = buffer.len().min(strings.len() - at);
            let read = strings
                .pages
                .read_at(strings.section.start + at, &mut buffer[..most]);
            let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else {
                break;
            };
            at += Self::within(chunk, at, names, &mut found);
        }
        Self(found, names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The strings that end in this chunk; how many bytes of it are done with.
    fn within(chunk: &[u8], at: usize, names: &[&str], found: &mut Vec<(String, u32)>) -> usize {
        let mut start = 0;
        for string in chunk.split_inclusive(|byte| *byte == 0) {
            let Some((0, string)) = string.split_last() else {
                break;
            };
            if let Some(name) = names.iter().find(|name| name.as_bytes() == string)
                && let Ok(place) = u32::try_from(at + start)
            {
                found.push(((*name).to_owned(), place));
            }
            start += string.len() + 1;
        }
        // A string that is longer than a chunk is no name.
        if start == 0 { chunk.len() } else { start }
    }

    /// Whether `name` was looked for.
    pub(super) fn know(&self, name: &str) -> bool {
        self.1.iter().any(|known| known == name)
    }

    /// Whether it is the string at `place`.
    pub(super) fn has(&self, name: &str, place: u32) -> bool {
        let mut found = self.0.iter();
        found.any(|(known, at)| *at == place && known == name)
    }
}

const CHUNK_BYTES: usize = 32 << 10;
