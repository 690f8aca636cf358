// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits of a client's request.

use crate::extension::Request;
use crate::plan::ServeOptions;
use crate::stream_config::StreamConfig;
use linerate_wire::iperf3::error;
use linerate_wire::iperf3::params::{Params, Protocol};

/// Why a client is refused: iperf3's error number, and the reason for the log.
pub(super) type Refused = (i32, String);

/// Checks the parameters against protocol and server limits.
pub(super) fn check(
    options: &ServeOptions,
    params: &Params,
    request: Option<&Request>,
    config: &StreamConfig,
) -> Result<(), Refused> {
    let bad = |reason: String| Err((error::PARAMS_RECEIVE, reason));
    if params.protocol() == Protocol::Sctp {
        return bad("SCTP is not supported".to_owned());
    }
    let streams = params.streams_total();
    if streams == 0 || streams > u64::from(options.max_streams) {
        return bad(format!(
            "{streams} streams requested, 1 to {} allowed",
            options.max_streams
        ));
    }
    if let Some(reason) = bad_length(params, config) {
        return bad(reason);
    }
    let length = length(params, config);
    if !config.memory.has_room_for_blocks(streams, length) {
        return bad(format!(
            "{streams} streams in blocks of {length} bytes are more than a quarter of this machine's memory"
        ));
    }
    if params.tos.is_some_and(|tos| tos > 255) {
        return bad("TOS above 255".to_owned());
    }
    if config.burst.is_some_and(|burst| burst > MOST_BURST_PACKETS) {
        return bad(format!("a burst above {MOST_BURST_PACKETS} datagrams"));
    }
    if params
        .window_bytes
        .is_some_and(|bytes| bytes > MOST_WINDOW_BYTES)
    {
        return bad(format!("socket buffers above {MOST_WINDOW_BYTES} bytes"));
    }
    check_duration(options, params, request)?;
    check_rate(options, params, streams)
}

/// The most that the results of a client may take, in bytes. Iperf3's keys are all that this server
/// reads and that our client sends; an older one sends its account too, with an entry an interval.
pub(super) fn results_bytes(request: Option<&Request>, config: &StreamConfig) -> u32 {
    let account = request.map_or(0, |request| {
        ACCOUNT_BYTES.saturating_add(intervals(request).saturating_mul(INTERVAL_BYTES))
    });
    let each = STREAM_BYTES.saturating_add(account);
    let all = u64::from(config.streams_total()).saturating_mul(each);
    u32::try_from(all.saturating_add(RESULTS_BYTES))
        .map_or(MOST_RESULTS_BYTES, |bytes| bytes.min(MOST_RESULTS_BYTES))
}

/// How many intervals a linerate client cuts; a test by amount may have any number.
fn intervals(request: &Request) -> u64 {
    let Some(duration_ns) = request.duration_ns else {
        return u64::MAX;
    };
    let whole = duration_ns.saturating_add(request.omit_ns);
    whole
        .checked_div(request.interval_ns)
        .unwrap_or(0)
        .saturating_add(2)
}

fn bad_length(params: &Params, config: &StreamConfig) -> Option<String> {
    let udp = params.protocol() == Protocol::Udp;
    let (least, most) = if udp {
        (u64::from(config.stamp.min_payload_bytes()), 65_507)
    } else {
        (1, MOST_BLOCK_BYTES)
    };
    let length = length(params, config);
    (length < least || length > most).then(|| format!("length {length}, {least} to {most} allowed"))
}

fn length(params: &Params, config: &StreamConfig) -> u64 {
    let by_default = || u64::from(config.payload_bytes);
    params.len_bytes.unwrap_or_else(by_default)
}

/// Checks the longer of the standard and our own keys: both come from the client.
fn check_duration(
    options: &ServeOptions,
    params: &Params,
    request: Option<&Request>,
) -> Result<(), Refused> {
    let standard_s = params
        .time_s
        .unwrap_or(0)
        .saturating_add(params.omit_s.unwrap_or(0));
    let own_s = request.map_or(0, |request| {
        request
            .duration_ns
            .unwrap_or(0)
            .saturating_add(request.omit_ns)
            .div_ceil(1_000_000_000)
    });
    let asked_s = standard_s.max(own_s);
    match options.max_duration_s {
        Some(limit) if asked_s == 0 || asked_s > limit => Err((
            error::DURATION_LIMIT,
            format!("{asked_s} s requested (0 = unlimited), at most {limit} s allowed"),
        )),
        _ if asked_s > MOST_SECONDS => Err((
            error::PARAMS_RECEIVE,
            format!("{asked_s} s requested, at most {MOST_SECONDS} s allowed"),
        )),
        _ => Ok(()),
    }
}

fn check_rate(options: &ServeOptions, params: &Params, streams: u64) -> Result<(), Refused> {
    let Some(limit) = options.max_bits_per_second else {
        return Ok(());
    };
    let asked = params
        .bandwidth_bits_per_second
        .filter(|&rate| rate > 0)
        .map(|rate| rate.saturating_mul(streams));
    match asked {
        Some(rate) if rate <= limit => Ok(()),
        Some(rate) => Err((
            error::RATE_LIMIT,
            format!("{rate} bit/s requested, at most {limit} allowed"),
        )),
        None => Err((
            error::RATE_LIMIT,
            format!("an unlimited rate requested, at most {limit} bit/s allowed"),
        )),
    }
}

