// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameter document, client to server: every key of iperf3 3.1 … 3.21 and the `linerate` key.
//!
//! Unknown keys and keys of a wrong JSON type are ignored. A flag is written as `true` or left out, because
//! servers before 3.18 take a key's mere presence for true.

use serde::{Deserialize, Serialize};

use crate::json::{self, Raw};

use super::datagram::CounterWidth;
use super::number;

/// What the client asks for. The default document asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// TCP streams. Exactly one protocol flag is set.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub tcp: bool,
    /// UDP streams.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub udp: bool,
    /// SCTP streams.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub sctp: bool,
    /// Warm-up excluded from the results, seconds.
    #[serde(
        rename = "omit",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub omit_s: Option<u64>,
    /// Duration, seconds; 0 = ended by bytes or blocks; absent = the server's default of 10.
    #[serde(
        rename = "time",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub time_s: Option<u64>,
    /// End after so many bytes; 0 = not.
    #[serde(
        rename = "num",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub num_bytes: Option<u64>,
    /// End after so many writes or packets; 0 = not.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub blockcount: Option<u64>,
    /// Streams per direction.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub parallel: Option<u64>,
    /// The server sends.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub reverse: bool,
    /// Both send (3.7+).
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub bidirectional: bool,
    /// Size of a write, or exact UDP payload, bytes.
    #[serde(
        rename = "len",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub len_bytes: Option<u64>,
    /// Target rate of each stream, bit/s; absent = unlimited.
    #[serde(
        rename = "bandwidth",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub bandwidth_bits_per_second: Option<u64>,
    /// Packets sent back to back.
    #[serde(
        rename = "burst",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub burst_packets: Option<u64>,
    /// Legacy, microseconds.
    #[serde(
        rename = "pacing_timer",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub pacing_timer_us: Option<u64>,
    /// `SO_MAX_PACING_RATE` of the sending sockets, bit/s.
    #[serde(
        rename = "fqrate",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub fqrate_bits_per_second: Option<u64>,
    /// `SO_SNDBUF` and `SO_RCVBUF` at both ends, bytes.
    #[serde(
        rename = "window",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub window_bytes: Option<u64>,
    /// `TCP_MAXSEG`, bytes.
    #[serde(
        rename = "MSS",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub mss_bytes: Option<u64>,
    /// `TCP_NODELAY` on the data sockets.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub nodelay: bool,
    /// The whole TOS or traffic-class byte.
    #[serde(
        rename = "TOS",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub tos: Option<u64>,
    /// IPv6 flow label.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub flowlabel: Option<u64>,
    /// Congestion control asked for.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub congestion: Option<String>,
    /// Congestion control in use, informative.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub congestion_used: Option<String>,
    /// The server should accept MPTCP (3.19+).
    #[serde(skip_serializing_if = "is_false", deserialize_with = "number::truth")]
    pub mptcp: bool,
    /// Core to pin the server to.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub server_affinity: Option<u64>,
    /// Echoed in reports only.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub title: Option<String>,
    /// Echoed in reports only.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub extra_data: Option<String>,
    /// The server puts its report into its results.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub get_server_output: bool,
    /// 64-bit sequence numbers in UDP headers.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub udp_counters_64bit: bool,
    /// A pattern instead of a random payload.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub repeating_payload: bool,
    /// `sendfile` at the sender.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub zerocopy: bool,
    /// IPv4 DF on UDP.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub dont_fragment: bool,
    /// The receiver uses `MSG_TRUNC`.
    #[serde(
        skip_serializing_if = "is_false",
        deserialize_with = "number::one_is_truth",
        serialize_with = "number::as_one"
    )]
    pub skip_rx_copy: bool,
    /// UDP offload hints of 3.21+, local to a host.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub gso: Option<u64>,
    /// As `gso`, bytes.
    #[serde(
        rename = "gso_dg_size",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub gso_dg_size_bytes: Option<u64>,
    /// As `gso`, bytes.
    #[serde(
        rename = "gso_bf_size",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub gso_bf_size_bytes: Option<u64>,
    /// As `gso`.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub gro: Option<u64>,
    /// As `gso`, bytes.
    #[serde(
        rename = "gro_bf_size",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_unsigned"
    )]
    pub gro_bf_size_bytes: Option<u64>,
    /// base64 of an RSA block.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub authtoken: Option<String>,
    /// For example "3.19": the only version told, and only to the server.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_string"
    )]
    pub client_version: Option<String>,
    /// The announcement of a linerate client, opaque here; its presence opens the extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linerate: Option<Raw>,
}

