// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where all processors are, many times a second: the kernel's software clock with call chains (perf_event_open(2)).
//!
//! Needs root, `CAP_PERFMON`, or `kernel.perf_event_paranoid` of 0 or less; names of functions also need
//! `CAP_SYSLOG` or `kernel.kptr_restrict` 0.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::output::SamplingMissing;
use linerate_model::sample::Values;
use linerate_model::sampled::{HZ, IDLE, LOST, OTHERS, Place, UNKNOWN, USER, USUAL_HZ};
use linerate_wire::kallsyms::{Symbol, Symbols};
use linerate_wire::perf_ring::{PerfRecord, Stack, records};

use super::ring::Ring;
use super::{Attributes, EXCLUDE_HYPERVISOR, EventsMissing, flag, missing, open};
use crate::clock::monotonic_ns;

/// Samples under way.
#[derive(Debug)]
pub struct Sampling {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Taken>,
}

impl Sampling {
    /// Whether this process may sample, and the kernel shows the names of its functions.
    ///
    /// # Errors
    /// Why not.
    pub fn try_out() -> Result<(), SamplingMissing> {
        processors(hz(Duration::ZERO)).map_err(|error| reason(&error))?;
        let text = std::fs::read_to_string(KALLSYMS).unwrap_or_default();
        let symbols = Symbols::of(&text, "", std::iter::empty());
        symbols.map(|_| ()).ok_or(SamplingMissing::NoSymbols)
    }

    /// Begins to sample all processors, for about this time: more rarely than usual where the kernel allows no more, or
    /// the samples would have no room.
    ///
    /// # Errors
    /// Why this kernel does not allow it.
    pub fn begin(duration: Duration) -> Result<Self, SamplingMissing> {
        let hz = hz(duration);
        let processors = processors(hz).map_err(|error| reason(&error))?;
        let stop = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&stop);
        let thread = thread::Builder::new().name("stacks".to_owned());
        let thread = thread.spawn(move || taken(processors, hz, &its));
        let thread = thread.map_err(|_| SamplingMissing::Unknown)?;
        Ok(Self { stop, thread })
    }

    /// Ends, and names the functions: how often each was running between two instants of the monotonic clock, by processor
    /// and by what called it. `context` says of which callers the name is kept.
    ///
    /// # Errors
    /// The kernel does not show the addresses of its functions.
    pub fn end(
        self,
        between_ns: [u64; 2],
        context: impl Fn(&str) -> bool,
    ) -> Result<Values, SamplingMissing> {
        self.stop.store(true, Ordering::Relaxed);
        let mut taken = self.thread.join().map_err(|_| SamplingMissing::Unknown)?;
        taken.keep(between_ns);
        let text = std::fs::read_to_string(KALLSYMS).map_err(|_| SamplingMissing::NoSymbols)?;
        // A kernel without modules has no such file.
        let modules = std::fs::read_to_string(MODULES).unwrap_or_default();
        let part = Part::of_this_program();
        named(&taken, [&text, &modules], &part, context).ok_or(SamplingMissing::NoSymbols)
    }
}

/// How often a second each processor is sampled.
fn hz(duration: Duration) -> u64 {
    let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
    let allowed = read(RATE_MAX).trim().parse().unwrap_or(USUAL_HZ);
    let stat = read("/proc/stat");
    let lines = stat.lines().filter(|line| line.starts_with("cpu")).count();
    // The first is of all processors.
    let processors = lines.saturating_sub(1).max(1) as u64;
    rate(allowed, processors * (duration + AROUND).as_secs())
}

/// As often as usual; no more than the kernel allows, and so that these seconds of processors have room.
fn rate(allowed: u64, processor_seconds: u64) -> u64 {
    let room = STACKS_MAX as u64 / processor_seconds.max(1);
    prime(USUAL_HZ.min(allowed).min(room))
}

