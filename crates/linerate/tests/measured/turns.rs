// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns on the machine. Tests that measure run a few at a time; one that was disturbed measures
//! again with the machine to itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of measurements that run at a time. Most of a measurement's time is waiting.
const TOGETHER: usize = 4;

/// A share of the machine, until it is dropped.
pub(crate) struct Turn {
    shares: usize,
}

impl Turn {
    /// Waits until fewer than [`TOGETHER`] measure.
    pub(crate) fn together() -> Self {
        Self::of(1)
    }

    /// Waits until no other test measures, and keeps others from it.
    pub(crate) fn alone() -> Self {
        Self::of(TOGETHER)
    }

    /// Attempts after the first have the machine to themselves.
    pub(crate) fn of_attempt(number: usize) -> Self {
        if number == 0 {
            Self::together()
        } else {
            Self::alone()
        }
    }

    fn of(shares: usize) -> Self {
        let mut taken = taken();
        while *taken + shares > TOGETHER {
            taken = FREED.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += shares;
        Self { shares }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *taken() -= self.shares;
        FREED.notify_all();
    }
}

fn taken() -> MutexGuard<'static, usize> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// Does `work` for each item, as many at a time as may measure; the results are in the items' order.
pub(crate) fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(number)
        {
            done.push((number, work(item)));
        }
        done
    };
    let mut done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..TOGETHER).map(|_| scope.spawn(worker)).collect();
        let ended = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        ended.collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
