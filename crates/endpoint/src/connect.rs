// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolves and connects to the server; errors say what to try.

use super::plan::{Family, PathNotes, TestPlan};
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::errno;
use linerate_linux::signal::Interrupt;
use linerate_linux::tcp::{self, Connected, Options};
use linerate_model::failure::Failure;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Returns the server's addresses of the requested family, in the resolver's order.
pub(super) fn resolve(plan: &TestPlan) -> Result<Vec<SocketAddr>, Failure> {
    let found = (plan.host.as_str(), plan.port)
        .to_socket_addrs()
        .map_err(|error| {
            Failure::measuring(format!("resolve {}", plan.host), resolver(&error)).hint(format!(
                "getent hosts {}   or the server's address instead of its name",
                plan.host
            ))
        })?;
    let wanted = |address: &SocketAddr| match plan.family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    let all: Vec<_> = found
        .filter(wanted)
        .filter(|address| fits_local(address, plan.bind_address))
        .collect();
    if all.is_empty() {
        return Err(Failure::measuring(
            format!("resolve {}", plan.host),
            "it has no address of the requested family",
        )
        .hint("omit -4 or -6, or use a --bind address of the other family"));
    }
    match all.iter().any(|address| lacks_interface(address, plan)) {
        true => Err(without_interface(&plan.host)),
        false => Ok(all),
    }
}

/// The resolver's words, without what the standard library says before them.
fn resolver(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.strip_prefix("failed to lookup address information: ");
    words.unwrap_or(&text).to_owned()
}

/// A link-local address is that of one link: the kernel refuses it (EINVAL) without the interface (RFC 4007, 4).
fn lacks_interface(address: &SocketAddr, plan: &TestPlan) -> bool {
    match address {
        SocketAddr::V6(six) => {
            six.ip().is_unicast_link_local() && six.scope_id() == 0 && plan.bind_device.is_none()
        }
        SocketAddr::V4(_) => false,
    }
}

fn without_interface(host: &str) -> Failure {
    let why = "the address is link-local, and its interface is not named";
    let hint = format!("{host}%IFACE, such as {host}%eth0; `ip link` lists the interfaces");
    Failure::usage(format!("reach {host}"), why).hint(hint)
}

/// A control connection to the first address that answers. A stock server closes its listener for
/// an instant between tests: a refusal is tried again a few times.
pub fn control(plan: &TestPlan, interrupt: &Interrupt) -> Result<(Connected, SocketAddr), Failure> {
    let mut last = None;
    for address in resolve(plan)? {
        match connect_with_retries(plan, address, interrupt) {
            Ok(connected) => return Ok((connected, address)),
            Err(error) => last = Some((address, error)),
        }
        if interrupt.requested().is_some() {
            break;
        }
    }
    match last {
        Some((address, error)) => Err(explain(plan, address, &error)),
        None => Err(Failure::interrupted(format!("connect to {}", plan.host))),
    }
}

/// The local end of a data connection: `--bind` and `--cport` (streams count up from it).
pub(super) fn local(plan: &TestPlan, server: SocketAddr, index: u32) -> Option<SocketAddr> {
    let port = plan
        .client_port
        .map_or(0, |port| port.wrapping_add(index as u16));
    match plan.bind_address {
        Some(address) => Some((address, port).into()),
        None if port == 0 => None,
        None if server.is_ipv4() => Some((IpAddr::from([0, 0, 0, 0]), port).into()),
        None => Some((IpAddr::from([0_u16; 8]), port).into()),
    }
}

/// Connects, trying again after refusals that may be a stock server between two tests, and after silence of a peer that
/// has answered before: a path that loses packets in bursts loses every SYN of a try.
pub(super) fn connect_with_retries(
    plan: &TestPlan,
    address: SocketAddr,
    interrupt: &Interrupt,
) -> io::Result<Connected> {
    let options = Options {
        local: plan.bind_address.map(|address| (address, 0).into()),
        bind_device: plan.bind_device.clone(),
        nodelay: true,
        dead_peer_timeout: Some(DEAD_PEER),
        mss_bytes: plan.path.stalled_mss_bytes().map(|_| SHORT_MSS),
        ..Options::default()
    };
    let timeout = Duration::from_millis(plan.connect_timeout_ms);
    let connect = || {
        tcp::connect(address, &options, timeout, || {
            interrupt.requested().is_some()
        })
    };
    let mut tries = Tries::of(&plan.path);
    loop {
        match connect() {
            Err(error) if tries.allow_another(error.kind()) => {
                sleep_until_ns(monotonic_ns() + PAUSE_NS, 0);
            }
            Err(error) => return Err(error),
            Ok(connected) => {
                plan.path.note_answer();
                return Ok(connected);
            }
        }
    }
}

/// Failures after which a connection is tried once more.
struct Tries {
    refusals: u32,
    silences: u32,
}

impl Tries {
    fn of(path: &PathNotes) -> Self {
        Self {
            refusals: REFUSALS,
            silences: if path.has_answered() { SILENCES } else { 0 },
        }
    }

    fn allow_another(&mut self, failure: io::ErrorKind) -> bool {
        let left = match failure {
            io::ErrorKind::ConnectionRefused => &mut self.refusals,
            io::ErrorKind::TimedOut => &mut self.silences,
            _ => return false,
        };
        let allowed = *left > 0;
        *left = left.saturating_sub(1);
        allowed
    }
}

