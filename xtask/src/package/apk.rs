// SPDX-License-Identifier: MIT OR Apache-2.0
//! An Alpine package of format 2, without a signature: two gzip members, control and data
//! (<https://wiki.alpinelinux.org/wiki/Apk_spec>).

use sha1::{Digest, Sha1};

use super::archive::{self, Style};
use super::{File, LICENSE, MAINTAINER, Release, SUMMARY};

/// The package for `architecture` that installs `files`.
pub(crate) fn build(
    release: &Release,
    architecture: &str,
    files: &[File],
) -> Result<Vec<u8>, String> {
    let data = archive::gzip(&archive::tar(files, DATA, release.time)?)?;
    let info = info(release, architecture, files, &data);
    let info = [File::new(".PKGINFO", 0o644, info)];
    let mut control = archive::tar(&info, Style::PLAIN, release.time)?;
    // The first member is cut before the end marks, as both are read as one tar.
    control.truncate(control.len().saturating_sub(END_MARKS));
    let mut package = archive::gzip(&control)?;
    package.extend(data);
    Ok(package)
}

fn info(release: &Release, architecture: &str, files: &[File], data: &[u8]) -> String {
    let size: usize = files.iter().map(|file| file.bytes.len()).sum();
    let (version, time, hash) = (&release.version, release.time, archive::sha256(data));
    format!(
        "pkgname = linerate\npkgver = {version}-r0\npkgdesc = {SUMMARY}\nbuilddate = {time}\n\
         packager = {MAINTAINER}\nsize = {size}\narch = {architecture}\norigin = linerate\n\
         license = {LICENSE}\ndatahash = {hash}\n"
    )
}

/// apk compares each installed file with the checksum of its record.
const DATA: Style = Style {
    pax: |file| {
        let sum = archive::hex(&Sha1::digest(&file.bytes));
        vec![("APK-TOOLS.checksum.SHA1", sum)]
    },
    ..Style::PLAIN
};

/// Two empty blocks.
const END_MARKS: usize = 1024;
