// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's request: iperf3's parameters with our own key.

use crate::extension::Request;
use crate::standard::{MOST_STREAM_BYTES, STREAM_BYTES};
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
        fqrate_bits_per_second: plan.fq_bits_per_second,
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
        state: plan.state.map(|known| known.remote),
        control_ns: plan.control_ms * 1_000_000,
        tx_mode: plan.tx_mode,
        rx_mode: plan.rx_mode,
        burst: plan.burst,
        for_cost: plan.for_cost,
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
/// report if it was requested.
pub(super) fn results_bytes(plan: &TestPlan, config: &StreamConfig) -> u32 {
    let streams = u64::from(config.streams_total());
    let each = streams.saturating_mul(STREAM_BYTES).min(MOST_STREAM_BYTES);
    let counted = RESULTS_BYTES.saturating_add(each);
    let report = if plan.server_output {
        report_bytes(plan, streams)
    } else {
        0
    };
    u32::try_from(counted.saturating_add(report)).unwrap_or(u32::MAX)
}

/// The most of a server's report. Each stream and their sum have one line per second.
fn report_bytes(plan: &TestPlan, streams: u64) -> u64 {
    let seconds = match plan.is_by_amount() {
        true => 0,
        false => plan.duration_ms.saturating_add(plan.omit_ms) / 1000,
    };
    let lines = streams.saturating_add(1).saturating_mul(seconds);
    let bytes = lines.saturating_mul(REPORT_LINE_BYTES);
    bytes.clamp(REPORT_BYTES, MOST_REPORT_BYTES)
}

/// What is not of a stream.
const RESULTS_BYTES: u64 = 16 << 10;
/// A report of unknown length.
const REPORT_BYTES: u64 = 8 << 20;
const MOST_REPORT_BYTES: u64 = 64 << 20;
/// In text; as JSON (`iperf3 -s -J`) a line is an object of some 300 bytes.
const REPORT_LINE_BYTES: u64 = 320;

/// The protocol version that we speak.
const IPERF3_VERSION: &str = "3.21";
/// A stock server's answer to TEST_END, through whatever queue the test has filled.
const RESULTS_NS: u64 = 15_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{RxAccount, SideAccount, StreamAccount};
    use crate::standard;
    use linerate_method::sequence::LossBurst;

    /// Random losses fill the list of every stream.
    #[test]
    fn what_a_server_sends_is_what_the_client_reads() {
        for streams in [1, 8, 36, 64, 128, 256] {
            let plan = TestPlan {
                streams,
                ..TestPlan::udp("peer")
            };
            let config = StreamConfig::of_plan(&plan, true, 1448);
            let bursts = |number: u64| LossBurst {
                at_ns: 3_600_000_000_000 + number,
                first_sequence: 1_000_000_000 + number,
                packets: 1,
            };
            let stream = |index| StreamAccount {
                id: StreamConfig::id(index),
                rx: Some(RxAccount {
                    bursts: (0..4096_u64).map(bursts).collect(),
                    spacing_histogram: (0..10_000_u64).map(|n| (1_000_000_000 + n, 1)).collect(),
                    bytes: u64::MAX,
                    sequence: Some(Default::default()),
                    ..RxAccount::default()
                }),
                ..StreamAccount::default()
            };
            let account = SideAccount {
                streams: (0..config.streams_total()).map(stream).collect(),
                ..SideAccount::default()
            };
            let results = standard::results(&account, &config, (0.0, 0.0, 0.0), true);
            let sent = serde_json::to_string(&results).unwrap().len() as u64;
            let most = u64::from(results_bytes(&plan, &config));
            assert!(sent <= most, "{streams}: {sent} of {most}");
            let read: SideAccount = results.linerate.unwrap().read().unwrap();
            for rx in read.streams.iter().filter_map(|one| one.rx.as_ref()) {
                assert_eq!(rx.bursts.len() as u64 + rx.bursts_dropped, 4096);
                let counted: u64 = rx.spacing_histogram.iter().map(|(_, count)| count).sum();
                assert_eq!(counted, 10_000);
            }
        }
    }

    #[test]
    fn a_long_test_of_many_streams_may_have_a_long_report() {
        let plan = TestPlan {
            duration_ms: 3_600_000,
            ..TestPlan::udp("peer")
        };
        assert!(report_bytes(&plan, 32) >= 32 * 3600 * 300);
        assert_eq!(report_bytes(&plan, u64::MAX), MOST_REPORT_BYTES);
    }
}
