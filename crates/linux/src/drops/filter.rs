// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets are meant, and how the program's map says so.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use socket2::{SockRef, Type};

/// The packets that a watch counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Packets of these; more can be added later.
    pub flows: Vec<Flow>,
    /// Only in this network namespace (the inode of `/proc/self/ns/net`), and where it is unknown; `None`: in all.
    pub netns: Option<u32>,
}

/// Packets between two ends, in either direction. Of fragments only the first counts: the others have no ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub protocol: Protocol,
    /// One end; at one of the two, port 0 is any.
    pub one: SocketAddr,
    /// The other end.
    pub other: SocketAddr,
    /// Counted apart from flows with another number here.
    pub group: u32,
}

/// What the ports are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Tcp = 6,
    Udp = 17,
}

impl Flow {
    /// What a connected socket sends and receives.
    ///
    /// # Errors
    /// ENOTCONN; EINVAL for what is neither TCP nor UDP.
    pub fn of(socket: &impl AsFd, group: u32) -> io::Result<Self> {
        let socket = SockRef::from(socket);
        let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
        let protocol = match socket.r#type()? {
            Type::STREAM => Protocol::Tcp,
            Type::DGRAM => Protocol::Udp,
            _ => return Err(invalid()),
        };
        Ok(Self {
            protocol,
            one: socket.local_addr()?.as_socket().ok_or_else(invalid)?,
            other: socket.peer_addr()?.as_socket().ok_or_else(invalid)?,
            group,
        })
    }

    /// The map's keys of both directions. EINVAL if the ends are of different families, or both have port 0.
    pub(super) fn keys(&self) -> io::Result<[[u8; KEY_BYTES]; 2]> {
        if self.one.port() == 0 && self.other.port() == 0 {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        Ok([
            key(self.protocol, self.one, self.other)?,
            key(self.protocol, self.other, self.one)?,
        ])
    }
}

/// Source, destination (16 bytes each, IPv4 in the first four), ports in network order, protocol, version.
fn key(protocol: Protocol, from: SocketAddr, to: SocketAddr) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    let version = match (from.ip().to_canonical(), to.ip().to_canonical()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            key[..4].copy_from_slice(&from.octets());
            key[16..20].copy_from_slice(&to.octets());
            4
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            key[..16].copy_from_slice(&from.octets());
            key[16..32].copy_from_slice(&to.octets());
            6
        }
        _ => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
    };
    key[32..34].copy_from_slice(&from.port().to_be_bytes());
    key[34..36].copy_from_slice(&to.port().to_be_bytes());
    key[36] = protocol as u8;
    key[37] = version;
    Ok(key)
}

pub(super) const KEY_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use super::{Flow, Protocol};

    #[test]
    fn both_directions_are_named() {
        let flow = Flow {
            protocol: Protocol::Udp,
            one: "[::ffff:10.0.0.1]:0".parse().unwrap(),
            other: "10.0.0.2:5201".parse().unwrap(),
            group: 0,
        };
        let [there, back] = flow.keys().unwrap();
        assert_eq!(
            (&there[..4], &there[16..20]),
            (&[10, 0, 0, 1][..], &[10, 0, 0, 2][..])
        );
        assert_eq!(there[32..38], [0, 0, 0x14, 0x51, 17, 4]);
        assert_eq!((&back[..4], back[32]), (&[10, 0, 0, 2][..], 0x14));
    }

    #[test]
    fn a_connected_socket_is_a_flow() {
        let one = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(Flow::of(&one, 0).is_err(), "not connected");
        one.connect("127.0.0.1:9").unwrap();
        let flow = Flow::of(&one, 0).unwrap();
        assert_eq!((flow.protocol, flow.other.port()), (Protocol::Udp, 9));
        assert_eq!(flow.one, one.local_addr().unwrap());
    }

    #[test]
    fn a_flow_of_two_families_or_without_a_port_is_none() {
        let flow = |one: &str, other: &str| Flow {
            protocol: Protocol::Tcp,
            one: one.parse().unwrap(),
            other: other.parse().unwrap(),
            group: 0,
        };
        assert!(flow("10.0.0.1:1", "[::1]:2").keys().is_err());
        assert!(flow("10.0.0.1:0", "10.0.0.2:0").keys().is_err());
        assert_eq!(flow("[fe80::1]:1", "[fe80::2]:2").keys().unwrap()[0][37], 6);
    }
}
