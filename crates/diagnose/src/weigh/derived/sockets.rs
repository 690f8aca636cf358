// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ss`, `netstat`: queues that are full, and connections that wait for their end.

use super::Fact;
use crate::weigh::observed::Line;

/// A socket.
struct Socket<'t> {
    state: &'t str,
    receive_queue: f64,
    send_queue: f64,
    local: &'t str,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let all: Vec<Socket<'_>> = lines.iter().filter_map(socket).collect();
    let mut facts = Vec::new();
    for (name, states) in COUNTED {
        let mut waiting = all
            .iter()
            .filter(|one| states.contains(&one.state))
            .peekable();
        if let Some(first) = waiting.peek().map(|one| one.line) {
            facts.push(Fact::new(name, waiting.count(), first));
        }
    }
    let open = || all.iter().filter(|one| !is_listening(one));
    let most = |queue: fn(&Socket<'_>) -> f64| {
        open().max_by(|one, other| queue(one).total_cmp(&queue(other)))
    };
    facts.extend(
        most(|one| one.receive_queue)
            .map(|one| Fact::new("recv_queue_bytes", one.receive_queue, one.line)),
    );
    facts.extend(
        most(|one| one.send_queue)
            .map(|one| Fact::new("send_queue_bytes", one.send_queue, one.line)),
    );
    facts.extend(fill(&all));
    facts.extend(loopback_only(&all));
    facts
}

/// The fullest accept queue: `ss` shows its use as Recv-Q and its length as Send-Q.
fn fill(all: &[Socket<'_>]) -> Option<Fact> {
    let listening = all
        .iter()
        .filter(|one| is_listening(one) && one.send_queue > 0.0);
    let share = |one: &Socket<'_>| one.receive_queue / one.send_queue;
    let fullest = listening.max_by(|one, other| share(one).total_cmp(&share(other)))?;
    Some(Fact::new("listen_queue_fill", share(fullest), fullest.line))
}

fn loopback_only(all: &[Socket<'_>]) -> Option<Fact> {
    let mut listening = all.iter().filter(|one| is_listening(one)).peekable();
    let first = listening.peek()?.line;
    let inside =
        listening.all(|one| one.local.starts_with("127.") || one.local.starts_with("[::1]"));
    Some(Fact::new("listens_on_loopback_only", inside, first))
}

fn is_listening(socket: &Socket<'_>) -> bool {
    socket.state == "LISTEN"
}

/// `ESTAB 0 0 192.0.2.1:22 192.0.2.9:5000` of ss, `tcp 0 0 192.0.2.1:22 192.0.2.9:5000 ESTABLISHED` of netstat.
fn socket<'t>(line: &Line<'t>) -> Option<Socket<'t>> {
    let mut words: Vec<&str> = line.text.split_whitespace().collect();
    let is_netstat = words.get(1).is_some_and(|word| word.parse::<f64>().is_ok());
    if matches!(words.first(), Some(&("tcp" | "udp" | "tcp6" | "udp6"))) && !is_netstat {
        words.remove(0);
    }
    let at = |n: usize| words.get(n).copied();
    let number = |n: usize| at(n)?.parse::<f64>().ok();
    let (receive_queue, send_queue) = (number(1)?, number(2)?);
    let local = at(3).filter(|address| address.contains(':'))?;
    let first = at(0)?;
    let state = match first {
        "tcp" | "tcp6" => at(5).unwrap_or_default(),
        "udp" | "udp6" => "UNCONN",
        state => STATES.contains(&state).then_some(state)?,
    };
    Some(Socket {
        state,
        receive_queue,
        send_queue,
        local,
        line: line.number,
    })
}

const STATES: &[&str] = &[
    "ESTAB",
    "LISTEN",
    "UNCONN",
    "TIME-WAIT",
    "CLOSE-WAIT",
    "SYN-RECV",
    "SYN-SENT",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "LAST-ACK",
    "CLOSING",
];
const COUNTED: &[(&str, &[&str])] = &[
    ("sockets_close_wait", &["CLOSE-WAIT", "CLOSE_WAIT"]),
    ("sockets_time_wait", &["TIME-WAIT", "TIME_WAIT"]),
    ("sockets_syn_recv", &["SYN-RECV", "SYN_RECV"]),
];

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn both_tools() {
        let text = "State   Recv-Q  Send-Q  Local Address:Port\nLISTEN  129  128  0.0.0.0:80  0.0.0.0:*\nCLOSE-WAIT 1 0 192.0.2.1:80 192.0.2.9:5000\nudp   212992      0 0.0.0.0:514  0.0.0.0:*\ntcp 0 0 192.0.2.1:80 192.0.2.9:5001 TIME_WAIT\n";
        let found = values(text, facts);
        for (name, value) in [
            ("listen_queue_fill", "1.0078125"),
            ("recv_queue_bytes", "212992"),
            ("sockets_close_wait", "1"),
            ("sockets_time_wait", "1"),
            ("listens_on_loopback_only", "false"),
        ] {
            assert!(
                found.contains(&(name, value.to_owned())),
                "{name} {found:?}"
            );
        }
    }
}
