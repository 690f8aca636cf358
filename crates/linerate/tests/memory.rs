// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory a `check` has at most: it must fit on a board with 64 MB.
//!
//! What it allocates is counted, not what the kernel gives: pages depend on the build, on the allocator and on what other
//! programs do. Blocks of at least 64 KiB are left out: those are buffers and tables of fixed size, mostly unused, and
//! `linerate_linux::heap` returns them to the kernel. The rest is the record, the conclusions from it, and the knowledge.
//!
//! This process is also the program, so it is its own harness: libtest starts threads, and a process with threads cannot
//! enter the lab's namespaces.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use linerate_linux::heap::LARGE_BYTES;
use linerate_linux::observed_heap::ObservedHeap;

fn main() -> ExitCode {
    if let Some(file) = env::var_os(PEAK) {
        let code = linerate::cli::main();
        if env::args().nth(1).is_some_and(|word| word == "check") {
            fs::write(file, MOST.load(Ordering::Relaxed).to_string()).unwrap();
        }
        return code.into();
    }
    let words: Vec<String> = env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        println!("{NAME}: test");
        return ExitCode::SUCCESS;
    }
    let mut filters = words.iter().filter(|word| !word.starts_with('-'));
    if filters.next().is_none_or(|word| NAME.contains(word)) {
        a_check_needs_little_more_than_its_record();
        println!("test {NAME} ... ok");
    }
    ExitCode::SUCCESS
}

/// What is measured is in memory once, shorter than as text, with the facts of it; a second copy of the tests, the facts or
/// the samples is a megabyte.
fn a_check_needs_little_more_than_its_record() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory");
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let [run, peak] = ["run", "peak"].map(|name| place.join(name));
    let ended = Command::new(env::current_exe().unwrap())
        .args(["check", "--lab", "--quick", "--json", "-o"])
        .arg(&run)
        .env(PEAK, &peak)
        .output()
        .unwrap();
    // On a busy machine a test may be invalid: its record is as long.
    assert!(matches!(ended.status.code(), Some(0 | 4)), "{ended:?}");
    let most: usize = fs::read_to_string(&peak).unwrap().parse().unwrap();
    let record: u64 = ["run.json", "samples.jsonl"]
        .map(|name| fs::metadata(run.join(name)).unwrap().len())
        .iter()
        .sum();
    let bound = KNOWLEDGE_BYTES + usize::try_from(record).unwrap() * RECORD_PERCENT / 100;
    println!("{most} bytes at most, of a record of {record}: at most {bound} are allowed");
    assert!(most <= bound, "{most} bytes, more than {bound}");
    // The record is in what was counted.
    assert!(most > bound / 4, "{most} bytes, much less than {bound}");
}

/// Counts the bytes of small blocks.
fn allocated(bytes: usize) {
    let bytes = small(bytes);
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

const fn small(bytes: usize) -> usize {
    if bytes < LARGE_BYTES { bytes } else { 0 }
}

#[global_allocator]
static ALLOCATOR: ObservedHeap = ObservedHeap {
    allocated,
    freed: |bytes| {
        NOW.fetch_sub(small(bytes), Ordering::Relaxed);
    },
};
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

const NAME: &str = "a_check_needs_little_more_than_its_record";
/// The file that the program leaves its peak in.
const PEAK: &str = "LINERATE_TEST_PEAK";
/// All rules, the tables of two drivers, and what the command itself needs: 0.7 MB, and some for other hosts.
const KNOWLEDGE_BYTES: usize = 1 << 20;
/// Of the record as text, indented: the same share in records of 3.0, 3.2 and 3.4 MB, of 19 to 25 tests. A copy of the tests is
/// about 15 more, one of the facts 20 (heaptrack).
const RECORD_PERCENT: usize = 66;
