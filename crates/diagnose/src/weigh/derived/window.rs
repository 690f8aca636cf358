// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a connection had in flight against the buffers that the settings allow; rates under two congestion controls.

use linerate_model::map::Map;

use super::shown::{Shown, word_after};
use super::{Fact, number_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let mut facts = in_flight(shown);
    facts.extend(gains(shown));
    facts.extend(buffers(shown));
    facts
}

/// The bytes of a round trip against windows and buffers.
fn in_flight(shown: &Shown<'_>) -> Vec<Fact> {
    let largest = |name: &str| {
        let (value, _) = shown.settings.get(name)?;
        value.split_whitespace().nth(2)?.parse::<f64>().ok()
    };
    let receive = largest("net.ipv4.tcp_rmem");
    let send = largest("net.ipv4.tcp_wmem");
    let is_unscaled = shown
        .number("net.ipv4.tcp_window_scaling")
        .is_some_and(|(value, _)| value == 0.0);
    if receive.is_none() && send.is_none() && !is_unscaled {
        return Vec::new();
    }
    let Some((bytes, line)) = measured(shown).filter(|(bytes, _)| *bytes > 0.0) else {
        return Vec::new();
    };
    // Half of the buffer pays for bookkeeping.
    let window = if is_unscaled {
        Some(WINDOW_UNSCALED)
    } else {
        receive.map(|most| most / 2.0)
    };
    let all = [
        ("window_use_ratio", window.map(|window| bytes / window)),
        ("tcp_rmem_of_bdp", receive.map(|most| most / bytes)),
        ("send_buffer_use_ratio", send.map(|most| bytes / most)),
    ];
    let positive = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| value.is_finite())?)));
    positive
        .map(|(name, value)| Fact::new(name, value, line))
        .collect()
}

/// Rate times round trip of one connection, bytes: of `ss -ti`, or of a test with one stream and a ping.
fn measured(shown: &Shown<'_>) -> Option<(f64, u64)> {
    let of_socket = |text: &str| {
        let round_trip_ms = number_after(text, " rtt:")?;
        let busy_ms = number_after(text, " busy:").filter(|busy| *busy > BUSY_LEAST_MS)?;
        Some(number_after(text, " bytes_acked:")? * round_trip_ms / busy_ms)
    };
    let sockets = shown
        .lines
        .iter()
        .filter(|line| line.text.contains(" busy:"));
    let sockets = sockets.filter_map(|line| Some((of_socket(line.text)?, line.number)));
    let busiest = sockets.max_by(|one, other| one.0.total_cmp(&other.0));
    busiest.or_else(|| {
        let round_trip = |text: &str| {
            let (_, rest) = text
                .split_once("rtt min/avg/max")
                .or_else(|| text.split_once("round-trip min/avg/max"))?;
            rest.split_once(" = ")?
                .1
                .split('/')
                .nth(1)?
                .parse::<f64>()
                .ok()
        };
        let round_trip_ms = shown.lines.iter().find_map(|line| round_trip(line.text))?;
        let has_several = shown.lines.iter().any(|line| line.text.contains("[SUM]"));
        let rates = shown
            .with(&["bits/sec"])
            .filter_map(|line| Some((rate(line.text)?, line.number)));
        let (rate, line) = rates.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (!has_several).then_some((rate / 8.0 * round_trip_ms / 1000.0, line))
    })
}

/// Of the closing line of a test, bit/s.
fn rate(text: &str) -> Option<f64> {
    let is_closing = text.contains(" sender") || text.contains(" receiver");
    (is_closing && text.contains("bits/sec")).then_some(())?;
    let (before, _) = text.split_once("bits/sec")?;
    let mut words = before.rsplit([' ', '\t']);
    let scale = match words.next()? {
        "G" => 1e9,
        "M" => 1e6,
        "K" => 1e3,
        "" => 1.0,
        _ => return None,
    };
    Some(words.find(|word| !word.is_empty())?.parse::<f64>().ok()? * scale)
}

/// How much faster a test is with the one congestion control than with the other.
fn gains(shown: &Shown<'_>) -> Vec<Fact> {
    let mut best: Map<&str, (f64, u64)> = Map::new();
    let mut asked = None;
    let default = shown
        .settings
        .get("net.ipv4.tcp_congestion_control")
        .map(|(value, _)| *value);
    for line in shown.with(&["iperf", "bits/sec"]) {
        if line.text.contains("iperf") {
            let option = ["-C ", "--congestion ", "-Z "]
                .iter()
                .find_map(|mark| word_after(line.text, mark));
            asked = option
                .or_else(|| line.text.contains(" -c").then_some(default)?)
                .or(asked);
        }
        let Some(rate) = rate(line.text) else {
            continue;
        };
        let noted = line
            .text
            .split_once('#')
            .and_then(|(_, note)| note.split([' ', ',']).find_map(known));
        let Some(control) = noted.or(asked.and_then(known)) else {
            continue;
        };
        let entry = best.entry(control).or_insert((rate, line.number));
        if rate > entry.0 {
            *entry = (rate, line.number);
        }
    }
    let (Some((bbr, at)), Some((cubic, line))) = (best.get("bbr"), best.get("cubic")) else {
        return Vec::new();
    };
    let all = [
        ("bbr_gain", bbr / cubic, at),
        ("cubic_gain", cubic / bbr, line),
    ];
    all.into_iter()
        .filter(|(_, gain, _)| gain.is_finite())
        .map(|(name, gain, line)| Fact::new(name, gain, *line))
        .collect()
}

