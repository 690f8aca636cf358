// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of a test's streams, the same at both ends: made from the plan at the client and from
//! the parameters at the server. It turns sockets into work.

use super::extension::Request;
use super::memory::Memory;
use super::plan::{Direction, TestPlan};
use super::stream::tcp_rx::TcpRx;
use super::stream::tcp_tx::TcpTx;
use super::stream::udp_rx::UdpRx;
use super::stream::udp_tx::UdpTx;
use super::stream::{Limit, Stamp};
use super::streams::{Work, Worker};
use linerate_linux::tcp;
use linerate_linux::udp::{self, Opened};
use linerate_method::pacing::{burst_of_batches, default_burst_packets};
use linerate_model::output::{IoMode, Protocol};
use linerate_wire::iperf3::datagram::CounterWidth;
use linerate_wire::iperf3::params::{self, Params};
use linerate_wire::iperf3::stream_id;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// Everything that the streams of a test have in common.
#[derive(Debug, Clone)]
pub(crate) struct StreamConfig {
    /// Transport.
    pub(crate) protocol: Protocol,
    /// From the client's point of view.
    pub(crate) direction: Direction,
    /// Streams per direction.
    pub(crate) streams: u32,
    /// UDP payload or TCP write size.
    pub(crate) payload_bytes: u32,
    /// Payload rate a stream.
    pub(crate) bits_per_second: Option<u64>,
    /// Declared burst.
    pub(crate) burst: Option<u32>,
    /// The limit of this end's senders, all streams together.
    pub(crate) limit: Limit,
    /// UDP header.
    pub(crate) stamp: Stamp,
    /// UDP send mode.
    pub(crate) udp_tx: udp::TxMode,
    /// UDP receive mode.
    pub(crate) udp_rx: udp::RxMode,
    /// TCP send mode.
    pub(crate) tcp_tx: tcp::TxMode,
    /// TCP receive mode.
    pub(crate) tcp_rx: tcp::RxMode,
    /// Requested size of the socket buffers.
    pub(crate) window_bytes: Option<u32>,
    /// The largest size that this end grants.
    pub(crate) most_window_bytes: Option<usize>,
    /// The memory that the buffers are limited by.
    pub(crate) memory: Memory,
    /// Whether to report the DSCP seen on arrival.
    pub(crate) see_tos: bool,
    /// TOS byte.
    pub(crate) tos: Option<u8>,
    /// Forbid fragmentation.
    pub(crate) dont_fragment: bool,
    /// TCP maximum segment size.
    pub(crate) mss_bytes: Option<u32>,
    /// `TCP_NODELAY`.
    pub(crate) nodelay: bool,
    /// Congestion control.
    pub(crate) congestion: Option<String>,
    /// How the threads of this end run.
    pub(crate) worker: Worker,
    /// Interface to bind to.
    pub(crate) bind_device: Option<String>,
    /// `SO_MAX_PACING_RATE` (`--fq-rate`).
    pub(crate) pacing_bytes_per_second: Option<u32>,
    /// How long data may stay unacknowledged (`TCP_USER_TIMEOUT`).
    pub(crate) send_timeout: Duration,
}

