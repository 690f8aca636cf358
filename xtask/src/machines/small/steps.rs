// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done with small machines.

use super::super::steps::At::{Guest, Host};
use super::super::steps::{Action, Step};
use Action::{Run, Serve};

const fn guest(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Guest, command))
}

const fn host(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Host, command).or(&[0, 4]))
}

/// A test whose sender was short of CPU time is not valid: status 4, which a busy host may cause.
const fn measured(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Guest, command).or(&[0, 4]))
}

/// Ten starts of a command between two readings of the clock.
macro_rules! ten {
    ($command:literal) => {
        concat!(
            "cut -d' ' -f1 /proc/uptime; for n in 1 2 3 4 5 6 7 8 9 10; do ",
            $command,
            " >/dev/null; done; cut -d' ' -f1 /proc/uptime"
        )
    };
}

/// Measuring in both roles. `time -v` is busybox's: it prints how much of the memory a command had.
pub(super) const MEASURE: [Action; 16] = [
    guest("memory", "cat /proc/meminfo"),
    guest("doctor", "time -v linerate doctor --json"),
    guest("inspect", "time -v linerate inspect eth0 --json"),
    Serve(Host, "linerate serve --bind HOST"),
    measured(
        "check",
        "time -v linerate check HOST --quick --json -o NAME.run",
    ),
    measured("udp-up", "time -v linerate udp HOST -b 5M -t 2 --json"),
    measured("udp-down", "time -v linerate udp HOST -b 5M -t 2 -R --json"),
    measured("tcp-up", "time -v linerate tcp HOST -t 2 --json"),
    measured("tcp-down", "time -v linerate tcp HOST -t 2 -R --json"),
    Serve(Guest, "linerate serve"),
    host(
        "check-from-host",
        "linerate check GUEST --quick --json -o NAME.run",
    ),
    host(
        "udp-from-host",
        "linerate udp GUEST -b 5M -t 2 --json -o NAME.run",
    ),
    host(
        "tcp-from-host",
        "linerate tcp GUEST -t 2 --json -o NAME.run",
    ),
    guest("serve-memory", "cat /proc/$(cat $OUT/server)/status"),
    // What the kernel killed; nothing was if there is no such line.
    guest("killed", "! dmesg | grep -i 'out of memory'"),
    guest("kernel", "uname -r"),
];

/// Where nothing can be written, no time is known and no name can be resolved.
pub(super) const BARE: [Action; 15] = [
    guest("date", "date -u +%Y"),
    // What it must not find.
    guest("bare", "! ls /etc && ! touch /x && ! ls /tmp"),
    guest("doctor", "linerate doctor --json"),
    guest("doctor-text", "linerate doctor"),
    guest("inspect", "linerate inspect eth0 --json"),
    Serve(Host, "linerate serve --bind HOST"),
    measured("check", "linerate check HOST --quick --json"),
    measured("check-text", "linerate check HOST --quick"),
    measured("udp", "linerate udp HOST -b 5M -t 1 --json"),
    measured("tcp", "linerate tcp HOST -t 1 -R --json"),
    // There are no stored runs: the command line says where from.
    Run(Step::new("history", Guest, "linerate history").or(&[2])),
    // A directory that cannot be made costs the record, not the result.
    measured(
        "udp-to-directory",
        "linerate udp HOST -b 5M -t 1 --json -o /runs/one",
    ),
    Run(Step::new("name", Guest, "linerate udp no.such.host -t 1 --json").or(&[3])),
    Serve(Guest, "linerate serve"),
    host(
        "udp-from-host",
        "linerate udp GUEST -b 5M -t 1 --json -o NAME.run",
    ),
];

/// What starts, and what it is compared with.
pub(super) const START: [Action; 5] = [
    guest("start-true", ten!("busybox true")),
    guest("start-version", ten!("linerate --version")),
    guest("start-help", ten!("linerate --help")),
    guest("start-doctor", ten!("linerate doctor")),
    guest(
        "start-serve",
        "mkfifo said; cut -d' ' -f1 /proc/uptime; for n in 1 2 3 4 5 6 7 8 9 10; do \
         linerate serve >said 2>&1 & pid=$!; read -r line <said; echo \"$line\" >&2; kill $pid; wait $pid; \
         done; cut -d' ' -f1 /proc/uptime",
    ),
];
