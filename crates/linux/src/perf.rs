// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware events of the calling thread, in user mode and in the kernel: perf_event_open(2).
//!
//! Cycles, instructions and cache misses are one group, which the kernel counts together or not at all. Most virtual
//! machines have no counters; `kernel.perf_event_paranoid` above 1 keeps the kernel's events from ordinary users.
#![expect(unsafe_code, reason = "perf_event_open has no wrapper")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::ptr;

use linerate_model::output::{EventsMissing, ThreadEvents};

mod ring;
pub mod stacks;

/// Counters of one thread.
#[derive(Debug)]
pub struct ThreadCounters {
    /// The group's first event; reading it reads all.
    cycles: File,
    _others: [File; 2],
}

impl ThreadCounters {
    /// Begins to count for the calling thread.
    ///
    /// # Errors
    /// Why this kernel does not count them here.
    pub fn begin() -> Result<Self, EventsMissing> {
        Self::open().map_err(|error| missing(&error))
    }

    fn open() -> io::Result<Self> {
        let cycles = event(CPU_CYCLES, None)?;
        let instructions = event(INSTRUCTIONS, Some(&cycles))?;
        let cache_misses = event(CACHE_MISSES, Some(&cycles))?;
        Ok(Self {
            cycles,
            _others: [instructions, cache_misses],
        })
    }

    /// What was counted so far; scaled up where other programs had the counters for a part of the time.
    ///
    /// # Errors
    /// They never had the counters.
    pub fn read(&mut self) -> Result<ThreadEvents, EventsMissing> {
        // `PERF_FORMAT_GROUP`: the number of events, time enabled, time running, a value each.
        let mut bytes = [0; 6 * 8];
        self.cycles
            .read_exact(&mut bytes)
            .map_err(|error| missing(&error))?;
        let mut words = bytes
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
        let mut next = || words.next().unwrap_or(0);
        let [_number, enabled_ns, running_ns] = [next(), next(), next()];
        let [cycles, instructions, cache_misses] =
            [next(), next(), next()].map(|value| scaled(value, enabled_ns, running_ns));
        match running_ns {
            0 => Err(EventsMissing::TooFew),
            _ => Ok(ThreadEvents {
                cycles,
                instructions,
                cache_misses,
            }),
        }
    }
}

fn scaled(value: u64, enabled_ns: u64, running_ns: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(enabled_ns) / u128::from(running_ns.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// One event of the calling thread on any processor.
fn event(config: u64, group: Option<&File>) -> io::Result<File> {
    let (this_thread, any_processor) = (0, -1);
    open(&counted(config), this_thread, any_processor, group)
}

fn counted(config: u64) -> Attributes {
    Attributes {
        kind: TYPE_HARDWARE,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING | GROUP,
        flags: EXCLUDE_HYPERVISOR,
        ..Attributes::default()
    }
}

/// An event of a thread, or of all (−1), on a processor, or on any (−1).
fn open(
    attributes: &Attributes,
    thread: libc::c_long,
    processor: libc::c_long,
    group: Option<&File>,
) -> io::Result<File> {
    let group = group.map_or(-1, |leader| libc::c_long::from(leader.as_raw_fd()));
    // SAFETY: the kernel reads `size` bytes of `attributes`, which lives as long as the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            ptr::from_ref(attributes),
            thread,
            processor,
            group,
            FLAG_FD_CLOEXEC,
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just opened it, and nothing else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn missing(error: &io::Error) -> EventsMissing {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => EventsMissing::NotAllowed,
        Some(libc::ENOSYS) => EventsMissing::NoPerf,
        _ => EventsMissing::NoCounters,
    }
}

/// `struct perf_event_attr` (include/uapi/linux/perf_event.h), its first version.
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

const TYPE_HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;
const CACHE_MISSES: u64 = 3;
const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 2;
const GROUP: u64 = 8;
const EXCLUDE_HYPERVISOR: u64 = flag(6);

/// A field of bits, of which the compiler takes the first from the least significant end, or from the most significant.
const fn flag(number: u32) -> u64 {
    if cfg!(target_endian = "little") {
        1 << number
    } else {
        1 << (63 - number)
    }
}

const FLAG_FD_CLOEXEC: libc::c_ulong = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn work_counts_or_the_reason_is_known() {
        let mut counters = match ThreadCounters::begin() {
            Ok(counters) => counters,
            Err(why) => return println!("skipped: hardware events: {why:?}"),
        };
        let before = counters.read();
        let sum: u64 = (0..1_000_000_u64).map(std::hint::black_box).sum();
        assert!(sum > 0);
        match (before, counters.read()) {
            (Ok(before), Ok(after)) => {
                assert!(
                    after.instructions > before.instructions + 1_000_000,
                    "{after:?}"
                );
                assert!(after.cycles > before.cycles);
            }
            other => println!("skipped: hardware events: {other:?}"),
        }
    }

    /// A group whose kernel is scripted: it reads these words.
    fn scripted(words: &[u64]) -> Result<ThreadEvents, EventsMissing> {
        let file = || {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            (ours, File::from(std::os::fd::OwnedFd::from(theirs)))
        };
        let (mut kernel, cycles) = file();
        for word in words {
            kernel.write_all(&word.to_ne_bytes()).unwrap();
        }
        drop(kernel);
        let _others = [file().1, file().1];
        ThreadCounters { cycles, _others }.read()
    }

    #[test]
    fn a_reading_is_three_events_scaled_to_the_whole_time_or_has_a_reason() {
        let events = |cycles, instructions, cache_misses| ThreadEvents {
            cycles,
            instructions,
            cache_misses,
        };
        assert_eq!(
            scripted(&[3, 900, 900, 4000, 8000, 16]),
            Ok(events(4000, 8000, 16))
        );
        assert_eq!(
            scripted(&[3, 900, 300, 4000, 8000, 16]),
            Ok(events(12_000, 24_000, 48)),
            "other programs had the counters for two thirds of the time"
        );
        assert_eq!(scripted(&[3, 900, 0, 0, 0, 0]), Err(EventsMissing::TooFew));
        assert_eq!(scripted(&[3, 900]), Err(EventsMissing::NoCounters));
    }

    #[test]
    fn a_part_of_the_time_is_scaled_up() {
        assert_eq!(scaled(100, 1000, 250), 400);
        assert_eq!(scaled(100, 1000, 1000), 100);
        assert_eq!(scaled(u64::MAX, 2, 1), u64::MAX);
    }

    #[test]
    fn errors_have_reasons() {
        let why = |errno| missing(&io::Error::from_raw_os_error(errno));
        assert_eq!(why(libc::EACCES), EventsMissing::NotAllowed);
        assert_eq!(why(libc::ENOENT), EventsMissing::NoCounters);
        assert_eq!(why(libc::ENOSYS), EventsMissing::NoPerf);
    }
}
