// SPDX-License-Identifier: MIT OR Apache-2.0
//! What kept the reader from emptying its buffer: how the losses lie in time, and who had the processors.

use crate::evidence::Source;
use linerate_model::output::{Flow, Role, Test};

use super::buffer::stream_pps;
use crate::facts::Facts;
use crate::facts::cpu::busy_before;
use crate::facts::vantage::Vantage;
use linerate_model::order;
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(test) = vantage.test else {
        return vantage.add(facts, "reader_known", false, "no test of our own");
    };
    let busy = busy_before(vantage);
    let known = busy.is_some() || test.receive_buffer_bytes.is_some();
    vantage.add(facts, "reader_known", known, STAT);
    let source = "/proc/stat before the test";
    vantage.add(facts, "idle_busiest_cpu", busy, source);
    let cpu = test.cpu.of(vantage.host).map(|cpu| cpu.busiest_cpu);
    let source = "/proc/stat during the test";
    vantage.add(facts, "end_busiest_cpu", cpu, source);
    if vantage.side == Some(Side::Receiver) {
        let flood = test.requested_bits_per_second.is_none() && vantage.record.one_machine();
        vantage.add(facts, "flood_on_one_machine", flood, "the command");
        let wait_ms = test.receiver_run_delay_ns_max.map(|ns| ns as f64 / 1e6);
        vantage.add(facts, "receiver_run_delay_ms_max", wait_ms, SCHEDSTAT);
        let ran = test.receiver_cpu_ratio_max;
        vantage.add(
            facts,
            "receiver_cpu_ratio",
            ran,
            "the receiving threads' CPU time",
        );
        runs(vantage, test, facts);
    }
}

fn runs(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let bursts = test.loss_bursts.iter().map(|run| run.packets);
    let tails = tails(test).filter(|_| lists_bursts(vantage));
    let runs: Vec<u64> = bursts.chain(tails).collect();
    let (Some(longest), Some(rate)) = (runs.iter().copied().max(), stream_pps(test)) else {
        return;
    };
    let source = "the test's account, loss_bursts";
    let longest_ms = longest as f64 / rate * 1e3;
    vantage.add(facts, "loss_run_longest_ms", longest_ms, source);
    let queued = in_queues(test, facts);
    vantage.add(facts, "loss_run_mean", mean_beyond(runs, queued), source);
}

/// What the queues of the ends dropped, at least.
fn in_queues(test: &Test, facts: &Facts) -> u64 {
    let lost = QUEUES.iter();
    let lost = lost.filter_map(|name| facts.of_test(&test.id, name));
    lost.sum::<f64>() as u64
}

/// Queues that are full drop the longest rows: the mean of those that are left, or of all if none is.
fn mean_beyond(mut rows: Vec<u64>, mut queued: u64) -> f64 {
    order::by_key(&mut rows, |row| std::cmp::Reverse(*row));
    let of_queues = rows.iter().take_while(|row| {
        let fits = **row <= queued;
        queued = queued.saturating_sub(**row);
        fits
    });
    let of_queues = of_queues.count();
    let rest = rows.get(of_queues..).filter(|rest| !rest.is_empty());
    let rest = rest.unwrap_or(&rows);
    rest.iter().sum::<u64>() as f64 / rest.len().max(1) as f64
}

/// Only this program's receiver lists which datagrams were lost.
fn lists_bursts(vantage: &Vantage<'_>) -> bool {
    let agent = || {
        vantage
            .record
            .host(vantage.host)
            .is_some_and(|host| host.agent)
    };
    !vantage.record.pasted && (vantage.host == Role::Local || agent())
}

/// What each stream lost after its last arrival: no later datagram made it a burst.
fn tails(test: &Test) -> impl Iterator<Item = u64> + '_ {
    let tail = |flow: &Flow| {
        let bursts = test.loss_bursts.iter().filter(|run| run.flow == flow.id);
        // A list that is full has lost some of them.
        let (listed, packets) = bursts.fold((0, 0), |(listed, packets), run| {
            (listed + 1, packets + run.packets)
        });
        let tail = flow.lost_packets?.checked_sub(packets)?;
        (listed < BURSTS_KEPT && tail > 0).then_some(tail)
    };
    test.flows.iter().filter_map(tail)
}

const QUEUES: &[&str] = &[
    "least_lost_at_tx_qdisc",
    "least_lost_at_rx_mac",
    "least_lost_at_rx_ring",
    "least_lost_at_rx_softnet",
    "least_lost_at_rx_socket",
];
const SCHEDSTAT: &str = "/proc/thread-self/schedstat of the receiving threads";
const STAT: &str = Source::Stat.text();
/// A receiver keeps at least this many bursts of a stream.
const BURSTS_KEPT: usize = 1024;