impl StreamConfig {
    /// The client's view of its plan; `mss` is the control connection's, for the default payload.
    pub(crate) fn of_plan(plan: &TestPlan, own_peer: bool, mss: u32) -> Self {
        let udp = plan.protocol == Protocol::Udp;
        let default_bytes = if udp { mss } else { TCP_BLOCK_BYTES };
        Self {
            protocol: plan.protocol,
            direction: plan.direction,
            streams: u32::from(plan.streams),
            payload_bytes: plan.payload_bytes.unwrap_or(default_bytes),
            bits_per_second: plan.bits_per_second,
            burst: plan.burst,
            limit: Limit {
                omit_ns: plan.omit_ms * 1_000_000,
                duration_ns: (!plan.is_by_amount()).then_some(plan.duration_ms * 1_000_000),
                bytes: plan.bytes,
                packets: plan.blocks,
            },
            stamp: stamp(own_peer, plan.counters_64bit),
            udp_tx: plan.tx_mode.into(),
            udp_rx: plan.rx_mode.into(),
            tcp_tx: plan.tx_mode.into(),
            tcp_rx: plan.rx_mode.into(),
            window_bytes: plan.window_bytes,
            most_window_bytes: None,
            memory: Memory::of_host(),
            see_tos: plan.tos_byte().is_some(),
            tos: plan.tos_byte(),
            dont_fragment: plan.dont_fragment,
            mss_bytes: plan.mss,
            nodelay: plan.nodelay,
            congestion: plan.congestion.clone(),
            worker: Worker {
                cpu: plan.affinity.map(|(cpu, _)| cpu as usize),
                for_cost: plan.for_cost,
            },
            bind_device: plan.bind_device.clone(),
            pacing_bytes_per_second: plan
                .fq_bits_per_second
                .and_then(|rate| u32::try_from(rate / 8).ok()),
            send_timeout: plan
                .send_timeout_ms
                .map_or(DEAD_PEER, Duration::from_millis),
        }
    }

    /// The server's view of a client's parameters. Values out of range were refused before.
    pub(crate) fn of_params(params: &Params, request: Option<&Request>) -> Self {
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
        let udp = params.protocol() == params::Protocol::Udp;
        let default_bytes = if udp { 1460 } else { TCP_BLOCK_BYTES };
        let direction = match (params.bidirectional, params.reverse) {
            (true, _) => Direction::Both,
            (false, true) => Direction::Down,
            (false, false) => Direction::Up,
        };
        let (tx_mode, rx_mode) = request.map_or_else(
            || stock_modes(params),
            |request| (request.tx_mode, request.rx_mode),
        );
        Self {
            protocol: if udp { Protocol::Udp } else { Protocol::Tcp },
            direction,
            streams: number(Some(params.streams_per_direction())).unwrap_or(1),
            payload_bytes: number(params.len_bytes).unwrap_or(default_bytes),
            bits_per_second: params.bandwidth_bits_per_second.filter(|&rate| rate > 0),
            burst: request
                .and_then(|request| request.burst)
                .or(number(params.burst_packets).filter(|&burst| burst > 0)),
            limit: request.map_or(
                Limit {
                    omit_ns: params.omit_s.unwrap_or(0).saturating_mul(1_000_000_000),
                    packets: stock_writes(params),
                    ..Limit::default()
                },
                Request::limit,
            ),
            stamp: stamp(request.is_some(), params.udp_counters_64bit),
            udp_tx: tx_mode.into(),
            udp_rx: rx_mode.into(),
            tcp_tx: tx_mode.into(),
            tcp_rx: rx_mode.into(),
            window_bytes: number(params.window_bytes).filter(|&bytes| bytes > 0),
            most_window_bytes: None,
            memory: Memory::of_host(),
            see_tos: request.is_some() && params.tos.is_some(),
            tos: params.tos.and_then(|tos| u8::try_from(tos).ok()),
            dont_fragment: params.dont_fragment,
            mss_bytes: number(params.mss_bytes).filter(|&bytes| bytes > 0),
            nodelay: params.nodelay,
            congestion: params.congestion.clone(),
            worker: Worker {
                cpu: number(params.server_affinity).map(|cpu| cpu as usize),
                for_cost: request.is_some_and(|request| request.for_cost),
            },
            bind_device: None,
            pacing_bytes_per_second: number(params.fqrate_bits_per_second.map(|rate| rate / 8))
                .filter(|&rate| rate > 0),
            send_timeout: DEAD_PEER,
        }
    }

    /// Limits the streams to a client's part of `memory`.
    pub(crate) fn within(self, memory: Memory) -> Self {
        Self {
            most_window_bytes: Some(memory.most_buffer_bytes(self.streams_total())),
            memory,
            ..self
        }
    }

