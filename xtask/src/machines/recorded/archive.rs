// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded files of a NIC: a tar, compressed by LZMA (`NIC.tar.lzma`; `xz` and `tar --lzma` read it). Its bytes follow from its
//! content alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};

use crate::package::File;
use crate::package::archive::{Style, tar};

/// Bytes by path, without a slash at its beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Archive(BTreeMap<String, Vec<u8>>);

impl Archive {
    /// Reads a file; an empty archive if there is none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let packed = match fs::read(path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(|why| format!("{}: {why}", path.display()))?,
        };
        unpacked(&packed).map_err(|why| format!("{}: {why}", path.display()))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let packed = self.packed()?;
        fs::write(path, packed).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// The bytes of a file.
    pub(super) fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    pub(super) fn insert(&mut self, path: String, bytes: Vec<u8>) {
        let _old = self.0.insert(path, bytes);
    }

    pub(super) fn remove(&mut self, path: &str) {
        let _old = self.0.remove(path);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes each file below `directory`.
    pub(super) fn unpack(&self, directory: &Path) -> io::Result<()> {
        for (path, bytes) in &self.0 {
            let path = directory.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    fn packed(&self) -> Result<Vec<u8>, String> {
        let files = self.0.iter();
        let files: Vec<File> = files
            .map(|(path, bytes)| File::new(path, 0o644, bytes.as_slice()))
            .collect();
        let tar = tar(&files, Style::PLAIN, 0)?;
        compressed(&tar).map_err(|why| format!("lzma: {why}"))
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut options = LzmaOptions::with_preset(9);
    // As a table of `knowledge/`: text, in which the position of a letter carries no information.
    (options.lc, options.lp, options.pb) = (4, 0, 0);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64))?;
    writer.write_all(bytes)?;
    writer.finish()
}

fn unpacked(packed: &[u8]) -> io::Result<Archive> {
    let mut tar = tar::Archive::new(LzmaReader::new_mem_limit(packed, MOST_KIB, None)?);
    let mut archive = Archive::default();
    for entry in tar.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let path = entry.path()?.display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            archive.insert(path, bytes);
        }
    }
    Ok(archive)
}

/// The window of preset 9 is 64 MiB.
const MOST_KIB: u32 = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_and_the_bytes_follow_from_them() {
        let make = || {
            let mut archive = Archive::default();
            archive.insert("b/run.json".to_owned(), b"{}".to_vec());
            archive.insert("a".to_owned(), vec![7; 5000]);
            archive
        };
        let packed = make().packed().unwrap();
        assert_eq!(packed, make().packed().unwrap());
        assert!(packed.len() < 1000, "{}", packed.len());
        assert_eq!(unpacked(&packed).unwrap(), make());
        let (short, _) = packed.split_at(packed.len() / 2);
        assert!(unpacked(short).is_err());
    }
}
