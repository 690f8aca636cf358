// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of syslog, the journal and OpenWrt's `logread`, and what `journalctl` notes between them:
//! `Fri Mar  1 10:11:15 2024 daemon.warn dnsmasq[1234]: Maximum number of queries`.

/// The message of a line of syslog, journal or `logread`: after time, host or facility, and `kernel:` or `PROGRAM[PID]:`.
pub(super) fn logged(line: &str) -> Option<&str> {
    let kernel = line
        .split_once(" kernel: ")
        .filter(|(before, _)| is_syslog(before));
    if let Some((_, rest)) = kernel {
        return Some(rest.trim_start());
    }
    let (before, rest) = line
        .split_once(": ")
        .filter(|(before, _)| is_syslog(before))?;
    let (_, program) = before.rsplit_once(' ')?;
    let name = program.split_once('[').map_or(program, |(name, _)| name);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/()".contains(letter);
    let daemon =
        name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(plain);
    let text = line.get(before.len() - program.len()..)?;
    (daemon && !rest.is_empty()).then_some(text)
}

/// `Mar 23 13:30:01 box`, `Fri Mar  1 10:11:12 2024 kern.info`, `2020-03-23T13:30:01+0000 box`.
fn is_syslog(before: &str) -> bool {
    let iso = before.len() > 16 && before.as_bytes().get(4) == Some(&b'-') && before.contains('T');
    let is_month = |word: &str| MONTHS.contains(&word);
    let dated = || {
        let mut words = before.split_whitespace();
        let second = |words: &mut std::str::SplitWhitespace<'_>| words.next().is_some_and(is_month);
        let named = words.next().is_some_and(is_month) || second(&mut words);
        named && words.take(2).any(|word| word.matches(':').count() == 2)
    };
    before.len() < 80 && !before.starts_with('[') && (iso || dated())
}

/// `-- Logs begin at Mon 2024-03-01 10:00:00 UTC, end at … --`, `-- Boot 0123… --`, `-- No entries --`.
pub(super) fn is_of_journal(line: &str) -> bool {
    let notes = [
        "Logs begin at ",
        "Journal begins at ",
        "Boot ",
        "Reboot --",
        "No entries --",
    ];
    let note = line
        .strip_prefix("-- ")
        .filter(|_| line.ends_with("--") && line.len() < 160);
    note.is_some_and(|note| notes.iter().any(|begin| note.starts_with(begin)))
}

pub(super) const MONTHS: &[&str] = &[
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemons_and_the_kernel() {
        for before in [
            "Fri Mar  1 10:11:15 2024 daemon.warn",
            "Mar 23 13:30:01 box",
            "2020-03-23T13:30:01+0000 box",
        ] {
            let text = format!("{before} dnsmasq[1234]: Maximum number of queries");
            assert_eq!(
                logged(&text),
                Some("dnsmasq[1234]: Maximum number of queries")
            );
            let text = format!("{before} kernel: eth0: link is up");
            assert_eq!(logged(&text), Some("eth0: link is up"));
        }
        for text in [
            "Mar 23 was a good day: it rained",
            "[Mon Mar 23 13:30:01 2020] eth0: up",
            "at 10:00:00: yes",
        ] {
            assert_eq!(logged(text), None, "{text}");
        }
    }

    #[test]
    fn notes_of_the_journal() {
        assert!(is_of_journal("-- Boot 0123456789abcdef --"));
        assert!(!is_of_journal("-- 192.0.2.1 ping statistics --"));
    }
}
