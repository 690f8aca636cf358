// SPDX-License-Identifier: MIT OR Apache-2.0
//! `top`, `ps`, `pidstat`, `mpstat`, `vmstat`, `iostat`: who uses the processors, and waiting for disks.

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// A process or thread.
#[derive(Debug)]
struct Task<'t> {
    command: &'t str,
    /// What it was called with.
    arguments: &'t str,
    /// Share of one processor.
    cpu: f64,
    line: u64,
}

/// Where a table has its columns.
#[derive(Debug, Clone, Copy)]
struct Columns {
    cpu: usize,
    command: usize,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let tasks = tasks(lines);
    let mut facts: Vec<Fact> = [
        tool(&tasks, lines),
        thread(&tasks),
        vpn(&tasks),
        user_stack(&tasks),
        tracer(&tasks, lines),
    ]
    .into_iter()
    .flatten()
    .collect();
    let named = [
        (
            "ksoftirqd_cpu",
            most(&tasks, |task| task.command.starts_with("ksoftirqd")),
        ),
        (
            "tcpdump_in_top",
            most(&tasks, |task| CAPTURES.contains(&task.command)),
        ),
    ];
    facts.extend(named.into_iter().filter_map(|(name, task)| {
        let task = task?;
        Some(Fact::new(name, task.cpu, task.line))
    }));
    facts.extend(iowait(lines));
    facts
}

fn tasks<'t>(lines: &[Line<'t>]) -> Vec<Task<'t>> {
    let mut columns = None;
    let mut all = Vec::new();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(new) = header(line.text) {
            columns = Some(new);
        } else if line.text.contains(['.', '%', ',']) {
            all.extend(
                columns
                    .and_then(|columns| row(line, columns))
                    .or_else(|| of_top(line)),
            );
        }
    }
    all
}

/// `PID USER … %CPU %MEM TIME+ COMMAND` of top, ps, pidstat, BusyBox.
fn header(text: &str) -> Option<Columns> {
    let names = ["COMMAND", "Command", "CMD"];
    (text.contains("CPU") && text.contains("PID")).then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let cpu = words
        .iter()
        .position(|word| ["%CPU", "CPU%", "C"].contains(word))?;
    let command = words.iter().position(|word| names.contains(word))?;
    (cpu < command).then_some(Columns { cpu, command })
}

/// The state `S <` of BusyBox is two words.
fn row<'t>(line: &Line<'t>, columns: Columns) -> Option<Task<'t>> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let is_id = |word: &&&str| word.bytes().all(|letter| letter.is_ascii_digit());
    words.iter().take(columns.cpu).find(is_id)?;
    let shift = usize::from(
        words
            .iter()
            .take(columns.cpu)
            .skip(2)
            .any(|word| ["<", "N"].contains(word)),
    );
    let cpu = share(words.get(columns.cpu + shift)?)?;
    task(line, words.get(columns.command + shift)?, cpu)
}

/// A row without its header: `14 root 20 0 0 0 0 R 99.7 0.0 41:12.10 ksoftirqd/0`.
fn of_top<'t>(line: &Line<'t>) -> Option<Task<'t>> {
    let first = line.text.split_whitespace().next()?;
    first
        .bytes()
        .all(|letter| letter.is_ascii_digit())
        .then_some(())?;
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let state = words
        .iter()
        .take(10)
        .position(|word| ["R", "S", "D", "I", "T"].contains(word))?;
    let at = |n: usize| words.get(state + n).copied();
    share(at(2)?)?;
    at(3)?.contains([':', '.']).then_some(())?;
    task(line, at(4)?, share(at(1)?)?)
}

fn task<'t>(line: &Line<'t>, command: &'t str, cpu: f64) -> Option<Task<'t>> {
    let (_, arguments) = line.text.split_once(command)?;
    let bare = command
        .trim_start_matches(['[', '{', '`', '|', '_', '-', '\\'])
        .trim_end_matches([']', '}', ':']);
    let name = if bare.starts_with('/') {
        bare.rsplit('/').next()?
    } else {
        bare
    };
    name.starts_with(|letter: char| letter.is_alphabetic())
        .then_some(Task {
            command: name,
            arguments,
            cpu,
            line: line.number,
        })
}

