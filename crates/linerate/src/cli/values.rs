// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of flags: text in, a number in range and base units out, or what was expected.
//!
//! Rates are decimal (`100M` = 100 000 000 bit/s), sizes binary (`64K` = 65 536 bytes), as
//! iperf3's letters are; a bare number is bit/s, bytes or seconds.

pub(super) mod compare;
pub(super) mod device;
pub(super) mod forward;
pub(super) mod goal;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use linerate_model::units::{BitsPerSecond, Bytes, Nanos, Rate};

/// Bits per second: `940M`, `1.5Gbit/s`, `100000`. 1 bit/s … 1 Tbit/s.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let rate: BitsPerSecond = text.parse().map_err(|error| format!("{error}"))?;
    in_range(rate).map(BitsPerSecond::whole)
}

/// A TCP port to listen on: `127.0.0.1:9101`, `[::1]:9101`, or of the loopback `9101`.
pub(super) fn listener(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let address = text.parse().or_else(|_| text.parse().map(loopback));
    let address = address.ok().filter(|address| address.port() > 0);
    address.ok_or_else(|| "expected ADDRESS:PORT, such as 127.0.0.1:9101 or [::1]:9101".to_owned())
}

/// `-b` of iperf3: `RATE` or `RATE/BURST`; rate 0 is unlimited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PacedRate {
    /// `None`: unlimited. Never a share of the line rate.
    pub(super) rate: Option<Rate>,
    /// Datagrams or writes sent back to back.
    pub(super) burst: Option<u32>,
}

pub(super) fn paced_rate(text: &str) -> Result<PacedRate, String> {
    // `10Mbit/s` contains a slash.
    let slash = text
        .rfind('/')
        .filter(|at| !text[at + 1..].eq_ignore_ascii_case("s"));
    let (speed, packets) = match slash {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    Ok(PacedRate {
        rate: if speed == "0" {
            None
        } else {
            Some(bits_or_packets(speed)?)
        },
        burst: packets.map(burst).transpose()?,
    })
}

fn bits_or_packets(text: &str) -> Result<Rate, String> {
    match text.parse().map_err(|error| format!("{error}"))? {
        Rate::Bits(bits) => in_range(bits).map(Rate::Bits),
        Rate::Packets(packets) if (1.0..=1e9).contains(&packets.0) => Ok(Rate::Packets(packets)),
        Rate::Packets(_) => Err("expected 1 pps to 1000 Mpps".to_owned()),
        Rate::LineRate(_) => {
            Err("the line rate is not known before the test; write 940M or 100kpps".to_owned())
        }
    }
}

fn in_range(rate: BitsPerSecond) -> Result<BitsPerSecond, String> {
    let fits = (1.0..=1e12).contains(&rate.0);
    fits.then_some(rate)
        .ok_or_else(|| "expected 1 bit/s to 1T".to_owned())
}

/// Datagrams back to back: 1 … 1000, iperf3's range.
pub(super) fn burst(text: &str) -> Result<u32, String> {
    whole(text, 1, 1000, "packets")
}

/// Bytes of a socket buffer: 1 KiB … 512 MiB.
pub(super) fn window(text: &str) -> Result<u32, String> {
    size_within(text, 1024, 512 << 20)
}

/// Bytes of a TCP write: 1 byte … 1 MiB.
pub(super) fn tcp_length(text: &str) -> Result<u32, String> {
    size_within(text, 1, 1 << 20)
}

/// Bytes of a UDP payload: 16 … 65507.
pub(super) fn udp_length(text: &str) -> Result<u32, String> {
    size_within(text, 16, 65_507)
}

/// Bytes to send in all.
pub(super) fn amount(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("expected 1 byte or more".to_owned()),
        bytes => Ok(bytes),
    }
}

