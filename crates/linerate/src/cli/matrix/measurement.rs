// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cell as a measuring command.

use linerate_method::matrix::{
    Axes, BOTH, CONGESTION, DEFAULT, DIRECTION, FAMILY, MSS, PROTOCOL, SIZE, STREAMS,
};

use super::request::Request;

/// The addresses of the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Peer {
    /// As it was named, or IPv4.
    pub(super) host: String,
    /// For family 6, where it is another.
    pub(super) host6: Option<String>,
}

impl Peer {
    /// Its address of a family.
    fn of(&self, family: Option<&String>) -> &str {
        let is_ipv6 = family.is_some_and(|family| family == "6");
        let host6 = self.host6.as_ref().filter(|_| is_ipv6);
        host6.unwrap_or(&self.host)
    }
}

/// The words of the command that measures a cell.
pub(super) fn words(request: &Request, axes: &Axes, peer: &Peer) -> Vec<String> {
    let of = |axis: &str| axes.get(axis).map(String::as_str);
    let protocol = of(PROTOCOL).unwrap_or("tcp");
    let is_udp = protocol.starts_with("udp");
    let command = if is_udp { "udp" } else { "tcp" };
    let mut words = vec![command.to_owned(), peer.of(axes.get(FAMILY)).to_owned()];
    let mut add = |flag: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| *value != DEFAULT) {
            words.extend([flag, value].map(str::to_owned));
        }
    };
    let time = request.time_ms.map(|ms| format!("{ms}ms"));
    add("-t", time.as_deref());
    add("-l", of(SIZE));
    add("-P", of(STREAMS));
    add("-M", of(MSS));
    add("-C", of(CONGESTION));
    if is_udp {
        add("-b", request.rate.as_deref());
    }
    match protocol {
        "udp-plain" => add("--mode", Some("plain/plain")),
        "udp-gso" => add("--mode", Some("gso/gro")),
        _ => {}
    }
    words.extend(of(FAMILY).map(|family| format!("-{family}")));
    let turned = match of(DIRECTION) {
        Some("down") => Some("-R"),
        Some(BOTH) => Some("--bidir"),
        _ => None,
    };
    words.extend(turned.map(str::to_owned));
    words.extend(request.flags.iter().cloned());
    words
}

/// The words of a test that only shows whether the server answers, and through which interfaces.
pub(super) fn first_look(request: &Request, peer: &Peer, udp: bool) -> Vec<String> {
    let words = match udp {
        true => &["udp", &peer.host, "-b", "1M", "-t", "100ms"][..],
        false => &["tcp", &peer.host, "-t", "100ms"],
    };
    let words = words.iter().map(|word| (*word).to_owned());
    words.chain(request.flags.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(axes: &str) -> String {
        let request = Request {
            time_ms: Some(500),
            rate: Some("10M".to_owned()),
            flags: vec!["-p".to_owned(), "5300".to_owned()],
            ..Request::default()
        };
        let peer = Peer {
            host: "192.0.2.7".to_owned(),
            host6: Some("2001:db8::7".to_owned()),
        };
        let pairs = axes
            .split_whitespace()
            .filter_map(|one| one.split_once('='));
        let axes = pairs.map(|(axis, value)| (axis.to_owned(), value.to_owned()));
        words(&request, &axes.collect(), &peer).join(" ")
    }

    #[test]
    fn a_cell_is_a_command_line() {
        for (axes, line) in [
            ("mtu=100", "tcp 192.0.2.7 -t 500ms -p 5300"),
            (
                "protocol=tcp family=6 direction=down size=64 congestion=bbr mss=536 streams=4",
                "tcp 2001:db8::7 -t 500ms -l 64 -P 4 -M 536 -C bbr -6 -R -p 5300",
            ),
            (
                "protocol=udp-gso family=4 size=1448 congestion=default",
                "udp 192.0.2.7 -t 500ms -l 1448 -b 10M --mode gso/gro -4 -p 5300",
            ),
            (
                "protocol=udp-plain direction=up",
                "udp 192.0.2.7 -t 500ms -b 10M --mode plain/plain -p 5300",
            ),
            ("direction=both", "tcp 192.0.2.7 -t 500ms --bidir -p 5300"),
        ] {
            assert_eq!(of(axes), line);
        }
    }
}