    /// The granted size of a socket buffer, if it is less than requested.
    pub(crate) fn window_cut_to(&self) -> Option<usize> {
        let asked = self.window_bytes? as usize;
        self.most_window_bytes.filter(|&most| most < asked)
    }

    fn window(&self) -> Option<usize> {
        let asked = self.window_bytes.map(|bytes| bytes as usize);
        self.window_cut_to().or(asked)
    }

    /// Streams of both directions.
    pub(crate) fn streams_total(&self) -> u32 {
        if self.direction == Direction::Both {
            self.streams.saturating_mul(2)
        } else {
            self.streams
        }
    }

    /// Whether the client sends on stream `index`: in a bidirectional test on the first half.
    pub(crate) fn client_sends(&self, index: u32) -> bool {
        match self.direction {
            Direction::Up => true,
            Direction::Down => false,
            Direction::Both => index < self.streams,
        }
    }

    /// iperf3's id of stream `index`.
    pub(crate) fn id(index: u32) -> u32 {
        u32::try_from(stream_id::from_index(index)).unwrap_or(u32::MAX)
    }

    /// Whether the test has a stream with that id.
    pub(crate) fn has_stream(&self, id: u32) -> bool {
        (0..self.streams_total()).any(|index| Self::id(index) == id)
    }

    /// The options of the UDP sockets.
    pub(crate) fn udp_options(&self, sends: bool) -> udp::Options {
        let by_default = || self.memory.default_buffer_bytes(self.streams_total());
        let buffer = self.window().unwrap_or_else(by_default);
        udp::Options {
            recv_buffer_bytes: (!sends).then_some(buffer),
            send_buffer_bytes: self.window().filter(|_| sends),
            tos: self.tos,
            dont_fragment: self.dont_fragment,
            bind_device: self.bind_device.clone(),
            share_port: false,
            recv_err: sends,
            packet_info: false,
            max_pacing_bytes_per_second: self.pacing_bytes_per_second,
        }
    }

    /// The options of the TCP sockets.
    pub(crate) fn tcp_options(&self) -> tcp::Options {
        tcp::Options {
            local: None,
            bind_device: self.bind_device.clone(),
            window_bytes: self.window(),
            nodelay: self.nodelay,
            mss_bytes: self.mss_bytes,
            congestion: self.congestion.clone(),
            tos: self.tos,
            dead_peer_timeout: Some(self.send_timeout),
            max_pacing_bytes_per_second: self.pacing_bytes_per_second,
            zerocopy: self.tcp_tx == tcp::TxMode::ZeroCopy,
        }
    }

    /// Work on a connected UDP socket.
    pub(crate) fn udp_work(&self, sends: bool, index: u32, opened: Opened) -> io::Result<Work> {
        if sends {
            self.udp_tx(index, opened).map(Work::UdpTx)
        } else {
            self.udp_rx(opened).map(Work::UdpRx)
        }
    }

    /// Work on a connected TCP stream whose cookie is through.
    pub(crate) fn tcp_work(&self, sends: bool, index: u32, stream: TcpStream) -> io::Result<Work> {
        tcp::set_wait(&stream, WAIT)?;
        let handle = stream.try_clone()?;
        let block_bytes = self.payload_bytes as usize;
        let mover = tcp::Mover::new(
            stream,
            if sends {
                block_bytes
            } else {
                self.read_bytes()
            },
            self.tcp_tx,
            self.tcp_rx,
            fill,
        )?;
        Ok(if sends {
            Work::TcpTx(
                TcpTx {
                    mover,
                    block_bytes,
                    bits_per_second: self.bits_per_second,
                    limit: self.share(index),
                },
                handle,
            )
        } else {
            let omit_ns = self.limit.omit_ns;
            Work::TcpRx(TcpRx { mover, omit_ns }, handle)
        })
    }

