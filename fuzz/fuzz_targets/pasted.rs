// SPDX-License-Identifier: MIT OR Apache-2.0
//! See `pasted` in `pasted.rs`.
#![no_main]

#[path = "../pasted.rs"]
mod pasted;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pasted::pasted(data));
