// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a guest boots: kernel, initramfs and, of a board, its device tree.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::cpio::Archive;
use super::debian::{self, Unpacked};
use super::nic::{Board, NICS};
use crate::process::{self, last_line};

/// Files for the emulator.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) board: Board,
    pub(crate) kernel: PathBuf,
    pub(crate) initramfs: PathBuf,
    pub(crate) device_tree: Option<PathBuf>,
}

/// Makes the image of `board` with this linerate in it, in `cache`.
///
/// # Errors
/// What could not be fetched, read or written.
pub(crate) fn image(board: Board, linerate: &Path, cache: &Path) -> Result<Image, String> {
    let unpacked = debian::unpacked(board, cache)?;
    let initramfs = unpacked.place().join("initramfs.gz");
    let base = unpacked.place().join("base.gz");
    let nics = NICS.iter().flat_map(|nic| nic.modules).copied();
    let modules = modules(&unpacked, &nics.chain(ALSO).collect::<Vec<_>>())?;
    let contents = unpacked.place().join("base.contents");
    let wanted = format!("{}\n{}", debian::programs(), modules.join("\n"));
    let is_of_these = fs::read_to_string(&contents).is_ok_and(|made| made == wanted);
    if !base.exists() || !is_of_these {
        of_debian(&unpacked, &ALL, &modules, &base)
            .and_then(|()| fs::write(&contents, &wanted))
            .map_err(|why| format!("{}: {why}", base.display()))?;
    }
    with_our_own(&base, linerate, &initramfs)
        .map_err(|why| format!("{}: {why}", initramfs.display()))?;
    with_files(board, &unpacked, initramfs)
}

fn with_files(board: Board, unpacked: &Unpacked, initramfs: PathBuf) -> Result<Image, String> {
    Ok(Image {
        board,
        kernel: unpacked.image(),
        initramfs,
        device_tree: match board {
            Board::Pc | Board::Pc32 | Board::Mainframe => None,
            Board::SabreLite => Some(device_tree(unpacked)?),
        },
    })
}

/// What of Debian's packages is in an image.
struct Wanted {
    program: fn(&str) -> bool,
    /// Of what lies next to the modules.
    index: fn(&str) -> bool,
}

const ALL: Wanted = Wanted {
    program: |name| {
        !UNUSED.iter().any(|unused| name.starts_with(unused)) && !name.ends_with("/gconv")
    },
    index: |name| name.starts_with("/modules."),
};

/// For a machine whose memory is short.
const LEAST: Wanted = Wanted {
    program: |name| ["bin", "bin/busybox"].contains(&name),
    index: |name| name == "/modules.dep",
};

/// Makes a small image of `board`: busybox, these modules and this linerate.
///
/// # Errors
/// As [`image`].
pub(crate) fn least(
    board: Board,
    wanted: &[&str],
    linerate: &Path,
    cache: &Path,
) -> Result<Image, String> {
    let unpacked = debian::unpacked(board, cache)?;
    let modules = modules(&unpacked, wanted)?;
    let base = unpacked.place().join("least.gz");
    let initramfs = unpacked.place().join("small.gz");
    of_debian(&unpacked, &LEAST, &modules, &base)
        .and_then(|()| with_our_own(&base, linerate, &initramfs))
        .map_err(|why| format!("{}: {why}", initramfs.display()))?;
    with_files(board, &unpacked, initramfs)
}

/// What starts a PC from its first virtio disk: busybox, the modules for that, and this script.
///
/// # Errors
/// As [`image`].
pub(super) fn starter(unpacked: &Unpacked, init: &[u8]) -> Result<Image, String> {
    let modules = modules(unpacked, &STARTS)?;
    let initramfs = unpacked.place().join("starter.gz");
    let made = || {
        of_debian(unpacked, &LEAST, &modules, &initramfs)?;
        let out = File::options().append(true).open(&initramfs)?;
        let mut archive = Archive::new(GzEncoder::new(out, Compression::fast()));
        archive.program("init", init)?;
        archive.end()?.finish()?.flush()
    };
    made().map_err(|why| format!("{}: {why}", initramfs.display()))?;
    with_files(Board::Pc, unpacked, initramfs)
}

/// Copies these modules, those that they need, and their index to where a root directory has them.
///
/// # Errors
/// As [`image`].
pub(super) fn copied(unpacked: &Unpacked, wanted: &[&str], root: &Path) -> Result<(), String> {
    let directory = format!("lib/modules/{}", unpacked.kernel);
    let of_kernel = unpacked.of_kernel();
    let mut files = modules(unpacked, wanted)?;
    let index = fs::read_dir(of_kernel.join(&directory)).map_err(|why| why.to_string())?;
    let names = index.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter(|name| name.starts_with("modules."));
    files.extend(names.map(|name| format!("{directory}/{name}")));
    let copy = |file: &String| {
        let to = root.join(file);
        fs::create_dir_all(to.parent().unwrap_or(root))?;
        fs::copy(of_kernel.join(file), to)
    };
    let copied: io::Result<Vec<u64>> = files.iter().map(copy).collect();
    copied
        .map(drop)
        .map_err(|why| format!("{}: {why}", root.display()))
}

