// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test of a device with nothing empty.

use linerate_model::output::*;

use super::text;

pub(super) fn forward() -> Forward {
    Forward {
        ports: vec![Port {
            not_used: vec![text()],
            ..Port::default()
        }],
        vlan: Some(1),
        goals: vec![Goal::default()],
        tests: vec![ForwardTest::default()],
        ceilings: vec![Ceiling {
            loop_fps: Some(1.0),
            path_fps: Some(1.0),
            ..Ceiling::default()
        }],
        device: Some(DeviceSource {
            stopped: Some(text()),
            setup: vec![text()],
            ..DeviceSource::default()
        }),
        deviations: vec![text()],
        ..Forward::default()
    }
}

pub(super) fn benchmarks() -> Benchmarks {
    let subject = Subject {
        genome: Some(text()),
        ..Subject::default()
    };
    Benchmarks {
        loss_curves: vec![LossCurve {
            subject: subject.clone(),
            points: vec![LossPoint {
                loss_ratio: Some(1.0),
                ..LossPoint::default()
            }],
            ..LossCurve::default()
        }],
        back_to_back: vec![BackToBack {
            subject: subject.clone(),
            throughput_fps: Some(1.0),
            longest_frames: vec![1],
            mean_frames: Some(1.0),
            deviation_frames: Some(1.0),
            implied_s: Some(1.0),
            corrected_s: Some(1.0),
            buffer_frames: Some(1.0),
            not_measured: Some(text()),
            ..BackToBack::default()
        }],
        latency: vec![device_latency(&subject)],
        recovery: vec![Recovery {
            subject: subject.clone(),
            throughput_fps: Some(1.0),
            overload_fps: Some(1.0),
            reduced_fps: Some(1.0),
            attempts: vec![RecoveryAttempt {
                recovery_s: Some(1.0),
                ..RecoveryAttempt::default()
            }],
            mean_s: Some(1.0),
            not_measured: Some(text()),
            ..Recovery::default()
        }],
        reset: vec![Reset {
            subject,
            load_fps: Some(1.0),
            command: Some(text()),
            attempts: vec![ResetAttempt {
                by_timestamps_s: Some(1.0),
                by_loss_s: Some(1.0),
                ..ResetAttempt::default()
            }],
            mean_s: Some(1.0),
            not_measured: Some(text()),
            ..Reset::default()
        }],
    }
}

fn device_latency(subject: &Subject) -> DeviceLatency {
    DeviceLatency {
        subject: subject.clone(),
        load_fps: Some(1.0),
        streams: vec![LatencyStream {
            ipdv_min_ns: Some(1),
            ipdv_median_ns: Some(1),
            ipdv_max_ns: Some(1),
            ..LatencyStream::default()
        }],
        typical_ns: Some(Spread::default()),
        worst_ns: Some(Spread::default()),
        pdv_ns: Some(Spread::default()),
        not_measured: Some(text()),
        ..DeviceLatency::default()
    }
}

pub(super) fn trial() -> Trial {
    Trial {
        directions: vec![TrialDirection {
            receiver_dropped_frames: Some(1),
            sender_gap_ns: Some(Quantiles::default()),
            latency_ns: Some(Quantiles::default()),
            ..TrialDirection::default()
        }],
        flows: vec![TrialFlow::default()],
        genome: Some(text()),
        then: Some(TrialPhase::default()),
        device: Some(TrialDevice {
            processors: vec![DeviceProcessor::default()],
            queues: vec![DeviceQueue::default()],
            interrupts: vec![DeviceInterrupt::default()],
            counters: vec![MovedCounter {
                interface: Some(text()),
                ..MovedCounter::default()
            }],
            ..TrialDevice::default()
        }),
        invalid_reason: Some(text()),
        ..Trial::default()
    }
}
