// SPDX-License-Identifier: MIT OR Apache-2.0
//! BPF without a compiler or a library: instructions are assembled here and passed to bpf(2).
//!
//! Everything belongs to file descriptors: when the last one closes, even by `kill -9`, the kernel detaches the
//! program and frees it with its maps.

mod assembler;
mod attribute;
mod instruction;
mod map;
mod program;

pub(crate) use assembler::packet::network;
pub(crate) use assembler::{Assembler, Label};
pub(crate) use instruction::{Condition, Helper, Instruction, Register, Size};
pub(crate) use map::{Map, MapKind};
pub use program::ids as program_ids;
pub(crate) use program::{LoadError, Program, ProgramKind};
