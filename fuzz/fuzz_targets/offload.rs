// SPDX-License-Identifier: MIT OR Apache-2.0
//! See `offload` in `targets.rs`.
#![no_main]

#[expect(dead_code, reason = "a target uses one function")]
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::offload(data));