/// Writes or datagrams to send in all: `1000`, `10K` (1024-based, as iperf3's `-k`).
pub(super) fn blocks(text: &str) -> Result<u64, String> {
    match bytes(text) {
        Ok(blocks @ 1..) => Ok(blocks),
        _ => Err("expected a number of blocks from 1 up, such as 1000 or 10K".to_owned()),
    }
}

/// TCP maximum segment size: 88 … 32767.
pub(super) fn segment(text: &str) -> Result<u32, String> {
    whole(text, 88, 32_767, "bytes")
}

/// Milliseconds of a test: `10`, `500ms`, `2m`; 100 ms … 24 h.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    milliseconds_within(text, 100, DAY_MS, "from 100ms to 24h")
}

/// A ratio of lost packets that a search accepts.
pub(super) fn loss_ratio(text: &str) -> Result<f64, String> {
    goal::ratio(text)
        .ok_or_else(|| "expected a ratio from 0 to below 1, such as 0.5% or 1e-5".to_owned())
}

/// Milliseconds of a confirming trial: 0 (none), or 100 ms … 24 h.
pub(super) fn confirmation(text: &str) -> Result<u64, String> {
    match milliseconds(text)? {
        0 => Ok(0),
        _ => milliseconds_within(text, 100, DAY_MS, "from 100ms to 24h, or 0 for none"),
    }
}

/// Milliseconds of a warm-up: 0 … 10 minutes.
pub(super) fn warm_up(text: &str) -> Result<u64, String> {
    milliseconds_within(text, 0, 600_000, "from 0 to 10m")
}

/// Milliseconds between a change and the measurement. A number without a unit is in seconds, as everywhere; a large one is
/// probably meant in milliseconds, and would multiply the length of each run.
pub(super) fn settle(text: &str) -> Result<u64, String> {
    let time = warm_up(text)?;
    let is_bare = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    match is_bare && time >= DOUBTFUL_SETTLE_MS {
        true => Err(format!(
            "a number without a unit is in seconds: write {text}s, or {text}ms"
        )),
        false => Ok(time),
    }
}

/// A link that was taken down by a change is up again before.
const DOUBTFUL_SETTLE_MS: u64 = 20_000;

/// Milliseconds of an interval: 0 (none), or 100 ms … 1 h.
pub(super) fn interval(text: &str) -> Result<u64, String> {
    match milliseconds(text)? {
        0 => Ok(0),
        _ => milliseconds_within(text, 100, 3_600_000, "0 (none), or from 100ms to 1h"),
    }
}

/// Milliseconds to wait for an answer: 100 ms … 10 minutes. A bare number is milliseconds, as with iperf3.
pub(super) fn timeout(text: &str) -> Result<u64, String> {
    let bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let text = if bare { &format!("{text}ms") } else { text };
    milliseconds_within(text, 100, 600_000, "from 100ms to 10m")
}

/// Bits per second that the kernel paces to: it takes 32 bits of bytes per second.
pub(super) fn fq_rate(text: &str) -> Result<u64, String> {
    let bits = rate(text)?;
    (8..=MOST_PACED)
        .contains(&bits)
        .then_some(bits)
        .ok_or_else(|| "expected 8 bit/s to 34G".to_owned())
}

/// Whole seconds of a server's limit: 1 s … 24 h.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    milliseconds_within(text, 1000, DAY_MS, "from 1s to 24h").map(|ms| ms / 1000)
}

/// A code point by number, 0 … 63, or by its name: `ef`, `cs6`, `af41`.
pub(super) fn dscp(text: &str) -> Result<u8, String> {
    number(text)
        .and_then(|value| u8::try_from(value).ok())
        .or_else(|| code_point(&text.to_ascii_lowercase()))
        .filter(|value| *value < 64)
        .ok_or_else(|| "expected 0 to 63, or a name such as ef, cs6 or af41".to_owned())
}

