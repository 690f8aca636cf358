// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver's account of our streams from an iperf2 server's reports, or why there is none.

use super::finish::{self, Answer};
use super::load::FarEnd;
use crate::account::{RxAccount, SideAccount, StreamAccount};
use linerate_method::sequence::SequenceTotals;
use linerate_model::failure::Failure;
use linerate_model::output::Warning;
use linerate_wire::iperf2::server_report::ServerReport;
use std::net::SocketAddr;

/// What the answers of `server` to the final datagrams mean, for streams of `payload_bytes`.
pub(super) fn judge(
    (server, payload_bytes): (SocketAddr, u32),
    own: &SideAccount,
    answers: &[Answer],
) -> FarEnd {
    let streams: Vec<_> = own
        .streams
        .iter()
        .zip(answers)
        .filter_map(|(stream, answer)| match answer {
            Answer::Report(report) => Some(received(stream, report, payload_bytes)),
            _ => None,
        })
        .collect();
    let complete = streams.len() == answers.len();
    FarEnd {
        warnings: missing(server, answers).into_iter().collect(),
        failure: refused(server, answers),
        account: (!streams.is_empty()).then(|| SideAccount {
            streams,
            partial: !complete,
            ..SideAccount::default()
        }),
    }
}

/// The receiver's account by the server's report, the final datagram taken out again.
fn received(stream: &StreamAccount, report: &ServerReport, payload_bytes: u32) -> StreamAccount {
    let sent = sent(stream);
    let finals = u64::from(report.datagrams > sent);
    let packets = counted(report).saturating_sub(finals);
    let totals = SequenceTotals {
        sent,
        received_unique: packets,
        lost: sent.saturating_sub(packets),
        reordered: report.out_of_order,
        highest: report.datagrams - finals,
        contradicted: packets > sent,
        ..SequenceTotals::default()
    };
    StreamAccount {
        id: stream.id,
        rx: Some(RxAccount {
            bytes: report
                .bytes
                .saturating_sub(finals * u64::from(payload_bytes)),
            packets,
            duration_ns: report.duration_us.saturating_mul(1000),
            sequence: Some(totals),
            jitter_ns: Some(report.jitter_us as f64 * 1e3),
            ..RxAccount::default()
        }),
        ..StreamAccount::default()
    }
}

/// Returns the datagrams that arrived. Copies make iperf's loss negative, in 32 or 64 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a negative count of 32 bits"
)]
fn counted(report: &ServerReport) -> u64 {
    let lost = if report.lost > report.datagrams {
        i64::from((report.lost as u32).cast_signed())
    } else {
        report.lost.cast_signed()
    };
    report.datagrams.saturating_add_signed(-lost)
}

fn refused(server: SocketAddr, answers: &[Answer]) -> Option<Failure> {
    answers
        .iter()
        .all(|answer| *answer == Answer::Refused)
        .then(|| {
            Failure::measuring(
                format!("finish the test with {server}"),
                "the server's UDP port is closed (ICMP port unreachable)",
            )
            .hint(format!("start `iperf -s -u -p {}` there", server.port()))
        })
}

/// Returns a warning about missing reports.
fn missing(server: SocketAddr, answers: &[Answer]) -> Option<Warning> {
    let count = |wanted: Answer| answers.iter().filter(|answer| **answer == wanted).count();
    let (silent, echoed) = (count(Answer::None), count(Answer::Echo));
    let port = server.port();
    let (text, try_) = match (silent, echoed) {
        (0, 0) => return None,
        (0, _) => (
            "the server's report was lost, and this server does not repeat it: the received count is unknown".to_owned(),
            "repeat the test".to_owned(),
        ),
        _ => (
            format!("the server's report did not arrive after {} tries: a firewall on the way back, or no iperf2 UDP server", finish::TRIES),
            format!("`iperf -s -u -p {port}` there, and allow UDP from its port {port}"),
        ),
    };
    Some(Warning {
        id: "no-server-report".to_owned(),
        text,
        try_,
    })
}

/// Datagrams of data that a stream sent.
pub(super) fn sent(stream: &StreamAccount) -> u64 {
    stream.tx.as_ref().map_or(0, |tx| tx.packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::TxAccount;

    fn stream(packets: u64) -> StreamAccount {
        StreamAccount {
            id: 1,
            tx: Some(TxAccount {
                packets,
                ..TxAccount::default()
            }),
            ..StreamAccount::default()
        }
    }

    fn read(sent: u64, report: ServerReport) -> (u64, u64, u64, bool) {
        let rx = received(&stream(sent), &report, 100).rx.unwrap();
        let totals = rx.sequence.unwrap();
        (rx.packets, totals.lost, rx.bytes, totals.contradicted)
    }

    #[test]
    fn the_final_datagram_is_no_data() {
        let report = |bytes, lost, datagrams| ServerReport {
            bytes,
            lost,
            datagrams,
            ..ServerReport::default()
        };
        assert_eq!(read(10, report(1100, 0, 11)), (10, 0, 1000, false));
        assert_eq!(read(10, report(900, 2, 11)), (8, 2, 800, false));
        // A server that does not count it, and one that heard the end before the last datagram.
        assert_eq!(read(10, report(1000, 0, 10)), (10, 0, 1000, false));
        assert_eq!(read(10, report(900, 0, 9)), (9, 1, 900, false));
        // Copies make its loss negative.
        for minus_one in [u64::MAX, u64::from(u32::MAX)] {
            assert_eq!(read(10, report(1200, minus_one, 11)), (11, 0, 1100, true));
        }
    }
}