/// Why stream `index` of `total` could not be opened.
pub(super) fn stream_failure(
    plan: &TestPlan,
    server: SocketAddr,
    (index, total): (u32, u32),
    error: &io::Error,
) -> Failure {
    let what = format!("open stream {} of {total} to {server}", index + 1);
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure::interrupted(what);
    }
    if let (io::ErrorKind::NotFound, Some(name)) = (error.kind(), &plan.congestion) {
        let why = format!("congestion control {name} is not available here ({error})");
        let hint = "one of `sysctl net.ipv4.tcp_available_congestion_control`";
        return Failure::measuring(what, why).hint(hint);
    }
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => "another --cport or --bind",
        io::ErrorKind::PermissionDenied => {
            "--bind-dev and some --dscp values need CAP_NET_RAW or CAP_NET_ADMIN"
        }
        _ if error.raw_os_error() == Some(errno::ENODEV) => "an interface that `ip link` lists",
        _ => "fewer streams with -P, or see `ulimit -n`",
    };
    Failure::measuring(what, error).hint(hint)
}

/// Why the first connection could not be made.
pub(super) fn explain(plan: &TestPlan, address: SocketAddr, error: &io::Error) -> Failure {
    let from = plan.bind_address.map(|local| format!(" from {local}"));
    let from = from.unwrap_or_default();
    let what = format!("connect to {} ({address}){from}", plan.host);
    match error.kind() {
        _ if error.raw_os_error() == Some(errno::ENODEV) => {
            let device = plan.bind_device.as_deref().unwrap_or_default();
            Failure::measuring(format!("{what} through {device}"), error)
                .hint("an interface that `ip link` lists")
        }
        io::ErrorKind::ConnectionRefused => {
            Failure::measuring(what, "connection refused: nothing listens on that port")
                .hint(format!("start {} there", servers(plan)))
        }
        io::ErrorKind::TimedOut => Failure::measuring(
            what,
            format!("no answer within {} ms", plan.connect_timeout_ms),
        )
        .hint(format!(
            "ping {}; a firewall may drop TCP port {}",
            address.ip(),
            plan.port
        )),
        io::ErrorKind::Interrupted => Failure::interrupted(what),
        io::ErrorKind::PermissionDenied => Failure::measuring(what, error)
            .hint("a local firewall refuses it, or --bind-dev needs CAP_NET_RAW"),
        io::ErrorKind::HostUnreachable => Failure::measuring(
            what,
            format!("{error}: the next hop does not answer ARP or ND, or a router reported it"),
        )
        .hint(format!("ip route get {}; ip neigh show", address.ip())),
        io::ErrorKind::NetworkUnreachable => Failure::measuring(
            what,
            format!("{error}: this host has no route there, or a router reported it"),
        )
        .hint(format!("ip route get {}; ip addr", address.ip())),
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => {
            Failure::measuring(what, error)
                .hint("another --bind address or --cport; `ip addr` lists this host's")
        }
        _ => Failure::measuring(what, error).hint(format!("ip route get {}", address.ip())),
    }
}

/// What may listen on the plan's port.
fn servers(plan: &TestPlan) -> String {
    let port = plan.port;
    if plan.iperf2 {
        format!("`linerate serve --iperf2 -p {port}` or `iperf -s -p {port}`")
    } else {
        format!("`linerate serve -p {port}` or `iperf3 -s -p {port}`")
    }
}

fn fits_local(address: &SocketAddr, local: Option<IpAddr>) -> bool {
    local.is_none_or(|local| local.is_ipv4() == address.is_ipv4())
}

/// What every IPv4 path carries (RFC 1122, 4.2.2.6).
const SHORT_MSS: u32 = 536;
/// Refusals after which the server is taken to be absent.
const REFUSALS: u32 = 5;
/// Timeouts after which a peer that has answered before in this run is taken to be gone.
const SILENCES: u32 = 2;
const PAUSE_NS: u64 = 100_000_000;
/// A peer that vanished is noticed after this long.
const DEAD_PEER: Duration = Duration::from_secs(8);

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    fn tries(path: &PathNotes, failure: ErrorKind) -> usize {
        let mut tries = Tries::of(path);
        1 + (0..100)
            .take_while(|_| tries.allow_another(failure))
            .count()
    }

    #[test]
    fn what_is_unreachable_is_said_with_what_to_look_at() {
        let plan = TestPlan::tcp("192.0.2.7");
        let address = SocketAddr::from(([192, 0, 2, 7], 5201));
        for (kind, why, hint) in [
            (ErrorKind::HostUnreachable, "ARP or ND", "ip neigh show"),
            (ErrorKind::NetworkUnreachable, "no route", "ip addr"),
            (ErrorKind::TimedOut, "within 5000 ms", "firewall"),
        ] {
            let said = explain(&plan, address, &kind.into());
            assert!(said.why.contains(why), "{said:?}");
            let hinted = said.try_.as_deref().is_some_and(|text| text.contains(hint));
            assert!(hinted, "{said:?}");
        }
    }

    #[test]
    fn a_link_local_address_needs_its_interface() {
        let refused = resolve(&TestPlan::tcp("fe80::1")).unwrap_err();
        let hint = refused.try_.unwrap();
        assert!(hint.starts_with("fe80::1%IFACE"), "{hint}");
        let bound = TestPlan {
            bind_device: Some("lo".to_owned()),
            ..TestPlan::tcp("fe80::1")
        };
        assert_eq!(resolve(&bound).map(|found| found.len()), Ok(1));
        assert!(resolve(&TestPlan::tcp("::1")).is_ok());
    }

    #[test]
    fn a_peer_that_has_answered_is_tried_more_often() {
        let path = PathNotes::default();
        assert_eq!(tries(&path, ErrorKind::TimedOut), 1);
        path.note_answer();
        assert_eq!(tries(&path, ErrorKind::TimedOut), 3);
        assert_eq!(tries(&path, ErrorKind::ConnectionRefused), 6);
        assert_eq!(tries(&path, ErrorKind::NetworkUnreachable), 1);
    }
}