/// `99.7`, `99,7`, `45%`, as a share of one.
fn share(word: &str) -> Option<f64> {
    let number: f64 = word.trim_end_matches('%').replace(',', ".").parse().ok()?;
    (number.is_finite() && (0.0..100_000.0).contains(&number))
        .then_some((number * 10.0).round() / 1000.0)
}

fn most<'a, 't>(tasks: &'a [Task<'t>], takes: impl Fn(&Task<'t>) -> bool) -> Option<&'a Task<'t>> {
    tasks
        .iter()
        .filter(|task| takes(task))
        .max_by(|one, other| one.cpu.total_cmp(&other.cpu))
}

/// A test tool in one thread: what uses more than one processor has several. iperf3 tells its own share, too.
fn tool(tasks: &[Task<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let own = |line: &Line<'_>| {
        let text = line.text;
        (text.contains("tilization") || text.contains("host_total")).then_some(())?;
        let sender = number_after(text, "CPU Utilization: local/sender ")
            .or_else(|| number_after(text, "CPU Utilization: local/receiver "));
        let sender = sender.or_else(|| number_after(text, "\"host_total\":"))?;
        let other =
            number_after(text, "remote/receiver ").or_else(|| number_after(text, "remote/sender "));
        Some((sender.max(other.unwrap_or(0.0)) / 100.0, line.number))
    };
    let reported = lines
        .iter()
        .filter_map(own)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let listed =
        most(tasks, |task| TOOLS.contains(&task.command)).map(|task| (task.cpu, task.line));
    let (cpu, line) = listed.or(reported)?;
    (cpu < SEVERAL).then(|| Fact::new("tool_cpu", cpu, line))
}

/// The busiest thread of a program; a process beyond one processor has threads that the table hides.
fn thread(tasks: &[Task<'_>]) -> Option<Fact> {
    let busiest = most(tasks, |task| !is_kernel(task) && task.cpu < SEVERAL)?;
    let hides = tasks
        .iter()
        .any(|task| !is_kernel(task) && task.cpu >= SEVERAL);
    (!hides || busiest.cpu > FULL).then(|| Fact::new("busiest_thread", busiest.cpu, busiest.line))
}

fn is_kernel(task: &Task<'_>) -> bool {
    KERNEL.iter().any(|start| task.command.starts_with(start))
}

fn vpn(tasks: &[Task<'_>]) -> Option<Fact> {
    let is_vpn = |task: &Task<'_>| {
        VPNS.contains(&task.command)
            || (task.command.starts_with("kworker") && task.command.contains("wg-crypt"))
    };
    busiest_is(tasks, "busiest_program_is_vpn", is_vpn)
}

fn user_stack(tasks: &[Task<'_>]) -> Option<Fact> {
    let is_stack = |task: &Task<'_>| {
        USER_STACKS.iter().any(|name| {
            task.command == *name
                || task
                    .command
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(['.', '-']))
        })
    };
    busiest_is(tasks, "busiest_program_is_user_stack", is_stack)
}

