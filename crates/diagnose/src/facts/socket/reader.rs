// SPDX-License-Identifier: MIT OR Apache-2.0
//! What kept the reader from emptying its buffer: how the losses lie in time, and who had the processors.

use linerate_model::output::{Role, Test};
use linerate_model::sample::Sample;

use super::buffer::stream_pps;
use crate::facts::Facts;
use crate::facts::counted::{Place, idle_before};
use linerate_model::record::Side;

pub(super) fn collect(place: &Place<'_>, facts: &mut Facts) {
    let Some(test) = place.test else {
        return place.add(facts, "reader_known", false, "", "no test of our own");
    };
    let busy = busy_before(place, test);
    let known = busy.is_some() || test.receive_buffer_bytes.is_some();
    place.add(facts, "reader_known", known, "", STAT);
    if let Some(busy) = busy {
        place.add(
            facts,
            "idle_busiest_cpu",
            busy,
            "ratio",
            "/proc/stat before the test",
        );
    }
    let cpu = if place.host == Role::Local {
        test.cpu.local
    } else {
        test.cpu.remote
    };
    if let Some(cpu) = cpu {
        place.add(
            facts,
            "end_busiest_cpu",
            cpu.busiest_cpu,
            "ratio",
            "/proc/stat during the test",
        );
    }
    if place.side == Some(Side::Receiver) {
        let flood = test.requested_bits_per_second.is_none() && place.record.one_machine();
        place.add(facts, "flood_on_one_machine", flood, "", "the command");
        runs(place, test, facts);
    }
}

/// In the idle interval before this test.
fn busy_before(place: &Place<'_>, test: &Test) -> Option<f64> {
    busiest(&idle_before(place.record, place.host, STAT, None, test))
}

fn runs(place: &Place<'_>, test: &Test, facts: &mut Facts) {
    let runs = test.loss_bursts.iter().map(|run| run.packets);
    let (Some(longest), Some(rate)) = (runs.clone().max(), stream_pps(test)) else {
        return;
    };
    let mean = runs.sum::<u64>() as f64 / test.loss_bursts.len() as f64;
    let source = "the test's account, loss_bursts";
    place.add(
        facts,
        "loss_run_longest_ms",
        longest as f64 / rate * 1e3,
        "ms",
        source,
    );
    place.add(facts, "loss_run_mean", mean, "packets", source);
}

/// The busy share of the busiest processor between the first and the last sample.
fn busiest(samples: &[&Sample]) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let mut busiest: Option<f64> = None;
    for cpu in 0.. {
        let ticks = |state: &str| {
            let name = format!("cpu{cpu}.{state}");
            last.counters
                .get(&name)?
                .checked_sub(*first.counters.get(&name)?)
        };
        let Some(idle) = ticks("idle") else { break };
        let waiting = ticks("iowait").unwrap_or(0);
        let working: u64 = WORKING.iter().filter_map(|state| ticks(state)).sum();
        let all = idle + waiting + working;
        if all > 0 {
            let share = working as f64 / all as f64;
            busiest = Some(busiest.map_or(share, |known| known.max(share)));
        }
    }
    busiest
}

const STAT: &str = "/proc/stat";
const WORKING: &[&str] = &["user", "nice", "system", "irq", "softirq", "steal"];
