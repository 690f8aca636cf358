// SPDX-License-Identifier: MIT OR Apache-2.0
//! One contender in one round of one row: named values.

use std::collections::BTreeMap;

use super::contender::{self, Contender};
use super::load::{Kind, Load, Measured};
use super::row::Method;
use super::testbed::Testbed;

/// What a round gave, by name with unit.
pub(crate) type Values = BTreeMap<&'static str, f64>;

/// Measures.
///
/// # Errors
/// The contender fails or says nothing that can be understood.
pub(crate) fn run(
    testbed: &Testbed,
    contender: &Contender,
    method: Method,
    seconds: u32,
) -> Result<Values, String> {
    match method {
        Method::Rate(kind) => {
            let measured = contender.measure(testbed, &Load { kind, seconds })?;
            Ok(rate(&measured, kind))
        }
        Method::Knee { payload_bytes } => knee(testbed, contender, payload_bytes, seconds),
        Method::Paced {
            payload_bytes,
            bits_per_second,
        } => {
            let kind = Kind::Udp {
                payload_bytes,
                bits_per_second: Some(bits_per_second),
            };
            let measured = contender.measure(testbed, &Load { kind, seconds })?;
            Ok(paced(&measured, payload_bytes, bits_per_second))
        }
    }
}

fn rate(measured: &Measured, kind: Kind) -> Values {
    let account = &measured.account;
    let [client, server, machine] = measured.cpu_s_per_gb();
    let mut values = Values::from([
        (
            "delivered_gbit_per_second",
            account.delivered_bits_per_second / 1e9,
        ),
        ("sender_cpu_s_per_gb", client),
        ("receiver_cpu_s_per_gb", server),
        ("machine_cpu_s_per_gb", machine),
    ]);
    if let Kind::Udp { payload_bytes, .. } = kind {
        let [client, server, machine] = measured.cpu_s_per_million();
        let delivered = account.delivered_bits_per_second / (8.0 * f64::from(payload_bytes));
        values.extend([
            ("delivered_kpps", delivered / 1e3),
            (
                "offered_kpps",
                account.sent_packets as f64 / account.seconds / 1e3,
            ),
            (
                "lost_percent",
                100.0 * account.lost_packets as f64 / account.sent_packets as f64,
            ),
            ("sender_cpu_s_per_mpacket", client),
            ("receiver_cpu_s_per_mpacket", server),
            ("machine_cpu_s_per_mpacket", machine),
        ]);
    }
    values
}

/// Bisects the asked rate, geometrically, from what comes without a limit downwards. What
/// arrived without a loss counts, also where the contender sent less than was asked; a rate is given up
/// when it lost twice: a machine that is taken away for a moment makes anybody lose.
fn knee(
    testbed: &Testbed,
    contender: &Contender,
    payload_bytes: u32,
    seconds: u32,
) -> Result<Values, String> {
    let try_at = |bits_per_second: Option<u64>| {
        let kind = Kind::Udp {
            payload_bytes,
            bits_per_second,
        };
        contender.measure(testbed, &Load { kind, seconds })
    };
    let free = try_at(None)?.account;
    let mut best = if free.lost_packets == 0 {
        free.delivered_bits_per_second
    } else {
        0.0
    };
    let mut high = free.offered_bits_per_second(payload_bytes) * 1.1;
    let mut low = high / KNEE_SPAN;
    for _ in 0..KNEE_STEPS {
        let asked = (low * high).sqrt();
        let mut account = try_at(Some(asked as u64))?.account;
        if account.lost_packets > 0 {
            account = try_at(Some(asked as u64))?.account;
        }
        if account.lost_packets == 0 {
            best = best.max(account.delivered_bits_per_second);
            low = asked;
        } else {
            high = asked;
        }
    }
    Ok(Values::from([
        ("lossless_gbit_per_second", best / 1e9),
        ("lossless_kpps", best / (8e3 * f64::from(payload_bytes))),
    ]))
}

/// From the rate without a limit down to this part of it.
const KNEE_SPAN: f64 = 64.0;
/// Halvings of the (logarithmic) bracket: 64^(1/2⁷) = 3.3 %.
const KNEE_STEPS: u32 = 7;

fn paced(measured: &Measured, payload_bytes: u32, bits_per_second: u64) -> Values {
    let account = &measured.account;
    let asked = bits_per_second as f64;
    let offered = account.offered_bits_per_second(payload_bytes);
    let mut values = Values::from([
        ("lost_packets", account.lost_packets as f64),
        ("sent_packets", account.sent_packets as f64),
        ("rate_error_percent", 100.0 * (offered / asked - 1.0)),
    ]);
    if let Some(test) = contender::detail(&measured.metered) {
        values.extend(shape(&test, payload_bytes, asked));
    }
    values
}

/// What only linerate tells: how evenly the datagrams came.
fn shape(test: &serde_json::Value, payload_bytes: u32, asked: f64) -> Values {
    let number = |value: &serde_json::Value| value.as_f64();
    let burst = number(&test["mode"]["burst"]).unwrap_or(1.0);
    let excess = number(&test["window_bytes_max"])
        .map(|bytes| (bytes - asked / 8e3) / f64::from(payload_bytes));
    let values = [
        ("burst_packets", Some(burst)),
        ("worst_1ms_excess_packets", excess),
        (
            "spacing_p50_us",
            number(&test["spacing_ns"]["p50"]).map(|ns| ns / 1e3),
        ),
        (
            "spacing_p99_us",
            number(&test["spacing_ns"]["p99"]).map(|ns| ns / 1e3),
        ),
        (
            "spacing_max_us",
            number(&test["spacing_ns"]["max"]).map(|ns| ns / 1e3),
        ),
        (
            "sender_behind_max_us",
            number(&test["sender_behind_ns_max"]).map(|ns| ns / 1e3),
        ),
        ("unsent_packets", number(&test["unsent_packets"])),
        ("socket_drops", number(&test["socket_drops"])),
    ];
    values
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
