// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a client's header against the limits of the server.

use crate::plan::ServeOptions;
use linerate_wire::iperf2::client_header::{
    BOUNCE_BACK, ClientHeader, EXTENDED, FULL_DUPLEX, REVERSE, VERSION_1,
};

/// The direction that a client requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientRole {
    /// The client sends.
    Sends,
    /// The client receives (`-R`).
    Receives,
}

/// Reads a header and checks it against the server's limits.
///
/// # Errors
/// Why it is not served.
pub(super) fn check(options: &ServeOptions, header: &ClientHeader) -> Result<ClientRole, String> {
    let flags = header
        .extension
        .filter(|_| header.flags & EXTENDED != 0)
        .map_or(0, |more| more.test_flags);
    if header.flags & VERSION_1 != 0 || flags & FULL_DUPLEX != 0 {
        return Err("a test in both directions (-d, -r, --full-duplex) is not served".to_owned());
    }
    if header.flags & BOUNCE_BACK != 0 {
        return Err("--bounceback is not served".to_owned());
    }
    check_duration(options, header)?;
    check_rate(options, header)?;
    Ok(if flags & REVERSE != 0 {
        ClientRole::Receives
    } else {
        ClientRole::Sends
    })
}

fn check_duration(options: &ServeOptions, header: &ClientHeader) -> Result<(), String> {
    let Some(limit) = options.max_duration_s else {
        return Ok(());
    };
    match header.duration_ms() {
        Some(asked_ms) if asked_ms <= limit.saturating_mul(1000) => Ok(()),
        Some(asked_ms) => Err(format!(
            "{} s requested, at most {limit} s allowed",
            asked_ms as f64 / 1e3
        )),
        None => Err(format!(
            "a test without a time limit requested, at most {limit} s allowed"
        )),
    }
}

/// A stream's rate times the streams that the client announces.
fn check_rate(options: &ServeOptions, header: &ClientHeader) -> Result<(), String> {
    let Some(limit) = options.max_bits_per_second else {
        return Ok(());
    };
    let each = match header.extension {
        Some(more) => more.rate,
        None => header.window_or_rate.into(),
    };
    let asked = each.saturating_mul(header.threads.max(1).into());
    match asked {
        0 => Err(format!(
            "an unlimited rate requested, at most {limit} bit/s allowed"
        )),
        rate if rate > limit => Err(format!("{rate} bit/s requested, at most {limit} allowed")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_checked_against_the_limits() {
        let limited = ServeOptions {
            max_duration_s: Some(10),
            max_bits_per_second: Some(5_000_000),
            ..ServeOptions::default()
        };
        let asks = |rate, duration_ms| ClientHeader::udp(5001, 1470, rate, duration_ms);
        let fits = asks(5_000_000, 10_000);
        assert_eq!(check(&limited, &fits), Ok(ClientRole::Sends));
        let three = ClientHeader { threads: 3, ..fits };
        let endless = ClientHeader {
            amount: 14_700,
            ..fits
        };
        for refused in [
            asks(5_000_001, 1000),
            asks(0, 1000),
            asks(1, 10_010),
            three,
            endless,
        ] {
            assert!(check(&limited, &refused).is_err(), "{refused:?}");
            assert!(check(&ServeOptions::default(), &refused).is_ok());
        }
    }

    #[test]
    fn reverse_differs_from_both_directions() {
        let options = ServeOptions::default();
        let mut header = ClientHeader::tcp(5001, 1000);
        let mut flagged = |test_flags| {
            if let Some(more) = &mut header.extension {
                more.test_flags = test_flags;
            }
            check(&options, &header)
        };
        assert_eq!(flagged(REVERSE), Ok(ClientRole::Receives));
        assert!(flagged(REVERSE | FULL_DUPLEX).is_err());
    }
}
