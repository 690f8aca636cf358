// SPDX-License-Identifier: MIT OR Apache-2.0
//! The extension of iperf3's protocol between two linerates: the `linerate` key of the parameters and
//! the messages in AGENT frames.

mod raw_message;

use super::account::{RxInterval, TxInterval};
use super::token::TokenStatus;
use linerate_model::fields::Fields;
use linerate_model::output::{Host, IoMode};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use linerate_wire::iperf3::client::AGENT_BYTES;
use linerate_wire::json::Raw;
use raw_message::RawMessage;
use serde::{Deserialize, Serialize};

/// The `linerate` key of the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Fields)]
pub struct Request {
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
    /// Idle time before the client connects its streams, for counters without load.
    pub control_ns: u64,
    /// The server sends the settings of its host.
    pub settings: bool,
    /// The digest of the server's state that the client knows: at the end the server sends its state if it has changed.
    pub state: Option<u64>,
    /// How the server is to send: `auto`, `plain`, `mmsg`, `gso`, `copy`, `zerocopy`, `sendfile`.
    pub tx_mode: IoMode,
    /// How the server is to receive: `auto`, `plain`, `mmsg`, `gro`, `copy`, `trunc`.
    pub rx_mode: IoMode,
    /// Declared burst, datagrams.
    pub burst: Option<u32>,
    /// The test shows what packets cost: threads count hardware events, and a paced sender sleeps without spinning.
    pub for_cost: bool,
    /// The client sends heartbeats to a server that does too.
    pub beats: bool,
    /// No test: the connection only reads counters of a device under test.
    pub device: bool,
    /// The client's nonce, if it has a token.
    pub nonce: Option<String>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            v: VERSION,
            load: true,
            duration_ns: None,
            omit_ns: 0,
            interval_ns: 1_000_000_000,
            bytes: None,
            blocks: None,
            control_ns: 0,
            settings: false,
            state: None,
            tx_mode: IoMode::Auto,
            rx_mode: IoMode::Auto,
            burst: None,
            for_cost: false,
            beats: false,
            device: false,
            nonce: None,
        }
    }
}

/// A message in an AGENT frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message {
    /// The server, before CREATE_STREAMS: who it is.
    Hello {
        /// Its version.
        version: String,
        /// The host as far as a test needs it.
        host: Box<Host>,
        /// The server sends heartbeats to a client that does too.
        beats: bool,
        /// The result of the authentication.
        token: Option<TokenStatus>,
        /// The server's proof of the token, to a client that proved it.
        proof: Option<String>,
    },
    /// From a server with a token, to a client that sent a nonce.
    Challenge {
        /// The server's.
        nonce: String,
    },
    /// The client's answer.
    Proof {
        /// Proof of the token.
        proof: String,
    },
    /// A heartbeat.
    Beat,
    /// The final counts of this end's senders.
    Final {
        /// Stream id, datagrams (writes), payload bytes.
        streams: Vec<(u32, u64, u64)>,
        /// From the client: how its probes saw the server's clock drift, to be taken out of the transit times. An instant
        /// of that clock, and what the clock gains on the client's, nanoseconds a second.
        drift: Option<(u64, i64)>,
    },
    /// Raw counters of this end, as they are now.
    Samples {
        /// One a source.
        samples: Vec<Sample>,
    },
    /// Settings of this end.
    Settings {
        /// One a source.
        settings: Vec<Setting>,
    },
    /// The state of this end after the test, if it is not the one that the client knows: settings, clocks, temperatures.
    State {
        /// One a source.
        settings: Vec<Setting>,
    },
    /// A request for counters.
    Read {
        /// Repeated by the end of the answer.
        id: u64,
        /// What, and when.
        part: Part,
    },
    /// A request for the settings of host and interfaces.
    Setup {
        /// Repeated by the end of the answer.
        id: u64,
    },
    /// The answer is whole.
    Done {
        /// Of the question.
        id: u64,
    },
    /// An agent cannot answer.
    Error {
        /// Why not.
        why: String,
    },
    /// One interval of this end, all streams.
    Interval {
        /// Of its senders.
        sent: Vec<TxInterval>,
        /// Of its receivers.
        received: Vec<RxInterval>,
    },
}

/// What an agent reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Everything, before the traffic.
    Before,
    /// Only how the processors spent their time.
    Load,
    /// Everything, when it has settled.
    After,
}

impl Message {
    /// Packs counters into as few messages as a client accepts; a source too long for any is left out.
    pub fn of_samples(samples: Vec<Sample>) -> Vec<Self> {
        let mut messages: Vec<Vec<Sample>> = Vec::new();
        let mut room = 0;
        for sample in samples {
            let length = length_bytes(&sample);
            if length > MESSAGE_BYTES {
                continue;
            }
            match messages.last_mut().filter(|_| length <= room) {
                Some(message) => message.push(sample),
                None => {
                    messages.push(vec![sample]);
                    room = MESSAGE_BYTES;
                }
            }
            room -= length;
        }
        let message = |samples| Self::Samples { samples };
        messages.into_iter().map(message).collect()
    }

