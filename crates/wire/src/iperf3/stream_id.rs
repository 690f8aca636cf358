// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream numbers: 1, 3, 4, 5 … in order of creation (2 is skipped, a historic accident that peers rely on).

/// The `id` of the stream created as number `index`, counted from 0.
#[must_use]
pub const fn from_index(index: u32) -> i64 {
    if index == 0 { 1 } else { index as i64 + 2 }
}

/// The place, from 0, of the stream with that `id`; `None` if no stream can have it.
#[must_use]
pub fn to_index(id: i64) -> Option<u32> {
    match id {
        1 => Some(0),
        3.. => u32::try_from(id - 2).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_is_skipped() {
        assert_eq!([0, 1, 2, 3].map(from_index), [1, 3, 4, 5]);
        assert_eq!(
            [0, 1, 2, -1, i64::MAX].map(to_index),
            [None, Some(0), None, None, None]
        );
        assert!((0..300).all(|index| to_index(from_index(index)) == Some(index)));
    }
}
