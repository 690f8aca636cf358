// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameter document, client to server: every key of iperf3 3.1 … 3.21 and the `linerate` key.
//!
//! Unknown keys and keys of a wrong JSON type are ignored. A flag is written as `true` or left out, because
//! servers before 3.18 take a key's mere presence for true.

use serde::{Deserialize, Serialize};

use crate::json::{self, Raw};

use super::datagram::CounterWidth;
use super::number::{flag, one, string, unsigned};

/// What the client asks for. The default document asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// TCP streams. Exactly one protocol flag is set.
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub tcp: bool,
    /// UDP streams.
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub udp: bool,
    /// SCTP streams.
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub sctp: bool,
    /// Warm-up excluded from the results, seconds.
    #[serde(rename = "omit")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub omit_s: Option<u64>,
    /// Duration, seconds; 0 = ended by bytes or blocks; absent = the server's default of 10.
    #[serde(rename = "time")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub time_s: Option<u64>,
    /// Bytes to send in all; 0 = no limit.
    #[serde(rename = "num")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub num_bytes: Option<u64>,
    /// Writes or packets to send in all; 0 = no limit.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub blockcount: Option<u64>,
    /// Streams per direction.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u64>,
    /// The server sends.
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub reverse: bool,
    /// Both send (3.7+).
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub bidirectional: bool,
    /// Size of a write, or exact UDP payload, bytes.
    #[serde(rename = "len")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub len_bytes: Option<u64>,
    /// Target rate of each stream, bit/s; absent = unlimited.
    #[serde(rename = "bandwidth")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub bandwidth_bits_per_second: Option<u64>,
    /// Packets sent back to back.
    #[serde(rename = "burst")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub burst_packets: Option<u64>,
    /// Legacy, microseconds.
    #[serde(rename = "pacing_timer")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub pacing_timer_us: Option<u64>,
    /// `SO_MAX_PACING_RATE` of the sending sockets, bit/s.
    #[serde(rename = "fqrate")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub fqrate_bits_per_second: Option<u64>,
    /// `SO_SNDBUF` and `SO_RCVBUF` at both ends, bytes.
    #[serde(rename = "window")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u64>,
    /// `TCP_MAXSEG`, bytes.
    #[serde(rename = "MSS")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u64>,
    /// `TCP_NODELAY` on the data sockets.
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub nodelay: bool,
    /// The whole TOS or traffic-class byte.
    #[serde(rename = "TOS")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub tos: Option<u64>,
    /// IPv6 flow label.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub flowlabel: Option<u64>,
    /// Congestion control asked for.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Congestion control in use, informative.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// The server should accept MPTCP (3.19+).
    #[serde(with = "flag", skip_serializing_if = "is_false")]
    pub mptcp: bool,
    /// Core to pin the server to.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub server_affinity: Option<u64>,
    /// Echoed in reports only.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Echoed in reports only.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// The server puts its report into its results.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub get_server_output: bool,
    /// 64-bit sequence numbers in UDP headers.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub udp_counters_64bit: bool,
    /// A pattern instead of a random payload.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub repeating_payload: bool,
    /// `sendfile` at the sender.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub zerocopy: bool,
    /// IPv4 DF on UDP.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub dont_fragment: bool,
    /// The receiver uses `MSG_TRUNC`.
    #[serde(with = "one", skip_serializing_if = "is_false")]
    pub skip_rx_copy: bool,
    /// UDP offload hints of 3.21+, local to a host.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub gso: Option<u64>,
    /// As `gso`, bytes.
    #[serde(rename = "gso_dg_size")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub gso_dg_size_bytes: Option<u64>,
    /// As `gso`, bytes.
    #[serde(rename = "gso_bf_size")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub gso_bf_size_bytes: Option<u64>,
    /// As `gso`.
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub gro: Option<u64>,
    /// As `gso`, bytes.
    #[serde(rename = "gro_bf_size")]
    #[serde(with = "unsigned", skip_serializing_if = "Option::is_none")]
    pub gro_bf_size_bytes: Option<u64>,
    /// base64 of an RSA block.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<String>,
    /// For example "3.19": the only version that travels, and only to the server.
    #[serde(with = "string", skip_serializing_if = "Option::is_none")]
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

    /// Streams per direction, one by default.
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
    /// It is not one JSON object, or has a known key twice.
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