fn busiest_is(
    tasks: &[Task<'_>],
    name: &'static str,
    is: impl Fn(&Task<'_>) -> bool,
) -> Option<Fact> {
    let one = most(tasks, |task| is(task) || !is_kernel(task))
        .filter(|task| task.cpu > BUSY && is(task))?;
    Some(Fact::new(name, true, one.line))
}

/// A tracer among the processes, or programs of BPF on probes: `42: kprobe  name …`.
fn tracer(tasks: &[Task<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let is_tracer = |task: &&Task<'_>| {
        TRACERS.contains(&task.command)
            || (task.command.starts_with("python") && task.arguments.contains("/bcc/"))
    };
    let listed = tasks.iter().find(is_tracer).map(|task| task.line);
    let of_bpf = |line: &&Line<'_>| {
        let Some((number, rest)) = line.text.split_once(": ") else {
            return false;
        };
        let kind = rest
            .split("  name ")
            .next()
            .filter(|kind| kind.len() < rest.len());
        number.parse::<u32>().is_ok()
            && kind.is_some_and(|kind| {
                [
                    "kprobe",
                    "tracepoint",
                    "raw_tracepoint",
                    "tracing",
                    "perf_event",
                ]
                .contains(&kind)
            })
    };
    let statistics = |line: &&Line<'_>| line.text.trim() == "kernel.bpf_stats_enabled = 1";
    let line = listed.or_else(|| {
        lines
            .iter()
            .find(|line| of_bpf(line) || statistics(line))
            .map(|line| line.number)
    })?;
    Some(Fact::new("tracer_running", true, line))
}

/// The largest share of time that a processor waits for disks.
fn iowait(lines: &[Line<'_>]) -> Option<Fact> {
    let mut column = None;
    let mut rows = 0;
    let mut most: Option<(f64, u64)> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(found) = wait_column(line.text) {
            (column, rows) = (Some(found), 0);
            continue;
        }
        let share = of_header(line.text).or_else(|| {
            let (from_end, is_vmstat) = column?;
            let value = waited(line.text, from_end);
            rows += u32::from(value.is_some());
            // The first row of vmstat is the average since boot.
            value.filter(|_| !is_vmstat || rows > 1)
        });
        if let Some(share) = share.filter(|share| most.is_none_or(|(other, _)| *share > other)) {
            most = Some((share, line.number));
        }
    }
    let (share, line) = most?;
    Some(Fact::new("cpu_iowait", share, line))
}

/// Where `%iowait` or `wa` stands, counted from the end, and whether it is vmstat.
fn wait_column(text: &str) -> Option<(usize, bool)> {
    let is_vmstat = text.contains(" wa")
        && text.contains(" us ")
        && text.contains(" id")
        && text.contains(" cs ");
    let is_table = text.contains("%iowait") && text.contains("%idle");
    (is_vmstat || is_table).then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words
        .iter()
        .rposition(|word| ["%iowait", "wa"].contains(word))?;
    Some((words.len() - at, is_vmstat))
}

fn waited(text: &str, from_end: usize) -> Option<f64> {
    text.trim_end()
        .ends_with(|letter: char| letter.is_ascii_digit())
        .then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    (words.len() >= 5).then_some(())?;
    let share = share(words.get(words.len().checked_sub(from_end)?)?)?;
    (share <= 1.0).then_some(share)
}

/// `%Cpu(s):  1.0 us, … 40.0 wa`, `CPU: … 40% io`.
fn of_header(text: &str) -> Option<f64> {
    let text = text.trim_start().trim_start_matches('%');
    (text.starts_with("Cpu") || text.starts_with("CPU:")).then_some(())?;
    let rest = [" wa", "%wa", "% io"]
        .iter()
        .find_map(|mark| text.split_once(mark))?
        .0;
    let word = rest.rsplit([' ', '\t']).next()?;
    share(word).filter(|share| *share <= 1.0)
}

const TOOLS: &[&str] = &[
    "iperf",
    "iperf3",
    "netperf",
    "netserver",
    "nuttcp",
    "sockperf",
    "qperf",
    "ntttcp",
    "uperf",
];
const CAPTURES: &[&str] = &[
    "tcpdump",
    "dumpcap",
    "tshark",
    "snort",
    "suricata",
    "ntopng",
    "netsniff-ng",
    "zeek",
    "bro",
    "Suricata-Main",
];
const VPNS: &[&str] = &[
    "openvpn",
    "wireguard-go",
    "boringtun",
    "boringtun-cli",
    "tailscaled",
    "zerotier-one",
    "openconnect",
    "ocserv",
    "charon",
    "vpnserver",
    "tincd",
    "nebula",
    "edge",
    "netbird",
    "fastd",
    "sstpc",
    "vpnc",
];
const USER_STACKS: &[&str] = &[
    "slirp4netns",
    "pasta",
    "passt",
    "rootlesskit",
    "gvproxy",
    "vpnkit",
    "runsc",
    "vde_plug",
    "slirp",
];
const TRACERS: &[&str] = &[
    "bpftrace",
    "strace",
    "ltrace",
    "trace-cmd",
    "netqtop",
    "funccount",
    "offcputime",
    "sysdig",
    "falco",
    "stap",
];
const KERNEL: &[&str] = &[
    "ksoftirqd",
    "kworker",
    "napi/",
    "irq/",
    "rcu",
    "migration",
    "swapper",
    "idle",
    "kswapd",
    "kcompactd",
];
/// What uses more of one processor has several threads.
const SEVERAL: f64 = 1.15;
const FULL: f64 = 0.9;
const BUSY: f64 = 0.5;
const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::{value_of, values};
    use super::*;

    fn value(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    fn is(text: &str, name: &str, expected: Option<&str>) {
        assert_eq!(value(text, name).as_deref(), expected, "{name} of {text}");
    }

    const TOP: &str = "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n   14 root      20   0       0      0      0 R  99.7   0.0  41:12.10 ksoftirqd/0\n 8812 root      20   0    9712   4120   3000 R  96.0   0.0   0:09.91 iperf3\n";

    #[test]
    fn top_of_procps() {
        is(TOP, "ksoftirqd_cpu", Some("0.997"));
        is(TOP, "tool_cpu", Some("0.96"));
        is(TOP, "busiest_thread", Some("0.96"));
        let bare: String = TOP
            .lines()
            .skip(1)
            .map(|line| format!("{line}\n"))
            .collect();
        is(&bare, "ksoftirqd_cpu", Some("0.997"));
        is(&TOP.replace("96.0", "396"), "tool_cpu", None);
        assert_eq!(values("14 days of 20 hosts: R 2.0 3.1 is out\n", facts), []);
    }

    #[test]
    fn other_tables() {
        let busybox = "  PID  PPID USER     STAT   VSZ %VSZ %CPU COMMAND\n 1822     1 nobody   S <   4120   0%  97% openvpn --config a\n";
        is(busybox, "busiest_program_is_vpn", Some("true"));
        let ps = "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nuser       812 98.2  0.1  10000  2000 ?        R    10:00   1:00 /usr/bin/slirp4netns --mtu 65520 811 tap0\n";
        is(ps, "busiest_program_is_user_stack", Some("true"));
        let pidstat = "10:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n10:00:02        0      1220   10.00   28.00    0.00    0.00   38.00     1  tcpdump\n";
        is(pidstat, "tcpdump_in_top", Some("0.38"));
        is(
            &ps.replace("98.2", "2.0"),
            "busiest_program_is_user_stack",
            None,
        );
        is(
            "CPU Utilization: local/sender 99.3% (1.2%u/98.1%s), remote/receiver 40.1% (2.0%u/38.1%s)\n",
            "tool_cpu",
            Some("0.993"),
        );
    }

    #[test]
    fn the_kernel_beside_a_vpn() {
        let text = format!(
            "{TOP} 1822 nobody    20   0    9712   4120   3000 R  98.0   0.0   0:09.91 openvpn\n"
        );
        is(&text, "busiest_program_is_vpn", Some("true"));
        is(
            &text.replace("98.0", "12.0"),
            "busiest_program_is_vpn",
            None,
        );
    }

    #[test]
    fn tracers() {
        is(
            "42: kprobe  name kprobe__tcp_sendmsg  tag 0123456789abcdef  gpl\n",
            "tracer_running",
            Some("true"),
        );
        is(
            "3: cgroup_device  name sd_devices  tag 0123456789abcdef  gpl\n",
            "tracer_running",
            None,
        );
    }

    #[test]
    fn waiting_for_disks() {
        is(
            "%Cpu(s):  1.0 us,  2.0 sy,  0.0 ni, 57.0 id, 40.0 wa,  0.0 hi,  0.0 si,  0.0 st\n",
            "cpu_iowait",
            Some("0.4"),
        );
        let vmstat = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0      0 100000  1000  2000    0    0     1     1  100  200  1  1 90  8  0\n 1  0      0 100000  1000  2000    0    0     1     1  100  200  1  1 68 30  0\n";
        is(vmstat, "cpu_iowait", Some("0.3"));
        let mpstat = "12:01:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n12:01:02     all    1.00    0.00    1.00    0.00    0.00    1.00    0.00    0.00    0.00   97.00\n";
        is(mpstat, "cpu_iowait", Some("0"));
        is("the wa of top is 40.0 wa\n", "cpu_iowait", None);
    }
}