/// The whole TOS octet: 0 … 255, also as `0xb8`.
pub(super) fn tos(text: &str) -> Result<u8, String> {
    number(text)
        .and_then(|value| u8::try_from(value).ok())
        .ok_or_else(|| "expected 0 to 255 (0x00 to 0xff)".to_owned())
}

/// `LOCAL` or `LOCAL,REMOTE`: CPU numbers.
pub(super) fn affinity(text: &str) -> Result<(u32, Option<u32>), String> {
    let cpu = |text: &str| whole(text, 0, 4095, "as CPU numbers LOCAL or LOCAL,REMOTE");
    match text.split_once(',') {
        Some((local, remote)) => Ok((cpu(local)?, Some(cpu(remote)?))),
        None => Ok((cpu(text)?, None)),
    }
}

/// `ADDRESS`, or iperf3's `ADDRESS%DEVICE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BindTo {
    pub(super) address: IpAddr,
    pub(super) device: Option<String>,
}

pub(super) fn bind_to(text: &str) -> Result<BindTo, String> {
    let (address, device) = match text.split_once('%') {
        Some((address, device)) => (address, Some(interface(device)?)),
        None => (text, None),
    };
    let address = address.parse().map_err(|_| {
        "expected an IPv4 or IPv6 address of this host, or ADDRESS%INTERFACE".to_owned()
    })?;
    Ok(BindTo { address, device })
}

/// An interface name: 1 … 15 bytes without spaces or slashes.
pub(super) fn interface(text: &str) -> Result<String, String> {
    let fits =
        (1..=15).contains(&text.len()) && !text.contains(|c: char| c.is_whitespace() || c == '/');
    fits.then(|| text.to_owned())
        .ok_or_else(|| "expected an interface name of 1 to 15 characters, such as eth0".to_owned())
}

/// MTU of the lab: 68 (RFC 791's least) … 65535.
pub(super) fn mtu(text: &str) -> Result<u32, String> {
    whole(text, 68, 65_535, "bytes")
}

fn size_within(text: &str, from: u32, to: u32) -> Result<u32, String> {
    u32::try_from(bytes(text)?)
        .ok()
        .filter(|bytes| (from..=to).contains(bytes))
        .ok_or_else(|| match to % 1024 {
            0 => format!("expected {} to {}", size(from), size(to)),
            _ => format!("expected {from} to {to} bytes"),
        })
}

/// A size as the user writes it: 512M, 1K, 1.
fn size(bytes: u32) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    Ok(bytes.0)
}

fn milliseconds_within(text: &str, from: u64, to: u64, range: &str) -> Result<u64, String> {
    let time = milliseconds(text)?;
    (from..=to)
        .contains(&time)
        .then_some(time)
        .ok_or_else(|| format!("expected a time {range}"))
}

/// Rounded up, so that a short time is never none.
fn milliseconds(text: &str) -> Result<u64, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    Ok(time.0.div_ceil(1_000_000))
}

fn whole(text: &str, from: u32, to: u32, what: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|value| (from..=to).contains(value))
        .ok_or_else(|| format!("expected {from} to {to} {what}"))
}

/// Decimal, `0x` hexadecimal or `0` octal, as strtol(3) in iperf3.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (text, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

/// The names of RFC 2474 (CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA) and RFC 8622 (LE).
fn code_point(name: &str) -> Option<u8> {
    match name {
        "ef" => return Some(46),
        "va" => return Some(44),
        "le" => return Some(1),
        "default" => return Some(0),
        _ => {}
    }
    let (kind, digits) = name.split_at_checked(2)?;
    let digits: Vec<u8> = digits.bytes().map(|byte| byte.wrapping_sub(b'0')).collect();
    match (kind, digits.as_slice()) {
        ("cs", [class @ 0..=7]) => Some(class * 8),
        ("af", [class @ 1..=4, drop @ 1..=3]) => Some(class * 8 + drop * 2),
        _ => None,
    }
}