fn known(word: &str) -> Option<&'static str> {
    ["bbr", "cubic"]
        .into_iter()
        .find(|name| word.eq_ignore_ascii_case(name))
}

/// Buffers that were granted, drops at sockets, sockets without a process, memory of fragments, repeated calls.
fn buffers(shown: &Shown<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut is_udp = false;
    let mut drops: Option<(f64, u64)> = None;
    for line in shown
        .lines
        .iter()
        .filter(|line| line.text.len() < LINE_MOST)
    {
        let text = line.text;
        let start = text.trim_start();
        let (is_socket, is_other) = (
            start.starts_with("udp") || start.starts_with("UNCONN"),
            start.starts_with("tcp") || start.starts_with("ESTAB") || start.starts_with("LISTEN"),
        );
        is_udp = (is_udp || is_socket) && !is_other;
        let lost = lost(text, is_udp);
        if let Some(lost) = lost.filter(|lost| drops.is_none_or(|(most, _)| *lost > most)) {
            drops = Some((lost, line.number));
        }
    }
    for line in shown
        .with(&["wanted: ", "requested ", "orphan", "FRAG:"])
        .take(READINGS_MOST)
    {
        let (text, start) = (line.text, line.text.trim_start());
        let orphaned = number_after(text, " orphan ").filter(|_| start.starts_with("TCP: inuse"));
        let orphaned = orphaned
            .or_else(|| number_after(text, " orphaned ").filter(|_| start.starts_with("TCP:")));
        let all = [
            ("socket_buffer_granted_ratio", granted(text)),
            ("sockets_orphaned", orphaned),
            ("fragment_memory_of_limit", fragments(shown, start)),
        ];
        let known = all
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        facts.extend(known.map(|(name, value)| Fact::new(name, value, line.number)));
    }
    facts.extend(drops.map(|(count, line)| Fact::new("socket_drops", count, line)));
    facts.extend(calls(shown));
    facts
}

/// `skmem:(r0,rb212992,…,d4598)` of a UDP socket; the last column of `/proc/net/udp`.
fn lost(text: &str, is_udp: bool) -> Option<f64> {
    if let Some((_, rest)) = text.split_once("skmem:(").filter(|_| is_udp) {
        let last = rest.split(')').next()?.rsplit(',').next()?;
        return last.strip_prefix('d')?.parse().ok();
    }
    let text = text.trim_start();
    text.starts_with(|letter: char| letter.is_ascii_digit())
        .then_some(())?;
    let (number, rest) = text.split_once(": ")?;
    number.parse::<u32>().ok()?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_row = words.len() == 12 && words[0].contains(':') && words[2].len() == 2;
    // State 07 and 01 are those of UDP; the row of TCP is longer.
    is_row.then(|| words[11].parse().ok())?
}

/// `was: 208 kiB, wanted: 7168 kiB, got: 416 kiB`; `416 KByte (WARNING: requested 4.00 MByte)`.
fn granted(text: &str) -> Option<f64> {
    if let Some((_, rest)) = text.split_once("wanted: ") {
        return Some(size(rest.split_once("got: ")?.1)? / size(rest)?);
    }
    let (before, wanted) = text
        .split_once(" (WARNING: requested ")
        .or_else(|| text.split_once(" (requested "))?;
    Some(size(before.split_once("size: ")?.1)? / size(wanted)?)
}

fn size(text: &str) -> Option<f64> {
    let mut words = text.split([' ', ',', ')']).filter(|word| !word.is_empty());
    let number: f64 = words.next()?.parse().ok()?;
    let scale = match words.next()?.as_bytes().first()? {
        b'k' | b'K' => 1024.0,
        b'M' => 1_048_576.0,
        b'b' | b'B' => 1.0,
        _ => return None,
    };
    (number > 0.0).then_some(number * scale)
}

/// `FRAG: inuse 3 memory 4194304`.
fn fragments(shown: &Shown<'_>, text: &str) -> Option<f64> {
    let memory = number_after(text.strip_prefix("FRAG: inuse")?, " memory ")?;
    let (limit, _) = shown.number("net.ipv4.ipfrag_high_thresh")?;
    (limit > 0.0).then_some(memory / limit)
}

