// SPDX-License-Identifier: MIT OR Apache-2.0
//! Overloaded on purpose: whatever a sender, a receiver or the machine cannot do stands in the
//! books under its name. Over a veth pair nothing can be lost but at the receiving socket, so
//! each lost datagram is one that the kernel dropped there; and a paced sender has either sent
//! what was asked or says how much it has not.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::turns::Turn;

#[test]
fn what_a_small_buffer_drops_is_all_that_is_lost() {
    for mode in ["plain/plain", "mmsg/mmsg", "gso/plain", "mmsg/gro"] {
        let flags = format!("-b 0 -l 300 --mode {mode}");
        let tests = measure(&["rcvbuf=4K"], &flags);
        assert_eq!(tests.len(), 1, "{mode}");
        assert_eq!(tests[0]["mode"]["tx"], mode.split('/').next().unwrap());
        assert_eq!(tests[0]["mode"]["rx"], mode.split('/').nth(1).unwrap());
        assert!(number(&tests[0], "lost_packets") > 0, "{mode}: no overload");
        all_lost_at_the_socket(mode, &tests[0]);
    }
}

#[test]
fn so_it_is_at_either_end_and_in_every_stream() {
    for flags in ["-R -w 4K", "--bidir -w 4K -P 2", "-w 4K -P 4"] {
        for mode in ["plain/plain", "mmsg/mmsg"] {
            let name = format!("{flags} {mode}");
            for test in measure(&[], &format!("{flags} -b 0 -l 300 --mode {mode}")) {
                assert!(number(&test, "lost_packets") > 0, "{name}: no overload");
                all_lost_at_the_socket(&name, &test);
            }
        }
    }
}

#[test]
fn a_receiver_without_a_processor_loses_at_its_socket() {
    for faults in [
        &["cpu-contention=2", "rcvbuf=16K"][..],
        &["paused-reader=100ms", "rcvbuf=16K"][..],
    ] {
        for test in measure(faults, "-b 0 -l 300") {
            all_lost_at_the_socket(&format!("{faults:?}"), &test);
        }
    }
}

#[test]
fn what_was_not_sent_in_time_is_reported() {
    // 640 kpps: more than a debug build can. 1 M: as much as any can.
    for (rate, flags, asked) in [
        ("512M", "-l 100", 384_000),
        ("512M", "-l 100 -R --mode plain", 384_000),
        ("256M", "-l 100 --bidir", 192_000),
        ("128M", "-l 100 -P 4", 384_000),
        ("1M", "-l 100 --bidir", 750),
    ] {
        let name = format!("-b {rate} {flags}");
        for test in measure(&[], &format!("-b {rate} {flags} -t 600ms")) {
            every_requested_datagram_is_sent_or_reported(&name, &test, asked);
            all_lost_at_the_socket(&name, &test);
        }
    }
}

#[test]
fn the_books_balance_whatever_the_machine_does() {
    let _busy = Busy::start(2);
    for (faults, flags, asked) in [
        (&["rcvbuf=8K"][..], "-b 64M --bidir -l 200", 24_000),
        (&["cpu-contention=2"][..], "-b 64M -R -l 200", 24_000),
        (&["cpu-contention=2"][..], "-b 32M -P 2 -l 200", 24_000),
    ] {
        for test in measure(faults, &format!("{flags} -t 600ms")) {
            let name = format!("{faults:?} {flags}");
            every_requested_datagram_is_sent_or_reported(&name, &test, asked);
            all_lost_at_the_socket(&name, &test);
        }
    }
}

/// `sent = received + lost`, and each lost one was dropped at the receiving socket.
fn all_lost_at_the_socket(name: &str, test: &Value) {
    let [sent, received, lost, drops] = [
        "sent_packets",
        "received_packets",
        "lost_packets",
        "socket_drops",
    ]
    .map(|field| number(test, field));
    let id = &test["id"];
    let unsent = number(test, "unsent_packets");
    // As documented: a tenth, beside the two that may be due in the very last moment.
    let at_that_rate = unsent.saturating_sub(2) * 10 <= sent + unsent;
    assert_eq!(test["valid"], at_that_rate, "{name} {id}: {test}");
    assert_eq!(sent, received + lost, "{name} {id}: the balance");
    assert_eq!(lost, drops, "{name} {id}: lost, dropped at the socket");
    for field in ["duplicate_packets", "late_packets", "corrupt_packets"] {
        assert_eq!(number(test, field), 0, "{name} {id}: {field}");
    }
    let flows = test["flows"].as_array().unwrap();
    let of_flows: u64 = flows.iter().map(|flow| number(flow, "lost_packets")).sum();
    assert_eq!(of_flows, lost, "{name} {id}: the flows' losses");
}

fn every_requested_datagram_is_sent_or_reported(name: &str, test: &Value, asked: u64) {
    let (sent, unsent) = (number(test, "sent_packets"), number(test, "unsent_packets"));
    assert_eq!(
        sent + unsent,
        asked,
        "{name} {}: {sent} sent, {unsent} unsent",
        test["id"]
    );
    let limited = warned(test, "sender-limited");
    assert_eq!(limited, unsent * 1000 > asked, "{name}: {unsent} unsent");
}

fn warned(test: &Value, id: &str) -> bool {
    let warnings = test["warnings"].as_array().unwrap();
    warnings.iter().any(|warning| warning["id"] == id)
}

fn number(value: &Value, field: &str) -> u64 {
    value[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field}: {}", value[field]))
}

/// The tests of one `udp` in a lab; none, said aloud, where there are no namespaces. On a machine
/// so busy that one end waits in vain for the other it is made again.
fn measure(faults: &[&str], flags: &str) -> Vec<Value> {
    let mut attempts = (0..ATTEMPTS).map(|number| attempt(Turn::of_attempt(number), faults, flags));
    let tests = attempts.find_map(Result::ok);
    tests.unwrap_or_else(|| panic!("{faults:?} {flags}: kept silent {ATTEMPTS} times"))
}

const ATTEMPTS: usize = 4;

/// An end that kept the other waiting.
struct Silent;

fn attempt(_turn: Turn, faults: &[&str], flags: &str) -> Result<Vec<Value>, Silent> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.arg("lab");
    for fault in faults {
        command.args(["--fault", fault]);
    }
    command.args(["--", "linerate", "udp", "{peer}", "--json", "-i", "0"]);
    if !flags.contains("-t ") {
        command.args(["-k", "20000"]);
    }
    let output = command.args(flags.split_whitespace()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("loopback instead of a lab") || said.contains("cannot inject a fault") {
        println!("skipped: no namespaces here");
        return Ok(Vec::new());
    }
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{flags}: {error}: {said}"));
    let why = document["error"]["why"].as_str();
    let silent = ["no message from the server", "closed the connection"];
    if why.is_some_and(|why| silent.iter().any(|said| why.contains(said))) {
        return Err(Silent);
    }
    let tests = document["tests"].as_array().unwrap().clone();
    let valid = tests.iter().all(|test| test["valid"] == true);
    let code = if valid { 0 } else { 4 };
    assert_eq!(output.status.code(), Some(code), "{flags}: {said}");
    Ok(tests)
}

/// Threads that take what processor they get, until dropped.
pub(crate) struct Busy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts this many.
    pub(crate) fn start(threads: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let burn = |_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
        };
        let threads = (0..threads).map(burn).collect();
        Self { stop, threads }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}
