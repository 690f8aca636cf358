// SPDX-License-Identifier: MIT OR Apache-2.0
//! A number that one worker publishes and others read while it runs.
//!
//! One writer, many readers, no lock and no read-modify-write in the data path. Where the machine
//! has no 64-bit atomics (mipsel, 32-bit PowerPC) the value is kept in two halves under a version
//! counter (a sequence lock), so a reader never sees a torn value.

#[cfg(target_has_atomic = "64")]
pub(crate) use whole::Gauge;

#[cfg(not(target_has_atomic = "64"))]
pub(crate) use halves::Gauge;

#[cfg(target_has_atomic = "64")]
mod whole {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A published 64-bit number.
    #[derive(Debug, Default)]
    pub(crate) struct Gauge(AtomicU64);

    impl Gauge {
        /// Publishes `value`. Only the one owning worker calls this.
        pub(crate) fn set(&self, value: u64) {
            self.0.store(value, Ordering::Relaxed);
        }

        /// The value last published.
        pub(crate) fn read(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }
}

#[cfg(any(test, not(target_has_atomic = "64")))]
mod halves {
    use std::sync::atomic::{AtomicU32, Ordering, fence};

    /// A published 64-bit number, in two halves.
    #[derive(Debug, Default)]
    pub(crate) struct Gauge {
        version: AtomicU32,
        low: AtomicU32,
        high: AtomicU32,
    }

    impl Gauge {
        /// Publishes `value`. Only the one owning worker calls this.
        pub(crate) fn set(&self, value: u64) {
            let version = self.version.load(Ordering::Relaxed);
            self.version
                .store(version.wrapping_add(1), Ordering::Relaxed);
            fence(Ordering::Release);
            self.low.store(value as u32, Ordering::Relaxed);
            self.high.store((value >> 32) as u32, Ordering::Relaxed);
            self.version
                .store(version.wrapping_add(2), Ordering::Release);
        }

        /// The value last published.
        pub(crate) fn read(&self) -> u64 {
            loop {
                let before = self.version.load(Ordering::Acquire);
                let low = self.low.load(Ordering::Relaxed);
                let high = self.high.load(Ordering::Relaxed);
                fence(Ordering::Acquire);
                if before & 1 == 0 && self.version.load(Ordering::Relaxed) == before {
                    return u64::from(high) << 32 | u64::from(low);
                }
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::halves::Gauge;
    use std::sync::Arc;

    #[test]
    fn halves_are_never_torn() {
        let gauge = Arc::new(Gauge::default());
        let writer = Arc::clone(&gauge);
        let thread = std::thread::spawn(move || {
            for step in 0..200_000_u64 {
                writer.set(step << 32 | step);
            }
        });
        let mut last = 0;
        while last >> 32 != 199_999 {
            last = gauge.read();
            assert_eq!(last >> 32, last & 0xffff_ffff);
        }
        thread.join().unwrap();
    }
}