/// Iperf3's keys of a client, and of a stream (some 220 bytes).
const RESULTS_BYTES: u64 = 16 << 10;
const STREAM_BYTES: u64 = 512;
/// A stream's account without its intervals, and one interval with all numbers at their longest.
const ACCOUNT_BYTES: u64 = 8 << 10;
const INTERVAL_BYTES: u64 = 256;
/// In any case: a parsed document takes up to 32 times its length, and a board has 64 MB.
const MOST_RESULTS_BYTES: u32 = 256 << 10;
/// iperf3's own limit of a TCP block.
const MOST_BLOCK_BYTES: u64 = 1 << 20;
/// iperf3's own limits.
const MOST_BURST_PACKETS: u32 = 1000;
const MOST_WINDOW_BYTES: u64 = 512 << 20;
/// A day, and iperf3's longest warm-up. A test by amount may take no longer, either.
pub(super) const MOST_SECONDS: u64 = 86_400 + 600;

#[cfg(test)]
mod tests {
    use super::*;

    fn config(params: &Params, request: Option<&Request>) -> StreamConfig {
        StreamConfig::of_params(params, request)
    }

    fn request(duration_ns: Option<u64>, interval_ns: u64) -> Request {
        Request {
            duration_ns,
            interval_ns,
            ..Request::default()
        }
    }

    /// A board of 64 MB: 128 stock TCP streams, but not 256, and none of a MiB each.
    #[test]
    fn blocks_fit_the_memory() {
        use crate::memory::Memory;
        let board = Memory::new(Some(64 << 20));
        for (streams, len_bytes, served) in [
            (128, None, true),
            (129, None, false),
            (16, Some(1 << 20), true),
            (17, Some(1 << 20), false),
        ] {
            let params = Params {
                parallel: Some(streams),
                len_bytes,
                time_s: Some(1),
                ..Params::default()
            };
            let config = config(&params, None).within(board);
            let checked = check(&ServeOptions::default(), &params, None, &config);
            assert_eq!(checked.is_ok(), served, "{streams} {len_bytes:?}");
        }
    }

    /// What a client asks of the kernel is cut to what the machine can spare for it.
    #[test]
    fn windows_fit_the_memory() {
        use crate::memory::Memory;
        let asks = |streams, window_bytes| {
            let params = Params {
                udp: true,
                parallel: Some(streams),
                window_bytes,
                ..Params::default()
            };
            config(&params, None).within(Memory::new(Some(64 << 20)))
        };
        for (streams, asked, given, cut) in [
            (1, None, 1 << 20, None),
            (64, None, 128 << 10, None),
            (1, Some(8 << 20), 8 << 20, None),
            (1, Some(512 << 20), 8 << 20, Some(8 << 20)),
            (8, Some(512 << 20), 1 << 20, Some(1 << 20)),
        ] {
            let config = asks(streams, asked);
            let got = config.udp_options(false).recv_buffer_bytes;
            assert_eq!((got, config.window_cut_to()), (Some(given), cut));
        }
    }

    /// A receiver of many streams reads by smaller blocks than they are written in.
    #[test]
    fn reads_fit_the_memory() {
        use crate::memory::Memory;
        for (streams, len_bytes, read_bytes) in [
            (1, 1, 128 << 10),
            (1, 1 << 20, 1 << 20),
            (4, 1 << 20, 512 << 10),
            (128, 1 << 20, 128 << 10),
        ] {
            let params = Params {
                parallel: Some(streams),
                len_bytes: Some(len_bytes),
                ..Params::default()
            };
            let config = config(&params, None).within(Memory::new(Some(64 << 20)));
            assert_eq!(config.read_bytes(), read_bytes, "{streams} {len_bytes}");
        }
    }

    #[test]
    fn results_are_bounded_by_what_streams_and_intervals_need() {
        let params = |streams| Params {
            udp: true,
            parallel: Some(streams),
            ..Params::default()
        };
        let second = 1_000_000_000;
        for (streams, request, bytes) in [
            (1, None, 16_896),
            (256, None, 147_456),
            (1, Some(request(Some(10 * second), second)), 28_160),
            (2, Some(request(Some(10 * second), 0)), 34_816),
            (8, Some(request(Some(u64::MAX), 1)), MOST_RESULTS_BYTES),
            (1, Some(request(None, second)), MOST_RESULTS_BYTES),
        ] {
            let params = params(streams);
            let config = config(&params, request.as_ref());
            assert_eq!(
                results_bytes(request.as_ref(), &config),
                bytes,
                "{request:?}"
            );
        }
    }

    /// What this client sends for as many streams as are served, every number at its longest.
    #[test]
    fn our_results_fit() {
        use linerate_wire::iperf3::results::{Results, StreamResult};
        let stream = StreamResult {
            id: 999,
            bytes: u64::MAX,
            retransmits: i64::MAX,
            jitter_s: 0.123_456_789_012_345_67,
            errors: i64::MIN,
            omitted_errors: Some(i64::MIN),
            packets: i64::MAX,
            omitted_packets: Some(i64::MAX),
            start_time_s: Some(0.123_456_789_012_345_67),
            end_time_s: Some(86_400.123_456_789),
        };
        let results = Results {
            streams: vec![stream; 256],
            congestion_used: Some("a name of sixteen".to_owned()),
            ..Results::default()
        };
        let length = results.to_json().len() as u64;
        assert!(length < RESULTS_BYTES + 256 * STREAM_BYTES, "{length}");
    }
}
