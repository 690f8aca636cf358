// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/udp` and `udp6`: one line a socket, with its queue and its drops. Source: net/ipv4/udp.c.

/// One socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpSocket {
    /// Local port.
    pub local_port: u16,
    /// Remote port; 0 if not connected.
    pub remote_port: u16,
    /// Memory of the packets waiting to be sent, bytes.
    pub tx_queue_bytes: u64,
    /// Memory of the packets waiting to be read, bytes.
    pub rx_queue_bytes: u64,
    /// The socket's inode, as in `/proc/PID/fd`.
    pub inode: u64,
    /// Datagrams dropped at this socket (2.6.27).
    pub drops: Option<u64>,
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Vec<UdpSocket> {
    text.lines().filter_map(socket).collect()
}

fn socket(line: &str) -> Option<UdpSocket> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first()?.strip_suffix(':')?;
    let (tx_queue, rx_queue) = words.get(4)?.split_once(':')?;
    Some(UdpSocket {
        local_port: port(words.get(1)?)?,
        remote_port: port(words.get(2)?)?,
        tx_queue_bytes: u64::from_str_radix(tx_queue, 16).ok()?,
        rx_queue_bytes: u64::from_str_radix(rx_queue, 16).ok()?,
        inode: words.get(9)?.parse().ok()?,
        drops: words.get(12).and_then(|word| word.parse().ok()),
    })
}

fn port(address: &str) -> Option<u16> {
    u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
        \u{20} 241: 0100007F:1451 0200007F:C001 01 00000000:00001A00 00:00000000 00000000     0        0 17511 2 0000000000000000 77\n\
        \u{20} 242: 00000000000000000000000000000000:1451 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 17512 2 0000000000000000 3\n";

    #[test]
    fn reads_ports_queue_and_drops() {
        let sockets = parse(TEXT);
        let first = UdpSocket {
            local_port: 5201,
            remote_port: 49153,
            tx_queue_bytes: 0,
            rx_queue_bytes: 0x1A00,
            inode: 17511,
            drops: Some(77),
        };
        assert_eq!(sockets[0], first);
        assert_eq!(sockets[1].drops, Some(3));
    }
}
