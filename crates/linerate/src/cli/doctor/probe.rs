// SPDX-License-Identifier: MIT OR Apache-2.0
//! The things that are tried. Nothing is changed; a file that is created to see whether it can be
//! is removed again.

use std::fs::{self, OpenOptions};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

use linerate_linux::icmp::Pinger;
use linerate_linux::sandbox::Switch;
use linerate_linux::socket_buffer::SocketBuffer;
use linerate_linux::udp::{self, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode};
use linerate_linux::{cpu, host, proc};
use linerate_model::order;
use linerate_model::units::Bytes;

use super::Check;
use crate::store::Destination;
use linerate_model::date::Date;

/// Every check, in the order in which it is read.
pub(super) fn all() -> Vec<Check> {
    let mut checks = vec![kernel(), processors()];
    checks.extend(capabilities(&proc::read("self/status").unwrap_or_default()));
    checks.push(namespaces(|name| proc::sysctl(name).ok()));
    checks.extend(buffers());
    checks.extend([gso(), gro(), timestamps(), ping(), ipv6()]);
    checks.extend([
        counters(),
        interfaces(),
        congestion(),
        interrupts(),
        wall_clock(),
        store(),
    ]);
    checks
}

fn kernel() -> Check {
    let release = host::describe([]).kernel.unwrap_or_default();
    match version(&release) {
        Some(version) if version < OLDEST_KERNEL => Check::fails(
            "kernel",
            "kernel",
            release,
            "Linux 4.4 or newer; older ones are not tested",
        ),
        Some(_) => Check::works("kernel", "kernel", release),
        None => Check::unknown("kernel", "kernel", release),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn processors() -> Check {
    let host = host::describe([]);
    let model = host.cpu_model.or(host.arch).unwrap_or_default();
    let count = cpu::count();
    match count {
        1 => Check::works(
            "cpus",
            "processors",
            format!("1, {model}: sender and interrupts share it"),
        ),
        _ => Check::works("cpus", "processors", format!("{count}, {model}")),
    }
}

/// `CapEff` of `/proc/self/status`: bits of include/uapi/linux/capability.h.
fn capabilities(status: &str) -> Vec<Check> {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    CAPABILITIES
        .iter()
        .map(|capability| capability.check(effective))
        .collect()
}

struct Capability {
    id: &'static str,
    name: &'static str,
    bits: &'static [u32],
    opens: &'static str,
}

impl Capability {
    fn check(&self, effective: Option<u64>) -> Check {
        let has = |mask: u64| self.bits.iter().any(|bit| mask & (1 << bit) != 0);
        match effective.map(has) {
            Some(true) => Check::works(self.id, self.name, self.opens),
            Some(false) => Check::fails(
                self.id,
                self.name,
                format!("absent: no {}", self.opens),
                SETCAP,
            ),
            None => Check::unknown(self.id, self.name, "/proc/self/status cannot be read"),
        }
    }
}

/// By the switches that forbid them: trying would move this process into one.
fn namespaces(sysctl: impl Fn(&str) -> Option<String>) -> Check {
    let (id, name) = ("userns", "user namespaces");
    let closed = SWITCHES
        .iter()
        .find(|(setting, forbidding, _)| sysctl(setting).as_deref() == Some(*forbidding));
    match closed {
        None => Check::works(id, name, "for the lab, without root"),
        Some((setting, value, switch)) => {
            let remedy = format!("sudo {}      or run the lab as root", switch.command());
            Check::fails(id, name, format!("forbidden by {setting}={value}"), remedy)
        }
    }
}

fn buffers() -> [Check; 2] {
    let options = Options {
        recv_buffer_bytes: Some(BUFFER_BYTES),
        send_buffer_bytes: Some(BUFFER_BYTES),
        ..Options::default()
    };
    let opened = udp::bind(local(), &options).ok();
    let judge = |id, name, setting: &str, buffer: Option<SocketBuffer>| match buffer {
        None => Check::unknown(id, name, "no UDP socket can be opened"),
        Some(granted) if granted.is_short() => Check::fails(
            id,
            name,
            format!("only {} is granted", Bytes(granted.granted_bytes as u64)),
            format!("sudo sysctl -w {setting}={BUFFER_BYTES}"),
        ),
        Some(granted) => Check::works(
            id,
            name,
            format!("{} granted", Bytes(granted.granted_bytes as u64)),
        ),
    };
    let receive = opened.as_ref().map(|opened| opened.recv_buffer);
    let send = opened.as_ref().map(|opened| opened.send_buffer);
    [
        judge("rmem", "4 MiB receive buffer", "net.core.rmem_max", receive),
        judge("wmem", "4 MiB send buffer", "net.core.wmem_max", send),
    ]
}

/// The kernel may take the option and refuse the first send: so one super-datagram is sent.
fn gso() -> Check {
    let (id, name) = ("udp-gso", "UDP_SEGMENT (send)");
    let tried = || {
        let sink = UdpSocket::bind(local())?;
        let socket = UdpSocket::bind(local())?;
        socket.connect(sink.local_addr()?)?;
        let mut sender = Sender::new(socket.into(), 100, 2, TxMode::Gso)?;
        sender.send(0..2);
        std::io::Result::Ok(sender.mode())
    };
    match tried() {
        Ok(TxMode::Gso) => Check::works(id, name, "the kernel segments"),
        Ok(_) => Check::fails(
            id,
            name,
            "not in this kernel",
            "Linux 4.18 or newer; tests use sendmmsg instead",
        ),
        Err(error) => Check::unknown(id, name, error.to_string()),
    }
}

fn gro() -> Check {
    let (id, name) = ("udp-gro", "UDP_GRO (receive)");
    match receiver(RxMode::Gro).map(|receiver| receiver.mode()) {
        Ok(RxMode::Gro) => Check::works(id, name, "the kernel coalesces datagrams"),
        Ok(_) => Check::fails(
            id,
            name,
            "not in this kernel",
            "Linux 5.0 or newer; tests use recvmmsg instead",
        ),
        Err(error) => Check::unknown(id, name, error.to_string()),
    }
}

fn timestamps() -> Check {
    let (id, name) = ("timestamps", "kernel timestamps");
    match receiver(RxMode::Mmsg).map(|receiver| receiver.has_timestamps()) {
        Ok(true) => Check::works(id, name, "on arrival"),
        Ok(false) => Check::fails(
            id,
            name,
            "refused: the arrival time is the time of the read",
            "a kernel with SO_TIMESTAMPNS; spacing and jitter are coarser until then",
        ),
        Err(error) => Check::unknown(id, name, error.to_string()),
    }
}

fn receiver(mode: RxMode) -> std::io::Result<Receiver> {
    let socket = UdpSocket::bind(local())?;
    Receiver::new(socket.into(), ReceiverConfig::new(2048, 4, mode))
}

fn ping() -> Check {
    let (id, name) = ("ping", "ICMP echo");
    match Pinger::open(IpAddr::V4(Ipv4Addr::LOCALHOST), None) {
        Ok(pinger) if pinger.is_raw() => Check::works(id, name, "by a raw socket"),
        Ok(_) => Check::works(id, name, "by a ping socket"),
        Err(error) => Check::fails(
            id,
            name,
            error.to_string(),
            "sudo sysctl -w net.ipv4.ping_group_range='0 2147483647'",
        ),
    }
}

fn ipv6() -> Check {
    let (id, name) = ("ipv6", "IPv6");
    match UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => Check::works(id, name, "the loopback has it"),
        Err(error) => Check::fails(
            id,
            name,
            error.to_string(),
            "sudo sysctl -w net.ipv6.conf.all.disable_ipv6=0",
        ),
    }
}

fn counters() -> Check {
    let (id, name) = ("proc", "/proc counters");
    let missing: Vec<&str> = ["snmp", "netstat", "softnet_stat", "dev"]
        .into_iter()
        .filter(|table| proc::net(table).is_err())
        .chain(proc::read("stat").is_err().then_some("stat"))
        .collect();
    if missing.is_empty() {
        Check::works(id, name, "readable")
    } else {
        Check::fails(
            id,
            name,
            format!("not readable: {}", missing.join(", ")),
            "mount -t proc proc /proc",
        )
    }
}

fn interfaces() -> Check {
    let (id, name) = ("sys", "/sys/class/net");
    match fs::read_dir("/sys/class/net") {
        Ok(entries) => {
            let mut names: Vec<String> = entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            order::by(&mut names, Ord::cmp);
            names.truncate(LISTED_MAX);
            Check::works(id, name, names.join(" "))
        }
        Err(error) => Check::fails(id, name, error.to_string(), "mount -t sysfs sysfs /sys"),
    }
}

fn congestion() -> Check {
    let (id, name) = ("congestion", "congestion controls");
    match proc::sysctl("net.ipv4.tcp_available_congestion_control") {
        Ok(available) => Check::works(id, name, available),
        Err(error) => Check::unknown(id, name, error.to_string()),
    }
}

fn interrupts() -> Check {
    let (id, name) = ("irq", "interrupts");
    match proc::read("interrupts") {
        Ok(text) => {
            let lines = text.lines().skip(1).count();
            Check::works(id, name, format!("{lines} lines in /proc/interrupts"))
        }
        Err(error) => Check::unknown(id, name, error.to_string()),
    }
}

fn wall_clock() -> Check {
    let (id, name) = ("clock", "wall clock");
    if Date::at(linerate_linux::clock::wall_ns()).trusted() {
        Check::works(id, name, "set")
    } else {
        Check::fails(
            id,
            name,
            "not set: runs will have dates in 1970",
            "sudo date -s '2026-01-31 12:00'      or run NTP",
        )
    }
}

fn store() -> Check {
    let (id, name) = ("store", "runs are stored");
    let remedy = "set HOME or XDG_STATE_HOME, or give -o DIR";
    match Destination::chosen(None) {
        Destination::Nowhere(why) => Check::fails(id, name, why, remedy),
        Destination::Directory(directory)
        | Destination::Again(directory)
        | Destination::Runs(directory) => match writable(&directory) {
            Ok(()) => Check::works(id, name, format!("in {}", directory.display())),
            Err(error) => Check::fails(
                id,
                name,
                format!("not in {}: {error}", directory.display()),
                remedy,
            ),
        },
    }
}

/// Creates and removes a file in the directory, or in the nearest one above that exists.
fn writable(directory: &Path) -> std::io::Result<()> {
    let existing = directory
        .ancestors()
        .find(|path| path.is_dir())
        .unwrap_or(Path::new("/"));
    let file: PathBuf = existing.join(format!(".linerate-doctor-{}", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&file)?;
    fs::remove_file(file)
}

fn local() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

const OLDEST_KERNEL: (u32, u32) = (4, 4);
/// What loses nothing at 6 Gbit/s.
const BUFFER_BYTES: usize = 4 << 20;
const LISTED_MAX: usize = 12;

const SETCAP: &str =
    "sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon+ep $(command -v linerate)";

const CAPABILITIES: &[Capability] = &[
    Capability {
        id: "cap-net-raw",
        name: "CAP_NET_RAW",
        bits: &[13],
        opens: "raw sockets and packet sockets",
    },
    Capability {
        id: "cap-net-admin",
        name: "CAP_NET_ADMIN",
        bits: &[12],
        opens: "buffers beyond net.core.rmem_max",
    },
    Capability {
        id: "cap-bpf",
        name: "CAP_BPF",
        // CAP_SYS_ADMIN (21) includes it, and is all there is before Linux 5.8.
        bits: &[39, 21],
        opens: "kernel drop reasons",
    },
];

const SWITCHES: &[(&str, &str, Switch)] = &[
    (
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        Switch::AppArmor,
    ),
    ("kernel.unprivileged_userns_clone", "0", Switch::Clone),
    ("user.max_user_namespaces", "0", Switch::Limit),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels() {
        for (release, wanted) in [
            ("6.1.0-13-amd64", (6, 1)),
            ("4.4.302+", (4, 4)),
            ("5.15-rc1", (5, 15)),
        ] {
            assert_eq!(version(release), Some(wanted), "{release}");
        }
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn capabilities_are_read_bit_by_bit() {
        let works = |status: &str| {
            capabilities(status)
                .iter()
                .map(|check| check.works)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            works("Name:\tx\nCapEff:\t000001ffffffffff\n"),
            [Some(true); 3]
        );
        assert_eq!(
            works("CapEff:\t0000000000002000\n"),
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!(
            works("CapEff:\t0000000000200000\n"),
            [Some(false), Some(false), Some(true)],
            "CAP_SYS_ADMIN"
        );
        assert_eq!(works("garbage"), [None; 3]);
    }

    #[test]
    fn the_switch_that_forbids_namespaces_is_named_with_its_command() {
        let ubuntu = |name: &str| {
            (name == "kernel.apparmor_restrict_unprivileged_userns").then(|| "1".to_owned())
        };
        let check = namespaces(ubuntu);
        assert_eq!(check.works, Some(false));
        let remedy = check.try_.unwrap();
        assert!(
            remedy.contains("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
            "{remedy}"
        );
        assert_eq!(namespaces(|_| None).works, Some(true));
    }
}