const MOST_PACED: u64 = u32::MAX as u64 * 8;
const DAY_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_in_range() {
        assert_eq!(rate("940M"), Ok(940_000_000));
        assert_eq!(rate("1.5Gbit/s"), Ok(1_500_000_000));
        for text in ["", "0", "fast", "-1M", "2T", "10kpps", "80%"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_paced_rate_may_name_its_burst() {
        let paced = |bits: f64, burst| {
            let rate = Some(Rate::Bits(BitsPerSecond(bits)));
            Ok(PacedRate { rate, burst })
        };
        assert_eq!(paced_rate("100M"), paced(1e8, None));
        assert_eq!(paced_rate("100M/16"), paced(1e8, Some(16)));
        assert_eq!(paced_rate("100Mbit/s"), paced(1e8, None));
        assert_eq!(paced_rate("100Mbit/s/4"), paced(1e8, Some(4)));
        assert_eq!(
            paced_rate("0/8"),
            Ok(PacedRate {
                rate: None,
                burst: Some(8)
            })
        );
        for text in ["100M/0", "100M/1001", "/4", "50%", "2000Mpps", "100M/x", ""] {
            assert!(paced_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_in_range() {
        assert_eq!(window("4M"), Ok(4_194_304));
        assert_eq!(udp_length("1470"), Ok(1470));
        assert_eq!(
            udp_length("15"),
            Err("expected 16 to 65507 bytes".to_owned())
        );
        assert_eq!(
            udp_length("65508"),
            Err("expected 16 to 65507 bytes".to_owned())
        );
        assert!(amount("0").is_err() && blocks("0").is_err() && window("64Q").is_err());
    }

    #[test]
    fn times_are_seconds_unless_spelt() {
        assert_eq!(duration("10"), Ok(10_000));
        assert_eq!(duration("0.5"), Ok(500));
        assert_eq!(duration("500ms"), Ok(500));
        assert_eq!(duration("2m"), Ok(120_000));
        assert_eq!(duration("24h"), Ok(DAY_MS));
        assert_eq!(interval("0"), Ok(0));
        for text in ["0", "25h", "-1", "soon", "50ms"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(interval("50ms").is_err());
    }

    #[test]
    fn timeouts_are_milliseconds_unless_spelt() {
        assert_eq!(timeout("2000"), Ok(2000));
        assert_eq!(timeout("2s"), Ok(2000));
        assert_eq!(timeout("300ms"), Ok(300));
        for text in ["5", "0", "", "11m", "-1"] {
            assert!(timeout(text).is_err(), "{text}");
        }
        assert_eq!(fq_rate("100M"), Ok(100_000_000));
        assert!(fq_rate("40G").is_err() && fq_rate("7").is_err());
    }

    #[test]
    fn code_points_have_names() {
        for (text, value) in [
            ("46", 46),
            ("EF", 46),
            ("cs6", 48),
            ("af41", 34),
            ("0x2e", 46),
            ("le", 1),
        ] {
            assert_eq!(dscp(text), Ok(value), "{text}");
        }
        for text in ["64", "af44", "af51", "cs8", "xx", "é"] {
            assert!(dscp(text).is_err(), "{text}");
        }
        assert_eq!(
            (tos("0xb8"), tos("064"), tos("0")),
            (Ok(184), Ok(52), Ok(0))
        );
        assert!(tos("256").is_err() && tos("08").is_err());
    }

    #[test]
    fn affinity_and_addresses() {
        assert_eq!(affinity("2"), Ok((2, None)));
        assert_eq!(affinity("2,3"), Ok((2, Some(3))));
        assert!(affinity("2,").is_err() && affinity("-1").is_err());
        let bound = bind_to("fe80::1%eth0").unwrap();
        assert_eq!(
            (bound.address.is_ipv6(), bound.device.as_deref()),
            (true, Some("eth0"))
        );
        assert!(bind_to("eth0").is_err() && bind_to("10.0.0.1%").is_err());
    }
}
