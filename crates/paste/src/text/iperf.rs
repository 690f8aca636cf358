// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of iperf 2 and iperf3, each line on its own, so that excerpts and the output of grep read the same. Source:
//! output of iperf 2.0.5 … 2.1.8 and iperf3 3.0 … 3.12.

use super::number::{bits_per_second, bytes, decimal, with_unit};
use super::{Block, Content, Hint, Lines};

/// TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// One line of output.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `Client connecting to H, UDP port 5001`, `Connecting to host H, port 5201`: the far port.
    Client(Option<Protocol>, Option<u16>),
    /// `Server listening on …`: the own port.
    Server(Option<Protocol>, Option<u16>),
    /// `local A port P connected with B port Q`.
    Local {
        /// The stream.
        id: String,
        /// Own address and port.
        local: (String, u16),
        /// The peer's.
        remote: (String, u16),
    },
    /// A measured interval.
    Row(Row),
    /// `Server Report:`: the next row of this stream is from the far end.
    ServerReport(String),
    /// `Sent N datagrams`.
    Sent(String, u64),
    /// `N datagrams received out-of-order`.
    Reordered(String, u64),
    /// `UDP buffer size: 106 KByte`, `TCP window size: …`: bytes of the socket's buffer.
    Buffer(Protocol, u64),
    /// `Sending 1470 byte datagrams`: payload.
    Payload(u32),
    /// `Reverse mode, remote host H is sending`.
    Reverse,
    /// An error, in the tool's words.
    Error(String),
    /// A line without data: headings, rules, `Accepted connection …`.
    Frame,
}

/// One interval of one stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The stream, `SUM` for all.
    pub id: String,
    /// Start, seconds after the start of the test.
    pub start_s: f64,
    /// End, seconds after the start of the test.
    pub end_s: f64,
    /// Payload.
    pub bytes: Option<f64>,
    /// Payload rate.
    pub bits_per_second: f64,
    /// RFC 3550 jitter.
    pub jitter_ms: Option<f64>,
    /// Lost datagrams; negative where the tool counted more than were sent.
    pub lost: Option<i64>,
    /// Datagrams sent.
    pub total: Option<u64>,
    /// TCP segments retransmitted.
    pub retransmits: Option<u64>,
    /// Congestion window.
    pub cwnd_bytes: Option<u64>,
    /// Whether the row ends with `sender` (or `receiver`), if iperf3 printed it.
    pub from_sender: Option<bool>,
    /// `[TX-C]`, `[RX-C]` of iperf3's `--bidir`: whether the client sends.
    pub client_sends: Option<bool>,
}

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let bare = hint.is("iperf", "") || hint.is("iperf3", "");
    let line = lines.get(0)?.trim();
    let alone = event(line, bare);
    let (event, count) = match wrapped(lines, line, alone.as_ref()) {
        Some(event) => (event, 2),
        None => (alone?, 1),
    };
    Some(Block {
        lines: count,
        format: "iperf",
        content: vec![Content::Iperf(event)],
    })
}

/// Joins a row that a mail program wrapped, if the two lines together have more values.
fn wrapped(lines: Lines<'_>, line: &str, alone: Option<&Event>) -> Option<Event> {
    stream(line)?;
    let says_less = match alone {
        None => true,
        Some(Event::Row(row)) => row.total.is_none() && row.from_sender.is_none(),
        Some(_) => false,
    };
    let rest = lines.get(1).filter(|_| says_less)?.trim();
    let short = !rest.is_empty()
        && rest.len() <= 60
        && stream(rest).is_none()
        && event(rest, true).is_none();
    match event(&format!("{line} {rest}"), false).filter(|_| short)? {
        Event::Row(row) if alone.is_none() || row.total.is_some() || row.from_sender.is_some() => {
            Some(Event::Row(row))
        }
        _ => None,
    }
}

fn event(line: &str, bare: bool) -> Option<Event> {
    if let Some((id, rest)) = stream(line) {
        return of_stream(&id, rest, line);
    }
    banner(line).or_else(|| {
        row_without_id(line)
            .filter(|_| bare || line.contains('%'))
            .map(Event::Row)
    })
}

/// `[  4] rest`, `[SUM] rest`, `[  5][TX-C] rest`; also `[ 4]` whose brackets a forum ate is not taken.
fn stream(line: &str) -> Option<(String, &str)> {
    let (id, rest) = line.strip_prefix('[')?.split_once(']')?;
    let id = id.trim().trim_start_matches('*');
    let known = id == "SUM"
        || id == "ID"
        || id.starts_with("SUM-")
        || (!id.is_empty() && id.len() <= 5 && id.bytes().all(|byte| byte.is_ascii_digit()));
    known.then(|| (id.to_owned(), rest.trim_start()))
}

