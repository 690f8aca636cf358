// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags that `--iperf2` excludes: its peers have no control connection, so nothing can be requested
//! of the server.

use super::args::LabFlags;
use linerate_endpoint::{Direction, TestPlan};
use linerate_model::failure::Failure;
use linerate_model::output::{IoMode, Protocol};

/// Refuses what iperf2 cannot do, with what to do instead.
pub(super) fn check(plan: &TestPlan, lab: &LabFlags) -> Result<(), Failure> {
    if !plan.iperf2 {
        return Ok(());
    }
    let found = refusals(plan, lab).into_iter().find(|refusal| refusal.0);
    found.map_or(Ok(()), |(_, flag, why, hint)| {
        Err(Failure::usage(format!("use {flag} with --iperf2"), why).hint(hint))
    })
}

type Refusal = (bool, &'static str, &'static str, &'static str);

fn refusals(plan: &TestPlan, lab: &LabFlags) -> [Refusal; 8] {
    let udp = plan.protocol == Protocol::Udp;
    let received_how = plan.rx_mode != IoMode::Auto;
    [
        (
            lab.lab,
            "--lab",
            "the lab's other host speaks iperf3's protocol",
            "without --iperf2",
        ),
        (
            plan.direction != Direction::Up,
            if plan.direction == Direction::Down {
                "--reverse"
            } else {
                "--bidir"
            },
            "linerate only sends to an iperf2 server",
            "for the other direction: `linerate serve --iperf2` here, and `iperf -c` there",
        ),
        (
            plan.omit_ms > 0,
            "--omit",
            "an iperf2 server counts from the first datagram on",
            "a longer -t, so that the beginning weighs less",
        ),
        (
            plan.server_output,
            "--get-server-output",
            "iperf2 has no control connection",
            "without it: the UDP result is the server's report",
        ),
        (
            plan.affinity.is_some_and(|(_, remote)| remote.is_some()),
            "--affinity with a second number",
            "iperf2 has no control connection",
            "-A with one number, and `taskset -c` before the server there",
        ),
        (
            received_how,
            "--mode with a second word",
            "the server chooses how it receives",
            "--mode with one word",
        ),
        (
            udp && plan
                .payload_bytes
                .is_some_and(|bytes| bytes < LEAST_PAYLOAD_BYTES),
            "a --length this short",
            "iperf2's headers take 40 bytes of every datagram",
            "-l 40 or more",
        ),
        (
            !udp && plan.bytes.is_some_and(|bytes| bytes < LEAST_TCP_BYTES),
            "this few --bytes",
            "iperf2's header takes 60 bytes of each stream",
            "-n 8K or more",
        ),
    ]
}

/// Sequence and time, and the shorter of the client's headers.
const LEAST_PAYLOAD_BYTES: u32 = 40;
/// The client's header on each of 128 streams.
const LEAST_TCP_BYTES: u64 = 8192;