/// The largest prime up to `most`: what happens every few milliseconds is not always, or never, seen.
fn prime(most: u64) -> u64 {
    let is_prime = |number: &u64| !(2..*number).any(|divisor| number.is_multiple_of(divisor));
    (2..=most).rev().find(is_prime).unwrap_or(1)
}

/// What the rings had.
#[derive(Debug, Default)]
struct Taken {
    hz: u64,
    stacks: Vec<Stack>,
    readings: Vec<Reading>,
    lost: u64,
}

/// What one reading of the rings added: what happened after the reading before.
#[derive(Debug)]
struct Reading {
    after_ns: u64,
    until_ns: u64,
    stacks: usize,
}

impl Taken {
    fn add(&mut self, record: PerfRecord) {
        match record {
            PerfRecord::Sample(stack) if self.stacks.len() < STACKS_MAX => self.stacks.push(stack),
            PerfRecord::Sample(_) => self.lost += 1,
            PerfRecord::Lost(count) => self.lost += count,
        }
    }

    /// Keeps what certainly happened between two instants.
    fn keep(&mut self, [begin_ns, end_ns]: [u64; 2]) {
        let is_within =
            |reading: &Reading| reading.after_ns >= begin_ns && reading.until_ns <= end_ns;
        let each = self.readings.iter();
        let mut within = each.flat_map(|one| std::iter::repeat_n(is_within(one), one.stacks));
        self.stacks.retain(|_| within.next() == Some(true));
    }
}

/// A processor's event, and its ring.
#[derive(Debug)]
struct Processor {
    ring: Ring,
    _event: File,
}

