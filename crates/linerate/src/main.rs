// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program; see the library.
#![forbid(unsafe_code)]

use dlmalloc::GlobalDlmalloc;
use linerate_linux::heap::Heap;

/// Faster than that of musl, which takes an eighth of the time in which a long text is explained; and smaller than that of
/// glibc, which keeps memory for each thread. The program forks only while it has one thread (`linerate_linux::sandbox`), so
/// a child finds no lock taken.
#[global_allocator]
static ALLOCATOR: Heap<GlobalDlmalloc> = Heap(GlobalDlmalloc);

fn main() -> std::process::ExitCode {
    linerate::cli::main().into()
}
