// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Debian binary package: deb(5), deb-control(5), Debian Policy §6 and §9.3.

use md5::{Digest, Md5};

use super::archive::{self, Style};
use super::{DESCRIPTION, File, MAINTAINER, Release, SUMMARY};

/// The package for `architecture` that installs `files`.
pub(crate) fn build(
    release: &Release,
    architecture: &str,
    files: &[File],
) -> Result<Vec<u8>, String> {
    let control = control(release, architecture, files);
    let packed = |files: &[File]| {
        archive::tar(files, Style::DOT, release.time).and_then(|tar| archive::gzip(&tar))
    };
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", packed(&control)?),
        ("data.tar.gz", packed(files)?),
    ];
    Ok(ar(&members, release.time))
}

fn control(release: &Release, architecture: &str, files: &[File]) -> Vec<File> {
    vec![
        File::new("control", 0o644, fields(release, architecture, files)),
        File::new("md5sums", 0o644, md5sums(files)),
        File::new("postinst", 0o755, POSTINST),
        File::new("prerm", 0o755, PRERM),
        File::new("postrm", 0o755, POSTRM),
    ]
}

fn fields(release: &Release, architecture: &str, files: &[File]) -> String {
    let kib: usize = files
        .iter()
        .map(|file| file.bytes.len().div_ceil(1024))
        .sum();
    let description: String = DESCRIPTION
        .lines()
        .map(|line| format!(" {line}\n"))
        .collect();
    format!(
        "Package: linerate\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {kib}\nSection: net\nPriority: optional\nDescription: {SUMMARY}\n{description}",
        release.version
    )
}

fn md5sums(files: &[File]) -> String {
    let line = |file: &File| {
        format!(
            "{}  {}\n",
            archive::hex(&Md5::digest(&file.bytes)),
            file.path
        )
    };
    files.iter().map(line).collect()
}

/// The archive of ar(5): names, one time, root, regular files.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let length = content.len();
        let header = format!(
            "{name:<16}{time:<12}{:<6}{:<6}{:<8}{length:<10}`\n",
            0, 0, "100644"
        );
        bytes.extend(header.bytes());
        bytes.extend(content);
        bytes.extend((length % 2 == 1).then_some(b'\n'));
    }
    bytes
}

/// Nothing is enabled or started; a running server continues with the new program.
const POSTINST: &str = "\
#!/bin/sh
set -e
# Installing starts nothing. A server that was started by hand is restarted by an upgrade.
if [ \"$1\" = configure ] && [ -n \"$2\" ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    deb-systemd-invoke try-restart linerate.service >/dev/null || true
fi
";

const PRERM: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop linerate.service >/dev/null || true
fi
";

const POSTRM: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = purge ]; then
    rm -f /etc/systemd/system/multi-user.target.wants/linerate.service
fi
if [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
";