/// The transport of the data streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP, or MPTCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP, one-to-one.
    Sctp,
}

impl Params {
    /// The transport asked for; TCP if none is named, the last one if several are (as stock servers do).
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        match (self.udp, self.sctp) {
            (_, true) => Protocol::Sctp,
            (true, false) => Protocol::Udp,
            (false, false) => Protocol::Tcp,
        }
    }

    /// Header form of the UDP datagrams.
    #[must_use]
    pub const fn counter_width(&self) -> CounterWidth {
        if self.udp_counters_64bit {
            CounterWidth::Bits64
        } else {
            CounterWidth::Bits32
        }
    }

    /// Streams per direction: one unless told otherwise.
    #[must_use]
    pub fn streams_per_direction(&self) -> u64 {
        self.parallel.unwrap_or(1).max(1)
    }

    /// Streams that the client opens: twice as many when both sides send.
    #[must_use]
    pub fn streams_total(&self) -> u64 {
        let directions = if self.bidirectional { 2 } else { 1 };
        self.streams_per_direction().saturating_mul(directions)
    }

    /// Reads a document.
    ///
    /// # Errors
    /// If it is not one JSON object.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        json::read(text)
    }

    /// Writes the document, unformatted.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Params {
        Params::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_stock_document_is_read() {
        let params = read(
            r#"{"udp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":2,"reverse":true,"len":1448,
                "bandwidth":1e+10,"pacing_timer":1000,"udp_counters_64bit":1,"TOS":184,"MSS":1400,
                "client_version":"3.19"}"#,
        );
        assert_eq!(params.protocol(), Protocol::Udp);
        assert_eq!(params.bandwidth_bits_per_second, Some(10_000_000_000));
        assert_eq!(
            (params.tos, params.mss_bytes, params.len_bytes),
            (Some(184), Some(1400), Some(1448))
        );
        assert_eq!(params.counter_width(), CounterWidth::Bits64);
        assert!(params.reverse && !params.bidirectional);
        assert_eq!(params.streams_total(), 2);
        assert_eq!(params.client_version.as_deref(), Some("3.19"));
    }

    #[test]
    fn keys_of_a_wrong_type_are_ignored() {
        let params = read(
            r#"{"udp":1,"tcp":true,"time":"10","parallel":null,"len":-5,"title":7,"TOS":[],"x":{}}"#,
        );
        assert_eq!(
            params,
            Params {
                tcp: true,
                ..Params::default()
            }
        );
    }

    #[test]
    fn false_is_false_and_is_never_written() {
        let params = read(r#"{"udp":false,"tcp":true,"reverse":false,"zerocopy":0}"#);
        assert_eq!(params.to_json(), br#"{"tcp":true}"#);
    }

    #[test]
    fn flags_of_number_form_are_written_as_one() {
        let params = Params {
            tcp: true,
            get_server_output: true,
            ..Params::default()
        };
        assert_eq!(params.to_json(), br#"{"tcp":true,"get_server_output":1}"#);
    }

    #[test]
    fn our_key_is_carried_untouched() {
        let params = read(r#"{"tcp":true,"linerate":{"v":1,"caps":["final"]}}"#);
        let key = Raw::of(&serde_json::json!({"caps": ["final"], "v": 1})).unwrap();
        assert_ne!(params.linerate, Some(key), "the order of keys is kept");
        assert_eq!(
            read(std::str::from_utf8(&params.to_json()).unwrap()),
            params
        );
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for json in ["", "7", "[[1]]", "nonsense", "{\"tcp\":true", "null"] {
            assert!(Params::from_json(json.as_bytes()).is_err(), "{json}");
        }
    }
}
