// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several files of /proc or /sys with their names, as `grep .` and `tail -n +1` show them:
//! `/sys/class/net/eth0/carrier_changes:12`.

use super::proc_file::of_file;
use super::{Block, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    form(lines.get(0)?)?;
    let (mut content, mut name) = (Vec::new(), None);
    let found = lines.run(0, |line| {
        let text = line.trim();
        let shown = name.take().and_then(|path| of_file(path, text));
        if let Some(shown) = shown {
            content.push(shown);
            return true;
        }
        match form(line) {
            Some(Form::Pair(path, value)) => {
                let shown = of_file(path, value);
                let is_known = shown.is_some();
                content.extend(shown);
                is_known
            }
            Some(Form::Name(path)) => name.insert(path).starts_with('/'),
            Some(Form::Error) => true,
            None => false,
        }
    });
    if content.is_empty() {
        return Block::says_nothing(&found, "files of the kernel");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "files of the kernel",
        content,
    })
}

/// A line of several files.
enum Form<'a> {
    /// `/sys/class/net/eth0/carrier_changes:12`, `statistics/rx_errors 3`.
    Pair(&'a str, &'a str),
    /// `==> /sys/class/net/eth0/mtu <==`, or the name alone: the next line is its content.
    Name(&'a str),
    /// `grep: /sys/class/net/lo/speed: Invalid argument`.
    Error,
}

fn form(line: &str) -> Option<Form<'_>> {
    let line = line.trim();
    if let Some(path) = line.strip_prefix("==> ") {
        return path.strip_suffix(" <==").map(Form::Name);
    }
    if line.starts_with("grep: /sys/") || line.starts_with("cat: /sys/") {
        return Some(Form::Error);
    }
    let known = ["/sys/", "/proc/irq/", "statistics/"];
    (known.iter().any(|start| line.starts_with(start)) && line.len() < 400).then_some(())?;
    // Names of buses have colons, names of interfaces do not.
    let from = line.find("/net/").unwrap_or(0);
    let end = line.get(from..)?.find([':', ' ', '\t', '=']);
    let Some((path, value)) = end.and_then(|end| line.split_at_checked(from + end)) else {
        return line.starts_with('/').then_some(Form::Name(line));
    };
    let value = value.trim_start_matches([':', ' ', '\t', '=']);
    Some(Form::Pair(path, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, proc_file};
    use std::cell::Cell;

    fn all(text: &str, command: Option<&str>) -> Option<(usize, Vec<String>)> {
        let (lines, looked): (Vec<&str>, _) = (text.lines().collect(), Cell::new(0));
        let (lines, hint) = (Lines::new(&lines, &looked), Hint { command });
        let block = read(lines, hint).or_else(|| proc_file::read(lines, hint))?;
        let value = |content| match content {
            Content::Settings(one) => one
                .values
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            Content::Counters(one) => one
                .values
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            other => format!("{other:?}"),
        };
        Some((block.lines, block.content.into_iter().map(value).collect()))
    }

    #[test]
    fn several_files() {
        let expected = |lines| {
            Some((
                lines,
                vec!["Speed=100Mb/s".to_owned(), "Duplex=Half".to_owned()],
            ))
        };
        let path = "/sys/class/net/eth0";
        for (text, command, lines) in [
            (
                format!(
                    "{path}/speed:100\ngrep: {path}/phys_port_id: Operation not supported\n{path}/duplex:half\nprose\n"
                ),
                None,
                3,
            ),
            (
                format!("==> {path}/speed <==\n100\n\n==> {path}/duplex <==\nhalf\n"),
                None,
                5,
            ),
            (format!("{path}/speed\n100\n{path}/duplex\nhalf\n"), None, 4),
            (
                format!("{path}/speed\t100\n{path}/duplex = half\n"),
                None,
                2,
            ),
            (
                "100\nhalf\n".to_owned(),
                Some(format!("cat {path}/{{speed,duplex}}")),
                2,
            ),
            (
                "100\nhalf\n".to_owned(),
                Some(format!("cat {path}/speed {path}/duplex")),
                2,
            ),
        ] {
            assert_eq!(all(&text, command.as_deref()), expected(lines), "{text}");
        }
    }

    #[test]
    fn counters_of_a_relative_path() {
        let expected = Some((
            2,
            vec!["rx_errors=3".to_owned(), "rx_crc_errors=4412".to_owned()],
        ));
        assert_eq!(
            all(
                "statistics/rx_errors:3\nstatistics/rx_crc_errors:4412\n",
                None
            ),
            expected
        );
        assert_eq!(all("statistics/rx_errors are high\n", None), None);
        assert_eq!(
            all("grep: /sys/class/net/lo/speed: Invalid argument\n", None),
            None
        );
    }
}
