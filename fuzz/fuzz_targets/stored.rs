// SPDX-License-Identifier: MIT OR Apache-2.0
//! See `stored` in `stored.rs`.
#![no_main]

#[expect(dead_code, reason = "a target uses one function")]
#[path = "../stored.rs"]
mod stored;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stored::stored(data));