/// `calls retrans authrefrsh` and the numbers below, of `nfsstat -rc`; `calls 91223 retrans 8122`.
fn calls(shown: &Shown<'_>) -> Option<Fact> {
    let at = shown
        .lines
        .iter()
        .position(|line| line.text.contains("calls") && line.text.contains("retrans"))?;
    let line = shown.lines.get(at)?;
    let inline = number_after(line.text, "calls ").zip(number_after(line.text, "retrans "));
    let below = || {
        let head = line.text.trim_start().starts_with("calls ");
        let mut numbers = shown
            .lines
            .get(at + 1)
            .filter(|_| head)?
            .text
            .split_whitespace()
            .map_while(|word| word.parse::<f64>().ok());
        Some((numbers.next()?, numbers.next()?))
    };
    let (calls, repeated) = inline.or_else(below)?;
    (calls > 0.0).then(|| Fact::new("rpc_retransmit_ratio", repeated / calls, line.number))
}

const WINDOW_UNSCALED: f64 = 65_535.0;
/// A connection that sent for less shows its start.
const BUSY_LEAST_MS: f64 = 500.0;
const LINE_MOST: usize = 600;
const READINGS_MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::super::shown::values;
    use super::*;

    fn value(text: &str, name: &str) -> Option<f64> {
        let found = values(text, facts);
        let one = found.iter().find(|(one, _)| *one == name)?;
        one.1.parse().ok()
    }

    #[test]
    fn windows_and_buffers() {
        let socket = " cubic wscale:3,7 rto:288 rtt:88.2/1.1 mss:1448 cwnd:310 bytes_acked:81223112 busy:9990ms rwnd_limited:9800ms(98.1%)\n";
        let use_of = value(
            &format!("{socket}net.ipv4.tcp_rmem = 4096 87380 524288\n"),
            "window_use_ratio",
        );
        assert!(use_of > Some(2.0), "{use_of:?}");
        let most = value(
            &format!("{socket}net.ipv4.tcp_rmem = 4096 131072 67108864\n"),
            "tcp_rmem_of_bdp",
        );
        assert!(most > Some(90.0), "{most:?}");
        let send = value(
            &format!("{socket}net.ipv4.tcp_wmem = 4096 16384 131072\n"),
            "send_buffer_use_ratio",
        );
        assert!(send > Some(5.0), "{send:?}");
        assert_eq!(values(socket, facts), []);
        let unscaled = "net.ipv4.tcp_window_scaling = 0\nrtt min/avg/max/mdev = 98.0/98.4/99.1/0.2 ms\n[  5]   0.00-10.00  sec  6.22 MBytes  5.22 Mbits/sec    0   63.6 KBytes  sender\n";
        let share = value(unscaled, "window_use_ratio");
        assert!(share > Some(0.9) && share < Some(1.1), "{share:?}");
    }

    #[test]
    fn two_congestion_controls() {
        let text = "iperf3 -c h -C bbr\n[  5]   0.00-10.00  sec   562 MBytes   400 Mbits/sec    0   sender\niperf3 -c h -C cubic\n[  5]   0.00-10.00  sec  8.21 GBytes  8.00 Gbits/sec    0   sender\n";
        assert_eq!(value(text, "cubic_gain"), Some(20.0));
        assert_eq!(value(&text.replace("-C cubic", ""), "cubic_gain"), None);
    }

    #[test]
    fn sockets() {
        assert_eq!(
            value(
                "UNCONN 0 0 0.0.0.0:514 0.0.0.0:*\n  skmem:(r0,rb212992,t0,tb212992,f4096,w0,o0,bl0,d4598)\n",
                "socket_drops"
            ),
            Some(4598.0)
        );
        assert_eq!(
            value(
                "ESTAB 0 0 192.0.2.1:22 192.0.2.9:5000\n  skmem:(r0,rb212992,t0,tb212992,f4096,w0,o0,bl0,d7)\n",
                "socket_drops"
            ),
            None
        );
        assert_eq!(
            value(
                "  812: 00000000:0202 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 12122 2 0000000000000000 77\n",
                "socket_drops"
            ),
            Some(77.0)
        );
        let quic = "failed to sufficiently increase receive buffer size (was: 208 kiB, wanted: 8192 kiB, got: 4096 kiB)\n";
        assert_eq!(value(quic, "socket_buffer_granted_ratio"), Some(0.5));
        assert_eq!(
            value(
                "TCP window size:  416 KByte (WARNING: requested 0.81 MByte)\n",
                "socket_buffer_granted_ratio"
            )
            .map(f64::round),
            Some(1.0)
        );
        assert_eq!(
            value(
                "TCP: inuse 912 orphan 8192 tw 3112 alloc 9188 mem 20122\n",
                "sockets_orphaned"
            ),
            Some(8192.0)
        );
        assert_eq!(
            value(
                "FRAG: inuse 3 memory 400\nnet.ipv4.ipfrag_high_thresh = 800\n",
                "fragment_memory_of_limit"
            ),
            Some(0.5)
        );
        assert_eq!(
            value(
                "calls      retrans    authrefrsh\n1000       10         1000\n",
                "rpc_retransmit_ratio"
            ),
            Some(0.01)
        );
        assert_eq!(
            value("it calls and retransmits\n", "rpc_retransmit_ratio"),
            None
        );
    }
}
