// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a line is a typed command.

/// Whether a line begins with a program that shows network data or a file, and what look like its arguments: prose about
/// `ping times` does not.
pub(super) fn is_typed(line: &str) -> bool {
    if line.starts_with("for ") && line.contains("; do ") && line.contains('$') {
        return true;
    }
    let mut words = line
        .split_whitespace()
        .skip_while(|word| WRAPPERS.contains(word) || is_assignment(word));
    let Some(program) = words.next().map(base) else {
        return false;
    };
    let argument = words.next();
    let few = line.split_whitespace().count() <= 5;
    let named = argument.is_none_or(|word| {
        word.starts_with(['-', '/', '.'])
            || word.chars().any(|letter| letter.is_ascii_digit())
            || SUBCOMMANDS.contains(&word)
            || is_assignment(word)
    });
    PROGRAMS.contains(&program)
        && named
        && (few
            || argument.is_some_and(|word| word.starts_with(['-', '/']) || is_assignment(word))
            || line.contains(" -"))
}

/// Whether a line after a prompt begins with such a program, whatever follows.
pub(super) fn is_known(line: &str) -> bool {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| WRAPPERS.contains(word) || is_assignment(word));
    words
        .next()
        .is_some_and(|word| PROGRAMS.contains(&base(word)) || word.starts_with("./"))
}

fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

const WRAPPERS: &[&str] = &[
    "sudo", "time", "while", "watch", "busybox", "adb", "shell", "do", "nohup", "doas", "timeout",
];
const SUBCOMMANDS: &[&str] = &[
    "link", "qdisc", "addr", "neigh", "dev", "netdev", "show", "list", "ruleset", "report", "vlan",
    "fdb", "mdb", "health", "trap", "showstp",
];
const PROGRAMS: &[&str] = &[
    "iperf",
    "iperf3",
    "iperf2",
    "nuttcp",
    "netperf",
    "ifconfig",
    "ip",
    "ethtool",
    "cat",
    "sysctl",
    "netstat",
    "nft",
    "nstat",
    "lscpu",
    "numactl",
    "conntrack",
    "nproc",
    "zgrep",
    "tc",
    "mpstat",
    "top",
    "vmstat",
    "dmesg",
    "lspci",
    "lsusb",
    "lshw",
    "tcpdump",
    "ping",
    "uname",
    "grep",
    "zcat",
    "devregs",
    "ss",
    "sar",
    "echo",
    "mount",
    "tail",
    "head",
    "ping6",
    "devmem",
    "devmem2",
    "phytool",
    "mii-tool",
    "bridge",
    "brctl",
    "iw",
    "iwconfig",
    "mtr",
    "traceroute",
    "tracepath",
    "tracert",
    "arp",
    "devlink",
    "logread",
    "netsh",
    "journalctl",
    "linerate",
    "type",
    "ttcp",
    "watch",
    "chmod",
    "perf",
    "bpftrace",
    "aria2c",
    "pwru",
    "retis",
    "dropwatch",
    "trace-cmd",
    "taskset",
    "ls",
    "cd",
    "dd",
    "tar",
    "sync",
    "modprobe",
    "insmod",
    "rmmod",
    "setprop",
    "getprop",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_prose() {
        for line in [
            "iperf -c 192.0.2.1 -u -b 400M",
            "cat /proc/interrupts  | grep eth",
            "sudo ethtool -S eth0",
            "ip -s link",
            "ethtool eth0",
            "iperf3.exe -s",
            "tc -s qdisc show dev eth0",
            "incr=200 iperf -s",
            "dd if=/dev/zero bs=1M count=1000 | nc 192.0.2.1 5000",
            "for f in /sys/class/net/eth0/statistics/*; do echo $f: $(cat $f); done",
        ] {
            assert!(is_typed(line), "{line}");
        }
        for line in [
            "ping times are more consistent",
            "iperf above, each pair of lines tells",
            "ethtool shows that flow control is off",
            "top of the list",
            "cat and dog",
            "for each of them; do not ask",
        ] {
            assert!(!is_typed(line), "{line}");
        }
    }
}