/// Debian's programs and modules: the same for each run.
fn of_debian(
    unpacked: &Unpacked,
    wanted: &Wanted,
    modules: &[String],
    base: &Path,
) -> io::Result<()> {
    let new = base.with_extension("new");
    let mut archive = Archive::new(GzEncoder::new(File::create(&new)?, Compression::fast()));
    archive.tree(&unpacked.of_programs(), &wanted.program)?;
    let directory = format!("lib/modules/{}", unpacked.kernel);
    archive.tree(&unpacked.of_kernel(), &|name| {
        let is_above = |wanted: &String| wanted.starts_with(&format!("{name}/"));
        let is_index = name
            .strip_prefix(&directory)
            .is_some_and(|rest| (wanted.index)(rest) || rest.is_empty());
        ["lib", "lib/modules"].contains(&name)
            || is_index
            || modules
                .iter()
                .any(|wanted| wanted == name || is_above(wanted))
    })?;
    archive.end()?.finish()?.flush()?;
    fs::rename(new, base)
}

/// A second archive after the first: the kernel unpacks both.
fn with_our_own(base: &Path, linerate: &Path, to: &Path) -> io::Result<()> {
    let mut out = File::create(to)?;
    io::copy(&mut File::open(base)?, &mut out)?;
    let mut archive = Archive::new(GzEncoder::new(out, Compression::fast()));
    for directory in ["bin", "opt", "etc", "sys", "proc", "dev"] {
        archive.directory(directory)?;
    }
    archive.program("init", include_bytes!("init.sh"))?;
    archive.program("opt/linerate", &fs::read(linerate)?)?;
    archive.program("etc/passwd", b"root:x:0:0::/:/bin/sh\n")?;
    archive.program("etc/hosts", b"127.0.0.1 localhost\n")?;
    archive.end()?.finish()?.flush()
}

/// Names of the wanted modules' files, and of those that they need.
fn modules(unpacked: &Unpacked, wanted: &[&str]) -> Result<Vec<String>, String> {
    let mut command = Command::new("depmod");
    command
        .arg("-b")
        .arg(unpacked.of_kernel())
        .arg(&unpacked.kernel);
    let ended = process::run(&mut command, LIMIT)?;
    if !ended.status.success() {
        return Err(format!("depmod: {}", last_line(&ended.stderr)));
    }
    let directory = format!("lib/modules/{}", unpacked.kernel);
    let index = unpacked.of_kernel().join(&directory).join("modules.dep");
    let text = fs::read_to_string(&index).map_err(|why| format!("{}: {why}", index.display()))?;
    let files = needed(&text, wanted);
    Ok(files.map(|file| format!("{directory}/{file}")).collect())
}

/// Of `modules.dep`, the files of the wanted modules and of those that they need. What is built in is not in it.
fn needed<'a>(index: &'a str, wanted: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let lines = index.lines().filter_map(|line| line.split_once(':'));
    let is_wanted = |file: &str| wanted.iter().any(|name| same(name, module_of(file)));
    lines
        .filter(move |(file, _)| is_wanted(file))
        .flat_map(|(file, others)| [file].into_iter().chain(others.split_whitespace()))
}

/// `kernel/drivers/net/tulip.ko.xz` is `tulip`.
fn module_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}

/// `-` and `_` are the same in a module's name.
fn same(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

/// The board's, without the DMA of its serial port: QEMU has no such engine, and the port would wait for it.
fn device_tree(unpacked: &Unpacked) -> Result<PathBuf, String> {
    let of_debian = unpacked.of_kernel().join(format!(
        "usr/lib/linux-image-{}/imx6q-sabrelite.dtb",
        unpacked.kernel
    ));
    let ours = unpacked.place().join("sabrelite.dtb");
    fs::copy(&of_debian, &ours).map_err(|why| format!("{}: {why}", of_debian.display()))?;
    let mut command = Command::new("fdtput");
    command.arg("-d").arg(&ours).args([
        "/soc/bus@2000000/spba-bus@2000000/serial@2020000",
        "dmas",
        "dma-names",
    ]);
    let ended = process::run(&mut command, LIMIT)?;
    match ended.status.success() {
        true => Ok(ours),
        false => Err(format!("fdtput: {}", last_line(&ended.stderr))),
    }
}

/// What no program of a guest reads.
const UNUSED: [&str; 5] = ["usr/share", "usr/lib/tc", "etc", "var", "usr/include"];

/// Modules of the network apart from drivers: what a person sets or provokes in a guest.
const ALSO: [&str; 31] = [
    "8021q",
    "act_mirred",
    "act_police",
    "bonding",
    "bridge",
    "cls_matchall",
    "cls_u32",
    // What libcrc32c, and with it nf_tables, computes with.
    "crc32c_generic",
    "dummy",
    "ifb",
    "imx2_wdt",
    "inet_diag",
    "nf_conntrack",
    "nf_flow_table",
    "nf_flow_table_inet",
    "nf_tables",
    "nft_ct",
    "nft_flow_offload",
    "sch_fq",
    "sch_fq_codel",
    "sch_htb",
    "sch_ingress",
    "sch_netem",
    "sch_prio",
    "sch_tbf",
    "tcp_bbr",
    "tcp_diag",
    "udp_diag",
    "tun",
    "veth",
    "virtio_console",
];

const STARTS: [&str; 4] = ["virtio_pci", "virtio_blk", "ext4", "crc32c_generic"];

const LIMIT: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_with_what_it_needs() {
        let index = "kernel/drivers/net/mii.ko:\n\
                     kernel/drivers/net/e100.ko.xz: kernel/drivers/net/mii.ko\n\
                     kernel/drivers/net/ne2k-pci.ko: kernel/drivers/net/8390.ko\n";
        let files: Vec<&str> = needed(index, &["e100", "ne2k_pci"]).collect();
        assert_eq!(
            files,
            [
                "kernel/drivers/net/e100.ko.xz",
                "kernel/drivers/net/mii.ko",
                "kernel/drivers/net/ne2k-pci.ko",
                "kernel/drivers/net/8390.ko"
            ]
        );
    }
}
