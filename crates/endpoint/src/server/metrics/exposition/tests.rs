// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two formats of the page, line by line.

use super::*;
use crate::plan::{Direction, ServeOptions};
use crate::totals::{Amount, Totals};
use linerate_model::output::Protocol;

/// A server after a few tests.
fn metrics() -> Metrics {
    let metrics = Metrics::new(&ServeOptions::default());
    let amount = |bytes, packets| {
        Some(Amount {
            bytes,
            packets,
            duration_ns: 1_000_000_000,
        })
    };
    let udp = (Protocol::Udp, Direction::Both);
    metrics.begin(udp);
    metrics.begin(udp);
    metrics.end(udp, true);
    metrics.begin((Protocol::Tcp, Direction::Down));
    metrics.end((Protocol::Tcp, Direction::Down), false);
    let totals = Totals {
        received: amount(1_000_000, 750),
        sent: amount(2_000_000, 2000),
        lost: 250,
        retransmits: 0,
    };
    metrics.count(Protocol::Udp, &totals);
    // A test that only waited says nothing of a rate.
    metrics.count(
        Protocol::Udp,
        &Totals::of_one(Direction::Down, Amount::default(), 0),
    );
    metrics.refuse(Refusal::Limit);
    metrics.refuse(Refusal::System);
    metrics
}

#[test]
fn what_is_counted_is_shown() {
    let text = text(&metrics(), true);
    for line in [
        "# TYPE linerate_server_tests_started counter",
        "linerate_server_tests_started_total{protocol=\"udp\",direction=\"both\"} 2",
        "linerate_server_tests_started_total{protocol=\"tcp\",direction=\"up\"} 0",
        "linerate_server_tests_ended_total{protocol=\"udp\",direction=\"both\",outcome=\"done\"} 1",
        "linerate_server_tests_ended_total{protocol=\"tcp\",direction=\"down\",outcome=\"failed\"} 1",
        "linerate_server_tests_running{protocol=\"udp\",direction=\"both\"} 1",
        "linerate_server_tests_running{protocol=\"tcp\",direction=\"down\"} 0",
        "linerate_server_tests_limit 16",
        "linerate_server_refusals_total{reason=\"limit\"} 1",
        "linerate_server_refusals_total{reason=\"busy\"} 0",
        "linerate_server_refusals_total{reason=\"system\"} 1",
        "# UNIT linerate_server_received_bytes bytes",
        "linerate_server_received_bytes_total{protocol=\"udp\"} 1000000",
        "linerate_server_received_bytes_total{protocol=\"tcp\"} 0",
        "linerate_server_lost_datagrams_total{protocol=\"udp\"} 250",
        "linerate_server_sent_datagrams_total{protocol=\"udp\"} 2000",
        "linerate_server_retransmitted_segments_total{protocol=\"tcp\"} 0",
        "linerate_server_last_test_bits_per_second{protocol=\"udp\",direction=\"up\"} 8000000",
        "linerate_server_last_test_bits_per_second{protocol=\"udp\",direction=\"down\"} 16000000",
        "linerate_server_last_test_loss_ratio{protocol=\"udp\",direction=\"up\"} 0.25",
        "# TYPE linerate_build info",
        &format!(
            "linerate_build_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        ),
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    assert!(text.ends_with("\n# EOF\n"));
    assert!(!text.contains("last_test_bits_per_second{protocol=\"tcp\""));
}

/// Every sample follows the head of its family, each series is there once, and units and suffixes are as the format
/// wants them.
#[test]
fn both_formats_are_well_formed() {
    let metrics = metrics();
    for openmetrics in [true, false] {
        let text = text(&metrics, openmetrics);
        let (mut family, mut kind) = ("", "");
        let (mut families, mut seen) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| *line != "# EOF") {
            let words: Vec<_> = line.split(' ').collect();
            if let ["#", "TYPE", name, what] = words[..] {
                assert!(!families.contains(&name), "{line}");
                families.push(name);
                (family, kind) = (name, what);
            } else if let ["#", "UNIT", name, unit] = words[..] {
                assert!(
                    openmetrics && name == family && name.ends_with(unit),
                    "{line}"
                );
            } else if let ["#", "HELP", name, ..] = words[..] {
                assert!(name == family && line.ends_with('.'), "{line}");
            } else {
                let &[series, value] = words.as_slice() else {
                    panic!("{line}");
                };
                let suffix = match (openmetrics, kind) {
                    (true, "counter") => "_total",
                    (true, "info") => "_info",
                    _ => "",
                };
                let name = series.split('{').next().unwrap();
                assert_eq!(name, format!("{family}{suffix}"), "{line}");
                assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
                assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
                assert!(!seen.contains(&series), "{line}");
                seen.push(series);
            }
        }
        assert_eq!((families.len(), seen.len()), (17, 47), "{text}");
        assert_eq!(text.contains("# EOF"), openmetrics);
    }
}

#[test]
fn this_process_uses_memory() {
    assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000 && bytes < 1 << 40));
}
