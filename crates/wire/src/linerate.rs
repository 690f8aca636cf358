// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is spoken only between two linerates: UDP formats, whose fields are big-endian, and the proof of a token.

pub mod boot_id;
pub mod hello;
pub mod probe;
pub mod stamp;
pub mod token;
