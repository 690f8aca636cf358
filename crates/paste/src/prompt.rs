// SPDX-License-Identifier: MIT OR Apache-2.0
//! The prompt before a command: `root@box:~#`, `[me@box dir]$`, `/ #`, `$`, `C:\>`; also in the middle of a line.

use super::command;

/// A shell prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The host, if the prompt names it.
    pub host: Option<String>,
    /// The folder of `/sys/class/net`, if the prompt names it.
    pub folder: Option<String>,
}

/// Strips prompts; text before a prompt within the line becomes a separate line.
pub(super) fn split(line: &str) -> Vec<(String, Option<Prompt>)> {
    let mut parts = Vec::new();
    let mut rest = line;
    let mut last = None;
    while let Some((before, prompt, input)) = find(rest) {
        let before = before.trim().trim_end_matches(['-', ':']).trim();
        if !before.is_empty() && last.is_none() {
            parts.push((before.to_owned(), None));
        }
        last = Some(prompt);
        rest = input;
    }
    parts.push((rest.to_owned(), last));
    parts
}

fn find(line: &str) -> Option<(&str, Prompt, &str)> {
    named(line).or_else(|| nameless(line))
}

/// `user@host:path# `.
fn named(line: &str) -> Option<(&str, Prompt, &str)> {
    for (at, _) in line.match_indices('@').take(4) {
        let user = line[..at]
            .rfind(|letter: char| !is_name(letter))
            .map_or(0, |end| {
                end + line[end..].chars().next().map_or(1, char::len_utf8)
            });
        let host_end = line[at + 1..]
            .find(|letter: char| !is_name(letter))
            .map_or(line.len(), |end| at + 1 + end);
        let (host, tail) = (&line[at + 1..host_end], &line[host_end..]);
        if user == at || host.is_empty() || host.contains("..") {
            continue;
        }
        if let Some(input) = after_mark(tail) {
            let before = line[..user].trim_end_matches('[');
            let prompt = Prompt {
                host: Some(host.trim_end_matches('.').to_owned()),
                folder: folder(tail),
            };
            return Some((before, prompt, input));
        }
    }
    None
}

/// Of `:/sys/class/net/eth0# `.
fn folder(tail: &str) -> Option<String> {
    let path = tail.get(..tail.find(['#', '$', '%', '>'])?)?;
    let path = path.trim_matches([':', ' ', ']']);
    path.starts_with("/sys/class/net/").then(|| path.to_owned())
}

/// Returns what follows `:~# ` or ` dir]$ `.
fn after_mark(tail: &str) -> Option<&str> {
    let begins = tail.starts_with([':', ' ', ']', '#', '$', '%']);
    let mark = tail
        .char_indices()
        .take(60)
        .find(|(_, letter)| "#$%>".contains(*letter));
    let (end, _) = mark.filter(|_| begins)?;
    let path = tail[..end]
        .chars()
        .all(|letter| is_name(letter) || "~/:] ()+".contains(letter))
        && tail[..end].matches(' ').count() < 3;
    let input = &tail[end + 1..];
    let separated = input.is_empty() || input.starts_with(' ');
    (path && separated).then(|| input.trim_start())
}

/// Prompts without a host.
fn nameless(line: &str) -> Option<(&str, Prompt, &str)> {
    let line = line.trim_start();
    let input = windows(line)
        .or_else(|| path(line))
        .or_else(|| sign(line))
        .or_else(|| host_only(line));
    let (host, input) = input?;
    let typed = line.len() - input.len();
    let folder = folder(line.get(..typed)?);
    Some(("", Prompt { host, folder }, input.trim_start()))
}

type Split<'a> = Option<(Option<String>, &'a str)>;

/// `C:\Users\me>`, `PS C:\>`.
fn windows(line: &str) -> Split<'_> {
    let rest = line.strip_prefix("PS ").unwrap_or(line);
    let drive = rest
        .chars()
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase())
        && rest.get(1..3) == Some(":\\");
    let (directory, input) = rest.split_once('>').filter(|_| drive)?;
    (directory.len() < 200).then_some((None, input))
}

/// `/ # `, `~ $ `, `~/dir$ `.
fn path(line: &str) -> Split<'_> {
    let end = line
        .find(['#', '$'])
        .filter(|end| *end < 60 && line.starts_with(['/', '~']))?;
    let (directory, input) = (line[..end].trim_end(), line[end + 1..].strip_prefix(' ')?);
    (!directory.contains(' ')).then_some((None, input))
}

/// `$ command`, `# command`.
fn sign(line: &str) -> Split<'_> {
    if let Some(input) = line.strip_prefix("$ ") {
        let command = input
            .trim_start()
            .starts_with(|first: char| first.is_ascii_lowercase() || "./".contains(first));
        return command.then_some((None, input));
    }
    let input = line.strip_prefix("# ")?;
    command::is_typed(input.trim_start()).then_some((None, input))
}

/// `router# ethtool -S eth0`, `box:~ # …`.
fn host_only(line: &str) -> Split<'_> {
    let end = line.find(|letter: char| !is_name(letter))?;
    let (host, tail) = line.split_at(end);
    let input = after_mark(tail)?;
    let lettered = host.starts_with(|first: char| first.is_ascii_alphabetic()) && host.len() < 32;
    (lettered && command::is_typed(input)).then(|| (Some(host.to_owned()), input))
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "._-".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Vec<(String, Option<Option<String>>)> {
        split(line)
            .into_iter()
            .map(|(text, prompt)| (text, prompt.map(|prompt| prompt.host)))
            .collect()
    }

    #[test]
    fn prompts_of_every_shell() {
        for (line, host, command) in [
            (
                "root@box-nano:~# cat /proc/cmdline",
                Some("box-nano"),
                "cat /proc/cmdline",
            ),
            (
                "root@android:/ # busybox ifconfig eth0",
                Some("android"),
                "busybox ifconfig eth0",
            ),
            ("[me@box src]$ iperf3 -s", Some("box"), "iperf3 -s"),
            ("~ # ifconfig eth0", None, "ifconfig eth0"),
            ("$ ethtool -S eth0", None, "ethtool -S eth0"),
            ("# iperf3 -s", None, "iperf3 -s"),
            ("C:\\Users\\me>ping 192.0.2.1", None, "ping 192.0.2.1"),
            ("box# ethtool -a eth0", Some("box"), "ethtool -a eth0"),
            (
                "root@box:~# eth0 Link encap:Ethernet",
                Some("box"),
                "eth0 Link encap:Ethernet",
            ),
        ] {
            assert_eq!(
                parts(line),
                [(command.to_owned(), Some(host.map(str::to_owned)))],
                "{line}"
            );
        }
        let prompt = |line: &str| split(line).remove(0).1.unwrap_or_default();
        for line in [
            "root@box:/sys/class/net/eth0# cat mtu",
            "/sys/class/net/eth0 # cat mtu",
        ] {
            assert_eq!(prompt(line).folder.as_deref(), Some("/sys/class/net/eth0"));
        }
        assert_eq!(prompt("root@box:/sys/class# cat mtu").folder, None);
        assert_eq!(
            parts("TCP Client - root@pc:~# iperf -c 192.0.2.1")[0],
            ("TCP Client".to_owned(), None)
        );
        for line in [
            "mail me@example.org for more # of them",
            "# this is a comment",
            "$ 5 is not much",
            "me@example.org wrote:",
        ] {
            assert_eq!(parts(line), [(line.to_owned(), None)], "{line}");
        }
    }
}
