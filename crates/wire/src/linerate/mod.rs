// SPDX-License-Identifier: MIT OR Apache-2.0
//! linerate's own UDP formats, spoken only between two linerates. All fields are big-endian.

pub mod hello;
pub mod probe;
pub mod stamp;
