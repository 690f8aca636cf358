// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program; see the library.
#![forbid(unsafe_code)]

/// Faster than that of musl, which takes an eighth of the time in which a long text is explained. The program forks only
/// while it has one thread (`linerate_linux::sandbox`), so a child finds no lock taken.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    linerate::cli::main().into()
}
