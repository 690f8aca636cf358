// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream numbers: 1, 3, 4, 5 … in order of creation (2 is skipped, a historic accident that peers rely on).

/// The `id` of the stream created as number `index`, counted from 0.
#[must_use]
pub const fn from_index(index: u32) -> i64 {
    if index == 0 { 1 } else { index as i64 + 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_is_skipped() {
        assert_eq!([0, 1, 2, 3].map(from_index), [1, 3, 4, 5]);
    }
}
