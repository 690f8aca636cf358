// SPDX-License-Identifier: MIT OR Apache-2.0
//! The disk of a guest: a small Debian 12 with systemd, its kernel's drivers, and linerate.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::debian::{self, Unpacked};
use super::super::image::{self, Image};
use super::super::nic::Board;
use crate::process::{self, last_line};

/// Makes the disk at `disk`, and what boots it.
///
/// # Errors
/// What could not be fetched, read or written.
pub(super) fn made(linerate: &Path, cache: &Path, disk: &Path) -> Result<Image, String> {
    let unpacked = debian::unpacked(Board::Pc, cache)?;
    let root = root(&unpacked)?;
    image::copied(&unpacked, &MODULES, &root)?;
    configured(&root, linerate).map_err(|why| format!("{}: {why}", root.display()))?;
    let _old = fs::remove_file(disk);
    let mut command = Command::new("mke2fs");
    command
        .args(["-q", "-t", "ext4", "-d"])
        .arg(&root)
        .arg(disk)
        .arg(SIZE);
    ended(&mut command)?;
    image::starter(&unpacked, include_bytes!("init.sh"))
}

/// Debian's packages, configured; made once.
fn root(unpacked: &Unpacked) -> Result<PathBuf, String> {
    let root = unpacked.place().join("root");
    let complete = unpacked.place().join("root.complete");
    if fs::read_to_string(&complete).is_ok_and(|made| made == PACKAGES) {
        return Ok(root);
    }
    let _old = fs::remove_dir_all(&root);
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--quiet", "--mode=root", "--variant=minbase"])
        .arg(format!("--include={PACKAGES}"))
        .arg("bookworm")
        .arg(&root);
    ended(&mut command)?;
    fs::write(complete, PACKAGES).map_err(|why| why.to_string())?;
    Ok(root)
}

fn configured(root: &Path, linerate: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    let program = root.join("usr/bin/linerate");
    fs::copy(linerate, &program)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let units = root.join("etc/systemd/system");
    for (link, target) in LINKS {
        let link = units.join(link);
        fs::create_dir_all(link.parent().unwrap_or(root))?;
        let _old = fs::remove_file(&link);
        symlink(target, link)?;
    }
    Ok(())
}

fn ended(command: &mut Command) -> Result<(), String> {
    let ended = process::run(command, LIMIT)?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{}: {}",
            command.get_program().display(),
            last_line(&ended.stderr)
        )),
    }
}

const PACKAGES: &str = "systemd,systemd-sysv,udev,ethtool,kmod,iproute2,procps";
/// Sparse; 300 MB are used.
const SIZE: &str = "1G";
const LIMIT: Duration = Duration::from_secs(1200);
/// What udev and the kernel load by themselves.
const MODULES: [&str; 4] = ["e1000e", "virtio_net", "sch_fq", "sch_fq_codel"];
/// Not empty, so that it is not the first boot.
const FILES: [(&str, &str); 6] = [
    ("etc/machine-id", "d1b0e5f0c1a24f0e8a2b6f7d3c4e5a60\n"),
    ("etc/fstab", ""),
    (
        "etc/systemd/network/50-all.network",
        "[Match]\nType=ether\n[Network]\nLinkLocalAddressing=ipv6\nIPv6AcceptRA=no\n",
    ),
    (
        "etc/systemd/network/10-c.link",
        "[Match]\nPermanentMACAddress=52:54:00:00:00:07\n[Link]\nName=lan0\n",
    ),
    (
        "etc/systemd/system/proof.target",
        "[Unit]\nRequires=multi-user.target proof.service\nAfter=multi-user.target\n",
    ),
    (
        "etc/systemd/system/proof.service",
        "[Unit]\nAfter=multi-user.target network-online.target\nWants=network-online.target\n\
         [Service]\nType=oneshot\nTimeoutStartSec=infinity\nEnvironment=HOME=/root\n\
         ExecStart=/bin/sh -c 'exec sh /dev/vdb >/dev/ttyS0 2>&1'\nExecStopPost=/bin/systemctl poweroff --no-block\n",
    ),
];
const LINKS: [(&str, &str); 5] = [
    (
        "multi-user.target.wants/systemd-networkd.service",
        "/lib/systemd/system/systemd-networkd.service",
    ),
    (
        "network-online.target.wants/systemd-networkd-wait-online.service",
        "/lib/systemd/system/systemd-networkd-wait-online.service",
    ),
    ("getty.target", "/dev/null"),
    ("serial-getty@.service", "/dev/null"),
    ("apt-daily.timer", "/dev/null"),
];
