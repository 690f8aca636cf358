// SPDX-License-Identifier: MIT OR Apache-2.0
//! See `tool_text` in `pasted.rs`.
#![no_main]

#[expect(dead_code, reason = "a target uses one function")]
#[path = "../pasted.rs"]
mod pasted;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pasted::tool_text(data));
