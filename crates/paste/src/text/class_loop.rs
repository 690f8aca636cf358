// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a loop over files of `/sys/class/net/eth0` prints, by their bare names: `speed: 10`, `duplex: half`. The interface
//! stands in the command, in the script above, or in a heading `eth0:`; one line alone is a sentence.

use super::lines::is_interface;
use super::proc_file::of_file;
use super::{Block, Content, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let mut shown = Shown::of(hint.command.and_then(Folder::of));
    let begins = shown.folder.is_some() || heading(first).is_some() || script(first).is_some();
    begins.then_some(())?;
    let found = lines.run(0, |line| shown.take(line.trim()).is_some());
    if !shown.is_enough {
        return Block::says_nothing(&found, FORMAT);
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: FORMAT,
        content: shown.content,
    })
}

/// Where the files are.
#[derive(Clone, Copy)]
struct Folder<'a> {
    /// `*` if it is a variable of the shell.
    interface: &'a str,
    is_statistics: bool,
}

impl<'a> Folder<'a> {
    /// Of `for f in speed duplex; do echo $f: $(cat /sys/class/net/eth0/$f); done`.
    fn of(command: &'a str) -> Option<Self> {
        let (_, rest) = command.split_once("/sys/class/net/")?;
        let own = |letter: char| letter.is_ascii_alphanumeric() || "._-@".contains(letter);
        let name = rest.split(|letter| !own(letter)).next()?;
        let is_whole = rest
            .get(name.len()..)
            .is_none_or(|rest| !rest.starts_with(['$', '{', '*', '?']));
        Some(Self {
            interface: if name.is_empty() || !is_whole {
                "*"
            } else {
                name
            },
            is_statistics: rest.contains("/statistics"),
        })
    }
}

/// What the lines so far contain.
struct Shown<'a> {
    folder: Option<Folder<'a>>,
    content: Vec<Content>,
    /// Values since the last heading.
    together: usize,
    is_enough: bool,
}

impl<'a> Shown<'a> {
    const fn of(folder: Option<Folder<'a>>) -> Self {
        Self {
            folder,
            content: Vec::new(),
            together: 0,
            is_enough: false,
        }
    }

    /// `None` if the line does not belong here.
    fn take(&mut self, line: &'a str) -> Option<()> {
        (line.len() < 400).then_some(())?;
        if let Some(folder) = script(line).or_else(|| self.headed(line)) {
            self.folder = Some(folder);
            self.together = 0;
            return Some(());
        }
        let folder = self.folder?;
        if line == "done" || is_error(line) {
            return Some(());
        }
        let (name, value) = pair(line)?;
        if value.is_empty() {
            return Some(());
        }
        let path = format!("/sys/class/net/{}/{}", folder.interface, file(name)?);
        self.content.push(of_file(&path, value)?);
        self.together += 1;
        self.is_enough |= self.together > 1 || folder.is_statistics;
        Some(())
    }

    fn headed(&self, line: &'a str) -> Option<Folder<'a>> {
        let is_statistics = self.folder.is_some_and(|folder| folder.is_statistics);
        let interface = heading(line)?;
        Some(Folder {
            interface,
            is_statistics,
        })
    }
}

/// A line of a script that spans several: `echo "$f: $(cat /sys/class/net/eth0/$f)"`.
fn script(line: &str) -> Option<Folder<'_>> {
    let prints = ["echo ", "printf "].iter().any(|word| line.contains(word));
    (prints && line.contains('$') && line.len() < 400).then_some(())?;
    Folder::of(line)
}

/// The interface of `eth0:`, `== eth0 ==`, `[eth0]`.
fn heading(line: &str) -> Option<&str> {
    let line = line.strip_prefix("/sys/class/net/").unwrap_or(line);
    let name = line.trim_matches(|letter: char| "=-*#[]: ".contains(letter));
    (name.len() < line.len() && is_interface(name)).then_some(name)
}

/// `cat: /sys/class/net/eth0/speed: Invalid argument`: the link is down, or the device has none.
fn is_error(line: &str) -> bool {
    let rest = ["cat: ", "grep: "]
        .iter()
        .find_map(|program| line.strip_prefix(program));
    let said = rest.and_then(|rest| rest.rsplit_once(": "));
    said.is_some_and(|(path, _)| path.rsplit('/').next().and_then(file).is_some())
}

/// Name and value of a known file; the value may be missing.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once([':', ' ', '\t', '='])?;
    file(name)?;
    Some((name, value.trim_start_matches([':', ' ', '\t', '='])))
}

/// The path of a known file below its interface (Documentation/ABI/testing/sysfs-class-net, sysfs-class-net-statistics).
fn file(name: &str) -> Option<String> {
    if FILES.contains(&name) {
        return Some(name.to_owned());
    }
    let counts = ["rx_", "tx_", "collisions", "multicast"];
    let own = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let counted = counts.iter().any(|start| name.starts_with(start)) && name.bytes().all(own);
    counted.then(|| format!("statistics/{name}"))
}

