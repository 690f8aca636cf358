// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is configured on the machine, as far as it decides which file is effective.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ifupdown, interrupt, networkd};
use linerate_linux::resolution;
use linerate_model::order::Gather as _;

/// A file of configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Its absolute path.
    pub path: String,
    /// All of it.
    pub text: String,
}

impl Config {
    /// The last part of its path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// What udev and sysfs know of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its place, as udev calls it: `pci-0000:00:1f.6`.
    pub id_path: Option<String>,
    /// Which of the device's ports it is: `dev_port`.
    pub port: Option<String>,
    /// Its directory in sysfs, with no link in it.
    pub sysfs: Option<String>,
    /// It has no device.
    pub is_virtual: bool,
    /// The `.link` file that applies to it.
    pub link: Option<Config>,
    /// The `.network` file that systemd-networkd applies to it, and the drop-ins of that.
    pub network: Vec<Config>,
    /// The numbers of its interrupts, where its bus has message-signalled ones.
    pub interrupts: Vec<u32>,
    /// What a virtio device is called, which depends on the order in which such devices are found: `virtio1`.
    pub virtio: Option<String>,
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// They are those of an image, which does not run here.
    pub is_image: bool,
    /// RFC 3339, UTC: now.
    pub date: String,
    /// The version of the systemd that runs this system.
    pub systemd: Option<u32>,
    /// The network namespace of process 1, where that can be read.
    pub netns: Option<u64>,
    /// `/etc/network/interfaces` and the files that it includes, if ifupdown is installed.
    pub ifupdown: Vec<Config>,
    /// `sysctl.d`: of several files with the same name only the one that is read.
    pub sysctls: Vec<Config>,
    /// Profiles of NetworkManager, if it runs.
    pub profiles: Vec<Config>,
    /// The active profile of tuned and those that it includes, if it runs.
    pub tuned: Vec<Config>,
    /// tuned lets `sysctl.d` win.
    pub tuned_reapplies: bool,
    /// Running programs that change settings, as `ps -o comm` calls them.
    pub programs: Vec<String>,
    /// By name.
    pub interfaces: BTreeMap<String, Interface>,
    /// The last column of `/proc/interrupts`, by number.
    pub interrupts: BTreeMap<u32, String>,
    /// The paths of `ethtool`, `ip` and `tc`.
    pub tools: BTreeMap<String, String>,
}

impl Surroundings {
    /// Those of the system below `root`, with these interfaces and running programs. What cannot be read is absent.
    #[must_use]
    pub fn read(root: &Path, interfaces: &[String], programs: Vec<String>) -> Self {
        let runs = |program: &str| programs.iter().any(|name| name == program);
        let tuned = if runs("tuned") {
            tuned(root)
        } else {
            Vec::new()
        };
        let profiles = match runs("NetworkManager") {
            true => PROFILES
                .iter()
                .flat_map(|folder| folder_of(root, folder, ".nmconnection"))
                .collect(),
            false => Vec::new(),
        };
        let mut names = linerate_linux::sysfs::names(&below(root, "/sys/class/net"));
        names.extend(interfaces.iter().cloned());
        let named = names.into_iter().map(|name| {
            let found = interface(root, &name);
            (name, found)
        });
        Self {
            is_image: false,
            date: String::new(),
            systemd: systemd(root),
            netns: netns(root),
            ifupdown: ifupdown::read(root),
            sysctls: sysctls(root),
            profiles,
            tuned,
            tuned_reapplies: reapplies(root),
            interfaces: named.collect(),
            interrupts: interrupts(root),
            tools: tools(root),
            programs,
        }
    }

    /// Those of the image below `root`, for the interfaces and interrupts of this host: what is configured, installed and
    /// enabled there counts, not what runs here. It is treated as one with systemd.
    #[must_use]
    pub fn of_image(self, root: &Path) -> Self {
        let moved = |(name, interface): (String, Interface)| {
            let link = interface.link.as_ref();
            let link = link.and_then(|link| config(root, &link.path));
            let network = interface.network.iter();
            let network = network.filter_map(|file| config(root, &file.path));
            let network = network.collect();
            let interface = Interface {
                link,
                network,
                ..interface
            };
            (name, interface)
        };
        Self {
            is_image: true,
            date: self.date,
            systemd: Some(version(root).unwrap_or(0)),
            netns: None,
            interfaces: self.interfaces.into_iter().map(moved).collect(),
            interrupts: self.interrupts,
            ..Self::read(root, &[], enabled(root))
        }
    }
}

