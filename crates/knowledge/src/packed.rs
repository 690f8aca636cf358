// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of `knowledge/`, built into the program: packed by `build.rs`, one pack for each
//! directory, and unpacked on demand.

use std::io::{self, Read as _};

use lzma_rust2::LzmaReader;

/// The files of a directory.
#[derive(Debug, Clone, Copy)]
pub struct Packed {
    /// Name and length in bytes of each, in the order of their names.
    files: &'static [(&'static str, usize)],
    /// All of them, one after the other.
    packed: &'static [u8],
}

impl Packed {
    /// The files' names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// Name and text of each file, in the order of their names.
    #[must_use]
    pub fn unpack(&self) -> Vec<(&'static str, String)> {
        self.each().collect()
    }

    /// The same, one at a time: on a small board all at once are too many.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut reader = self.reader();
        self.files.iter().map_while(move |(name, length)| {
            let mut file = vec![0; *length];
            reader.as_mut().ok()?.read_exact(&mut file).ok()?;
            Some((*name, String::from_utf8_lossy(&file).into_owned()))
        })
    }

    /// All files, one after the other.
    fn reader(&self) -> io::Result<LzmaReader<&'static [u8]>> {
        let bytes: usize = self.files.iter().map(|(_, length)| length).sum();
        let (literal_position_bits, position_bits) = (0, 0);
        let window = u32::try_from(bytes).unwrap_or(u32::MAX);
        LzmaReader::new(
            self.packed,
            bytes as u64,
            LITERAL_CONTEXT_BITS,
            literal_position_bits,
            position_bits,
            window,
            None,
        )
    }
}

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of `bridge.toml` has a line that begins with `#`.
    #[test]
    fn what_was_packed_is_what_the_tree_says() {
        let same = |packed: Packed, name: &str, tree: &str| {
            let unpacked = packed.unpack();
            let text = &unpacked.iter().find(|(one, _)| *one == name).unwrap().1;
            let [text_says, tree_says]: [toml::Table; 2] =
                [text.as_str(), tree].map(|toml| toml.parse().unwrap());
            assert_eq!(text_says, tree_says, "{name}");
            assert!(tree.starts_with('#') && !text.starts_with('#'), "{name}");
        };
        same(
            DRIVERS,
            "veth.toml",
            include_str!("../../../knowledge/drivers/veth.toml"),
        );
        same(
            REASONS,
            "reasons.toml",
            include_str!("../../../knowledge/reasons.toml"),
        );
        same(
            CAUSES,
            "bridge.toml",
            include_str!("../../../knowledge/causes/bridge.toml"),
        );
    }

    #[test]
    fn every_file_is_unpacked() {
        for packed in [DRIVERS, REGISTERS, RULES, REASONS] {
            let unpacked = packed.unpack();
            let names: Vec<_> = unpacked.iter().map(|(name, _)| *name).collect();
            assert!(!names.is_empty());
            assert_eq!(names, packed.names().collect::<Vec<_>>());
        }
    }
}
