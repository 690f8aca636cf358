// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a text says of the tests and the machines.

use std::collections::BTreeSet;

use super::LINE_MOST;
use crate::weigh::derived::number_after;
use crate::weigh::observed::Line;

/// What the text says of the tests and the machines.
#[derive(Default)]
pub(super) struct About {
    /// Minor version of iperf3 and a line.
    pub(super) version: Option<(f64, u64)>,
    pub(super) is_iperf2: bool,
    pub(super) parallel: bool,
    /// A command for UDP, with its line and whether it asks for a rate.
    pub(super) udp: Option<(u64, bool)>,
    /// The link's rate, bits a second.
    pub(super) link: Option<f64>,
    pub(super) peers: BTreeSet<String>,
    pub(super) peer_line: u64,
}

impl About {
    pub(super) fn of(lines: &[Line<'_>]) -> Self {
        let mut about = Self::default();
        for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
            about.read(line);
        }
        about
    }

    fn read(&mut self, line: &Line<'_>) {
        let text = line.text;
        if text.contains("iperf") {
            self.tool(line);
        }
        if let Some(speed) = text.trim_start().strip_prefix("Speed: ") {
            self.link = number_after(speed, "")
                .map(|speed| speed * 1e6)
                .or(self.link);
        }
        if let Some((_, rest)) = text
            .starts_with('[')
            .then(|| text.split_once(" connected to "))
            .flatten()
            .filter(|_| text.contains(" port "))
        {
            let peer = rest.split_whitespace().next().unwrap_or_default();
            self.peers.insert(peer.to_owned());
            self.peer_line = line.number;
        }
    }

    fn tool(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some(minor) = number_after(text, "iperf 3.") {
            self.version = Some((minor.trunc(), line.number));
        }
        self.is_iperf2 |= text.contains("iperf version 2");
        let words: Vec<&str> = text.split_whitespace().collect();
        let several = |at: usize| {
            words
                .get(at + 1)
                .and_then(|next| next.parse::<u32>().ok())
                .is_some_and(|one| one > 1)
        };
        let has_streams = |(at, word): (usize, &&str)| match word.strip_prefix("-P") {
            Some("") => several(at),
            Some(count) => count.parse::<u32>().is_ok_and(|count| count > 1),
            None => false,
        };
        self.parallel |= words.iter().enumerate().any(has_streams);
        let asks = words.iter().any(|word| {
            word.starts_with("-b")
                || word.starts_with("--bandwidth")
                || word.starts_with("--bitrate")
        });
        let sends = words
            .iter()
            .any(|word| *word == "-c" || *word == "--client");
        let of_udp = words
            .iter()
            .any(|word| matches!(*word, "-u" | "--udp" | "-uc" | "-cu"));
        if of_udp && (sends || asks) {
            self.udp = Some((line.number, asks));
        }
    }
}

pub(super) fn names(lines: &[Line<'_>], marks: &[&str]) -> bool {
    lines
        .iter()
        .any(|line| marks.iter().any(|mark| line.text.contains(mark)))
}
