// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answering on an unconnected socket from the address that was asked.
//!
//! On a host with several addresses the kernel would answer from the one that its routes prefer, and a
//! client with a connected socket would never see it (RFC 1122 §4.1.3.5).

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use libc::c_int;

use crate::message;

/// Sends one datagram to `peer` with `local` as its source address, without waiting.
///
/// On a dual-stack socket both may be plain IPv4.
///
/// # Errors
/// `InvalidInput` where an IPv4 socket is given IPv6; those of sendmsg(2).
pub fn send_from(
    socket: impl AsFd,
    bytes: &[u8],
    peer: SocketAddr,
    local: IpAddr,
) -> io::Result<()> {
    let (name, control) = if super::is_ipv6(&socket)? {
        (name_v6(peer), packet_info_v6(local))
    } else {
        match (peer.ip(), local) {
            (IpAddr::V4(_), IpAddr::V4(local)) => (name_v4(peer), packet_info_v4(local.octets())),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    };
    message::send_to(socket.as_fd(), bytes, &name, &control).map(|_| ())
}

/// `struct sockaddr_in`; of an IPv6 address, which does not come here, the port alone.
fn name_v4(peer: SocketAddr) -> Vec<u8> {
    let mut name = (libc::AF_INET as u16).to_ne_bytes().to_vec();
    name.extend(peer.port().to_be_bytes());
    if let IpAddr::V4(address) = peer.ip() {
        name.extend(address.octets());
    }
    name.resize(16, 0);
    name
}

/// `struct sockaddr_in6`.
fn name_v6(peer: SocketAddr) -> Vec<u8> {
    let scope = match peer {
        SocketAddr::V6(v6) => v6.scope_id(),
        SocketAddr::V4(_) => 0,
    };
    let mut name = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
    name.extend(peer.port().to_be_bytes());
    name.extend([0; 4]);
    name.extend(mapped(peer.ip()).octets());
    name.extend(scope.to_ne_bytes());
    name
}

/// `struct in_pktinfo`: any interface, the source address, nothing.
fn packet_info_v4(local: [u8; 4]) -> Vec<u8> {
    let mut info = vec![0; 4];
    info.extend(local);
    info.extend([0; 4]);
    control(libc::IPPROTO_IP, libc::IP_PKTINFO, &info)
}

/// `struct in6_pktinfo`: the source address, any interface. The kernel takes an IPv4-mapped one for IPv4.
fn packet_info_v6(local: IpAddr) -> Vec<u8> {
    let mut info = mapped(local).octets().to_vec();
    info.extend([0; 4]);
    control(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info)
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

/// `struct cmsghdr` and its data, padded to a word.
fn control(level: c_int, kind: c_int, data: &[u8]) -> Vec<u8> {
    const WORD: usize = size_of::<usize>();
    let length = WORD + 8 + data.len();
    let mut control = length.to_ne_bytes().to_vec();
    control.extend(level.to_ne_bytes());
    control.extend(kind.to_ne_bytes());
    control.extend(data);
    control.resize(length.next_multiple_of(WORD), 0);
    control
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::{Options, bind, bind_wildcard};
    use std::net::UdpSocket;
    use std::time::Duration;

    fn answered_from(socket: &UdpSocket, local: &str, client: &str) -> SocketAddr {
        let client = UdpSocket::bind((client, 0)).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let peer = client.local_addr().unwrap();
        send_from(socket, b"report", peer, local.parse().unwrap()).unwrap();
        let mut bytes = [0; 16];
        let (length, source) = client.recv_from(&mut bytes).unwrap();
        assert_eq!(&bytes[..length], b"report");
        source
    }

    #[test]
    fn the_source_is_the_one_asked_for() {
        let options = Options::default();
        let any = bind_wildcard(0, &options).unwrap().socket;
        let port = any.local_addr().unwrap().port();
        let source = answered_from(&any, "127.0.0.9", "127.0.0.1");
        assert_eq!(
            source,
            ("127.0.0.9".parse::<IpAddr>().unwrap(), port).into()
        );
        if any.local_addr().unwrap().is_ipv6() {
            let source = answered_from(&any, "::1", "::1");
            assert_eq!(source.ip(), "::1".parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn a_socket_of_ipv4_answers_ipv4() {
        let any = bind("0.0.0.0:0".parse().unwrap(), &Options::default()).unwrap();
        let source = answered_from(&any.socket, "127.0.0.9", "127.0.0.1");
        assert_eq!(source.ip(), "127.0.0.9".parse::<IpAddr>().unwrap());
        let peer = "[::1]:9".parse().unwrap();
        let error = send_from(&any.socket, b"", peer, "::1".parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
