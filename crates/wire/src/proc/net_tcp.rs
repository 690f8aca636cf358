// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/tcp` and `tcp6`: the connections. Source: proc_net_tcp(5), net/ipv4/tcp_ipv4.c.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The socket's inode, as in `/proc/PID/fd`.
    pub inode: u64,
}

/// Reads the established connections of the file.
#[must_use]
pub fn established(text: &str) -> Vec<TcpSocket> {
    text.lines().filter_map(socket).collect()
}

fn socket(line: &str) -> Option<TcpSocket> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first()?.strip_suffix(':')?;
    if *words.get(3)? != ESTABLISHED {
        return None;
    }
    Some(TcpSocket {
        local: end(words.get(1)?)?,
        remote: end(words.get(2)?)?,
        inode: words.get(9)?.parse().ok()?,
    })
}

/// Words of 32 bits, each as this machine stores it, then the port.
fn end(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for at in (0..address.len()).step_by(WORD) {
        let word = u32::from_str_radix(address.get(at..at + WORD)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match bytes.len() {
        4 => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

const ESTABLISHED: &str = "01";
/// Hexadecimal digits of a word.
const WORD: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// An address as a machine of either byte order writes it.
    fn words(bytes: &[u8]) -> String {
        let word = |four: &[u8]| u32::from_ne_bytes(four.try_into().unwrap());
        bytes
            .chunks(4)
            .map(|four| format!("{:08X}", word(four)))
            .collect()
    }

    #[test]
    fn established_connections_have_both_ends() {
        let (here, there) = ([198, 18, 0, 2], [198, 18, 0, 1]);
        let six = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 7).octets();
        let mapped = Ipv4Addr::from(here).to_ipv6_mapped().octets();
        let text = format!(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: {0}:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n\
             1: {0}:0016 {1}:C001 01 00000000:00000000 00:00000000 00000000     0        0 17511 1 0 20 4 30 10 -1\n\
             2: {2}:0016 {3}:C002 01 00000000:00000000 00:00000000 00000000     0        0 17512 1 0 20 4 30 10 -1\n\
             3: xyz:0016 {1}:C001 01\n",
            words(&here),
            words(&there),
            words(&mapped),
            words(&six),
        );
        let found = established(&text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].local, "198.18.0.2:22".parse().unwrap());
        assert_eq!(found[0].remote, "198.18.0.1:49153".parse().unwrap());
        assert_eq!(found[0].inode, 17511);
        assert_eq!(found[1].local, "198.18.0.2:22".parse().unwrap());
        assert_eq!(found[1].remote, "[2001:2::7]:49154".parse().unwrap());
    }
}
