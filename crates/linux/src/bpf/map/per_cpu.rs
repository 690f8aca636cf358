// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters that each processor has of its own.
#![expect(unsafe_code, reason = "bpf(2) has no safe wrapper")]

use std::io;

use super::super::attribute::{Command, Element, address_of, address_of_mut, ask};
use super::Map;

impl<const K: usize> Map<K, 8> {
    /// The sum of what all processors counted; for maps of [`super::MapKind::PerCpuArray`] only.
    ///
    /// # Errors
    /// ENOENT where there is no such entry; those of reading how many processors there may be.
    pub(crate) fn sum(&self, key: &[u8; K]) -> io::Result<u64> {
        let mut values = vec![0_u64; MOST_PROCESSORS.max(possible_processors()?)];
        let mut attribute = Element {
            key: address_of(key),
            value: address_of_mut(&mut values),
            ..self.element()
        };
        // SAFETY: the kernel writes eight bytes for each processor that may ever be there, and there is room for more.
        unsafe { ask(Command::Lookup, &mut attribute) }?;
        Ok(values.iter().fold(0, |sum, value| sum.wrapping_add(*value)))
    }
}

/// One more than the highest number that a processor may have.
fn possible_processors() -> io::Result<usize> {
    let text = std::fs::read_to_string(POSSIBLE)?;
    let last = text.trim().rsplit(['-', ',']).next().unwrap_or_default();
    let last: usize = last.parse().map_err(io::Error::other)?;
    Ok(last + 1)
}

const POSSIBLE: &str = "/sys/devices/system/cpu/possible";
/// Room in any case.
const MOST_PROCESSORS: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::{Map, MapKind};

    #[test]
    fn the_sum_of_an_untouched_counter_is_zero() {
        let Ok(map) = Map::<4, 8>::create(MapKind::PerCpuArray, "sum", 2) else {
            println!("skipped: this process may not make BPF maps");
            return;
        };
        assert_eq!(map.sum(&1_u32.to_ne_bytes()).unwrap(), 0);
        let absent = map.sum(&2_u32.to_ne_bytes()).unwrap_err();
        assert_eq!(absent.raw_os_error(), Some(libc::ENOENT));
    }
}
