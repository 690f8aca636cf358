// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test of an endpoint, its host and its knee with nothing empty.

use linerate_model::output::*;

use super::text;

pub(super) fn host() -> Host {
    Host {
        hostname: Some(text()),
        boot_id: Some(text()),
        kernel: Some(text()),
        arch: Some(text()),
        cpu_model: Some(text()),
        cpus: Some(1),
        withheld: Some(Withheld::NeedsToken),
        interfaces: vec![Interface {
            driver: Some(text()),
            link_bits_per_second: Some(1),
            mtu: Some(1),
            link_kind: Some(LinkKind::Wire),
            ..Interface::default()
        }],
        ..Host::default()
    }
}

pub(super) fn test() -> Test {
    Test {
        requested_bits_per_second: Some(1.0),
        offered_bits_per_second: Some(1.0),
        delivered_bits_per_second: Some(1.0),
        sent_packets: Some(1),
        received_packets: Some(1),
        lost_packets: Some(1),
        duplicate_packets: Some(1),
        reordered_packets: Some(1),
        reorder_extent_max: Some(1),
        late_packets: Some(1),
        corrupt_packets: Some(1),
        loss_ratio: Some(1.0),
        loss_ratio_upper95: Some(1.0),
        jitter_ns: Some(1.0),
        retransmits: Some(1),
        rtt_ns: Some(Quantiles::default()),
        delay_ns: Some(Quantiles::default()),
        delay_error_ns: Some(1),
        clock_drift_ppm: Some(1.5),
        mode: Mode {
            tx: Some(IoMode::default()),
            rx: Some(IoMode::default()),
            burst: Some(1),
        },
        spacing_ns: Some(Spacing::default()),
        spacing_histogram: vec![(1, 1)],
        window_bytes_max: Some(1),
        receive_buffer_bytes: Some(ReceiveBuffer {
            asked: Some(1),
            granted: Some(1),
        }),
        socket_drops: Some(1),
        socket_drops_at_least: true,
        receiver_run_delay_ns_max: Some(3_100_000),
        receiver_cpu_ratio_max: Some(0.5),
        sender_behind_ns_max: Some(1),
        unsent_packets: Some(1),
        refused_packets: Some(1),
        dscp: Some(Dscp {
            requested: Some(1),
            seen: Some(1),
        }),
        ecn: Some(Ecn {
            requested: Some(Codepoint::Ect0),
            arrived: Some(Arrived::default()),
            negotiated: Some(true),
            ect_seen: Some(true),
            delivered_segments: Some(1),
            delivered_ce_segments: Some(1),
        }),
        congestion: Some(text()),
        mss_bytes: Some(1),
        stalled_mss_bytes: Some(1),
        pacing_bits_per_second: Some(1.0),
        busy_time_us: Some(1),
        rwnd_limited_us: Some(1),
        sndbuf_limited_us: Some(1),
        local_address: Some(text()),
        remote_address: Some(text()),
        sent_bytes: Some(1),
        received_bytes: Some(1),
        local_interface: Some(text()),
        remote_interface: Some(text()),
        link_kind: Some(LinkKind::Veth),
        cpu: CpuPair {
            local: Some(Cpu::default()),
            remote: Some(Cpu::default()),
        },
        stream_cpu: StreamCpu {
            tx: threads(),
            rx: threads(),
        },
        flows: vec![Flow {
            local_port: Some(1),
            remote_port: Some(1),
            offered_bits_per_second: Some(1.0),
            sent_bytes: Some(1),
            received_bytes: Some(1),
            sent_packets: Some(1),
            delivered_bits_per_second: Some(1.0),
            lost_packets: Some(1),
            retransmits: Some(1),
            ..Flow::default()
        }],
        intervals: vec![interval()],
        loss_bursts: vec![LossBurst::default()],
        counters: vec![MovedCounter {
            interface: Some(text()),
            ..MovedCounter::default()
        }],
        invalid_reason: Some(text()),
        warnings: vec![Warning::default()],
        ..Test::default()
    }
}

pub(super) fn knee() -> Knee {
    Knee {
        test_ids: vec![text()],
        lossless_bits_per_second: Some(1.0),
        lossy_bits_per_second: Some(1.0),
        lossless_pps: Some(1.0),
        lossy_pps: Some(1.0),
        loss_ratio_upper95: Some(1.0),
        constant_loss: Some(ConstantLoss {
            highest_bits_per_second: Some(1.0),
            ..ConstantLoss::default()
        }),
        confirmation: Some(Confirmation {
            loss_ratio_upper95: Some(1.0),
            ..Confirmation::default()
        }),
        ..Knee::default()
    }
}

fn threads() -> Option<ThreadTime> {
    Some(ThreadTime {
        events: Some(ThreadEvents::default()),
        events_missing: Some(EventsMissing::NoCounters),
        ..ThreadTime::default()
    })
}

fn interval() -> Interval {
    Interval {
        sent_bits_per_second: Some(1.0),
        received_bits_per_second: Some(1.0),
        sent_packets: Some(1),
        lost_packets: Some(1),
        retransmits: Some(1),
        cwnd_bytes: Some(1),
        rtt_ns: Some(1),
        ..Interval::default()
    }
}
