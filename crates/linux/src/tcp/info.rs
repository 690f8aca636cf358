// SPDX-License-Identifier: MIT OR Apache-2.0
//! `TCP_INFO`, read by offset so that an older kernel's shorter structure simply lacks the later fields.

use std::io;
use std::os::fd::AsFd;

use crate::sockopt;

/// What the kernel knows about one connection (include/uapi/linux/tcp.h `struct tcp_info`). `None`: kernel too old.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// `TCP_ESTABLISHED` = 1 … (include/net/tcp_states.h).
    pub state: u8,
    /// Open, Disorder, CWR, Recovery, Loss = 0…4.
    pub ca_state: u8,
    /// Smoothed round-trip time, ns (the kernel keeps microseconds). 0 before the first sample.
    pub rtt_ns: u64,
    /// Mean deviation of the round-trip time, ns.
    pub rttvar_ns: u64,
    /// Minimum round-trip time, ns (4.6).
    pub min_rtt_ns: Option<u64>,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold, segments; 0x7fffffff: none yet.
    pub snd_ssthresh: u32,
    /// Send segment size, bytes.
    pub snd_mss: u32,
    /// Receive segment size estimate, bytes.
    pub rcv_mss: u32,
    /// Advertised segment size, bytes.
    pub advmss: u32,
    /// Path MTU, bytes.
    pub pmtu: u32,
    /// Retransmitted segments since the start.
    pub total_retrans: u32,
    /// Segments believed lost now.
    pub lost: u32,
    /// Segments in flight now.
    pub unacked: u32,
    /// Receiver's round-trip estimate, ns.
    pub rcv_rtt_ns: u64,
    /// Receive window autotuning space, bytes.
    pub rcv_space: u32,
    /// Pacing rate, bytes per second (3.15); `u64::MAX`: unlimited.
    pub pacing_rate: Option<u64>,
    /// Bytes acknowledged by the peer (4.1).
    pub bytes_acked: Option<u64>,
    /// Bytes received in order (4.1).
    pub bytes_received: Option<u64>,
    /// Segments sent (4.2).
    pub segs_out: Option<u32>,
    /// Segments received (4.2).
    pub segs_in: Option<u32>,
    /// Data segments received (4.6).
    pub data_segs_in: Option<u32>,
    /// Data segments sent (4.6).
    pub data_segs_out: Option<u32>,
    /// Bytes not yet sent (4.6).
    pub notsent_bytes: Option<u32>,
    /// Latest goodput estimate, bytes per second (4.9).
    pub delivery_rate: Option<u64>,
    /// Time with data to send, ns (4.10).
    pub busy_ns: Option<u64>,
    /// Time limited by the peer's window, ns (4.10).
    pub rwnd_limited_ns: Option<u64>,
    /// Time limited by the own send buffer, ns (4.10).
    pub sndbuf_limited_ns: Option<u64>,
    /// Segments delivered, acknowledged (4.18).
    pub delivered: Option<u32>,
    /// Bytes sent, retransmissions included (4.19).
    pub bytes_sent: Option<u64>,
    /// Bytes retransmitted (4.19).
    pub bytes_retrans: Option<u64>,
    /// Duplicate acknowledgements of already received data (D-SACK) (4.19).
    pub dsack_dups: Option<u32>,
    /// Reordering events seen (4.19).
    pub reord_seen: Option<u32>,
    /// Segments dropped or out of order at the receiver (5.4).
    pub rcv_ooopack: Option<u32>,
    /// The peer's window, bytes (5.4).
    pub snd_wnd: Option<u32>,
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
        ca_state: bytes.get(1).copied().unwrap_or(0),
        snd_mss: old(16),
        rcv_mss: old(20),
        unacked: old(24),
        lost: old(32),
        pmtu: old(60),
        rtt_ns: from_us(old(68)),
        rttvar_ns: from_us(old(72)),
        snd_ssthresh: old(76),
        snd_cwnd: old(80),
        cwnd_bytes: u64::from(old(80)) * u64::from(old(16)),
        advmss: old(84),
        rcv_rtt_ns: from_us(old(92)),
        rcv_space: old(96),
        total_retrans: old(100),
        pacing_rate: u64_at(104),
        bytes_acked: u64_at(120),
        bytes_received: u64_at(128),
        segs_out: u32_at(136),
        segs_in: u32_at(140),
        notsent_bytes: u32_at(144),
        min_rtt_ns: u32_at(148).filter(|&us| us != u32::MAX).map(from_us),
        data_segs_in: u32_at(152),
        data_segs_out: u32_at(156),
        delivery_rate: u64_at(160),
        busy_ns: u64_at(168).map(long_from_us),
        rwnd_limited_ns: u64_at(176).map(long_from_us),
        sndbuf_limited_ns: u64_at(184).map(long_from_us),
        delivered: u32_at(192),
        bytes_sent: u64_at(200),
        bytes_retrans: u64_at(208),
        dsack_dups: u32_at(216),
        reord_seen: u32_at(220),
        rcv_ooopack: u32_at(224),
        snd_wnd: u32_at(228),
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
        assert_eq!(
            (info.pacing_rate, info.busy_ns, info.snd_wnd),
            (None, None, None)
        );
    }
}