    /// How much a TCP receiver reads at once: as much as its sender writes, if there is room.
    pub(super) fn read_bytes(&self) -> usize {
        let wanted = (self.payload_bytes as usize).div_ceil(READ_BYTES).max(1);
        let streams = self.streams_total();
        READ_BYTES * self.memory.slots(streams, READ_BYTES, wanted)
    }

    fn udp_tx(&self, index: u32, opened: Opened) -> io::Result<UdpTx> {
        let payload_bytes = self.payload_bytes as usize;
        let slots = match self.udp_tx {
            udp::TxMode::Gso => GSO_SLOTS,
            udp::TxMode::Mmsg => MMSG_SLOTS,
            udp::TxMode::Plain => 1,
        };
        let slots = self
            .memory
            .slots(self.streams_total(), payload_bytes, slots);
        let mut sender = udp::Sender::new(opened.socket.into(), payload_bytes, slots, self.udp_tx)?;
        let slots = sender.slots();
        (0..slots).for_each(|slot| fill(sender.slot(slot)));
        Ok(UdpTx {
            never_spins: self.worker.for_cost,
            sender,
            bits_per_second: self.bits_per_second,
            burst_packets: self.burst_packets(slots),
            stamp: self.stamp,
            limit: self.share(index),
            delay_ns: 0,
            errors_most: u64::MAX,
        })
    }

    /// The declared burst. Without a rate there is none, and a batch is all that the sender takes at once.
    fn burst_packets(&self, slots: usize) -> u32 {
        let rate = self.bits_per_second.filter(|&rate| rate > 0);
        self.burst.unwrap_or_else(|| match rate {
            Some(_) => default_burst_packets(rate, self.payload_bytes),
            None => burst_of_batches(u32::try_from(slots).unwrap_or(u32::MAX)),
        })
    }

    fn udp_rx(&self, opened: Opened) -> io::Result<UdpRx> {
        let config = udp::ReceiverConfig {
            tos: self.see_tos,
            linger: if opened.recv_buffer.granted_bytes >= LINGER_BUFFER_BYTES {
                LINGER
            } else {
                Duration::ZERO
            },
            buffer_bytes: match self.worker.for_cost {
                true => 0,
                false => opened.recv_buffer.granted_bytes,
            },
            ..udp::ReceiverConfig::new(CAPTURE_BYTES, self.rx_batch(), self.udp_rx)
        };
        // Not those of now: the peer may have begun to send.
        let drops_before = opened.drops_before;
        let buffer = opened.recv_buffer;
        let receiver = udp::Receiver::new(opened.socket.into(), config)?;
        Ok(UdpRx {
            receiver,
            stamp: self.stamp,
            limit: self.limit,
            buffer_bytes: (
                self.window_bytes
                    .map(u64::from)
                    .or(buffer.asked_bytes.map(|bytes| bytes as u64)),
                buffer.granted_bytes as u64,
            ),
            drops_before,
        })
    }

    fn rx_batch(&self) -> usize {
        match self.udp_rx {
            udp::RxMode::Gro => {
                let streams = self.streams_total();
                self.memory.slots(streams, udp::JOINED_BYTES, GRO_BATCH)
            }
            udp::RxMode::Plain | udp::RxMode::Mmsg => RX_BATCH,
        }
    }

    /// One stream's part of a limit by amount: equal parts, the rest to the first stream.
    pub(super) fn share(&self, index: u32) -> Limit {
        let streams = u64::from(self.streams);
        let part = |total: u64| {
            total / streams
                + if u64::from(index) % streams == 0 {
                    total % streams
                } else {
                    0
                }
        };
        Limit {
            bytes: self.limit.bytes.map(part),
            packets: self.limit.packets.map(part),
            ..self.limit
        }
    }
}

impl Request {
    fn limit(&self) -> Limit {
        Limit {
            omit_ns: self.omit_ns,
            duration_ns: self.duration_ns,
            bytes: self.bytes,
            packets: self.blocks,
        }
    }
}