fn of_stream(id: &str, rest: &str, line: &str) -> Option<Event> {
    if id == "ID" {
        return rest.contains("Interval").then_some(Event::Frame);
    }
    let (rest, client_sends) = bidirectional(rest);
    local(id, rest)
        .or_else(|| report(id, rest))
        .or_else(|| row(id, rest, client_sends).map(Event::Row))
        .or_else(|| complaint(line))
}

fn bidirectional(rest: &str) -> (&str, Option<bool>) {
    for (mark, sends) in [
        ("[TX-C]", true),
        ("[RX-C]", false),
        ("[TX-S]", false),
        ("[RX-S]", true),
    ] {
        if let Some(rest) = rest.strip_prefix(mark) {
            return (rest.trim_start(), Some(sends));
        }
    }
    (rest, None)
}

/// `local 192.0.2.1 port 5001 connected with 192.0.2.2 port 42421`.
fn local(id: &str, rest: &str) -> Option<Event> {
    let words: Vec<&str> = rest.split_whitespace().take(12).collect();
    let at = words.iter().position(|word| *word == "connected")?;
    let end = |from: usize| {
        let port = words.get(from + 2)?.parse().ok()?;
        (words.get(from + 1) == Some(&"port")).then(|| ((*words[from]).to_owned(), port))
    };
    (words.first() == Some(&"local")).then_some(())?;
    Some(Event::Local {
        id: id.to_owned(),
        local: end(1)?,
        remote: end(at + 2)?,
    })
}

fn report(id: &str, rest: &str) -> Option<Event> {
    if rest.starts_with("Server Report") {
        return Some(Event::ServerReport(id.to_owned()));
    }
    let words: Vec<&str> = rest.split_whitespace().take(12).collect();
    let datagrams = words.iter().position(|word| word.starts_with("datagram"))?;
    let number = words.get(datagrams.checked_sub(1)?)?.parse().ok()?;
    if words.first() == Some(&"Sent") {
        return Some(Event::Sent(id.to_owned(), number));
    }
    rest.contains("out-of-order")
        .then(|| Event::Reordered(id.to_owned(), number))
}

/// `0.0- 2.0 sec  48.1 MBytes   202 Mbits/sec   0.063 ms   71/34358 (0.21%)` and its relatives.
fn row(id: &str, rest: &str, client_sends: Option<bool>) -> Option<Row> {
    let (start_s, end_s, rest) = interval(rest)?;
    let words: Vec<&str> = rest.split_whitespace().take(24).collect();
    let at = words
        .iter()
        .position(|word| bits_per_second(1.0, word).is_some() && word.contains("/s"))?;
    let number = decimal(words.get(at.checked_sub(1)?)?)?;
    let before = at
        .checked_sub(3)
        .and_then(|at| bytes(decimal(words[at])?, words[at + 1]));
    let mut row = Row {
        id: id.to_owned(),
        start_s,
        end_s,
        bytes: before,
        bits_per_second: bits_per_second(number, words[at])?,
        client_sends,
        from_sender: from_sender(&words),
        ..Row::default()
    };
    tail(&mut row, &words[at + 1..]);
    Some(row)
}

fn row_without_id(line: &str) -> Option<Row> {
    line.starts_with(|first: char| first.is_ascii_digit())
        .then(|| row("", line, None))?
}

/// `0.0-10.0 sec`, `0.0- 2.0 sec`, `0.00-1.00   sec`.
fn interval(rest: &str) -> Option<(f64, f64, &str)> {
    let (start, rest) = rest.split_once('-')?;
    let rest = rest.trim_start();
    let (end, rest) = rest.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let rest = rest
        .strip_prefix("sec")
        .or_else(|| rest.strip_prefix('s'))?;
    let (start, end) = (decimal(start.trim())?, decimal(end)?);
    (start >= 0.0 && end >= start).then_some((start, end, rest))
}

fn from_sender(words: &[&str]) -> Option<bool> {
    words.iter().rev().take(3).find_map(|word| match *word {
        "sender" => Some(true),
        "receiver" => Some(false),
        _ => None,
    })
}

