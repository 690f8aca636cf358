// SPDX-License-Identifier: MIT OR Apache-2.0
//! iperf 2: the receiver's number is the server's report (UDP: as the client prints it; TCP: as
//! the server does).

use super::super::load::{Account, Kind, Load};
use super::super::meter::{Metered, Pair};
use super::{HOST, datagrams, words};

pub(super) fn pair(path: String, options: &[String], load: &Load) -> Pair {
    let mut client = vec![path.clone()];
    client.extend(words(&[
        "-c",
        HOST,
        "-f",
        "k",
        "-t",
        &load.seconds.to_string(),
    ]));
    let mut server = vec![path];
    server.extend(words(&["-s", "-f", "k"]));
    match load.kind {
        Kind::Tcp { streams } => client.extend(words(&["-P", &streams.to_string()])),
        Kind::Udp {
            payload_bytes,
            bits_per_second,
        } => {
            // No unit: its M is 2²⁰. Without a limit it sends 1 Mbit/s.
            client.push("-u".into());
            client.extend(datagrams(
                payload_bytes,
                bits_per_second.unwrap_or(100_000_000_000),
            ));
            server.push("-u".into());
        }
    }
    client.extend_from_slice(options);
    server.extend_from_slice(options);
    Pair {
        server,
        client,
        port: 5001,
    }
}

pub(super) fn read(load: &Load, metered: &Metered) -> Option<Account> {
    match load.kind {
        Kind::Tcp { .. } => tcp(&metered.server_output),
        Kind::Udp { payload_bytes, .. } => udp(&metered.finished.stdout, payload_bytes),
    }
}

/// `[  1] 0.0000-1.0018 sec  4500992 KBytes  36859595 Kbits/sec`, several streams: `[SUM]`.
fn tcp(text: &str) -> Option<Account> {
    let reports: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("bits/sec"))
        .collect();
    let sum = reports.iter().find(|line| line.starts_with("[SUM]"));
    let report = sum.or(reports.last())?;
    let (seconds, rest) = interval(report)?;
    let kbits: f64 = rest.split_whitespace().nth(2)?.parse().ok()?;
    Some(Account {
        delivered_bits_per_second: kbits * 1e3,
        seconds,
        ..Account::default()
    })
}

/// `[  1] 0.0000-1.0004 sec  12804 KBytes  104856 Kbits/sec   0.001 ms 0/ 9055 (0%)`
fn udp(text: &str, payload_bytes: u32) -> Option<Account> {
    let (before, after) = text.split_once("Server Report")?;
    let report = after
        .lines()
        .find(|line| line.contains('%') && line.contains(" ms"))?;
    let (seconds, rest) = interval(report)?;
    let counts = rest.split_once(" ms")?.1.split_once('(')?.0;
    let (lost, total) = counts.split_once('/')?;
    let seen: u64 = total.trim().parse().ok()?;
    let lost: u64 = lost.trim().parse().ok()?;
    let sent = before
        .split_once("Sent ")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    // Its count of the sent holds the datagram that ends the test, which the server leaves out.
    let sent = sent.map_or(seen, |sent: u64| seen.max(sent.saturating_sub(1)));
    let arrived = seen.saturating_sub(lost);
    Some(Account::of_datagrams(
        sent,
        sent.saturating_sub(arrived),
        payload_bytes,
        seconds,
    ))
}

/// The length of a report's interval, and what follows it.
fn interval(report: &str) -> Option<(f64, &str)> {
    let (before, after) = report.split_once(" sec")?;
    let (start, end) = before.rsplit(' ').next()?.split_once('-')?;
    let seconds = end.parse::<f64>().ok()? - start.parse::<f64>().ok()?;
    (seconds > 0.0).then_some((seconds, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_report_of_a_udp_test_is_read() {
        let text = "[  1] Sent 9056 datagrams\n[  1] Server Report:\n[ ID] Interval\n\
                    [  1] 0.0000-2.0000 sec  12804 KBytes  104856 Kbits/sec   0.001 ms 55/ 9055 (0.6%)\n";
        let account = udp(text, 1000).unwrap();
        assert_eq!((account.sent_packets, account.lost_packets), (9055, 55));
        assert_eq!(account.delivered_bits_per_second, 9000.0 * 8000.0 / 2.0);
    }

    #[test]
    fn of_several_streams_the_sum_is_read() {
        let text = "[  1] 0.0-1.0 sec  5 KBytes  40 Kbits/sec\n[SUM] 0.0-2.0 sec  9 KBytes  72 Kbits/sec\n";
        let account = tcp(text).unwrap();
        assert_eq!(
            (account.delivered_bits_per_second, account.seconds),
            (72e3, 2.0)
        );
    }
}
