// SPDX-License-Identifier: MIT OR Apache-2.0
//! How evenly 100,000 frames a second leave, and whether the rate drifts in a minute: only ours, each backend in turn, by the
//! example `ports pace`. Sent: by the times that the frames carry, which the sender reads as it writes each. Arrived: by the
//! kernel's stamps at the other end of the veth.

use serde_json::{Value, json};

use super::{FAR, NEAR, ask, connect};
use crate::bench::options::Options;
use crate::bench::table::print_aligned;
use crate::bench::testbed::Testbed;

/// Measures and prints it; `ours` is the example `ports` of the crate `linerate-linux`.
pub(crate) fn run(testbed: &Testbed, ours: &str, options: &Options) -> Value {
    let seconds = options.seconds.unwrap_or(SECONDS);
    println!(
        "\nspacing: 64-byte frames, 100 kpps over a veth for {seconds} s: gaps off by percent of the 10 us meant; rate off by ppm \
         without the time in which the thread was kept from running"
    );
    if let Err(why) = connect(testbed) {
        println!("  failed: {why}");
        return json!({"row": "spacing", "error": why});
    }
    let head = [
        "", "", "p50 %", "p90 %", "p99 %", "rate ppm", "kept ms", "lost",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let mut reported = Vec::new();
    for round in 0..options.rounds {
        for backend in BACKENDS {
            eprintln!("spacing round {}: {backend}", round + 1);
            let answer = ask(testbed, ours, "pace", [backend, "af_packet_ring"], seconds);
            match &answer {
                Ok(answer) => lines.extend(rows(backend, answer)),
                Err(why) => println!("  {backend}: failed: {why}"),
            }
            reported.push(json!({"backend": backend, "seconds": seconds, "answer": answer}));
        }
    }
    print_aligned(&lines);
    json!({"row": "spacing", "near": NEAR, "far": FAR, "ours": reported})
}

fn rows(backend: &str, answer: &Value) -> [Vec<String>; 2] {
    let number = |value: &Value| match value.as_f64() {
        Some(number) => format!("{number:.2}"),
        None => "-".to_owned(),
    };
    let row = |what: &str, gaps: &str, rate: &str| {
        let gaps = &answer[gaps];
        let lost = answer["frames"].as_u64().zip(answer["received"].as_u64());
        let lost = lost.map_or(String::new(), |(sent, received)| {
            sent.saturating_sub(received).to_string()
        });
        vec![
            backend.to_owned(),
            what.to_owned(),
            number(&gaps["p50"]),
            number(&gaps["p90"]),
            number(&gaps["p99"]),
            number(&answer[rate]),
            answer["stalled_ms"].to_string(),
            lost,
        ]
    };
    [
        row("sent", "gap_error_percent", "rate_error_ppm"),
        row(
            "arrived",
            "arrival_gap_error_percent",
            "arrival_rate_error_ppm",
        ),
    ]
}

/// As long as the goal says.
const SECONDS: u32 = 60;
const BACKENDS: [&str; 3] = ["af_xdp_copy", "af_packet_ring", "af_packet_mmsg"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_number() {
        let answer = json!({"frames": 10, "received": 8, "gap_error_percent": {"p50": 0.25, "p90": 1, "p99": 2},
            "rate_error_ppm": null, "stalled_ms": 3});
        let [sent, arrived] = rows("x", &answer);
        assert_eq!(sent, ["x", "sent", "0.25", "1.00", "2.00", "-", "3", "2"]);
        assert_eq!(arrived[2], "-");
    }
}
