// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's request: iperf3's parameters with our own key.

use crate::extension::Request;
use crate::stream_config::StreamConfig;
use crate::{Direction, Protocol, TestPlan};
use linerate_wire::iperf3::Timeouts;
use linerate_wire::iperf3::params::Params;
use linerate_wire::json::Raw;

/// The parameters of a test; without `load` it has no streams. `nonce`: a token is known.
pub(super) fn params(
    plan: &TestPlan,
    config: &StreamConfig,
    load: bool,
    nonce: Option<String>,
) -> Params {
    let udp = plan.protocol == Protocol::Udp;
    let by_amount = plan.is_by_amount();
    let seconds = |ms: u64| ms.div_ceil(1000);
    Params {
        tcp: !udp,
        udp,
        omit_s: Some(seconds(plan.omit_ms)),
        time_s: Some(if by_amount {
            0
        } else {
            seconds(plan.duration_ms)
        }),
        num_bytes: plan.bytes,
        blockcount: plan.blocks,
        parallel: Some(u64::from(plan.streams)),
        reverse: plan.direction == Direction::Down,
        bidirectional: plan.direction == Direction::Both,
        len_bytes: Some(u64::from(config.payload_bytes)),
        bandwidth_bits_per_second: plan.bits_per_second,
        burst_packets: plan.burst.map(u64::from),
        pacing_timer_us: Some(1000),
        window_bytes: plan.window_bytes.map(u64::from),
        mss_bytes: plan.mss.map(u64::from),
        nodelay: plan.nodelay,
        tos: plan.tos_byte().map(u64::from),
        congestion: plan.congestion.clone(),
        server_affinity: plan.affinity.and_then(|(_, server)| server).map(u64::from),
        title: plan.title.clone(),
        get_server_output: plan.server_output,
        udp_counters_64bit: udp && plan.counters_64bit,
        dont_fragment: plan.dont_fragment,
        client_version: Some(IPERF3_VERSION.to_owned()),
        linerate: Raw::of(&extension(plan, load, nonce)).ok(),
        ..Params::default()
    }
}

/// What iperf3's keys do not cover.
fn extension(plan: &TestPlan, load: bool, nonce: Option<String>) -> Request {
    Request {
        load,
        duration_ns: (!plan.is_by_amount()).then_some(plan.duration_ms * 1_000_000),
        omit_ns: plan.omit_ms * 1_000_000,
        interval_ns: plan.interval_ms * 1_000_000,
        bytes: plan.bytes,
        blocks: plan.blocks,
        settings: plan.settings,
        control_ns: plan.control_ms * 1_000_000,
        tx_mode: plan.tx_mode,
        rx_mode: plan.rx_mode,
        burst: plan.burst,
        beats: true,
        nonce,
        ..Request::default()
    }
}

/// How long the server may take to answer.
pub(super) fn timeouts(plan: &TestPlan) -> Timeouts {
    let answer_ns = (plan.connect_timeout_ms * 1_000_000).max(1_000_000_000);
    Timeouts {
        answer_ns,
        results_ns: RESULTS_NS,
        ..Timeouts::default()
    }
}

/// The most that the server's results may take, in bytes: iperf3's keys, the account of a linerate server, and the
/// report if it was asked for.
pub(super) fn results_bytes(plan: &TestPlan, config: &StreamConfig) -> u32 {
    let streams = u64::from(config.streams_total());
    let each = streams.saturating_mul(STREAM_BYTES).min(MOST_STREAM_BYTES);
    let counted = RESULTS_BYTES.saturating_add(each);
    let report = if plan.server_output { REPORT_BYTES } else { 0 };
    u32::try_from(counted.saturating_add(report)).unwrap_or(u32::MAX)
}

/// What is not of a stream.
const RESULTS_BYTES: u64 = 16 << 10;
/// A stream in iperf3's keys (some 220 bytes) and its account, whose list of losses has up to 4096 entries of some 100 bytes.
const STREAM_BYTES: u64 = 512 << 10;
/// Of all streams together.
const MOST_STREAM_BYTES: u64 = 8 << 20;
/// A stock server's report has a line of some 80 bytes for each stream and second.
const REPORT_BYTES: u64 = 8 << 20;

/// The protocol version that we speak.
const IPERF3_VERSION: &str = "3.21";
/// A stock server's answer to TEST_END, through whatever queue the test has filled.
const RESULTS_NS: u64 = 15_000_000_000;
