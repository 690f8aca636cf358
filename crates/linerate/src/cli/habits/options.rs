// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every option of iperf3 3.12 to 3.21, and what it is here. `docs/iperf3.md` has the same table for people.

use Here::{Absent, Idle, Named, Other, Same};

/// Which of iperf3's two programs an option is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

/// What an option of iperf3 is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// The same.
    Same,
    /// Another name.
    Named(&'static str),
    /// It changes nothing here.
    Idle,
    /// Not supported; what to use instead.
    Absent(&'static str),
    /// iperf3 refuses it, too.
    Other,
}

/// An option of iperf3.
#[derive(Debug)]
pub(super) struct Habit {
    /// Its letter.
    pub(super) letter: Option<char>,
    /// Its long name.
    pub(super) name: &'static str,
    /// A value follows.
    pub(super) has_value: bool,
    pub(super) client: Here,
    pub(super) server: Here,
}

impl Habit {
    /// The option with this letter.
    pub(super) fn of_letter(letter: char) -> Option<&'static Self> {
        HABITS.iter().find(|habit| habit.letter == Some(letter))
    }

    /// The option with this name.
    pub(super) fn of_name(name: &str) -> Option<&'static Self> {
        HABITS.iter().find(|habit| habit.name == name)
    }

    /// What it is here.
    pub(super) fn here(&self, role: Role) -> Here {
        match role {
            Role::Client => self.client,
            Role::Server => self.server,
        }
    }
}

const fn flag(letter: Option<char>, name: &'static str, client: Here, server: Here) -> Habit {
    Habit {
        letter,
        name,
        has_value: false,
        client,
        server,
    }
}

const fn value(letter: Option<char>, name: &'static str, client: Here, server: Here) -> Habit {
    Habit {
        has_value: true,
        ..flag(letter, name, client, server)
    }
}

const TOKEN: Here = Absent("--token-file FILE at both ends; it controls what the server reports");
const SCTP: Here = Absent("TCP or UDP; SCTP is not measured");

/// In the order of `iperf3 --help`; then those of later versions.
pub(super) const HABITS: &[Habit] = &[
    value(Some('p'), "port", Same, Same),
    value(Some('f'), "format", Same, Idle),
    value(Some('i'), "interval", Same, Idle),
    value(Some('I'), "pidfile", Absent("`$!` of the shell"), Same),
    value(
        Some('F'),
        "file",
        Absent("-Z, which sends generated data with sendfile(2)"),
        Absent("a test without a file: the received data is discarded"),
    ),
    value(
        Some('A'),
        "affinity",
        Same,
        Absent("taskset -c CPU linerate -s"),
    ),
    value(Some('B'), "bind", Same, Same),
    value(None, "bind-dev", Same, Same),
    flag(Some('V'), "verbose", Same, Idle),
    flag(
        Some('J'),
        "json",
        Same,
        Absent("--json at the client: its document has the counts of both ends"),
    ),
    value(None, "logfile", Same, Same),
    flag(None, "forceflush", Idle, Idle),
    flag(None, "timestamps", Same, Idle),
    value(None, "rcv-timeout", Same, Idle),
    value(None, "snd-timeout", Same, Idle),
    flag(Some('d'), "debug", Named("--verbose"), Idle),
    flag(Some('D'), "daemon", Other, Same),
    flag(Some('1'), "one-off", Other, Same),
    value(None, "server-bitrate-limit", Other, Named("--max-rate")),
    value(None, "server-max-duration", Other, Named("--max-time")),
    value(None, "idle-timeout", Other, Same),
    value(None, "rsa-private-key-path", Other, TOKEN),
    value(None, "authorized-users-path", Other, TOKEN),
    value(None, "time-skew-threshold", Other, TOKEN),
    flag(None, "sctp", SCTP, Other),
    value(Some('X'), "xbind", SCTP, Other),
    value(None, "nstreams", SCTP, Other),
    value(None, "connect-timeout", Same, Other),
    value(Some('b'), "bitrate", Same, Other),
    value(None, "bandwidth", Named("--bitrate"), Other),
    value(
        None,
        "pacing-timer",
        Absent("--burst N: datagrams sent back to back"),
        Other,
    ),
    value(None, "fq-rate", Same, Other),
    value(Some('t'), "time", Same, Other),
    value(Some('n'), "bytes", Same, Other),
    value(Some('k'), "blockcount", Same, Other),
    value(Some('l'), "length", Same, Other),
    value(None, "cport", Same, Other),
    value(Some('P'), "parallel", Same, Other),
    flag(Some('R'), "reverse", Same, Other),
    flag(None, "bidir", Same, Other),
    value(Some('w'), "window", Same, Other),
    value(Some('C'), "congestion", Same, Other),
    value(None, "linux-congestion", Named("--congestion"), Other),
    value(Some('M'), "set-mss", Same, Other),
    flag(Some('N'), "no-delay", Same, Other),
    flag(Some('4'), "version4", Same, Same),
    flag(Some('6'), "version6", Same, Same),
    value(Some('S'), "tos", Same, Other),
    value(None, "dscp", Same, Other),
    value(
        Some('L'),
        "flowlabel",
        Absent("-S or --dscp; the kernel chooses the flow label"),
        Other,
    ),
    flag(Some('Z'), "zerocopy", Same, Other),
    value(Some('O'), "omit", Same, Other),
    value(Some('T'), "title", Same, Other),
    value(
        None,
        "extra-data",
        Absent("-T TEXT, which is stored with the results"),
        Other,
    ),
    flag(None, "get-server-output", Same, Other),
    flag(None, "udp-counters-64bit", Same, Other),
    flag(None, "repeating-payload", Idle, Other),
    flag(None, "dont-fragment", Same, Other),
    value(None, "username", TOKEN, Other),
    value(None, "rsa-public-key-path", TOKEN, Other),
    flag(None, "use-pkcs1-padding", TOKEN, TOKEN),
    flag(
        Some('m'),
        "mptcp",
        Absent("TCP; Multipath TCP is not measured"),
        Absent("TCP; Multipath TCP is not served"),
    ),
    flag(
        None,
        "json-stream",
        Same,
        Absent("--json-stream at the client"),
    ),
    flag(
        None,
        "json-stream-full-output",
        Idle,
        Absent("--json-stream at the client"),
    ),
    flag(None, "skip-rx-copy", Named("--mode=auto/trunc"), Other),
    flag(
        None,
        "gsro",
        Absent("--mode gso/gro"),
        Absent("--mode gso/gro at the client"),
    ),
    flag(None, "cntl-ka", Idle, Idle),
];
