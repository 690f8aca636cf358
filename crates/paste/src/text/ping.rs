// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answers and the summary of `ping`: of iputils, busybox, macOS and Windows in several languages. What it says of errors
//! is left to whoever reads sentences; that an answer did not come in time is counted where no summary follows.

use super::number::{count, decimal};
use super::{Block, Content, Hint, Lines};

/// A summary of ping; `None` where the text does not state a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ping {
    /// Requests.
    pub sent: Option<u64>,
    /// Answers.
    pub received: Option<u64>,
    /// Round trips: smallest, mean, largest, milliseconds.
    pub rtt_ms: Option<(f64, f64, f64)>,
}

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let mut ping = Ping::default();
    let (mut answers, mut timeouts) = (0, 0);
    let found = lines.run(0, |line| {
        let line = line.trim();
        let late = line.len() < 80 && is_timeout(line);
        timeouts += u64::from(late);
        answers += u64::from(is_answer(line));
        late || (line.len() < 300 && take(&mut ping, line))
    });
    if ping.sent.is_none() && timeouts > 0 && answers + timeouts >= ROWS_LEAST {
        (ping.sent, ping.received) = (Some(answers + timeouts), Some(answers));
    }
    let counted = ping.sent.is_some() || ping.rtt_ms.is_some();
    if !counted && !found.iter().any(|(_, line)| is_answer(line.trim())) {
        return Block::says_nothing(&found, "ping");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ping",
        content: counted.then_some(Content::Ping(ping)).into_iter().collect(),
    })
}

/// `64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.2 ms`; busybox has `seq=1`.
fn is_answer(line: &str) -> bool {
    let is_ours = line.contains(" bytes from ") && line.contains("seq=");
    let of_windows = || line.contains(" TTL=") && line.contains(": ") && line.contains("ms ");
    is_ours || (line.starts_with("Reply from ") && line.contains(" TTL=")) || of_windows()
}

/// `Request timed out.`, `Request timeout for icmp_seq 3`, `no answer yet for icmp_seq=3`.
fn is_timeout(line: &str) -> bool {
    TIMEOUTS.iter().any(|start| line.starts_with(start))
}

/// Takes a line of a summary; false if it is none.
fn take(ping: &mut Ping, line: &str) -> bool {
    if let Some((sent, received)) = counts(line) {
        (ping.sent, ping.received) = (Some(sent), Some(received));
        return true;
    }
    if let Some(rtt) = times(line) {
        ping.rtt_ms = Some(rtt);
        return true;
    }
    is_answer(line)
        || (line.starts_with("PING ") && line.contains(" data"))
        || line.ends_with("ping statistics ---")
        || FRAMES.iter().any(|start| line.starts_with(start))
        || (line.starts_with('(') && line.contains('%') && line.len() < 30)
}

/// `10 packets transmitted, 8 received, 20% packet loss`; `Packets: Sent = 4, Received = 4, …`.
fn counts(line: &str) -> Option<(u64, u64)> {
    if let Some((sent, rest)) = line.split_once(" packets transmitted, ") {
        return Some((sent.parse().ok()?, count(rest.split_whitespace().next()?)?));
    }
    // Windows, in any language: sent is what was received and what was lost.
    let (title, rest) = line.split_once(" = ")?;
    title.contains(':').then_some(())?;
    let mut numbers = rest.split(" = ").map_while(leading);
    let (sent, received, lost) = (numbers.next()?, numbers.next()?, numbers.next()?);
    (received.checked_add(lost) == Some(sent)).then_some((sent, received))
}

fn leading(text: &str) -> Option<u64> {
    text.split([',', ' ']).next()?.parse().ok()
}

/// `rtt min/avg/max/mdev = 0.3/0.4/0.5/0.1 ms`; `Minimum = 0ms, Maximum = 1ms, Average = 0ms`.
fn times(line: &str) -> Option<(f64, f64, f64)> {
    if let Some((_, rest)) = line
        .split_once("min/avg/max")
        .and_then(|(_, rest)| rest.split_once("= "))
    {
        let mut numbers = rest.split_whitespace().next()?.split('/').map(decimal);
        return Some((numbers.next()??, numbers.next()??, numbers.next()??));
    }
    let mut numbers = line.split(" = ").skip(1);
    let mut next = || decimal(numbers.next()?.split_once("ms")?.0.trim());
    let (least, most, mean) = (next()?, next()?, next()?);
    (least <= mean && mean <= most).then_some((least, mean, most))
}