impl TestPlan {
    /// Whether bytes or writes, not time, end it.
    pub(crate) fn is_by_amount(&self) -> bool {
        self.bytes.is_some() || self.blocks.is_some()
    }

    /// The TOS byte of `--tos` or `--dscp`.
    pub(crate) fn tos_byte(&self) -> Option<u8> {
        self.tos.or(self.dscp.map(|dscp| dscp << 2))
    }
}

/// The writes that a stock client's amount requires of a sending server: whole blocks, for old clients
/// read nothing less, and alike on all streams. It ends such a test by what it received: a UDP
/// sender goes on, for datagrams may be lost; and in a warm-up nothing counts.
fn stock_writes(params: &Params) -> Option<u64> {
    let set = |amount: Option<u64>| amount.filter(|&amount| amount > 0);
    let length = set(params.len_bytes).unwrap_or(u64::from(TCP_BLOCK_BYTES));
    let writes = match (set(params.num_bytes), set(params.blockcount)) {
        (Some(bytes), _) => bytes.div_ceil(length),
        (None, Some(blocks)) => blocks,
        (None, None) => return None,
    };
    let counts = params.protocol() == params::Protocol::Tcp && params.omit_s.unwrap_or(0) == 0;
    let streams = params.streams_per_direction();
    counts.then(|| writes.div_ceil(streams).saturating_mul(streams))
}

/// How a stock client wants to be served.
fn stock_modes(params: &Params) -> (IoMode, IoMode) {
    let chosen = |set, mode| if set { mode } else { IoMode::Auto };
    (
        chosen(params.zerocopy, IoMode::Sendfile),
        chosen(params.skip_rx_copy, IoMode::Trunc),
    )
}

fn stamp(own_peer: bool, wide: bool) -> Stamp {
    match (own_peer, wide) {
        (true, _) => Stamp::Own,
        (false, true) => Stamp::Stock(CounterWidth::Bits64),
        (false, false) => Stamp::Stock(CounterWidth::Bits32),
    }
}

/// A pattern that does not compress and does not look like a header.
fn fill(bytes: &mut [u8]) {
    let mut state = 0x9e37_79b9_u32;
    for byte in bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
}

/// iperf3's default block.
const TCP_BLOCK_BYTES: u32 = 128 * 1024;
/// A receiver reads at least this much at once, whatever the sender's block.
const READ_BYTES: usize = 128 * 1024;
/// The front of a datagram that the accounting looks at.
const CAPTURE_BYTES: usize = 64;
const RX_BATCH: usize = 64;
/// Messages of up to 64 KiB: what they hold is still in a cache of the processor when it is read.
const GRO_BATCH: usize = 4;
/// With a buffer of this size a receiver lets datagrams gather for a moment: fewer wake-ups, which
/// the sender's processor would pay for.
const LINGER_BUFFER_BYTES: usize = 1 << 20;
const LINGER: Duration = Duration::from_micros(200);
const MMSG_SLOTS: usize = 16;
const GSO_SLOTS: usize = 64;
/// A blocked read or write checks the stop flag this often.
const WAIT: Duration = Duration::from_millis(50);
/// A peer that is gone is noticed by its data connection.
const DEAD_PEER: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpaced_batch_is_all_slots_and_a_paced_one_follows_the_rate() {
        let config = |rate, burst| StreamConfig {
            bits_per_second: rate,
            burst,
            payload_bytes: 1448,
            ..StreamConfig::of_plan(&TestPlan::tcp("peer"), true, 1448)
        };
        for rate in [None, Some(0)] {
            assert_eq!(config(rate, None).burst_packets(45), 8 * 45);
        }
        let rate = Some(1_000_000_000);
        let paced = default_burst_packets(rate, config(rate, None).payload_bytes);
        assert_eq!(config(rate, None).burst_packets(45), paced);
        assert_eq!(config(rate, Some(9)).burst_packets(45), 9);
        assert_eq!(config(None, Some(9)).burst_packets(45), 9);
    }
}
