// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines printed while a test runs, in the layout of iperf3.

use std::net::SocketAddr;

use linerate_model::output::{Direction, Interval, Protocol};
use linerate_model::units::format::{SIZES, UNKNOWN, with_unit};
use linerate_model::units::rate_unit::{RateUnit, rate_in};
use linerate_model::units::{Bytes, Nanos};

use crate::view::way;

/// The stream of an interval line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// iperf3's stream id; `None` for the sum of all.
    pub id: Option<u32>,
    /// Transport.
    pub protocol: Protocol,
    /// Which way.
    pub direction: Direction,
    /// The unit of its rates; `None` for the one that suits each.
    pub rates: Option<RateUnit>,
}

/// The heading over the lines of a test.
#[must_use]
pub fn interval_header(protocol: Protocol) -> String {
    let rest = match protocol {
        Protocol::Tcp => format!(" {:>5} {:>11} {:>11}", "retr", "cwnd", "rtt"),
        Protocol::Udp => "  lost/sent".to_owned(),
    };
    let [way, span, transfer, rate] = ["dir", "interval (s)", "transfer", "L4 goodput"];
    format!("[ ID] {way:<4} {span:>13} {transfer:>12} {rate:>12}{rest}")
}

/// Which ends a stream connects.
#[must_use]
pub fn stream_line(id: u32, local: SocketAddr, remote: SocketAddr) -> String {
    let [here, there] = [local, remote].map(|end| (end.ip().to_canonical(), end.port()));
    format!(
        "[{id:>3}] local {} port {} connected to {} port {}",
        here.0, here.1, there.0, there.1
    )
}

/// One line, of at most 80 columns for rates below 1000 Tbit/s.
#[must_use]
pub fn interval_line(stream: Stream, interval: &Interval) -> String {
    let id = stream
        .id
        .map_or_else(|| "SUM".to_owned(), |id| format!("{id:>3}"));
    let span = format!("{:.2}-{:.2}", interval.start_s, interval.end_s);
    let transfer = known(interval.transfer_bytes(), |bytes| with_unit(bytes, SIZES));
    let rate = interval
        .received_bits_per_second
        .or(interval.sent_bits_per_second);
    let rate = known(rate, |rate| rate_in(stream.rates, rate));
    let start = format!(
        "[{id}] {:<4} {span:>13} {transfer:>12} {rate:>12}",
        way(stream.direction)
    );
    match stream.protocol {
        Protocol::Tcp => start + &tcp(interval),
        Protocol::Udp => start + &udp(interval),
    }
}

fn tcp(interval: &Interval) -> String {
    let retransmits = known(interval.retransmits, |count| count.to_string());
    let window = known(interval.cwnd_bytes, |bytes| Bytes(bytes).to_string());
    let rtt = known(interval.rtt_ns, |rtt| Nanos(rtt).to_string());
    format!(" {retransmits:>5} {window:>11} {rtt:>11}")
}

fn udp(interval: &Interval) -> String {
    let sent = known(interval.sent_packets, |count| count.to_string());
    // The receiver's half may be missing: a stock one reports at the end.
    match interval.lost_packets {
        Some(lost) => format!("  {lost}/{sent}"),
        None => format!("  sent {sent}"),
    }
}

fn known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_under_their_heading() {
        let tcp = Stream {
            id: Some(5),
            protocol: Protocol::Tcp,
            direction: Direction::Up,
            rates: None,
        };
        let interval = Interval {
            start_s: 0.0,
            end_s: 1.0,
            received_bits_per_second: Some(941.4e6),
            retransmits: Some(3),
            cwnd_bytes: Some(394_240),
            rtt_ns: Some(512_000),
            ..Interval::default()
        };
        let text = [
            interval_header(Protocol::Tcp),
            interval_line(tcp, &interval),
        ]
        .join("\n");
        assert_eq!(
            text,
            "\
[ ID] dir   interval (s)     transfer   L4 goodput  retr        cwnd         rtt
[  5] up       0.00-1.00    112.2 MiB 941.4 Mbit/s     3   385.0 KiB    512.0 us"
        );
    }

    #[test]
    fn datagrams_are_counted_and_the_unknown_is_said() {
        let udp = Stream {
            id: None,
            protocol: Protocol::Udp,
            direction: Direction::Down,
            rates: None,
        };
        let interval = Interval {
            start_s: 9.0,
            end_s: 10.0,
            received_bits_per_second: Some(400e6),
            lost_packets: Some(12),
            ..Interval::default()
        };
        let text = [
            interval_header(Protocol::Udp),
            interval_line(udp, &interval),
        ]
        .join("\n");
        assert_eq!(
            text,
            "\
[ ID] dir   interval (s)     transfer   L4 goodput  lost/sent
[SUM] down    9.00-10.00    47.68 MiB 400.0 Mbit/s  12/n/a"
        );
    }
}
