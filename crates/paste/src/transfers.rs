// SPDX-License-Identifier: MIT OR Apache-2.0
//! A measured rate → a test.

use crate::text::{self, Transfer};
use linerate_model::output::{Cpu, CpuPair, Direction, Flow, Protocol, Test, Warning};

/// Makes a test of a transfer under a heading. A packet rate without a duration becomes the packets of one second.
pub(super) fn test(transfer: &Transfer, title: Option<&str>) -> Test {
    let sends = transfer.sends.unwrap_or(true);
    let udp = transfer.protocol == Some(text::Protocol::Udp)
        || transfer.forwarded
        || transfer.packets_per_second.is_some();
    let payload = transfer.packet_bytes.unwrap_or_default();
    let mut test = Test {
        name: name(transfer, title),
        protocol: if udp { Protocol::Udp } else { Protocol::Tcp },
        af: transfer.ip_version.unwrap_or(4),
        direction: if sends {
            Direction::Up
        } else {
            Direction::Down
        },
        streams: u32::try_from(transfer.flows_bits_per_second.len())
            .unwrap_or(1)
            .max(1),
        payload_bytes: payload,
        delivered_bits_per_second: (transfer.bits_per_second > 0.0)
            .then_some(transfer.bits_per_second),
        retransmits: transfer.retransmits,
        mss_bytes: transfer
            .mtu
            .filter(|_| !udp)
            .map(|mtu| mtu.saturating_sub(40)),
        flows: flows(transfer),
        cpu: CpuPair {
            local: transfer.cpu_share.map(|system| Cpu {
                system,
                busiest_cpu: system,
                ..Cpu::default()
            }),
            remote: None,
        },
        valid: true,
        ..Test::default()
    };
    packets(&mut test, transfer, udp);
    test.warnings.extend(sum_warning(transfer));
    test
}

/// Warns if the flows of a table do not add up to its total.
fn sum_warning(transfer: &Transfer) -> Option<Warning> {
    let sum: f64 = transfer.flows_bits_per_second.iter().sum();
    let wrong = sum > 0.0 && (sum - transfer.bits_per_second).abs() > 0.02 * sum;
    wrong.then(|| Warning {
        id: "sum-differs".to_owned(),
        text: format!(
            "the flows add up to {:.2} Mbit/s, the table says {:.2}",
            sum / 1e6,
            transfer.bits_per_second / 1e6
        ),
        try_: "the tool's own sum".to_owned(),
    })
}

fn name(transfer: &Transfer, title: Option<&str>) -> String {
    let way = transfer
        .sends
        .map(|sends| if sends { "up" } else { "down" }.to_owned());
    let parts = [
        title.map(str::to_owned),
        transfer.name.clone(),
        transfer.forwarded.then(|| "forwarded".to_owned()),
        transfer.ip_version.map(|version| format!("IPv{version}")),
        transfer.mtu.map(|mtu| format!("MTU {mtu}")),
        transfer.packet_bytes.map(|bytes| format!("{bytes} bytes")),
        way,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn flows(transfer: &Transfer) -> Vec<Flow> {
    let flow = |(id, rate): (u32, &f64)| Flow {
        id,
        delivered_bits_per_second: Some(*rate),
        ..Flow::default()
    };
    (1..)
        .zip(&transfer.flows_bits_per_second)
        .map(flow)
        .collect()
}

fn packets(test: &mut Test, transfer: &Transfer, udp: bool) {
    if let Some(rate) = transfer.packets_per_second {
        test.duration_s = 1.0;
        test.received_packets = Some(rate as u64);
        return;
    }
    let bits = transfer
        .sent
        .map(|sent| sent as f64 * f64::from(test.payload_bytes) * 8.0)
        .filter(|bits| udp && *bits > 0.0);
    let lasted = bits
        .map(|bits| bits / transfer.bits_per_second)
        .filter(|seconds| seconds.is_finite());
    test.duration_s = transfer.duration_s.or(lasted).unwrap_or_default();
    if udp {
        test.sent_packets = transfer.sent;
        test.lost_packets = transfer
            .lost
            .filter(|lost| transfer.sent.is_none_or(|sent| *lost <= sent));
        test.received_packets = transfer
            .sent
            .zip(transfer.lost)
            .and_then(|(sent, lost)| sent.checked_sub(lost));
        test.loss_ratio = transfer
            .sent
            .zip(transfer.lost)
            .filter(|(sent, _)| *sent > 0)
            .map(|(sent, lost)| lost as f64 / sent as f64);
    }
}
