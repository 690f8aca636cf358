// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel and its set-up: `/proc/version`, `uname -a`, the kernel's command line, the boot loader's banner,
//! the kernel's configuration.

use super::{Block, Content, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let line = lines.get(0)?.trim();
    if line.len() > 4096 {
        return None;
    }
    // A single option may be advice; a list of them, or the output of a command, is the configuration.
    let shown = hint.command.is_some() || lines.get(1).is_some_and(|line| config(line).is_some());
    let options = || config(line).filter(|_| shown);
    let (format, content) = version(line)
        .or_else(|| command_line(line))
        .or_else(|| banner(line))
        .or_else(options)
        .or_else(|| meminfo(line))?;
    Some(Block {
        lines: 1,
        format,
        content: vec![content],
    })
}

/// `Linux version 3.0.35-2026-g… (…)`, `Linux host 5.10.0 #1 SMP …`.
fn version(line: &str) -> Option<(&'static str, Content)> {
    let uname = || {
        let mut words = line.strip_prefix("Linux ")?.split_whitespace().skip(1);
        let release = words.next()?;
        let numbered =
            release.starts_with(|first: char| first.is_ascii_digit()) && release.contains('.');
        (numbered && words.next()?.starts_with('#')).then(|| {
            format!(
                "Linux version {release} {}",
                words.collect::<Vec<_>>().join(" ")
            )
        })
    };
    let value = if line.starts_with("Linux version ") {
        line.to_owned()
    } else {
        uname()?
    };
    Some((
        "/proc/version",
        Settings::new("/proc/version", None, vec![("version".to_owned(), value)]),
    ))
}

/// `Kernel command line: …`, or a line of such words only.
fn command_line(line: &str) -> Option<(&'static str, Content)> {
    let announced = ["Kernel command line:", "Command line:", "cmdline:"]
        .iter()
        .find_map(|mark| line.split_once(mark));
    let words = match announced {
        Some((_, words)) => words.trim(),
        None => line,
    };
    let marks = [
        "console=",
        "root=",
        "BOOT_IMAGE=",
        "enable_wait_mode=",
        "iommu.passthrough=",
        "video=",
        "isolcpus=",
        "intel_iommu=",
        "rootwait",
        "quiet",
    ];
    let typical = words
        .split_whitespace()
        .filter(|word| marks.iter().any(|mark| word.starts_with(mark)))
        .count();
    (announced.is_some() || (typical > 1 && is_words(words))).then_some(())?;
    Some((
        "/proc/cmdline",
        Settings::new(
            "/proc/cmdline",
            None,
            vec![("cmdline".to_owned(), words.to_owned())],
        ),
    ))
}

/// Whether a line consists of the words of a command line, a trailing `...` allowed.
pub(super) fn is_words(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let known = [
        "ro",
        "rw",
        "quiet",
        "splash",
        "nosmp",
        "rootwait",
        "noinitrd",
        "debug",
        "nomodeset",
        "--",
        "...",
    ];
    !line.is_empty()
        && words.all(|word| word.contains('=') || word.contains('.') || known.contains(&word))
}

/// U-Boot's `CPU:   Freescale i.MX6Q rev1.2 at 792 MHz`.
fn banner(line: &str) -> Option<(&'static str, Content)> {
    let words: Vec<&str> = line
        .strip_prefix("CPU:")?
        .split_whitespace()
        .take(12)
        .collect();
    let at = words
        .iter()
        .position(|word| word.starts_with("rev") || word.starts_with("Rev"))?;
    let soc = words.get(at.checked_sub(1)?)?;
    let revision = words[at]
        .trim_start_matches("rev")
        .trim_start_matches("Rev")
        .trim_matches(',');
    let mut values = vec![
        ("soc_id".to_owned(), (*soc).to_owned()),
        ("soc_revision".to_owned(), revision.to_owned()),
    ];
    let clock = words
        .iter()
        .position(|word| *word == "at")
        .and_then(|at| Some(format!("{} {}", words.get(at + 1)?, words.get(at + 2)?)));
    values.extend(clock.map(|clock| ("clock".to_owned(), clock)));
    revision
        .starts_with(|first: char| first.is_ascii_digit())
        .then(|| ("boot loader", Settings::new("machine", None, values)))
}

/// `CONFIG_FEC_NAPI=y`, `# CONFIG_FEC_NAPI is not set`.
fn config(line: &str) -> Option<(&'static str, Content)> {
    let line = line.trim_start_matches(['#', '+', '-', ' ']);
    let (name, value) = match line.strip_suffix(" is not set") {
        Some(name) => (name, "n"),
        None => line.split_once('=')?,
    };
    let plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    (name.starts_with("CONFIG_") && plain && value.len() <= 64).then(|| {
        let pair = (name.to_owned(), value.to_owned());
        (
            "kernel configuration",
            Settings::new("/proc/config.gz", None, vec![pair]),
        )
    })
}

/// `MemFree:   12345 kB`.
fn meminfo(line: &str) -> Option<(&'static str, Content)> {
    let (name, value) = line.split_once(':')?;
    let number = value.trim().strip_suffix(" kB")?;
    let known = [
        "Mem",
        "LowTotal",
        "LowFree",
        "HighTotal",
        "HighFree",
        "Buffers",
        "Cached",
        "Slab",
        "Swap",
        "Cma",
    ]
    .iter()
    .any(|start| name.starts_with(start));
    (known && number.trim().parse::<u64>().is_ok() && !name.contains(' ')).then(|| {
        let pair = (name.to_owned(), number.trim().to_owned());
        (
            "/proc/meminfo",
            Settings::new("/proc/meminfo", None, vec![pair]),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn says(line: &str) -> Option<(String, Vec<(String, String)>)> {
        let looked = Cell::new(0);
        let command = Some("zcat /proc/config.gz");
        match read(Lines::new(&[line], &looked), Hint { command })?
            .content
            .remove(0)
        {
            Content::Settings(settings) => Some((settings.source, settings.values)),
            _ => None,
        }
    }

    #[test]
    fn what_a_machine_says_of_itself() {
        let first = |line| {
            says(line)
                .map(|(source, values)| (source, values[0].1.clone()))
                .unwrap_or_default()
        };
        assert_eq!(
            first("Linux version 3.0.35-77 (me@there) #1"),
            (
                "/proc/version".into(),
                "Linux version 3.0.35-77 (me@there) #1".into()
            )
        );
        assert_eq!(
            first("Linux box 6.1.0-9-amd64 #1 SMP Debian").1,
            "Linux version 6.1.0-9-amd64 SMP Debian"
        );
        assert_eq!(
            first("Kernel command line: console=ttymxc0 enable_wait_mode=off"),
            (
                "/proc/cmdline".into(),
                "console=ttymxc0 enable_wait_mode=off".into()
            )
        );
        assert_eq!(
            first("CPU:   Freescale i.MX6Q rev1.2 at 792 MHz"),
            ("machine".into(), "i.MX6Q".into())
        );
        assert_eq!(
            first("# CONFIG_FEC_NAPI is not set"),
            ("/proc/config.gz".into(), "n".into())
        );
        assert_eq!(
            first("MemFree:          123 kB"),
            ("/proc/meminfo".into(), "123".into())
        );
        assert_eq!(says("Linux is a nice system"), None);
        assert_eq!(says("CPU: it is at 100 %"), None);
    }
}
