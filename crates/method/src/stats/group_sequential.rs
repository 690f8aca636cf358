// SPDX-License-Identifier: MIT OR Apache-2.0
//! A few looks that were planned before: the constants by which each look's z is judged, two-sided 5 %,
//! looks equally spaced. For experiments whose unit is a boot, where looking after each is not wanted.

/// O'Brien and Fleming (1979): the bound of look `look` (from 1) of `looks` (2…5).
pub fn obrien_fleming(look: usize, looks: usize) -> Option<f64> {
    let last = match looks {
        2 => 1.977,
        3 => 2.004,
        4 => 2.024,
        5 => 2.040,
        _ => return None,
    };
    // The bounds fall as 1/√information; the published tables round the last.
    (1..=looks)
        .contains(&look)
        .then(|| last * (looks as f64 / look as f64).sqrt())
}

/// Pocock (1977): one bound for each of `looks` (2…5) looks.
pub fn pocock(looks: usize) -> Option<f64> {
    match looks {
        2 => Some(2.178),
        3 => Some(2.289),
        4 => Some(2.361),
        5 => Some(2.413),
        _ => None,
    }
}
