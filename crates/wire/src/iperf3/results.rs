// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results document, the same shape in both directions.
//!
//! The receiver of a stream owns its jitter, errors and highest sequence; the sender owns the bytes sent, the
//! retransmits and the packets sent. Unused fields are 0.

use serde::{Deserialize, Serialize};

use crate::json::{self, Raw};

use super::number::{float, signed, string, unsigned};

/// What one side counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Process CPU of that side, percent of one core (more than 100 with threads).
    #[serde(rename = "cpu_util_total", deserialize_with = "float::required")]
    pub cpu_total_percent: f64,
    /// The user part of it.
    #[serde(rename = "cpu_util_user", deserialize_with = "float::required")]
    pub cpu_user_percent: f64,
    /// The system part of it.
    #[serde(rename = "cpu_util_system", deserialize_with = "float::required")]
    pub cpu_system_percent: f64,
    /// -1: this side only receives; 1 or 0: this sender can or cannot count TCP retransmits.
    #[serde(deserialize_with = "signed::required")]
    pub sender_has_retransmits: i64,
    /// Congestion control in use.
    #[serde(default, with = "string", skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// The server's report as text, if asked for.
    #[serde(default, with = "string", skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    /// One entry a stream.
    pub streams: Vec<StreamResult>,
    /// The exact accounts of a linerate peer, opaque here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linerate: Option<Raw>,
}

/// What one side counted on one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResult {
    /// 1, 3, 4, 5 … in order of creation: see [`super::stream_id`].
    #[serde(deserialize_with = "signed::required")]
    pub id: i64,
    /// Payload bytes after the warm-up: sent by a sender, received by a receiver.
    #[serde(deserialize_with = "unsigned::required")]
    pub bytes: u64,
    /// TCP retransmits of a sender; -1 where there are none to count.
    #[serde(deserialize_with = "signed::required")]
    pub retransmits: i64,
    /// RFC 3550 jitter, seconds.
    #[serde(rename = "jitter", deserialize_with = "float::required")]
    pub jitter_s: f64,
    /// Lost packets.
    #[serde(deserialize_with = "signed::required")]
    pub errors: i64,
    /// Lost during the warm-up (3.14+; both `omitted_` keys or neither).
    #[serde(default, with = "signed", skip_serializing_if = "Option::is_none")]
    pub omitted_errors: Option<i64>,
    /// A sender's packets sent, a receiver's highest sequence, the warm-up included.
    #[serde(deserialize_with = "signed::required")]
    pub packets: i64,
    /// Packets of the warm-up (3.14+).
    #[serde(default, with = "signed", skip_serializing_if = "Option::is_none")]
    pub omitted_packets: Option<i64>,
    /// 0 (3.2+).
    #[serde(rename = "start_time")]
    #[serde(default, with = "float", skip_serializing_if = "Option::is_none")]
    pub start_time_s: Option<f64>,
    /// Measured seconds (3.2+).
    #[serde(rename = "end_time")]
    #[serde(default, with = "float", skip_serializing_if = "Option::is_none")]
    pub end_time_s: Option<f64>,
}

impl Results {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not a JSON object, or a required key is missing or of a wrong type.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        json::read(text)
    }

    /// Writes the document, unformatted. What is not finite is written as 0: stock peers refuse `null`.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.finite()).unwrap_or_default()
    }

    fn finite(&self) -> Self {
        let mut results = self.clone();
        let percents = [
            &mut results.cpu_total_percent,
            &mut results.cpu_user_percent,
            &mut results.cpu_system_percent,
        ];
        percents.into_iter().for_each(make_finite);
        for stream in &mut results.streams {
            make_finite(&mut stream.jitter_s);
            stream
                .start_time_s
                .iter_mut()
                .chain(stream.end_time_s.iter_mut())
                .for_each(make_finite);
        }
        results
    }
}

fn make_finite(number: &mut f64) {
    if !number.is_finite() {
        *number = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const STOCK: &str = r#"{"cpu_util_total":12.5,"cpu_util_user":1,"cpu_util_system":11.5,"sender_has_retransmits":1,
        "congestion_used":"cubic","streams":[{"id":1,"bytes":1.25e+9,"retransmits":3,"jitter":0.000012,"errors":2,
        "omitted_errors":0,"packets":1000,"omitted_packets":0,"start_time":0,"end_time":10.000123}]}"#;

    #[test]
    fn a_stock_document_is_read() {
        let results = Results::from_json(STOCK.as_bytes()).unwrap();
        assert_eq!(results.congestion_used.as_deref(), Some("cubic"));
        let stream = &results.streams[0];
        assert_eq!(
            (stream.id, stream.bytes, stream.retransmits),
            (1, 1_250_000_000, 3)
        );
        assert_eq!(
            (stream.errors, stream.packets, stream.omitted_errors),
            (2, 1000, Some(0))
        );
        assert_eq!(stream.end_time_s, Some(10.000_123));
    }

    #[test]
    fn it_round_trips() {
        let results = Results::from_json(STOCK.as_bytes()).unwrap();
        assert_eq!(Results::from_json(&results.to_json()).unwrap(), results);
    }

    #[test]
    fn optional_keys_may_be_missing_and_required_ones_not() {
        let required = [
            "cpu_util_total",
            "cpu_util_user",
            "cpu_util_system",
            "sender_has_retransmits",
            "streams",
        ];
        let whole: Value = serde_json::from_str(STOCK).unwrap();
        for key in required {
            let mut document = whole.clone();
            document.as_object_mut().unwrap().remove(key);
            assert!(
                Results::from_json(document.to_string().as_bytes()).is_err(),
                "{key}"
            );
        }
        for key in ["id", "bytes", "retransmits", "jitter", "errors", "packets"] {
            let mut document = whole.clone();
            document["streams"][0].as_object_mut().unwrap().remove(key);
            assert!(
                Results::from_json(document.to_string().as_bytes()).is_err(),
                "{key}"
            );
        }
        for key in [
            "omitted_errors",
            "omitted_packets",
            "start_time",
            "end_time",
        ] {
            let mut document = whole.clone();
            document["streams"][0].as_object_mut().unwrap().remove(key);
            assert!(
                Results::from_json(document.to_string().as_bytes()).is_ok(),
                "{key}"
            );
        }
    }

    #[test]
    fn what_is_not_finite_is_written_as_zero() {
        let stream = StreamResult {
            jitter_s: f64::NAN,
            ..StreamResult::default()
        };
        let results = Results {
            cpu_total_percent: f64::INFINITY,
            streams: vec![stream],
            ..Results::default()
        };
        let text = String::from_utf8(results.to_json()).unwrap();
        assert!(!text.contains("null"), "{text}");
    }
}
