// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/PID/stat`. Source: proc_pid_stat(5).

/// Ticks that the process spent in user mode and in the kernel; empty for another file.
#[must_use]
pub fn counters(text: &str) -> Vec<(String, u64)> {
    // The second field, the name of the program in parentheses, may contain anything.
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = after_name.split_whitespace().skip(UTIME - STATE);
    let mut next = |name: &str| Some((name.to_owned(), fields.next()?.parse().ok()?));
    next("utime")
        .zip(next("stime"))
        .map_or_else(Vec::new, |(user, system)| vec![user, system])
}

/// Numbers of the fields.
const STATE: usize = 3;
const UTIME: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_found_after_any_name() {
        let text = "4137 (a) b (c) S 1 4137 4137 0 -1 4194560 1297 0 3 0 71 29 0 0 20 0 3 0 88 0 0";
        let expected = [("utime", 71), ("stime", 29)];
        let expected = expected.map(|(name, ticks)| (name.to_owned(), ticks));
        assert_eq!(counters(text), expected);
        assert_eq!(counters("cpu  1 2 3"), []);
    }
}
