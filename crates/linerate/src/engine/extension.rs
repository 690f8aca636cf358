// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two linerates tell each other beyond iperf3's protocol: the `linerate` key of the
//! parameters and the messages in AGENT frames.

use super::account::{RxInterval, TxInterval};
use linerate_model::output::Host;
use linerate_model::sample::Sample;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The `linerate` key of the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ask {
    /// Version of this extension.
    pub v: u32,
    /// False for a test without streams: latency and counters only.
    pub load: bool,
    /// Measured time (the standard key knows whole seconds only).
    pub duration_ns: Option<u64>,
    /// Warm-up.
    pub omit_ns: u64,
    /// Interval length; 0 = none.
    pub interval_ns: u64,
    /// Payload bytes to send in all, when the server sends.
    pub bytes: Option<u64>,
    /// Writes or datagrams to send in all, when the server sends.
    pub blocks: Option<u64>,
    /// How the server is to send: `auto`, `plain`, `mmsg`, `gso`, `copy`, `zerocopy`, `sendfile`.
    pub tx_mode: String,
    /// How the server is to receive: `auto`, `plain`, `mmsg`, `gro`, `copy`, `trunc`.
    pub rx_mode: String,
    /// Declared burst, datagrams.
    pub burst: Option<u32>,
    /// The client says at least once a second of the test that it lives, to a server that does too.
    pub beats: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            v: VERSION,
            load: true,
            duration_ns: None,
            omit_ns: 0,
            interval_ns: 1_000_000_000,
            bytes: None,
            blocks: None,
            tx_mode: "auto".to_owned(),
            rx_mode: "auto".to_owned(),
            burst: None,
            beats: false,
        }
    }
}

/// A message in an AGENT frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message {
    /// The server, before CREATE_STREAMS: who it is.
    Hello {
        /// Its version.
        version: String,
        /// The host as far as a test needs it.
        host: Box<Host>,
        /// It says at least once a second of the test that it lives, to a client that does too.
        #[serde(default)]
        beats: bool,
    },
    /// This end lives.
    Beat,
    /// The final counts of this end's senders.
    Final {
        /// Stream id, datagrams (writes), payload bytes.
        streams: Vec<(u32, u64, u64)>,
    },
    /// Raw counters of this end, as they are now.
    Samples {
        /// One a source.
        samples: Vec<Sample>,
    },
    /// One interval of this end, all streams.
    Interval {
        /// Of its senders.
        sent: Vec<TxInterval>,
        /// Of its receivers.
        received: Vec<RxInterval>,
    },
}

impl Message {
    /// As it travels.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// `None` for a message of a later version.
    pub fn from_value(value: Value) -> Option<Self> {
        serde_json::from_value(value).ok()
    }
}

/// Version of the extension.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// It never said that it beats: its silence must not end a test.
    #[test]
    fn an_older_peer_promises_nothing() {
        let ask: Ask = serde_json::from_value(json!({ "v": 1, "duration_ns": 5 })).unwrap();
        assert!(!ask.beats);
        let host = serde_json::to_value(Host::default()).unwrap();
        let hello = json!({ "type": "hello", "version": "0.1.0", "host": host });
        let hello = Message::from_value(hello);
        assert!(matches!(hello, Some(Message::Hello { beats: false, .. })));
    }

    #[test]
    fn a_message_of_a_later_version_is_none() {
        assert_eq!(
            Message::from_value(Message::Beat.to_value()),
            Some(Message::Beat)
        );
        assert_eq!(Message::from_value(json!({ "type": "song" })), None);
    }
}
