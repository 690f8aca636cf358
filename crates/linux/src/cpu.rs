// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPUs: their number, thread affinity, and CPU time.
#![expect(
    unsafe_code,
    reason = "getrusage and sched_setattr have no safe wrapper"
)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;

use linerate_model::output::Cpu;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Processors this process may run on (affinity and cgroup quota respected), at least 1.
#[must_use]
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The numbers of the processors that the calling thread may run on, ascending.
#[must_use]
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return (0..count()).collect();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect()
}

/// The mask of one CPU, as `rps_cpus` and `smp_affinity` take it: words of 32 bits, the highest first.
pub fn mask(cpu: usize) -> String {
    format!("{:x}{}", 1u32 << (cpu % 32), ",00000000".repeat(cpu / 32))
}

/// Binds the calling thread to one processor.
///
/// # Errors
/// `EINVAL`: no such processor, or not allowed to this process.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Requests a short time slice for the calling thread, so that it runs soon after waking: for a thread that drains a
/// queue while others on its CPU fill it. Its share stays the same; a thread of another policy (`chrt`) is not
/// changed.
///
/// `sched_setattr(2)` with a slice for `SCHED_OTHER`, Linux 6.12; earlier kernels ignore it.
pub fn set_short_timeslice() {
    let Ok(nice) = rustix::process::getpriority_process(None) else {
        return;
    };
    if !is_scheduled_normally() {
        return;
    }
    let attributes = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        nice,
        runtime_ns: SHORT_SLICE_NS,
        ..SchedulingAttributes::default()
    };
    let this_thread: libc::c_long = 0;
    let no_flags: libc::c_long = 0;
    // SAFETY: the kernel reads `size` bytes of `attributes`, which lives as long as the call. A refusal costs nothing.
    let _ = unsafe {
        libc::syscall(
            libc::SYS_sched_setattr,
            this_thread,
            &raw const attributes,
            no_flags,
        )
    };
}

/// Whether the calling thread's policy is `SCHED_OTHER`. (musl's own function always fails.)
fn is_scheduled_normally() -> bool {
    let this_thread: libc::c_long = 0;
    // SAFETY: the call takes a number and touches no memory.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, this_thread) };
    policy == libc::c_long::from(libc::SCHED_OTHER)
}

/// `struct sched_attr` (include/uapi/linux/sched/types.h), its first version.
#[repr(C)]
#[derive(Default)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// The shortest slice that the kernel grants.
const SHORT_SLICE_NS: u64 = 100_000;

/// CPU time of the calling thread in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`).
#[must_use]
pub fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// CPU time that the calling thread has used so far. The sum is that of [`thread_ns`]; getrusage(2) says how much of it was
/// in user mode, as of the last tick.
#[must_use]
pub fn thread_usage() -> Usage {
    let all_ns = thread_ns();
    let user_ns = usage(RUSAGE_THREAD).user_ns.min(all_ns);
    Usage {
        user_ns,
        system_ns: all_ns - user_ns,
    }
}

/// getrusage(2); the C library's name is missing on some targets.
const RUSAGE_THREAD: libc::c_int = 1;

/// How long the calling thread has waited on a run queue, in nanoseconds (`/proc/thread-self/schedstat`). `None` if the kernel
/// does not report it.
#[derive(Debug)]
pub struct WaitTime(File);

impl WaitTime {
    /// That of the calling thread.
    #[must_use]
    pub fn of_this_thread() -> Option<Self> {
        let opened = Self(File::open("/proc/thread-self/schedstat").ok()?);
        opened.ns().map(|_known| opened)
    }

    /// Up to now: one system call, no allocation.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        // Three numbers of at most 20 digits.
        let mut bytes = [0; 64];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

/// CPU time in user space and in the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Nanoseconds in user space.
    pub user_ns: u64,
    /// Nanoseconds in the kernel on behalf of the process (softirqs of others are not in it).
    pub system_ns: u64,
}

impl Usage {
    /// What was used since `before`.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }
}

/// What this whole process has used (`getrusage(RUSAGE_SELF)`).
#[must_use]
pub fn process_usage() -> Usage {
    usage(libc::RUSAGE_SELF)
}

/// One processor's time since boot, by what it did, in ticks of 1/`USER_HZ` (`/proc/stat`, proc(5)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User space, niced included.
    pub user: u64,
    /// System calls and kernel threads.
    pub system: u64,
    /// Nothing to do, waiting for disks included.
    pub idle: u64,
    /// Interrupt handlers.
    pub irq: u64,
    /// Soft interrupts: where the kernel receives packets.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    fn total(&self) -> u64 {
        self.user + self.system + self.idle + self.irq + self.softirq + self.steal
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            irq: self.irq.saturating_sub(before.irq),
            softirq: self.softirq.saturating_sub(before.softirq),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    fn busy_ratio(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (total - self.idle) as f64 / total as f64)
    }
}

/// The machine's processor time at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemTimes {
    /// Sum of all processors.
    pub all: CpuTimes,
    /// Each online processor: number and times.
    pub each: Vec<(usize, CpuTimes)>,
}

