// SPDX-License-Identifier: MIT OR Apache-2.0
//! See `maps` in `registers.rs`.
#![no_main]

#[path = "../registers.rs"]
mod registers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| registers::maps(data));
