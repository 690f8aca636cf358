// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of /proc and /sys whose content needs their name to be understood: `cat /proc/sys/net/ipv4/tcp_mem`.

use super::{Block, Content, Hint, Lines, Settings};
use super::{boot, net_class};

/// The output of `cat`, a line for each file.
pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let files = hint.files();
    let each = files.iter().enumerate();
    let content = each.map(|(at, file)| of_file(file, lines.get(at)?));
    let content: Vec<Content> = content.collect::<Option<_>>()?;
    (!content.is_empty()).then_some(Block {
        lines: content.len(),
        format: "file of the kernel",
        content,
    })
}

/// The value in a file, if the text is plausible.
pub(super) fn of_file(path: &str, text: &str) -> Option<Content> {
    let line = text.trim();
    if path.starts_with("statistics/") {
        return net_class::of_file(&format!("/sys/class/net/*/{path}"), line);
    }
    if let Some(content) = net_class::of_file(path, line) {
        return Some(content);
    }
    let (source, name) = setting(path)?;
    let fits = match source.as_str() {
        "/proc/cmdline" => boot::is_words(line),
        "sysctl" => super::sysctl::is_value(line),
        // Names of a board, each followed by a NUL.
        "machine" => line.len() <= 300,
        _ => line.len() <= 64 && !line.contains(' '),
    };
    let words = line.split(|letter: char| letter.is_whitespace() || letter == '\0');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let value = words.join(" ");
    (fits && !line.is_empty()).then(|| Settings::new(&source, None, vec![(name, value)]))
}

/// Source and name of a file's setting.
fn setting(file: &str) -> Option<(String, String)> {
    let of = |source: &str, name: &str| Some((source.to_owned(), name.to_owned()));
    match file {
        "/proc/cmdline" => return of("/proc/cmdline", "cmdline"),
        "/proc/device-tree/compatible" => return of("machine", "compatible"),
        "/sys/devices/soc0/soc_id" => return of("machine", "soc_id"),
        _ => {}
    }
    if let Some(name) = file.strip_prefix("/proc/sys/") {
        return (!name.is_empty() && !name.contains('*'))
            .then(|| ("sysctl".to_owned(), name.replace('/', ".")));
    }
    let (folder, name) = file.rsplit_once('/')?;
    let numbered = !folder.contains('*') && file.bytes().any(|byte| byte.is_ascii_digit());
    let of_cpu = folder.starts_with("/sys/devices/system/cpu/cpu")
        && (folder.ends_with("/cpufreq") || folder.contains("/cpuidle/state"));
    (numbered && (of_cpu || folder.starts_with("/proc/irq/")))
        .then(|| (folder.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Counters, named_files};
    use std::cell::Cell;

    fn known(
        line: &str,
        command: Option<&str>,
    ) -> Option<(String, Option<String>, String, String)> {
        let lines = [line];
        let looked = Cell::new(0);
        let (lines, hint) = (Lines::new(&lines, &looked), Hint { command });
        let block = named_files::read(lines, hint).or_else(|| read(lines, hint))?;
        match block.content.into_iter().next()? {
            Content::Settings(Settings {
                source,
                interface,
                mut values,
            }) => {
                let (name, value) = values.remove(0);
                Some((source, interface, name, value))
            }
            Content::Counters(Counters {
                source,
                interface,
                mut values,
            }) => {
                let (name, value) = values.remove(0);
                Some((source, interface, name, value.to_string()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_with_their_names_and_without() {
        for (path, source, interface, name, value) in [
            (
                "/sys/class/net/eth0/device/iommu_group/type",
                "/sys/class/net/device",
                Some("eth0"),
                "iommu_group_type",
                "DMA-FQ",
            ),
            (
                "/sys/class/net/eth0/carrier_changes",
                "rtnl_link_stats64",
                Some("eth0"),
                "carrier_changes",
                "12",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "/sys/devices/system/cpu/cpu0/cpufreq",
                None,
                "scaling_governor",
                "powersave",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpuidle/state2/latency",
                "/sys/devices/system/cpu/cpu0/cpuidle/state2",
                None,
                "latency",
                "300",
            ),
            (
                "/proc/irq/40/smp_affinity_list",
                "/proc/irq/40",
                None,
                "smp_affinity_list",
                "2",
            ),
        ] {
            let expected = Some((
                source.to_owned(),
                interface.map(str::to_owned),
                name.to_owned(),
                value.to_owned(),
            ));
            assert_eq!(known(&format!("{path}:{value}"), None), expected, "{path}");
            assert_eq!(
                known(value, Some(&format!("cat {path}"))),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn what_no_reader_asks_for() {
        assert_eq!(known("/sys/kernel/mm/ksm/run:0", None), None);
        assert_eq!(
            known(
                "a sentence of several words",
                Some("cat /sys/class/net/eth0/mtu")
            ),
            None
        );
        assert_eq!(
            known("many", Some("cat /sys/class/net/eth0/carrier_changes")),
            None
        );
    }
}
