// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seconds since 1970 as the dates that packages carry, in UTC.

/// As in a Debian changelog: `Fri, 27 Nov 2026 23:52:13 +0000` (RFC 5322 §3.3).
pub(crate) fn mail(time: u64) -> String {
    let (year, month, day) = civil(time / DAY);
    let weekday = WEEKDAYS[(time / DAY % 7) as usize];
    let name = MONTHS[month as usize - 1];
    format!("{weekday}, {day:02} {name} {year} {} +0000", clock(time))
}

/// As in JSON: `2026-11-27T23:52:13Z` (RFC 3339 §5.6).
pub(crate) fn internet(time: u64) -> String {
    let (year, month, day) = civil(time / DAY);
    format!("{year}-{month:02}-{day:02}T{}Z", clock(time))
}

fn clock(time: u64) -> String {
    let [hour, minute, second] = [time / 3600 % 24, time / 60 % 60, time % 60];
    format!("{hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a day since 1970: Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, day - (153 * shifted + 2) / 5 + 1)
}

const DAY: u64 = 86_400;
/// 1970-01-01 was a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_date_1() {
        for (time, mailed, stored) in [
            (0, "Thu, 01 Jan 1970 00:00:00 +0000", "1970-01-01T00:00:00Z"),
            (
                951_827_696,
                "Tue, 29 Feb 2000 12:34:56 +0000",
                "2000-02-29T12:34:56Z",
            ),
            (
                1_795_823_533,
                "Fri, 27 Nov 2026 23:52:13 +0000",
                "2026-11-27T23:52:13Z",
            ),
        ] {
            assert_eq!(mail(time), mailed);
            assert_eq!(internet(time), stored);
        }
    }
}