impl SystemTimes {
    /// Reads `/proc/stat`.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn read() -> io::Result<Self> {
        Ok(Self::parse(&std::fs::read_to_string("/proc/stat")?))
    }

    fn parse(text: &str) -> Self {
        let mut times = Self::default();
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("cpu") else {
                continue;
            };
            let Some((number, fields)) = rest.split_once(' ') else {
                continue;
            };
            match number.parse() {
                Ok(cpu) => times.each.push((cpu, parse_times(fields))),
                Err(_) if number.is_empty() => times.all = parse_times(fields),
                Err(_) => {}
            }
        }
        times
    }
}

impl SystemTimes {
    /// The processor that was busiest since `before`, and its load (0 … 1).
    #[must_use]
    pub fn busiest_since(&self, before: &Self) -> Option<(usize, f64)> {
        let loads = self.each.iter().filter_map(|(cpu, times)| {
            let (_, earlier) = before.each.iter().find(|(other, _)| other == cpu)?;
            Some((*cpu, times.since(earlier).busy_ratio()?))
        });
        loads.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Returns the shares of all CPU time (0 … 1) since `before`; `None` if no tick has passed.
    #[must_use]
    pub fn load_since(&self, before: &Self) -> Option<Cpu> {
        let all = self.all.since(&before.all);
        let total = all.total();
        if total == 0 {
            return None;
        }
        let share = |ticks: u64| ticks as f64 / total as f64;
        let busiest = self.each.iter().filter_map(|(cpu, times)| {
            let (_, earlier) = before.each.iter().find(|(other, _)| other == cpu)?;
            times.since(earlier).busy_ratio()
        });
        Some(Cpu {
            user: share(all.user),
            system: share(all.system),
            softirq: share(all.softirq),
            irq: share(all.irq),
            steal: share(all.steal),
            busiest_cpu: busiest.fold(0.0, f64::max),
        })
    }
}

/// user nice system idle iowait irq softirq steal guest guest_nice; guests are already in user and nice.
fn parse_times(fields: &str) -> CpuTimes {
    let mut ticks = [0; 8];
    for (slot, field) in ticks.iter_mut().zip(fields.split_whitespace()) {
        *slot = field.parse().unwrap_or(0);
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    CpuTimes {
        user: user + nice,
        system,
        idle: idle + iowait,
        irq,
        softirq,
        steal,
    }
}

fn usage(who: libc::c_int) -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes at most one `struct rusage` through the pointer, which is valid for it.
    let result = unsafe { libc::getrusage(who as _, usage.as_mut_ptr()) };
    if result != 0 {
        return Usage::default();
    }
    // SAFETY: zeroed integers are a valid `rusage`, and the call has filled it.
    let usage = unsafe { usage.assume_init() };
    Usage {
        user_ns: time_ns(usage.ru_utime),
        system_ns: time_ns(usage.ru_stime),
    }
}

fn time_ns(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds * 1_000_000_000 + micros * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_differences_and_guests_count_once() {
        let before = SystemTimes::parse(
            "cpu  10 0 0 90 0 0 0 0 5 0\ncpu0 10 0 0 40 0 0 0 0 5 0\ncpu1 0 0 0 50 0 0 0 0 0 0\n",
        );
        let after = SystemTimes::parse(
            "cpu  20 0 20 140 10 0 20 0 15 0\ncpu0 20 0 20 40 0 0 10 0 15 0\ncpu1 0 0 0 100 10 0 10 0 0 0\nintr 5\n",
        );
        let load = after.load_since(&before).unwrap();
        assert!((load.user - 10.0 / 110.0).abs() < 1e-9, "{load:?}");
        assert!((load.softirq - 20.0 / 110.0).abs() < 1e-9, "{load:?}");
        assert_eq!(load.busiest_cpu, 1.0);
        assert_eq!(after.load_since(&after), None);
        let (cpu, load) = after.busiest_since(&before).unwrap();
        assert!(cpu == 0 && (load - 1.0).abs() < 1e-9, "{cpu}: {load}");
        assert_eq!(after.busiest_since(&after), None);
    }

    #[test]
    fn masks_have_words_of_32_bits() {
        assert_eq!(mask(1), "2");
        assert_eq!(mask(31), "80000000");
        assert_eq!(mask(64), "1,00000000,00000000");
    }

    #[test]
    fn garbage_is_no_time() {
        assert_eq!(
            SystemTimes::parse("cpu\ncpux 1 2\ncpu-1 3\n\u{fffd}"),
            SystemTimes::default()
        );
    }

    #[test]
    fn work_shows_in_the_thread_s_own_time() {
        let before = thread_ns();
        let deadline = crate::clock::monotonic_ns() + 10_000_000_000;
        while thread_ns() < before + 2_000_000 {
            assert!(
                crate::clock::monotonic_ns() < deadline,
                "thread time does not increase"
            );
        }
        assert!(process_usage().user_ns + process_usage().system_ns > 0);
    }

    #[test]
    fn a_thread_can_be_pinned_only_where_it_may_run() {
        std::thread::spawn(|| {
            let first = allowed()[0];
            pin(first).unwrap();
            assert_eq!(allowed(), [first]);
            assert!(pin(CpuSet::MAX_CPU).is_err());
        })
        .join()
        .unwrap();
    }
}
