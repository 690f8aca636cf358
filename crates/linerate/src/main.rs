// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program; see the library.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    linerate::cli::main().into()
}
