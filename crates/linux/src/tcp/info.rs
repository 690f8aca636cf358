// SPDX-License-Identifier: MIT OR Apache-2.0
//! `TCP_INFO`, read by offset so that an older kernel's shorter structure simply lacks the later fields.

use std::io;
use std::os::fd::AsFd;

use linerate_wire::netlink::attribute::unsigned;

use crate::sockopt;

/// What the kernel knows about one connection, as far as it is used here (include/uapi/linux/tcp.h `struct tcp_info`). `None`: kernel too old.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// `TCP_ESTABLISHED` = 1 … (include/net/tcp_states.h).
    pub state: u8,
    /// Smoothed round-trip time, ns (the kernel keeps microseconds). 0 before the first sample.
    pub rtt_ns: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Send segment size, bytes.
    pub snd_mss: u32,
    /// Retransmitted segments since the start.
    pub total_retrans: u32,
    /// Segments in flight now.
    pub unacked: u32,
    /// The rate at which the congestion control lets this socket send, bytes per second (3.15); `None` without one. Only
    /// some congestion controls (BBR), the `fq` qdisc and `SO_MAX_PACING_RATE` enforce it.
    pub pacing_bytes_per_second: Option<u64>,
    /// Bytes acknowledged by the peer (4.1).
    pub bytes_acked: Option<u64>,
    /// Bytes not yet sent (4.6).
    pub notsent_bytes: Option<u32>,
    /// Time with data to send, ns (4.10).
    pub busy_ns: Option<u64>,
    /// Time limited by the peer's window, ns (4.10).
    pub rwnd_limited_ns: Option<u64>,
    /// Time limited by the own send buffer, ns (4.10).
    pub sndbuf_limited_ns: Option<u64>,
    /// The window that the peer advertised last, bytes (5.4).
    pub snd_wnd_bytes: Option<u32>,
}

/// Reads `TCP_INFO` of a socket.
pub fn info(fd: impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0; BYTES];
    let length = sockopt::get_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(parse(&bytes[..length]))
}

/// Everything in `TCP_INFO` of a socket, by the kernel's names, as far as its structure goes.
pub fn all(fd: impl AsFd) -> io::Result<Vec<(&'static str, u64)>> {
    let mut bytes = [0; BYTES];
    let length = sockopt::get_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(fields(&bytes[..length]).collect())
}