    /// Packs settings into one message that a client accepts; a source too long for it is left out.
    pub fn of_settings(settings: Vec<Setting>) -> Self {
        let settings = Self::fitting(settings);
        Self::Settings { settings }
    }

    /// Packs the state into one message that a client accepts.
    pub fn of_state(state: Vec<Setting>) -> Self {
        let settings = Self::fitting(state);
        Self::State { settings }
    }

    fn fitting(mut settings: Vec<Setting>) -> Vec<Setting> {
        let mut room = MESSAGE_BYTES;
        settings.retain(|setting| {
            let alone = Self::Settings {
                settings: vec![setting.clone()],
            };
            let length = alone.json_bytes();
            let fits = length <= room;
            room -= if fits { length } else { 0 };
            fits
        });
        settings
    }

    /// The length of its JSON.
    pub(super) fn json_bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(usize::MAX, |json| json.len())
    }

    /// Returns `None` for a message of a later version.
    pub fn read(message: &Raw) -> Option<Self> {
        message.read::<RawMessage>().ok()?.message()
    }
}

/// What it takes as JSON at most.
fn length_bytes(sample: &Sample) -> usize {
    let names: usize = sample.counters.keys().map(String::len).sum();
    names + sample.counters.len() * COUNTER_BYTES + SAMPLE_BYTES
}

/// What a client takes, less the message's own words.
const MESSAGE_BYTES: usize = AGENT_BYTES as usize - 64;
/// A counter's value of 20 digits, quotes, colon and comma.
const COUNTER_BYTES: usize = 24;
/// All else of a sample: times, source, interface, group.
const SAMPLE_BYTES: usize = 512;

/// Version of the extension.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(message: &impl Serialize) -> Option<Message> {
        Message::read(&Raw::of(message).unwrap())
    }

    /// It never said that it beats: its silence must not end a test.
    #[test]
    fn an_older_peer_promises_nothing() {
        let request: Request = serde_json::from_value(json!({ "v": 1, "duration_ns": 5 })).unwrap();
        assert!(!request.beats);
        let host = serde_json::to_value(Host::default()).unwrap();
        let hello = json!({ "type": "hello", "version": "0.1.0", "host": host });
        let hello = read(&hello);
        assert!(matches!(hello, Some(Message::Hello { beats: false, .. })));
    }

    /// A machine with many queues has counters without end.
    #[test]
    fn counters_travel_in_messages_that_a_client_takes() {
        let source = |counters: usize| Sample {
            source: "ethtool -S".to_owned(),
            counters: (0..counters)
                .map(|number| (format!("rx_queue_{number}_packets"), u64::MAX))
                .collect(),
            ..Sample::default()
        };
        let samples = [10, 9000, 9000, 9000, 9000, 60_000, 10].map(source);
        let messages = Message::of_samples(samples.to_vec());
        let lengths = messages.iter().map(|message| message.json_bytes());
        assert!(lengths.clone().all(|length| length <= AGENT_BYTES as usize));
        assert_eq!(messages.len(), 2);
        let counters = messages.iter().flat_map(|message| match message {
            Message::Samples { samples } => samples.iter().map(|one| one.counters.len()).collect(),
            _ => Vec::new(),
        });
        let counters: Vec<_> = counters.collect();
        assert_eq!(counters, [10, 9000, 9000, 9000, 9000, 10]);
        assert_eq!(Message::of_samples(Vec::new()), []);
    }

    /// A log of a long life, or a machine with many processors.
    #[test]
    fn settings_travel_in_a_message_that_a_client_takes() {
        let source = |bytes: usize| Setting {
            source: format!("of {bytes}"),
            values: [("a".to_owned(), "\n".repeat(bytes / 2))].into(),
            ..Setting::default()
        };
        let settings = [10, 800_000, 2_000_000, 300_000, 10].map(source);
        let message = Message::of_settings(settings.to_vec());
        assert!(message.json_bytes() <= AGENT_BYTES as usize);
        let Message::Settings { settings: sent } = message else {
            panic!("of another kind");
        };
        let [first, second, _, _, last] = settings;
        assert_eq!(sent, [first, second, last]);
    }

    #[test]
    fn a_message_of_a_later_version_is_none() {
        assert_eq!(read(&Message::Beat), Some(Message::Beat));
        assert_eq!(read(&json!({ "type": "song" })), None);
        assert_eq!(
            read(&json!({ "type": "final" })),
            None,
            "without its counts"
        );
        assert_eq!(read(&json!({ "type": 3 })), None);
    }
}
