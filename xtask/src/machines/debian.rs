// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's kernel and programs for a guest, unpacked below the place of all results. Its packages come through an apt
//! configuration of their own: this machine's package database never learns of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::nic::Board;
use crate::process::{self, last_line};

/// Packages of one architecture, unpacked.
#[derive(Debug)]
pub(crate) struct Unpacked {
    place: PathBuf,
    /// As the kernel calls itself: `6.1.0-56-amd64`.
    pub(crate) kernel: String,
}

impl Unpacked {
    /// The kernel and its modules.
    pub(crate) fn of_kernel(&self) -> PathBuf {
        self.place.join("kernel")
    }

    /// Programs and their libraries.
    pub(crate) fn of_programs(&self) -> PathBuf {
        self.place.join("programs")
    }

    /// What the emulator boots.
    pub(crate) fn image(&self) -> PathBuf {
        self.of_kernel()
            .join(format!("boot/vmlinuz-{}", self.kernel))
    }

    /// Where files made of them are kept.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }
}

/// Fetches missing packages, and unpacks them.
///
/// # Errors
/// What apt or dpkg complained about.
pub(crate) fn unpacked(board: Board, cache: &Path) -> Result<Unpacked, String> {
    let place = cache.join(board.architecture());
    let wanted = programs();
    if let Some(kernel) = kernel_below(&place)
        && fs::read_to_string(place.join("complete")).is_ok_and(|unpacked| unpacked == wanted)
    {
        return Ok(Unpacked { place, kernel });
    }
    let apt = Apt::new(board.architecture(), &place).map_err(|why| format!("{why}"))?;
    let packages = place.join("packages");
    apt.fetch(board, &packages)?;
    unpack(&packages, &place)?;
    let kernel = kernel_below(&place).ok_or("the kernel's package has no modules")?;
    fs::write(place.join("complete"), wanted).map_err(|why| why.to_string())?;
    Ok(Unpacked { place, kernel })
}

/// Which packages are unpacked, apart from the kernel.
pub(crate) fn programs() -> String {
    PACKAGES.concat().join(" ")
}

fn kernel_below(place: &Path) -> Option<String> {
    let modules = fs::read_dir(place.join("kernel/lib/modules")).ok()?;
    let names = modules.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.max()
}

/// apt with lists, state and architecture of its own.
struct Apt {
    configuration: PathBuf,
}

impl Apt {
    fn new(architecture: &str, place: &Path) -> std::io::Result<Self> {
        let apt = place.join("apt");
        for directory in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(apt.join(directory))?;
        }
        let status = apt.join("status");
        fs::write(&status, "")?;
        let [state, cache] = ["state", "cache"].map(|name| apt.join(name).display().to_string());
        let configuration = apt.join("apt.conf");
        let text = format!(
            "Dir::State \"{state}\";\nDir::State::status \"{}\";\nDir::Cache \"{cache}\";\n\
             APT::Architecture \"{architecture}\";\nAPT::Architectures {{ \"{architecture}\"; }};\n\
             APT::Sandbox::User \"root\";\nAcquire::http::Timeout \"30\";\nAcquire::Retries \"2\";\n",
            status.display()
        );
        fs::write(&configuration, text)?;
        Ok(Self { configuration })
    }

    fn fetch(&self, board: Board, packages: &Path) -> Result<(), String> {
        fs::create_dir_all(packages).map_err(|why| why.to_string())?;
        // One list that is out of date leaves the others usable: what is missing shows when it is downloaded.
        if let Err(why) = self.run("apt-get", &["-qq", "update"], packages) {
            println!("{}: {why}", board.architecture());
        }
        let shown = self.run("apt-cache", &["depends", board.kernel()], packages)?;
        let kernel = shown
            .lines()
            .find_map(|line| line.trim().strip_prefix("Depends: "))
            .filter(|name| name.starts_with("linux-image-"))
            .ok_or_else(|| format!("no package {} in the lists", board.kernel()))?;
        for package in PACKAGES.concat().iter().chain([&kernel]) {
            self.download(package, packages)?;
        }
        Ok(())
    }

    fn download(&self, package: &str, packages: &Path) -> Result<(), String> {
        let files = fs::read_dir(packages).map_err(|why| why.to_string())?;
        let prefix = format!("{package}_");
        let mut names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        if names.any(|name| name.starts_with(&prefix)) {
            return Ok(());
        }
        self.run("apt-get", &["-qq", "download", package], packages)
            .map(drop)
    }

    fn run(&self, program: &str, words: &[&str], place: &Path) -> Result<String, String> {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(place)
            .env("APT_CONFIG", &self.configuration);
        let ended = process::run(&mut command, LIMIT)?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let what = words.join(" ");
        Err(format!("{program} {what}: {}", last_line(&ended.stderr)))
    }
}

fn unpack(packages: &Path, place: &Path) -> Result<(), String> {
    for directory in ["kernel", "programs"] {
        let directory = place.join(directory);
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(|why| why.to_string())?;
        }
        fs::create_dir_all(&directory).map_err(|why| why.to_string())?;
    }
    for file in fs::read_dir(packages).map_err(|why| why.to_string())? {
        let path = file.map_err(|why| why.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let of_the_kernel = name.starts_with("linux-image-");
        let to = place.join(if of_the_kernel { "kernel" } else { "programs" });
        let ended = process::run(Command::new("dpkg").arg("-x").arg(&path).arg(to), LIMIT)?;
        if !ended.status.success() {
            return Err(format!("dpkg -x {name}: {}", last_line(&ended.stderr)));
        }
    }
    Ok(())
}

/// Programs of Debian 12, with the libraries that they need.
const PACKAGES: [&[&str]; 2] = [MEASURING, FILTERING];

/// busybox, dropbear, ethtool, iperf3 and iproute2.
const MEASURING: &[&str] = &[
    "busybox-static",
    "dropbear-bin",
    "ethtool",
    "iperf3",
    "iproute2",
    "libbpf1",
    "libbsd0",
    "libc6",
    "libcap2",
    "libcom-err2",
    "libcrypt1",
    "libdb5.3",
    "libelf1",
    "libgcc-s1",
    "libgssapi-krb5-2",
    "libiperf0",
    "libk5crypto3",
    "libkeyutils1",
    "libkrb5-3",
    "libkrb5support0",
    "libmd0",
    "libmnl0",
    "libpcre2-8-0",
    "libsctp1",
    "libselinux1",
    "libssl3",
    "libtirpc3",
    "libtomcrypt1",
    "libtommath1",
    "libxtables12",
    "zlib1g",
];

/// nft.
const FILTERING: &[&str] = &[
    "libedit2",
    "libgmp10",
    "libjansson4",
    "libnftables1",
    "libnftnl11",
    "libtinfo6",
    "nftables",
];

/// The kernel is 70 MB.
const LIMIT: Duration = Duration::from_secs(600);
