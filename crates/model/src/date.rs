// SPDX-License-Identifier: MIT OR Apache-2.0
//! When something happened by the wall clock: how it is written, and whether it can be right.
//!
//! A date only labels; what is measured is measured with the monotonic clock.

use std::fmt;

/// A moment of the wall clock, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Since 1970 began.
    ms: u64,
}

impl Date {
    /// The moment `wall_ns` nanoseconds after the Unix epoch.
    #[must_use]
    pub const fn at(wall_ns: u64) -> Self {
        let ms = wall_ns / 1_000_000;
        Self { ms }
    }

    /// Reads RFC 3339 in UTC, to the second; `None` of anything else.
    ///
    /// ```
    /// use linerate_model::date::Date;
    /// let date = Date::read("2026-01-31T12:00:00.5Z").unwrap();
    /// assert_eq!(date.to_string(), "2026-01-31T12:00:00Z");
    /// assert_eq!(Date::read("yesterday"), None);
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let number = |at: usize, digits: usize| text.get(at..at + digits)?.parse::<u64>().ok();
        let [year, month, day] = [number(0, 4)?, number(5, 2)?, number(8, 2)?];
        let [hour, minute, second] = [number(11, 2)?, number(14, 2)?, number(17, 2)?];
        let mut days: u64 = (1970..year).map(year_days).sum();
        days += (1..month.min(12))
            .map(|month| month_days(year, month))
            .sum::<u64>();
        let seconds = (hour * 60 + minute) * 60 + second;
        Some(Self {
            ms: (days + day.checked_sub(1)?) * DAY_MS + seconds * 1000,
        })
    }

    /// Whole seconds since 1970 began.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.ms / 1000
    }

    /// The second in which it falls.
    #[must_use]
    pub const fn second(self) -> Self {
        let ms = self.ms / 1000 * 1000;
        Self { ms }
    }

    /// False before 2020: that clock was never set, as on a board without a battery.
    #[must_use]
    pub const fn trusted(self) -> bool {
        self.ms / 1000 >= START_OF_2020
    }

    /// For the name of a file: `20260131T120000Z`.
    #[must_use]
    pub fn compact(self) -> String {
        let ([year, month, day], [hour, minute, second]) = (self.day(), self.time());
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    /// Year, month, day; leap seconds are not counted (POSIX).
    fn day(self) -> [u64; 3] {
        let mut days = self.ms / DAY_MS;
        let mut year = 1970;
        while days >= year_days(year) {
            days -= year_days(year);
            year += 1;
        }
        let mut month = 1;
        while days >= month_days(year, month) {
            days -= month_days(year, month);
            month += 1;
        }
        [year, month, days + 1]
    }

    /// Hour, minute, second.
    const fn time(self) -> [u64; 3] {
        let second = self.ms % DAY_MS / 1000;
        [second / 3600, second / 60 % 60, second % 60]
    }
}

/// RFC 3339, UTC; a fraction of the second as short as it is.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([year, month, day], [hour, minute, second]) = (self.day(), self.time());
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        write!(f, "T{hour:02}:{minute:02}:{second:02}")?;
        match self.ms % 1000 {
            0 => f.write_str("Z"),
            ms if ms % 100 == 0 => write!(f, ".{}Z", ms / 100),
            ms if ms % 10 == 0 => write!(f, ".{:02}Z", ms / 10),
            ms => write!(f, ".{ms:03}Z"),
        }
    }
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn year_days(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

const fn month_days(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

const DAY_MS: u64 = 86_400_000;
/// 2020-01-01T00:00:00Z.
const START_OF_2020: u64 = 1_577_836_800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_rfc_3339() {
        let date = Date::at(1_500_999_999);
        assert_eq!(date.to_string(), "1970-01-01T00:00:01.5Z");
        assert_eq!(date.second().to_string(), "1970-01-01T00:00:01Z");
        assert_eq!(date.compact(), "19700101T000001Z");
        let millisecond = Date::at(1_020_000_000).to_string();
        assert_eq!(millisecond, "1970-01-01T00:00:01.02Z");
        assert_eq!(Date::at(7_000_000).to_string(), "1970-01-01T00:00:00.007Z");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let day = |second: u64| Date::at(second * 1_000_000_000).compact();
        assert_eq!(day(951_868_799), "20000229T235959Z");
        assert_eq!(day(START_OF_2020 - 1), "20191231T235959Z");
        assert_eq!(day(START_OF_2020), "20200101T000000Z");
        assert_eq!(day(1_709_164_800), "20240229T000000Z");
        assert_eq!(day(1_785_585_600), "20260801T120000Z");
        assert_eq!(day(4_107_542_400), "21000301T000000Z");
        assert_eq!(day(4_107_542_399), "21000228T235959Z");
    }

    #[test]
    fn a_clock_is_trusted_from_2020_on() {
        let start_ns = START_OF_2020 * 1_000_000_000;
        assert!(Date::at(start_ns).trusted());
        assert!(!Date::at(start_ns - 1).trusted());
    }
}