const FORMAT: &str = "files of the kernel";
const FILES: &[&str] = &[
    "addr_assign_type",
    "address",
    "carrier",
    "carrier_changes",
    "carrier_down_count",
    "carrier_up_count",
    "dormant",
    "duplex",
    "flags",
    "gro_flush_timeout",
    "ifindex",
    "iflink",
    "link_mode",
    "mtu",
    "napi_defer_hard_irqs",
    "operstate",
    "proto_down",
    "speed",
    "testing",
    "threaded",
    "tx_queue_len",
    "type",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn all(text: &str, command: Option<&str>) -> Option<(usize, Vec<String>)> {
        let (lines, looked): (Vec<&str>, _) = (text.lines().collect(), Cell::new(0));
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        let value = |content| match content {
            Content::Settings(one) => {
                let (name, value) = &one.values[0];
                format!("{} {name}={value}", one.interface.unwrap_or_default())
            }
            Content::Counters(one) => {
                let (name, value) = &one.values[0];
                format!("{} {name}={value}", one.interface.unwrap_or_default())
            }
            other => format!("{other:?}"),
        };
        Some((block.lines, block.content.into_iter().map(value).collect()))
    }

    const LOOP: &str =
        "for f in speed duplex operstate; do echo $f: $(cat /sys/class/net/eth0/$f); done";
    const VALUES: &str = "speed: 10\nduplex: half\noperstate: up\ncarrier_changes: 12\n";

    fn expected(lines: usize) -> Option<(usize, Vec<String>)> {
        let values = [
            "Speed=10Mb/s",
            "Duplex=Half",
            "state=UP",
            "carrier_changes=12",
        ];
        let of_eth0 = values.map(|value| format!("eth0 {value}"));
        Some((lines, of_eth0.to_vec()))
    }

    #[test]
    fn the_interface_in_the_command_or_in_the_heading() {
        assert_eq!(all(&format!("{VALUES}prose\n"), Some(LOOP)), expected(4));
        assert_eq!(all(&VALUES.replace(':', "\t"), Some(LOOP)), expected(4));
        assert_eq!(all(&VALUES.replace(": ", "="), Some(LOOP)), expected(4));
        for heading in ["eth0:", "== eth0 ==", "[eth0]", "/sys/class/net/eth0:"] {
            assert_eq!(all(&format!("{heading}\n{VALUES}"), None), expected(5));
        }
        let script = "echo \"$f: $(cat /sys/class/net/eth0/$f)\"\ndone\n";
        assert_eq!(all(&format!("{script}{VALUES}"), None), expected(6));
    }

    #[test]
    fn several_interfaces_and_files_that_cannot_be_read() {
        let command = "for i in eth0 wlan0; do echo $i:; for f in speed mtu; do echo $f: $(cat /sys/class/net/$i/$f); done; done";
        let text = "eth0:\nspeed: 100\nmtu: 1500\nwlan0:\ncat: /sys/class/net/wlan0/speed: Invalid argument\nspeed:\nmtu: 1400\n";
        let values = ["eth0 Speed=100Mb/s", "eth0 mtu=1500", "wlan0 mtu=1400"];
        let values = values.map(str::to_owned).to_vec();
        assert_eq!(all(text, Some(command)), Some((7, values)));
        let unnamed = vec![" Speed=100Mb/s".to_owned(), " mtu=1500".to_owned()];
        assert_eq!(
            all("speed: 100\nmtu: 1500\n", Some(command)),
            Some((2, unnamed))
        );
    }

    #[test]
    fn counters_of_a_loop() {
        let command =
            "for f in /sys/class/net/eth0/statistics/*; do echo $(basename $f) $(cat $f); done";
        let values = ["eth0 rx_errors=3", "eth0 rx_crc_errors=4412"];
        let values = values.map(str::to_owned).to_vec();
        let text = "rx_errors 3\nrx_crc_errors 4412\n";
        assert_eq!(all(text, Some(command)), Some((2, values)));
    }

    #[test]
    fn what_only_looks_like_it() {
        for (text, command) in [
            ("speed: 10\n", Some(LOOP)),
            ("speed: 10\nThat is slow.\n", Some(LOOP)),
            ("speed: slow\nduplex: half\n", Some(LOOP)),
            ("speed: 10\nduplex: half\n", None),
            ("eth0:\nspeed: 10\nprose\n", None),
            ("eth0:\n  mtu: 1500\neth1:\n  mtu: 1500\n", None),
            ("eth0 speed: 10\nduplex: half\n", None),
            ("my port:\nspeed: 10\nduplex: half\n", None),
        ] {
            assert_eq!(all(text, command), None, "{text}");
        }
    }
}
