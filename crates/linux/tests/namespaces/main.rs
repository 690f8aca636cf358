// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab's kernel interfaces, on real namespaces. Runs once in a user namespace and once as
//! what it is, which for root means without one.
//!
//! libtest starts threads, and a process with threads cannot enter a user namespace: so this
//! harness is its own. It answers `--list` and takes a name to filter by, as libtest does.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../sandboxed/mod.rs"]
mod sandboxed;
#[path = "../sandboxed/twice.rs"]
mod twice;

use std::error::Error;
use std::net::{IpAddr, UdpSocket};
use std::process::{Command, ExitCode};
use std::time::Duration;

use linerate_linux::netns::NetNs;
use linerate_linux::rtnl::Rtnl;

use twice::enter_twice;

type Outcome = Result<(), Box<dyn Error>>;

const TESTS: &[(&str, fn())] = &[
    ("datagram_crosses_a_veth_in_both_families", || {
        datagram_crosses_a_veth().unwrap();
    }),
    ("command_starts_inside", || command_starts_inside().unwrap()),
];

fn main() -> ExitCode {
    enter_twice(TESTS, |privilege| sandboxed::run(TESTS, privilege))
}

fn datagram_crosses_a_veth() -> Outcome {
    let (a, b) = pair()?;
    for (from, to) in [("198.18.0.1", "198.18.0.2"), ("2001:2::1", "2001:2::2")] {
        let (from, to): (IpAddr, IpAddr) = (from.parse()?, to.parse()?);
        let receiver = b.run(|| UdpSocket::bind((to, 0)))??;
        receiver.set_read_timeout(Some(Duration::from_secs(5)))?;
        let sender = a.run(|| UdpSocket::bind((from, 0)))??;
        sender.send_to(b"across", receiver.local_addr()?)?;
        let mut bytes = [0; 16];
        let (length, source) = receiver.recv_from(&mut bytes)?;
        assert_eq!(
            (&bytes[..length], source),
            (&b"across"[..], sender.local_addr()?)
        );
    }
    Ok(())
}

fn command_starts_inside() -> Outcome {
    let (a, _b) = pair()?;
    let mut list = Command::new("ls");
    list.arg("/sys/class/net");
    a.start_inside(&mut list)?;
    let names = String::from_utf8(list.output()?.stdout)?;
    assert_eq!(names.split_whitespace().collect::<Vec<_>>(), ["eth0", "lo"]);
    Ok(())
}

/// Two hosts on a plain veth.
fn pair() -> Result<(NetNs, NetNs), Box<dyn Error>> {
    let (a, b) = (NetNs::create()?, NetNs::create()?);
    Rtnl::open()?.veth(("eth0", &a), ("eth0", &b))?;
    for (host, v4, v6) in [
        (&a, "198.18.0.1", "2001:2::1"),
        (&b, "198.18.0.2", "2001:2::2"),
    ] {
        let (v4, v6) = (v4.parse()?, v6.parse()?);
        host.run(|| -> Result<(), Box<dyn Error + Send + Sync>> {
            let mut net = Rtnl::open()?;
            net.set_up("lo", true)?;
            net.add_address("eth0", v4, 24)?;
            net.add_address("eth0", v6, 64)?;
            Ok(net.set_up("eth0", true)?)
        })?
        .map_err(|error| error.to_string())?;
    }
    Ok((a, b))
}
