// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every topology carries both families, at small and large MTUs, with and without the wire.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};

use linerate_lab::{Isolation, Lab, LabPlan, Topology, WireSpec};

use super::Test;
use super::traffic::{DEADLINE, open};
use super::verdict::{Outcome, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("pair_carries_both_families", |isolation| {
        carries(isolation, Topology::Pair, false)
    }),
    ("bridge_carries_both_families", |isolation| {
        carries(isolation, Topology::Bridge, false)
    }),
    ("route_carries_both_families", |isolation| {
        carries(isolation, Topology::Route, false)
    }),
    ("wired_pair_carries_both_families", |isolation| {
        carries(isolation, Topology::Pair, true)
    }),
    ("wired_bridge_carries_both_families", |isolation| {
        carries(isolation, Topology::Bridge, true)
    }),
    ("wired_route_carries_both_families", |isolation| {
        carries(isolation, Topology::Route, true)
    }),
    ("route_takes_a_hop", route_takes_a_hop),
    ("mtu_from_100_to_9000", mtu_from_100_to_9000),
];

fn carries(isolation: &Isolation, topology: Topology, wired: bool) -> Outcome {
    let wire = wired.then(WireSpec::default);
    let lab = open(
        isolation,
        &LabPlan {
            topology,
            wire,
            ..LabPlan::default()
        },
    )?;
    for ipv6 in [false, true] {
        let [from, to] = addresses(&lab, ipv6)?;
        datagram_there_and_back(&lab, from, to, 1000)?;
        stream_there_and_back(&lab, to)?;
    }
    let report = lab.close().unwrap_or_default();
    let own: u64 = report
        .directions
        .iter()
        .map(|direction| direction.own_drops())
        .sum();
    ensure(own == 0, || format!("little traffic, yet {report}"))
}

fn route_takes_a_hop(isolation: &Isolation) -> Outcome {
    let topology = Topology::Route;
    let lab = open(
        isolation,
        &LabPlan {
            topology,
            ..LabPlan::default()
        },
    )?;
    let [a, b] = lab.hosts();
    let receiver = b.enter(|| UdpSocket::bind((b.ipv4, 0)))??;
    let sender = a.enter(|| UdpSocket::bind((a.ipv4, 0)))??;
    sender.connect(receiver.local_addr()?)?;
    receiver.set_read_timeout(Some(DEADLINE))?;
    for (hops, text) in [(1, "too few"), (2, "enough")] {
        sender.set_ttl(hops)?;
        sender.send(text.as_bytes())?;
    }
    let mut first = [0; 16];
    let length = receiver.recv(&mut first)?;
    ensure(&first[..length] == b"enough", || {
        String::from_utf8_lossy(&first[..length]).into_owned()
    })
}

fn mtu_from_100_to_9000(isolation: &Isolation) -> Outcome {
    for (mtu_bytes, wired) in [
        (100, false),
        (100, true),
        (1280, true),
        (9000, false),
        (9000, true),
    ] {
        let wire = wired.then(WireSpec::default);
        let lab = open(
            isolation,
            &LabPlan {
                mtu_bytes,
                wire,
                ..LabPlan::default()
            },
        )?;
        for ipv6 in [false, true]
            .into_iter()
            .take(if mtu_bytes < 1280 { 1 } else { 2 })
        {
            let [from, to] = addresses(&lab, ipv6)?;
            let headers = if ipv6 { 48 } else { 28 };
            datagram_there_and_back(&lab, from, to, mtu_bytes as usize - headers)?;
        }
        ensure((mtu_bytes < 1280) == lab.hosts()[0].ipv6.is_none(), || {
            mtu_bytes.to_string()
        })?;
    }
    Ok(())
}

fn addresses(lab: &Lab, ipv6: bool) -> Outcome<[IpAddr; 2]> {
    let [a, b] = lab.hosts().each_ref().map(|host| host.address(ipv6));
    match (a, b) {
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(super::Verdict::Skipped(
            "this kernel has no IPv6".to_owned(),
        )),
    }
}

fn datagram_there_and_back(lab: &Lab, from: IpAddr, to: IpAddr, bytes: usize) -> Outcome {
    let [a, b] = lab.hosts();
    let far = b.enter(|| UdpSocket::bind((to, 0)))??;
    let near = a.enter(|| UdpSocket::bind((from, 0)))??;
    let sent: Vec<u8> = (0..bytes).map(|number| number as u8).collect();
    let mut received = vec![0; bytes + 1];
    for (one, other) in [(&near, &far), (&far, &near)] {
        other.set_read_timeout(Some(DEADLINE))?;
        one.send_to(&sent, other.local_addr()?)?;
        let (length, source) = other.recv_from(&mut received)?;
        ensure(source == one.local_addr()?, || format!("from {source}"))?;
        ensure(received[..length] == sent[..], || {
            format!("{length} bytes from {from} to {to}")
        })?;
    }
    Ok(())
}

fn stream_there_and_back(lab: &Lab, to: IpAddr) -> Outcome {
    let [a, b] = lab.hosts();
    let listener = b.enter(|| TcpListener::bind((to, 0)))??;
    let address = listener.local_addr()?;
    let mut near = a.enter(|| TcpStream::connect_timeout(&address, DEADLINE))??;
    let mut far = listener.accept()?.0;
    far.set_read_timeout(Some(DEADLINE))?;
    let sent = vec![7; 200_000];
    let mut received = vec![0; sent.len()];
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| far.read_exact(&mut received));
        near.write_all(&sent)?;
        reader
            .join()
            .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
    })?;
    ensure(received == sent, || "the stream arrived changed".to_owned())
}
