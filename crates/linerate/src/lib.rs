// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program: command line, engine, lab, store. `main.rs` only calls [`cli::main`].
#![forbid(unsafe_code)]

pub mod cli;
pub mod exit;
pub mod history;
pub mod output;
pub mod store;