/// The path on this host; one that does not exist if there are too many links.
pub(super) fn below(root: &Path, path: &str) -> PathBuf {
    resolution::below(root, path).unwrap_or_default()
}

/// A link to `/dev/null` masks a file, also in an image that has no devices.
pub(super) fn text(root: &Path, path: &str) -> Option<String> {
    let path = below(root, path);
    match path == root.join("dev/null") {
        true => Some(String::new()),
        false => regular(&path),
    }
}

/// Others read it as bytes; one that is no file, or longer than any configuration, counts as none.
fn regular(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn config(root: &Path, path: &str) -> Option<Config> {
    Some(Config {
        text: text(root, path)?,
        path: path.to_owned(),
    })
}

pub(super) fn is_there(root: &Path, path: &str) -> bool {
    below(root, path).is_file()
}

fn line(root: &Path, path: &str) -> Option<String> {
    let text = text(root, path)?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

pub(super) fn folder_of(root: &Path, folder: &str, suffix: &str) -> Vec<Config> {
    let names = linerate_linux::sysfs::names(&below(root, folder)).into_iter();
    let named = names.filter(|name| name.ends_with(suffix));
    let read = named.filter_map(|name| config(root, &format!("{folder}/{name}")));
    read.collect()
}

/// The first directory with a file of a name wins.
fn sysctls(root: &Path) -> Vec<Config> {
    let mut all: Vec<Config> = Vec::new();
    for folder in SYSCTLS {
        let further = folder_of(root, folder, ".conf");
        let is_new = |file: &Config| all.iter().all(|other| other.name() != file.name());
        let further: Vec<Config> = further.into_iter().filter(is_new).collect();
        all.extend(further);
    }
    all.extend(config(root, "/etc/sysctl.conf"));
    all
}

/// As sd_booted(3) does. If it runs, and its version is unknown: the oldest.
fn systemd(root: &Path) -> Option<u32> {
    let runs = below(root, "/run/systemd/system").is_dir();
    runs.then(|| version(root).unwrap_or(0))
}

/// By the name of its library, which no program has to print.
fn version(root: &Path) -> Option<u32> {
    let multiarch = |base: &str| {
        let names = linerate_linux::sysfs::names(&below(root, base)).into_iter();
        names
            .map(|name| format!("{base}/{name}/systemd"))
            .collect::<Vec<_>>()
    };
    let mut folders = LIBRARIES.map(str::to_owned).to_vec();
    folders.extend(multiarch("/usr/lib"));
    folders.iter().find_map(|folder| {
        let names = linerate_linux::sysfs::names(&below(root, folder));
        names.iter().find_map(|name| {
            let rest = name.strip_prefix("libsystemd-shared-")?;
            let end = rest
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(rest.len());
            rest.get(..end)?.parse().ok()
        })
    })
}

/// Services that a boot starts, as `ps -o comm` would call them: what some target or other unit wants.
fn enabled(root: &Path) -> Vec<String> {
    let names = |folder: &str| linerate_linux::sysfs::names(&below(root, folder)).into_iter();
    let wants = UNITS.iter().flat_map(|folder| {
        let wants = names(folder).filter(|name| name.ends_with(".wants"));
        wants.map(move |name| format!("{folder}/{name}"))
    });
    let units = wants.flat_map(|folder| names(&folder));
    let service = |unit: String| Some(unit.strip_suffix(".service")?.chars().take(COMM).collect());
    units.filter_map(service).collect()
}

fn netns(root: &Path) -> Option<u64> {
    let link = fs::read_link(root.join("proc/1/ns/net")).ok()?;
    let name = link.to_str()?;
    name.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// udev's database: `/run/udev/data/nINDEX`.
fn interface(root: &Path, name: &str) -> Interface {
    let folder = format!("/sys/class/net/{name}");
    let index = line(root, &format!("{folder}/ifindex")).unwrap_or_default();
    let database = text(root, &format!("/run/udev/data/n{index}")).unwrap_or_default();
    let property = |key: &str| {
        let mut lines = database.lines();
        lines.find_map(|line| {
            Some(
                line.strip_prefix("E:")?
                    .strip_prefix(key)?
                    .strip_prefix('=')?
                    .to_owned(),
            )
        })
    };
    let link = property("ID_NET_LINK_FILE");
    let sysfs = fs::canonicalize(below(root, &folder)).ok();
    let sysfs = sysfs
        .as_deref()
        .and_then(|path| path.strip_prefix(root).ok());
    let sysfs = sysfs.map(|path| format!("/{}", path.display()));
    Interface {
        id_path: property("ID_PATH"),
        port: line(root, &format!("{folder}/dev_port")),
        is_virtual: sysfs
            .as_ref()
            .is_some_and(|path| path.starts_with("/sys/devices/virtual/")),
        interrupts: interrupt::numbers(sysfs.as_deref(), root),
        virtio: sysfs.as_deref().and_then(interrupt::virtio),
        network: networkd::applied(root, &index),
        sysfs,
        link: link.and_then(|path| config(root, &path)),
    }
}

fn interrupts(root: &Path) -> BTreeMap<u32, String> {
    let table = text(root, "/proc/interrupts").unwrap_or_default();
    let named = table.lines().filter_map(|line| {
        let (number, rest) = line.trim_start().split_once(':')?;
        let name = rest.split_whitespace().next_back()?;
        Some((number.parse().ok()?, name.to_owned()))
    });
    named.gather()
}

fn tools(root: &Path) -> BTreeMap<String, String> {
    let found = TOOLS.into_iter().filter_map(|name| {
        let mut paths = PATHS.iter().map(|folder| format!("{folder}/{name}"));
        let path = paths.find(|path| is_there(root, path))?;
        Some((name.to_owned(), path))
    });
    found.gather()
}

/// The active profiles, then those that each includes.
fn tuned(root: &Path) -> Vec<Config> {
    let active = text(root, "/etc/tuned/active_profile").unwrap_or_default();
    let mut wanted: Vec<String> = active.split_whitespace().map(str::to_owned).collect();
    let mut all: Vec<Config> = Vec::new();
    while let Some(name) = wanted.pop() {
        let mut paths = TUNED
            .iter()
            .map(|folder| format!("{folder}/{name}/tuned.conf"));
        let found = paths.find_map(|path| config(root, &path));
        let Some(profile) = found.filter(|found| !all.contains(found)) else {
            continue;
        };
        let includes = profile.text.lines().filter_map(|line| {
            let (left, right) = line.split_once('=')?;
            (left.trim() == "include").then_some(right)
        });
        wanted.extend(
            includes
                .flat_map(|names| names.split([',', ' ']))
                .map(str::to_owned),
        );
        wanted.retain(|name| !name.is_empty());
        all.push(profile);
    }
    all
}

fn reapplies(root: &Path) -> bool {
    let text = text(root, "/etc/tuned/tuned-main.conf").unwrap_or_default();
    let set = text.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        (left.trim() == "reapply_sysctl").then_some(right.trim())
    });
    !matches!(set, Some("0" | "False" | "false" | "no"))
}

const LONGEST: u64 = 16 << 20;
const SYSCTLS: [&str; 5] = [
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
];
const UNITS: [&str; 3] = [
    "/etc/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
/// The kernel's TASK_COMM_LEN, less the zero at the end.
const COMM: usize = 15;
const PROFILES: [&str; 2] = [
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
];
const TUNED: [&str; 3] = ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned"];
const LIBRARIES: [&str; 3] = ["/usr/lib/systemd", "/lib/systemd", "/usr/lib64/systemd"];
const PATHS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
const TOOLS: [&str; 3] = ["ethtool", "ip", "tc"];