/// The values after the rate: jitter and loss (UDP), or retransmits and window (TCP).
fn tail(row: &mut Row, words: &[&str]) {
    let joined = words.join(" ");
    if let Some((jitter, rest)) = joined.split_once(" ms") {
        row.jitter_ms = jitter.rsplit(' ').next().and_then(decimal);
        loss(row, rest);
    } else if joined.contains('%') {
        loss(row, &joined);
    } else if let Some(first) = words.first() {
        row.retransmits = first
            .split('/')
            .next_back()
            .and_then(|word| word.parse().ok())
            .filter(|count| !first.contains('.') && *count < UNDERFLOWN);
        row.cwnd_bytes = cwnd(words);
    }
    if words.len() == 1
        && row.retransmits.is_some()
        && row.bytes.is_some()
        && row.from_sender.is_none()
    {
        row.total = None;
    }
}

/// A count of 32 bits that went below 0: iperf3's count of retransmits did on some kernels.
const UNDERFLOWN: u64 = 1 << 31;

/// `71/34358 (0.21%)`, `0/ 8510 (0%)`, `-1/51843 (-0.0019%)`.
fn loss(row: &mut Row, text: &str) {
    let Some((lost, total)) = text.split_once('/') else {
        return;
    };
    let total = total.trim_start();
    let digits = total
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(total.len());
    let lost = lost
        .trim()
        .rsplit(' ')
        .next()
        .and_then(|word| word.parse().ok());
    if let (Some(lost), Ok(total)) = (lost, total[..digits].parse()) {
        (row.lost, row.total) = (Some(lost), Some(total));
    }
}

/// iperf3's `  0    320 KBytes`, iperf 2's enhanced `1/0   0   78K/512 us`.
fn cwnd(words: &[&str]) -> Option<u64> {
    let (number, unit) = (decimal(words.get(1)?)?, words.get(2)?);
    Some(bytes(number, unit)? as u64)
}

/// Lines around the rows.
fn banner(line: &str) -> Option<Event> {
    let protocol = || {
        let said = |name: &str| line.contains(name);
        if said("UDP port") {
            Some(Protocol::Udp)
        } else {
            said("TCP port").then_some(Protocol::Tcp)
        }
    };
    if line.starts_with("Client connecting to ") || line.starts_with("Connecting to host ") {
        return Some(Event::Client(protocol(), port(line)));
    }
    if line.starts_with("Server listening on ") {
        return Some(Event::Server(protocol(), port(line)));
    }
    if line.starts_with("Reverse mode, remote host") {
        return Some(Event::Reverse);
    }
    buffer(line)
        .or_else(|| payload(line))
        .or_else(|| complaint(line))
        .or_else(|| frame(line))
}

/// `…, TCP port 5001 …`, `Server listening on 5201 …`.
fn port(line: &str) -> Option<u16> {
    let rest = line
        .split_once("port ")
        .or_else(|| line.split_once("listening on "));
    let word = rest?.1.split_whitespace().next()?;
    word.trim_end_matches(',').parse().ok()
}

/// `UDP buffer size: 106 KByte (default)`.
fn buffer(line: &str) -> Option<Event> {
    let (protocol, rest) = match line.split_once(" size:")? {
        ("UDP buffer", rest) => (Protocol::Udp, rest),
        ("TCP window", rest) => (Protocol::Tcp, rest),
        _ => return None,
    };
    let mut words = rest.split_whitespace();
    let (number, unit) = with_unit(words.next()?)?;
    let unit = if unit.is_empty() { words.next()? } else { unit };
    Some(Event::Buffer(protocol, bytes(number, unit)? as u64))
}

fn payload(line: &str) -> Option<Event> {
    let rest = line
        .strip_prefix("Sending ")
        .or_else(|| line.strip_prefix("Receiving "))?;
    let (number, rest) = rest.split_once(' ')?;
    rest.starts_with("byte datagrams")
        .then_some(Event::Payload(number.parse().ok()?))
}

fn complaint(line: &str) -> Option<Event> {
    const WORDS: &[&str] = &[
        "connect failed:",
        "read failed:",
        "write failed:",
        "WARNING: did not receive ack of last datagram",
        "iperf3: error",
        "iperf: error",
        "unable to connect to server",
        "unable to connect stream",
        "recv failed:",
        "WARNING: ack of last datagram failed",
        "WARNING: Size of data read does not correspond",
        "OUT OF ORDER - incoming packet",
    ];
    let words = stream(line).map_or(line, |(_, rest)| rest);
    let words = words.trim_start_matches(['-', ' ']);
    WORDS
        .iter()
        .any(|start| words.starts_with(start))
        .then(|| Event::Error(line.to_owned()))
}

