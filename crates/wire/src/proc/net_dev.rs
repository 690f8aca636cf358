// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/dev`: packets and errors of each interface. Source: net/core/net-procfs.c.

/// One interface. Several hardware counters are summed here by the kernel (`rx_frame` is length, overrun, CRC and
/// frame errors): prefer stats64 where it can be had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Received bytes.
    pub rx_bytes: u64,
    /// Received packets.
    pub rx_packets: u64,
    /// Receive errors.
    pub rx_errs: u64,
    /// Dropped and missed packets.
    pub rx_drop: u64,
    /// Receive FIFO errors.
    pub rx_fifo: u64,
    /// Framing errors.
    pub rx_frame: u64,
    /// Received multicast packets.
    pub rx_multicast: u64,
    /// Sent bytes.
    pub tx_bytes: u64,
    /// Sent packets.
    pub tx_packets: u64,
    /// Send errors.
    pub tx_errs: u64,
    /// Packets dropped before sending.
    pub tx_drop: u64,
    /// Send FIFO errors.
    pub tx_fifo: u64,
    /// Collisions.
    pub tx_colls: u64,
    /// Carrier errors.
    pub tx_carrier: u64,
}

/// Reads the file.
#[must_use]
pub fn parse(text: &str) -> Vec<Interface> {
    text.lines().filter_map(interface).collect()
}

fn interface(line: &str) -> Option<Interface> {
    let (name, counts) = line.rsplit_once(':')?;
    let counts: Vec<u64> = counts
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let [
        rx_bytes,
        rx_packets,
        rx_errs,
        rx_drop,
        rx_fifo,
        rx_frame,
        _,
        rx_multicast,
        ref tx @ ..,
    ] = counts[..]
    else {
        return None;
    };
    let [
        tx_bytes,
        tx_packets,
        tx_errs,
        tx_drop,
        tx_fifo,
        tx_colls,
        tx_carrier,
        _,
    ] = *tx
    else {
        return None;
    };
    Some(Interface {
        name: name.trim().to_owned(),
        rx_bytes,
        rx_packets,
        rx_errs,
        rx_drop,
        rx_fifo,
        rx_frame,
        rx_multicast,
        tx_bytes,
        tx_packets,
        tx_errs,
        tx_drop,
        tx_fifo,
        tx_colls,
        tx_carrier,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_interfaces_and_skips_the_heading() {
        let text = "Inter-|   Receive                            |  Transmit\n face |bytes packets\n\
        \u{20}   lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\neth0:1:99 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        let interfaces = parse(text);
        assert_eq!(interfaces.len(), 2);
        assert_eq!(
            (
                interfaces[0].name.as_str(),
                interfaces[0].rx_bytes,
                interfaces[0].rx_multicast
            ),
            ("lo", 1, 8)
        );
        assert_eq!((interfaces[0].tx_bytes, interfaces[0].tx_carrier), (9, 15));
        assert_eq!(
            (interfaces[1].name.as_str(), interfaces[1].rx_bytes),
            ("eth0:1", 99)
        );
    }
}
