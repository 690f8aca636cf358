// SPDX-License-Identifier: MIT OR Apache-2.0
//! When something happened by the wall clock: how it is written, and whether it can be right.
//!
//! A date only labels; what is measured is measured with the monotonic clock.

use std::fmt;

use jiff::Timestamp;
use linerate_linux::clock::wall_ns;

/// A moment of the wall clock, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date(Timestamp);

impl Date {
    /// What the clock reads.
    #[must_use]
    pub fn now() -> Self {
        Self::at(wall_ns())
    }

    /// So many nanoseconds after 1970 began.
    #[must_use]
    pub fn at(wall_ns: u64) -> Self {
        let ms = i64::try_from(wall_ns / 1_000_000).unwrap_or(0);
        Self(Timestamp::from_millisecond(ms).unwrap_or_default())
    }

    /// The second in which it falls.
    #[must_use]
    pub fn second(self) -> Self {
        Self(Timestamp::from_second(self.0.as_second()).unwrap_or_default())
    }

    /// False before 2020: that clock was never set, as on a board without a battery.
    #[must_use]
    pub fn trusted(self) -> bool {
        self.0.as_second() >= START_OF_2020
    }

    /// For the name of a file: `20260131T120000Z`.
    #[must_use]
    pub fn compact(self) -> String {
        self.0.strftime("%Y%m%dT%H%M%SZ").to_string()
    }
}

/// RFC 3339, UTC.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// 2020-01-01T00:00:00Z.
const START_OF_2020: i64 = 1_577_836_800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_rfc_3339() {
        let date = Date::at(1_500_999_999);
        assert_eq!(date.to_string(), "1970-01-01T00:00:01.5Z");
        assert_eq!(date.second().to_string(), "1970-01-01T00:00:01Z");
        assert_eq!(date.compact(), "19700101T000001Z");
    }

    #[test]
    fn a_clock_is_trusted_from_2020_on() {
        let start_ns = START_OF_2020 as u64 * 1_000_000_000;
        assert!(Date::at(start_ns).trusted());
        assert!(!Date::at(start_ns - 1).trusted());
    }
}
