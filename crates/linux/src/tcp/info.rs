// SPDX-License-Identifier: MIT OR Apache-2.0
//! `TCP_INFO`, read by offset so that an older kernel's shorter structure simply lacks the later fields.

use std::io;
use std::os::fd::AsFd;

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
    let mut bytes = [0; 512];
    let length = sockopt::get_bytes(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(parse(&bytes[..length]))
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

#[cfg(test)]
mod tests {
    use super::*;

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
