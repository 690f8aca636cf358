// SPDX-License-Identifier: MIT OR Apache-2.0
//! Archives whose bytes follow from their content alone: sorted, of root, with one time, without names of hosts.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::File;

/// What a kind of package wants of its tar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Before each path: `./` in a deb, a directory in a tarball.
    pub(crate) prefix: &'static str,
    /// Records of pax before a file: apk stores a checksum.
    pub(crate) pax: fn(&File) -> Vec<(&'static str, String)>,
}

impl Style {
    /// Bare paths, no records.
    pub(crate) const PLAIN: Self = Self {
        prefix: "",
        pax: |_| Vec::new(),
    };

    /// Paths that begin with `./`.
    pub(crate) const DOT: Self = Self {
        prefix: "./",
        ..Self::PLAIN
    };
}

/// A tar of `files` and the directories above them.
pub(crate) fn tar(files: &[File], style: Style, time: u64) -> Result<Vec<u8>, String> {
    write(files, style, time).map_err(|why| format!("write a tar: {why}"))
}

fn write(files: &[File], style: Style, time: u64) -> std::io::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    for directory in directories(files) {
        let path = format!("{}{directory}/", style.prefix);
        let header = header(EntryType::Directory, 0o755, &path, 0, time)?;
        tar.append(&header, &[][..])?;
    }
    for file in sorted(files) {
        let path = format!("{}{}", style.prefix, file.path);
        let records: String = (style.pax)(file).iter().map(record).collect();
        if !records.is_empty() {
            // With a name: apk takes a header without one for the end of the archive.
            let name = format!("PaxHeaders/{path}");
            let header = header(EntryType::XHeader, 0o644, &name, records.len() as u64, time)?;
            tar.append(&header, records.as_bytes())?;
        }
        let size = file.bytes.len() as u64;
        let header = header(EntryType::Regular, file.mode, &path, size, time)?;
        tar.append(&header, file.bytes.as_slice())?;
    }
    tar.into_inner()
}

/// A record of pax(1), "Extended Header": its length counts itself.
pub(super) fn record((name, value): &(&str, String)) -> String {
    let rest = format!(" {name}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

fn header(kind: EntryType, mode: u32, path: &str, size: u64, time: u64) -> std::io::Result<Header> {
    let mut header = Header::new_ustar();
    // The crate's own way drops `./`, which every deb has.
    let name = header.as_old_mut().name.get_mut(..path.len());
    let name = name.ok_or_else(|| std::io::Error::other(format!("{path}: too long a path")))?;
    name.copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_cksum();
    Ok(header)
}

fn sorted(files: &[File]) -> Vec<&File> {
    let mut sorted: Vec<&File> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    sorted
}

/// Every directory above a file, parents first.
pub(crate) fn directories(files: &[File]) -> BTreeSet<&str> {
    files
        .iter()
        .flat_map(|file| {
            file.path
                .match_indices('/')
                .map(|(end, _)| &file.path[..end])
        })
        .collect()
}

/// `bytes`, compressed by gzip, which stores neither a name nor a time.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut gzip = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    gzip.write_all(bytes)
        .and_then(|()| gzip.finish())
        .map_err(|why| format!("gzip: {why}"))
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// `bytes` in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
