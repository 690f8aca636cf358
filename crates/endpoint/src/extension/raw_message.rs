// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flat superset of all message fields, for deserialisation.
//!
//! A derive for the internally tagged enum would buffer each message and compile the readers of hosts, samples, settings
//! and intervals a second time, over that buffer.

use linerate_model::output::Host;
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use serde::Deserialize;

use super::{Message, Part};
use crate::account::{RxInterval, TxInterval};
use crate::token::TokenStatus;

/// The fields of all kinds of [`Message`].
#[derive(Debug, Deserialize)]
pub(super) struct RawMessage {
    #[serde(rename = "type")]
    kind: String,
    version: Option<String>,
    host: Option<Box<Host>>,
    #[serde(default)]
    beats: bool,
    streams: Option<Vec<(u32, u64, u64)>>,
    drift: Option<(u64, i64)>,
    samples: Option<Vec<Sample>>,
    settings: Option<Vec<Setting>>,
    id: Option<u64>,
    part: Option<Part>,
    why: Option<String>,
    sent: Option<Vec<TxInterval>>,
    received: Option<Vec<RxInterval>>,
    token: Option<String>,
    proof: Option<String>,
    nonce: Option<String>,
}

impl RawMessage {
    /// Returns `None` for a type of a later version, or if a field of the type is missing.
    pub(super) fn message(self) -> Option<Message> {
        Some(match self.kind.as_str() {
            "hello" => Message::Hello {
                version: self.version?,
                host: self.host?,
                beats: self.beats,
                token: self.token.as_deref().and_then(TokenStatus::of),
                proof: self.proof,
            },
            "challenge" => Message::Challenge { nonce: self.nonce? },
            "proof" => Message::Proof { proof: self.proof? },
            "beat" => Message::Beat,
            "final" => Message::Final {
                streams: self.streams?,
                drift: self.drift,
            },
            "samples" => Message::Samples {
                samples: self.samples?,
            },
            "settings" => Message::Settings {
                settings: self.settings?,
            },
            "state" => Message::State {
                settings: self.settings?,
            },
            "read" => Message::Read {
                id: self.id?,
                part: self.part?,
            },
            "setup" => Message::Setup { id: self.id? },
            "done" => Message::Done { id: self.id? },
            "error" => Message::Error { why: self.why? },
            "interval" => Message::Interval {
                sent: self.sent?,
                received: self.received?,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::json::Raw;

    #[test]
    fn each_kind_reads_back() {
        let messages = [
            Message::Hello {
                version: "0.1.0".to_owned(),
                host: Box::default(),
                beats: true,
                token: Some(TokenStatus::Accepted),
                proof: Some("0f".to_owned()),
            },
            Message::Challenge {
                nonce: "f0".to_owned(),
            },
            Message::Proof {
                proof: "0f".to_owned(),
            },
            Message::Beat,
            Message::Final {
                streams: vec![(1, 2, u64::MAX)],
                drift: Some((u64::MAX, i64::MIN)),
            },
            Message::Samples {
                samples: vec![Sample::default()],
            },
            Message::Settings {
                settings: vec![Setting::default()],
            },
            Message::State {
                settings: vec![Setting::default()],
            },
            Message::Read {
                id: 3,
                part: Part::Load,
            },
            Message::Setup { id: 4 },
            Message::Done { id: u64::MAX },
            Message::Error {
                why: "no such interface".to_owned(),
            },
            Message::Interval {
                sent: vec![TxInterval::default()],
                received: vec![RxInterval::default()],
            },
        ];
        for message in messages {
            // A new kind fails to compile here: `RawMessage` has to read it, too.
            match message {
                Message::Hello { .. } | Message::Beat | Message::Final { .. } => {}
                Message::Samples { .. } | Message::Settings { .. } => {}
                Message::State { .. } => {}
                Message::Challenge { .. } | Message::Proof { .. } => {}
                Message::Read { .. } | Message::Setup { .. } | Message::Done { .. } => {}
                Message::Error { .. } | Message::Interval { .. } => {}
            }
            assert_eq!(Message::read(&Raw::of(&message).unwrap()), Some(message));
        }
    }
}