/// An event for each processor that is online.
fn processors(hz: u64) -> io::Result<Vec<Processor>> {
    let mut all = Vec::new();
    for number in 0..PROCESSORS_MAX {
        match processor(number, hz) {
            Ok(one) => all.push(one),
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            // The kernel has fewer.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && number > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

fn processor(number: libc::c_long, hz: u64) -> io::Result<Processor> {
    let every_thread = -1;
    let event = open(&clock(hz), every_thread, number, None)?;
    let ring = Ring::of(event.as_fd(), RING_PAGES)?;
    Ok(Processor {
        ring,
        _event: event,
    })
}

/// Not that of the hardware, which most virtual machines lack.
fn clock(hz: u64) -> Attributes {
    Attributes {
        kind: TYPE_SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: CPU_CLOCK,
        sample_period: hz,
        sample_type: SAMPLE_IP | SAMPLE_TID | SAMPLE_CPU | SAMPLE_CALLCHAIN,
        flags: EXCLUDE_HYPERVISOR | FREQUENCY | EXCLUDE_CALLCHAIN_USER,
        ..Attributes::default()
    }
}

/// Reads the rings until it is stopped.
fn taken(mut processors: Vec<Processor>, hz: u64, stop: &AtomicBool) -> Taken {
    let mut bytes = Vec::new();
    let mut all = Taken {
        hz,
        ..Taken::default()
    };
    let mut after_ns = 0;
    loop {
        let is_last = stop.load(Ordering::Relaxed);
        let (known, before_ns) = (all.stacks.len(), monotonic_ns());
        for processor in &mut processors {
            bytes.clear();
            processor.ring.take(&mut bytes);
            records(&bytes).for_each(|record| all.add(record));
        }
        let until_ns = monotonic_ns();
        all.readings.push(Reading {
            after_ns,
            until_ns,
            stacks: all.stacks.len() - known,
        });
        if is_last {
            return all;
        }
        after_ns = before_ns;
        thread::sleep(BETWEEN_READINGS);
    }
}

/// Counters by function. `None` where the symbols have no addresses.
fn named(
    taken: &Taken,
    [symbols, modules]: [&str; 2],
    part: &Part,
    context: impl Fn(&str) -> bool,
) -> Option<Values> {
    let addresses = taken.stacks.iter().flat_map(|stack| &stack.chain).copied();
    let symbols = Symbols::of(symbols, modules, addresses)?;
    let mut counts: Map<String, u64> = Map::default();
    let others = part.others(&taken.stacks);
    for stack in &taken.stacks {
        let is_other = others.binary_search(&stack.pid).is_ok();
        *counts
            .entry(name(stack, is_other, &symbols, &context))
            .or_default() += 1;
    }
    counts.insert(LOST.to_owned(), taken.lost);
    counts.insert(HZ.to_owned(), taken.hz);
    Some(
        counts
            .iter()
            .map(|(name, count)| (name.clone(), *count))
            .collect(),
    )
}

/// The name of a stack's counter.
fn name(
    stack: &Stack,
    is_other: bool,
    symbols: &Symbols<'_>,
    context: impl Fn(&str) -> bool,
) -> String {
    let functions = || {
        let each = stack.chain.iter().map(|address| symbols.at(*address));
        each.flatten()
    };
    let is_end = |one: &Symbol<'_>| INTERRUPT_END.contains(&one.name);
    let under = functions().find(|one| is_end(one) || context(one.name));
    let under = under.filter(|one| !is_end(one));
    // In a PID namespace every task outside of it has this number, too (kernel/events/core.c, `perf_event_pid_type`).
    let is_other =
        is_other || (stack.tid == NO_TASK && !functions().any(|one| one.name == IDLE_LOOP));
    let leaf = stack.chain.first().and_then(|address| symbols.at(*address));
    let own = leaf.unwrap_or(Symbol {
        name: UNKNOWN,
        module: None,
    });
    let (function, module) = match (stack.is_user, stack.tid, under) {
        (_, _, None) if is_other => (OTHERS, None),
        (true, ..) => (USER, None),
        (false, NO_TASK, None) => (IDLE, None),
        _ => (own.name, own.module),
    };
    let under = under.map(|one| one.name);
    let cpu = stack.cpu;
    Place {
        cpu,
        function,
        module,
        under,
    }
    .name()
}

/// Who has a part in the test: processes of this program, and the kernel's own threads.
#[derive(Debug)]
struct Part {
    /// Device and number of the program's file; `None`: every process has a part.
    file: Option<(u64, u64)>,
}

impl Part {
    fn of_this_program() -> Self {
        Self {
            file: file("self").ok(),
        }
    }

    /// Processes of other programs. What interrupts them may be of the test.
    fn others(&self, stacks: &[Stack]) -> Vec<u32> {
        let mut pids: Vec<u32> = stacks.iter().map(|stack| stack.pid).collect();
        order::by(&mut pids, Ord::cmp);
        pids.dedup();
        pids.retain(|pid| self.is_other(*pid));
        pids
    }

    fn is_other(&self, pid: u32) -> bool {
        let Some(own) = self.file else {
            return false;
        };
        match file(&pid.to_string()) {
            Ok(file) => own != file,
            // A thread of the kernel has no file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                pid != NO_TASK && !std::path::Path::new(&format!("/proc/{pid}")).exists()
            }
            Err(_) => true,
        }
    }
}

fn file(process: &str) -> io::Result<(u64, u64)> {
    let file = std::fs::metadata(format!("/proc/{process}/exe"))?;
    Ok((file.dev(), file.ino()))
}

fn reason(error: &io::Error) -> SamplingMissing {
    match missing(error) {
        EventsMissing::NotAllowed => SamplingMissing::NotAllowed,
        EventsMissing::NoPerf => SamplingMissing::NoPerf,
        _ => SamplingMissing::Unknown,
    }
}

/// A higher rate is refused (kernel/events/core.c, `perf_event_open`).
const RATE_MAX: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
/// What begins and ends a test.
const AROUND: Duration = Duration::from_secs(3);
/// The idle task of a processor.
const NO_TASK: u32 = 0;
/// kernel/sched/idle.c
const IDLE_LOOP: &str = "do_idle";
/// The end of an interrupt, before it returns to user mode: what the kernel does for that program, such as giving the processor
/// to another (kernel/entry/common.c).
const INTERRUPT_END: [&str; 3] = [
    "irqentry_exit",
    "irqentry_exit_to_user_mode",
    "exit_to_user_mode_loop",
];
const KALLSYMS: &str = "/proc/kallsyms";
const MODULES: &str = "/proc/modules";
/// 256 KiB where a page has 4 KiB: what a processor of 1000 samples per second and 30 callers writes in a second.
const RING_PAGES: usize = 64;
const BETWEEN_READINGS: Duration = Duration::from_millis(10);
/// About 50 MB: a minute of eight processors at the usual rate.
const STACKS_MAX: usize = 500_000;
/// `CONFIG_NR_CPUS` of the largest kernels.
const PROCESSORS_MAX: libc::c_long = 8192;
const TYPE_SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const SAMPLE_IP: u64 = 1;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_CPU: u64 = 1 << 7;
const FREQUENCY: u64 = flag(10);
const EXCLUDE_CALLCHAIN_USER: u64 = flag(22);

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
ffffffff81000100 T udp_sendmsg
ffffffff81000200 t handle_softirqs
ffffffff81000300 t net_rx_action
ffffffff81000400 t do_idle
ffffffff81000500 T irqentry_exit_to_user_mode
ffffffffc0100200 t veth_xmit\t[veth]
";
    const SEND: u64 = 0xffff_ffff_8100_0110;
    const SOFTIRQ: u64 = 0xffff_ffff_8100_0210;
    const RECEIVE: u64 = 0xffff_ffff_8100_0310;
    const RETURN: u64 = 0xffff_ffff_8100_0510;
    const WAIT: u64 = 0xffff_ffff_8100_0410;
    const TRANSMIT: u64 = 0xffff_ffff_c010_0204;

    fn stack(tid: u32, chain: &[u64]) -> Stack {
        Stack {
            cpu: 1,
            pid: tid,
            tid,
            is_user: chain.is_empty(),
            chain: chain.to_vec(),
        }
    }

    #[test]
    fn a_function_is_counted_by_what_called_it() {
        let taken = Taken {
            stacks: vec![
                stack(7, &[TRANSMIT, SEND]),
                stack(7, &[RECEIVE, SOFTIRQ, SEND]),
                stack(0, &[RECEIVE, SOFTIRQ]),
                stack(0, &[WAIT]),
                stack(0, &[SEND]),
                stack(0, &[]),
                stack(7, &[]),
                stack(7, &[3]),
            ],
            lost: 4,
            hz: 499,
            ..Taken::default()
        };
        let all = Part { file: None };
        let values = named(&taken, [SYMBOLS, ""], &all, |name| {
            name == "handle_softirqs"
        })
        .unwrap();
        let wanted = [
            ("1 veth_xmit [veth]", 1),
            ("1 net_rx_action < handle_softirqs", 2),
            ("1 (idle)", 1),
            ("1 (others)", 2),
            ("1 (user)", 1),
            ("1 (unknown)", 1),
            ("lost", 4),
            ("hz", 499),
        ];
        assert_eq!(values.len(), wanted.len(), "{values:?}");
        for (name, count) in wanted {
            assert_eq!(values.get(name), Some(&count), "{name}: {values:?}");
        }
        assert_eq!(named(&taken, ["", ""], &all, |_| false), None);
    }

    #[test]
    fn what_other_programs_did_is_told_apart_and_what_interrupted_them_is_not() {
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let (own, theirs) = (std::process::id(), other.id());
        let part = Part::of_this_program();
        let deadline = std::time::Instant::now() + Duration::from_secs(40);
        while !part.is_other(theirs) {
            assert!(
                std::time::Instant::now() < deadline,
                "it is still this program"
            );
            thread::sleep(Duration::from_millis(1));
        }
        let taken = Taken {
            stacks: vec![
                stack(own, &[SEND]),
                stack(theirs, &[SEND]),
                stack(theirs, &[]),
                stack(theirs, &[RECEIVE, SOFTIRQ, SEND]),
                // On its way back to user mode: no longer an interrupt.
                stack(theirs, &[RETURN, SOFTIRQ]),
                stack(own, &[RETURN, SOFTIRQ]),
                stack(0, &[WAIT]),
            ],
            ..Taken::default()
        };
        let values = named(&taken, [SYMBOLS, ""], &part, |name| {
            name == "handle_softirqs"
        })
        .unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        let count = |name: &str| values.get(name).copied();
        assert_eq!(count("1 udp_sendmsg"), Some(1), "{values:?}");
        assert_eq!(count("1 (others)"), Some(3), "{values:?}");
        assert_eq!(count("1 irqentry_exit_to_user_mode"), Some(1), "{values:?}");
        assert_eq!(
            count("1 net_rx_action < handle_softirqs"),
            Some(1),
            "{values:?}"
        );
        assert_eq!(count("1 (idle)"), Some(1), "{values:?}");
    }

    #[test]
    fn only_readings_within_the_time_are_kept() {
        let mut taken = Taken::default();
        for (number, after_ns) in [0, 100, 200, 300].into_iter().enumerate() {
            let tid = u32::try_from(number).unwrap();
            taken.stacks.extend([stack(tid, &[]), stack(tid, &[])]);
            taken.readings.push(Reading {
                after_ns,
                until_ns: after_ns + 110,
                stacks: 2,
            });
        }
        taken.keep([100, 310]);
        let kept: Vec<u32> = taken.stacks.iter().map(|one| one.tid).collect();
        assert_eq!(kept, [1, 1, 2, 2]);
    }

    #[test]
    fn beyond_the_limit_samples_are_lost_and_counted() {
        let mut all = Taken::default();
        all.stacks.resize(STACKS_MAX, stack(7, &[]));
        all.add(PerfRecord::Sample(stack(7, &[])));
        all.add(PerfRecord::Lost(3));
        assert_eq!((all.stacks.len(), all.lost), (STACKS_MAX, 4));
    }

    #[test]
    fn the_rate_is_a_prime_that_is_allowed_and_has_room() {
        assert_eq!(rate(100_000, 2 * 4), 997);
        assert_eq!(rate(500, 2 * 4), 499);
        assert_eq!(rate(1, 2), 1);
        for processor_seconds in [256 * 8, 8192 * 8, u64::MAX] {
            let hz = rate(100_000, processor_seconds);
            assert!(hz == 1 || hz * processor_seconds <= STACKS_MAX as u64);
        }
        assert_eq!(rate(100_000, 256 * 8), 241, "evenly, not the first half");
    }

    /// The kernel refuses more than it allows, with the error of a processor that it does not have.
    #[test]
    fn the_kernel_accepts_the_rate() {
        if let Err(why) = Sampling::try_out() {
            return println!("skipped: sampling: {why:?}");
        }
        let allowed = std::fs::read_to_string(RATE_MAX).unwrap();
        let allowed: u64 = allowed.trim().parse().unwrap();
        let refused = processor(0, allowed + 1).map(|_| ());
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert!(processor(0, rate(allowed, 8)).is_ok());
    }

    /// This process reads a file until it was seen in the kernel, or the reason is known.
    #[test]
    fn what_runs_is_seen_or_the_reason_is_known() {
        let deadline = std::time::Instant::now() + Duration::from_secs(40);
        loop {
            let sampling = match Sampling::try_out().and_then(|()| Sampling::begin(Duration::ZERO))
            {
                Ok(sampling) => sampling,
                Err(why) => return println!("skipped: sampling: {why:?}"),
            };
            for _ in 0..200 {
                assert!(std::fs::read(KALLSYMS).is_ok());
            }
            let values = sampling.end([0, u64::MAX], |_| false).unwrap();
            let is_kernel = |name: &&String| !name.contains('(') && Place::read(name).is_some();
            if values.keys().any(|name| is_kernel(&name)) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{values:?}");
        }
    }
}