/// The name that [`all`] has for this text, if it is one.
#[must_use]
pub fn field_name(text: &str) -> Option<&'static str> {
    let mut names = FIELDS.iter().map(|(name, ..)| *name);
    names.find(|name| *name == text)
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = (&'static str, u64)> + '_ {
    FIELDS.iter().filter_map(|(name, at, width)| {
        let value = bytes.get(usize::from(*at)..usize::from(at + width))?;
        Some((*name, unsigned(value)?))
    })
}

fn parse(bytes: &[u8]) -> TcpInfo {
    let u32_at = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let old = |at: usize| u32_at(at).unwrap_or(0);
    let from_us = |us: u32| u64::from(us) * 1000;
    let long_from_us = |us: u64| us.saturating_mul(1000);
    TcpInfo {
        state: bytes.first().copied().unwrap_or(0),
        snd_mss: old(16),
        unacked: old(24),
        rtt_ns: from_us(old(68)),
        cwnd_bytes: u64::from(old(80)) * u64::from(old(16)),
        total_retrans: old(100),
        pacing_bytes_per_second: u64_at(104).filter(|rate| *rate != u64::MAX),
        bytes_acked: u64_at(120),
        notsent_bytes: u32_at(144),
        busy_ns: u64_at(168).map(long_from_us),
        rwnd_limited_ns: u64_at(176).map(long_from_us),
        sndbuf_limited_ns: u64_at(184).map(long_from_us),
        snd_wnd_bytes: u32_at(228),
    }
}

/// Of `tcpi_options`: ECN was negotiated when the connection was opened.
pub const OPTION_ECN: u64 = 8;
/// Of `tcpi_options`: at least one packet arrived as ECT.
pub const OPTION_ECN_SEEN: u64 = 16;
const BYTES: usize = 512;
/// `struct tcp_info`: name, offset, bytes. Without the bit fields at 6 and 7; up to Linux 6.18 (what follows differs
/// between 6.18 and 7.0).
const FIELDS: [(&str, u16, u16); 64] = [
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_retransmits", 2, 1),
    ("tcpi_probes", 3, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_options", 5, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_ato", 12, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_rcv_mss", 20, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_fackets", 40, 4),
    ("tcpi_last_data_sent", 44, 4),
    ("tcpi_last_ack_sent", 48, 4),
    ("tcpi_last_data_recv", 52, 4),
    ("tcpi_last_ack_recv", 56, 4),
    ("tcpi_pmtu", 60, 4),
    ("tcpi_rcv_ssthresh", 64, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_advmss", 84, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_rcv_rtt", 92, 4),
    ("tcpi_rcv_space", 96, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_pacing_rate", 104, 8),
    ("tcpi_max_pacing_rate", 112, 8),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_segs_out", 136, 4),
    ("tcpi_segs_in", 140, 4),
    ("tcpi_notsent_bytes", 144, 4),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_in", 152, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_delivery_rate", 160, 8),
    ("tcpi_busy_time", 168, 8),
    ("tcpi_rwnd_limited", 176, 8),
    ("tcpi_sndbuf_limited", 184, 8),
    ("tcpi_delivered", 192, 4),
    ("tcpi_delivered_ce", 196, 4),
    ("tcpi_bytes_sent", 200, 8),
    ("tcpi_bytes_retrans", 208, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_reord_seen", 220, 4),
    ("tcpi_rcv_ooopack", 224, 4),
    ("tcpi_snd_wnd", 228, 4),
    ("tcpi_rcv_wnd", 232, 4),
    ("tcpi_rehash", 236, 4),
    ("tcpi_total_rto", 240, 2),
    ("tcpi_total_rto_recoveries", 242, 2),
    ("tcpi_total_rto_time", 244, 4),
    ("tcpi_received_ce", 248, 4),
    ("tcpi_delivered_e1_bytes", 252, 4),
    ("tcpi_delivered_e0_bytes", 256, 4),
    ("tcpi_delivered_ce_bytes", 260, 4),
    ("tcpi_received_e1_bytes", 264, 4),
    ("tcpi_received_e0_bytes", 268, 4),
    ("tcpi_received_ce_bytes", 272, 4),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_one_another_without_a_gap_and_end_where_the_kernel_ended() {
        for pair in FIELDS.windows(2) {
            let [(_, at, bytes), (name, next, _)] = pair else {
                panic!()
            };
            // After tcpi_options there are two bytes of bit fields.
            let end = if *next == 8 { 8 } else { at + bytes };
            assert_eq!(*next, end, "{name}");
        }
        let of = |bytes: usize| fields(&vec![1; bytes]).last().unwrap().0;
        assert_eq!(of(104), "tcpi_total_retrans", "Linux 3.x");
        assert_eq!(of(232), "tcpi_snd_wnd", "Linux 5.4");
        assert_eq!(of(248), "tcpi_total_rto_time", "Linux 6.7");
        assert_eq!(of(280), "tcpi_received_ce_bytes", "Linux 6.18");
    }

    #[test]
    fn the_structure_of_this_kernel_is_read_to_its_end() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut bytes = [0; BYTES];
        let length =
            sockopt::get_bytes(&stream, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes).unwrap();
        let within = FIELDS
            .iter()
            .filter(|(_, at, width)| usize::from(at + width) <= length);
        let wanted: Vec<&str> = within.map(|(name, ..)| *name).collect();
        let read = all(&stream).unwrap();
        assert_eq!(
            read.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            wanted
        );
        assert!(length < BYTES, "the kernel has no more than was asked for");
    }

    #[test]
    fn a_short_structure_lacks_the_later_fields() {
        // Linux 3.x: 104 bytes, ending with tcpi_total_retrans.
        let mut bytes = [0; 104];
        bytes[16..20].copy_from_slice(&1448u32.to_ne_bytes());
        bytes[80..84].copy_from_slice(&10u32.to_ne_bytes());
        bytes[100..].copy_from_slice(&7u32.to_ne_bytes());
        let info = parse(&bytes);
        assert_eq!((info.cwnd_bytes, info.total_retrans), (14_480, 7));
        assert_eq!((info.bytes_acked, info.busy_ns), (None, None));
        assert_eq!(info.pacing_bytes_per_second, None);
    }

    #[test]
    fn no_limit_is_no_pacing_rate() {
        let pacing = |rate: u64| {
            let mut bytes = [0; 232];
            bytes[104..112].copy_from_slice(&rate.to_ne_bytes());
            parse(&bytes).pacing_bytes_per_second
        };
        assert_eq!(pacing(u64::MAX), None);
        assert_eq!(pacing(1_250_000_000), Some(1_250_000_000));
    }
}