/// How Windows begins a run, its statistics and its times: English, German, French, Spanish, Italian.
const FRAMES: &[&str] = &[
    "Pinging ",
    "Ping statistics for",
    "Approximate round trip",
    "Ping wird ausgef",
    "Ping-Statistik",
    "Ca. Zeitangaben",
    "Envoi d",
    "Statistiques Ping",
    "Durée approximative",
    "Haciendo ping a ",
    "Estadísticas de ping",
    "Tiempos aproximados",
    "Esecuzione di Ping ",
    "Statistiche Ping",
    "Tempo approssimativo",
];
const TIMEOUTS: &[&str] = &[
    "Request timed out.",
    "Request timeout for icmp_seq ",
    "no answer yet for icmp_seq=",
    "Zeitüberschreitung der Anforderung",
    "Délai d'attente de la demande",
    "Délai d’attente de la demande",
    "Tiempo de espera agotado para esta solicitud",
    "Richiesta scaduta.",
];
/// Rows from which a loss is counted.
const ROWS_LEAST: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn ping(text: &str) -> Ping {
        match block_of(text, read).unwrap().content[0] {
            Content::Ping(ping) => ping,
            _ => panic!(),
        }
    }

    #[test]
    fn every_form() {
        let linux = ping(
            "--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 8 received, 20% packet loss, time 9013ms\nrtt min/avg/max/mdev = 0.311/0.412/0.513/0.100 ms\n",
        );
        assert_eq!(
            linux,
            Ping {
                sent: Some(10),
                received: Some(8),
                rtt_ms: Some((0.311, 0.412, 0.513))
            }
        );
        let windows = ping(
            "Ping statistics for 192.0.2.1:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\nApproximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 3ms, Average = 1ms\n",
        );
        assert_eq!(
            windows,
            Ping {
                sent: Some(4),
                received: Some(3),
                rtt_ms: Some((0.0, 1.0, 3.0))
            }
        );
        let german = ping(
            "Ping-Statistik für 192.0.2.1:\n    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0\n    (0% Verlust),\nCa. Zeitangaben in Millisek.:\n    Minimum = 1ms, Maximum = 2ms, Mittelwert = 1ms\n",
        );
        assert_eq!(german.rtt_ms, Some((1.0, 1.0, 2.0)));
    }

    #[test]
    fn rows_without_a_summary() {
        let answer = "Reply from 192.0.2.1: bytes=32 time<1ms TTL=64\n";
        let late = "Request timed out.\n";
        let windows = ping(&format!(
            "Pinging 192.0.2.1 with 32 bytes of data:\n{answer}{late}{answer}{answer}"
        ));
        assert_eq!((windows.sent, windows.received), (Some(4), Some(3)));
        let macos = ping(
            "PING 192.0.2.1 (192.0.2.1): 56 data bytes\nRequest timeout for icmp_seq 0\nRequest timeout for icmp_seq 1\n\n--- 192.0.2.1 ping statistics ---\n3 packets transmitted, 0 packets received, 100.0% packet loss\n",
        );
        assert_eq!((macos.sent, macos.received), (Some(3), Some(0)));
        let french = ping(
            "Statistiques Ping pour 192.0.2.1:\n    Paquets : envoyés = 4, reçus = 3, perdus = 1 (perte 25%),\nDurée approximative des boucles en millisecondes :\n    Minimum = 1ms, Maximum = 9ms, Moyenne = 4ms\n",
        );
        assert_eq!(
            (french.sent, french.received, french.rtt_ms),
            (Some(4), Some(3), Some((1.0, 4.0, 9.0)))
        );
    }

    #[test]
    fn answers_belong_to_it_and_errors_do_not() {
        let text = "PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.\n\
            64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.221 ms\n\
            From 192.0.2.1 icmp_seq=2 Destination Host Unreachable\n";
        let block = block_of(text, read).unwrap();
        assert_eq!((block.lines, block.content.len()), (2, 0));
    }
}