fn frame(line: &str) -> Option<Event> {
    let rule = line.len() >= 10 && line.chars().all(|letter| "-— ".contains(letter));
    let known = [
        "Accepted connection from",
        "iperf Done",
        "Waiting for server",
        "Test Complete. Summary",
        "Server output:",
        "[ ID]",
    ];
    (rule || known.iter().any(|start| line.starts_with(start))).then_some(Event::Frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn row_of(line: &str) -> Row {
        match event(line, false) {
            Some(Event::Row(row)) => row,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn udp_rows() {
        let row = row_of(
            "[  4]  0.0- 3.0 sec   50.1 MBytes   140 Mbits/sec   0.063 ms   77/35738 (0.22%)",
        );
        assert_eq!(
            (row.start_s, row.end_s, row.lost, row.total),
            (0.0, 3.0, Some(77), Some(35738))
        );
        assert_eq!((row.jitter_ms, row.bits_per_second), (Some(0.063), 140e6));
        let row = row_of("[ 3] 0.0- 2.0 sec 11.9 MBytes 50.0 Mbits/sec 0.002 ms 0/ 8411 (0%)");
        assert_eq!((row.lost, row.total), (Some(0), Some(8411)));
        let row = row_of("[ 3] 0.0- 1.0 sec 72 MBytes 604 Mbits/sec 0.012 ms -1/51000 (-0.002%)");
        assert_eq!((row.lost, row.total), (Some(-1), Some(51000)));
        let row =
            row_of("[ 3] 0.0- 0.2 sec 90.4 KBytes 3.18 Mbits/sec 110.4 ms 141000/141060 (1e+02%)");
        assert_eq!(
            (row.lost, row.total, row.bits_per_second),
            (Some(141000), Some(141060), 3.18e6)
        );
    }

    #[test]
    fn tcp_rows_of_both_versions() {
        let row = row_of("[SUM]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec");
        assert_eq!((row.id.as_str(), row.retransmits), ("SUM", None));
        let row = row_of("[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec   17    321 KBytes");
        assert_eq!(
            (row.retransmits, row.cwnd_bytes),
            (Some(17), Some(321 * 1024))
        );
        let row = row_of("[ 5] 0.00-10.01 sec 602 MBytes 504 Mbits/sec 3 sender");
        assert_eq!((row.retransmits, row.from_sender), (Some(3), Some(true)));
        let row = row_of("[ 5] 0.00-10.01 sec 596 MBytes 499 Mbits/sec receiver");
        assert_eq!((row.retransmits, row.from_sender), (None, Some(false)));
        let row = row_of(
            "[  5][TX-C]   0.00-10.00  sec   712 MBytes  71.2 MBytes/sec    5             sender",
        );
        assert_eq!((row.client_sends, row.retransmits), (Some(true), Some(5)));
        assert!((row.bits_per_second - 71.2 * 8.0 * 1_048_576.0).abs() < 1.0);
    }

    #[test]
    fn a_wrapped_row() {
        for text in [
            "[ 3] 0.0-10.0 sec 472 MBytes 396 Mbits/sec 0.295 ms\n3/336700 (0.0009%)",
            "[ 3] 0.0-10.0 sec 472 MBytes 396\nMbits/sec 0.295 ms 3/336700 (0.0009%)",
        ] {
            let block = block_of(text, read).unwrap();
            let whole = matches!(&block.content[0], Content::Iperf(Event::Row(row)) if row.lost == Some(3) && row.total == Some(336_700));
            assert!(whole && block.lines == 2, "{text}");
        }
        let lines = ["[ 3] 0.0-10.0 sec 472 MBytes 396 Mbits/sec", "and 5 % more"];
        let looked = std::cell::Cell::new(0);
        assert_eq!(
            read(Lines::new(&lines, &looked), Hint::default())
                .unwrap()
                .lines,
            1
        );
    }

    #[test]
    fn what_stands_around() {
        assert_eq!(
            event("[  4] Sent 34100 datagrams", false),
            Some(Event::Sent("4".into(), 34100))
        );
        assert_eq!(
            event("[  4] Server Report:", false),
            Some(Event::ServerReport("4".into()))
        );
        assert_eq!(
            event("UDP buffer size:  106 KByte (default)", false),
            Some(Event::Buffer(Protocol::Udp, 106 * 1024))
        );
        assert_eq!(
            event("Receiving 1470 byte datagrams", false),
            Some(Event::Payload(1470))
        );
        assert!(matches!(
            event("connect failed: Connection refused", false),
            Some(Event::Error(_))
        ));
        let local = event(
            "[ 3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 53700",
            false,
        );
        assert!(matches!(
            local,
            Some(Event::Local {
                local: (_, 5001),
                remote: (_, 53700),
                ..
            })
        ));
        assert_eq!(event("In the end I got 400 Mbits/sec", false), None);
    }
}
