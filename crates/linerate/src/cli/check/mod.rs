// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate check`: the tests one after the other, then a verdict a direction.

mod schedule;
mod verdict;

use std::collections::BTreeMap;

use linerate_linux::cpu;
use linerate_method::knee::Begin;
use linerate_model::output::{Direction, Output, Test};

use super::args::CheckArgs;
use super::ground::Place;
use super::plan;
use super::progress::Progress;
use super::session::Session;
use super::trial::{Scope, Search};
use crate::engine::TestPlan;
use crate::error::Failure;
use crate::exit::Exit;
use schedule::{Schedule, Size};

/// Runs the command.
pub(super) fn run(args: &CheckArgs, options: BTreeMap<String, String>) -> Exit {
    let place = Place {
        kind: "check",
        host: args.host.as_deref(),
        lab: &args.lab,
        ipv6: args.target.version6,
        output: &args.output,
        progress: Progress::Status,
        options,
    };
    place.measure(|session, host| {
        let schedule = Schedule::new(args.quick, cpu::count());
        session.console.say(&schedule.announcement());
        let base = plan::reached(&args.target, TestPlan::tcp(host));
        let measured = measure(session, &schedule, &base);
        let verdicts = verdict::verdicts(&session.output);
        session.output.verdicts = verdicts;
        measured
    })
}

fn measure(session: &mut Session, schedule: &Schedule, base: &TestPlan) -> Result<(), Failure> {
    session.idle(&schedule.idle(base))?;
    for plan in schedule.tcp(base) {
        session.run(&plan)?;
    }
    for size in [Size::Full, Size::Small] {
        for direction in [Direction::Up, Direction::Down] {
            search(session, schedule, base, size, direction)?;
        }
    }
    Ok(())
}

fn search(
    session: &mut Session,
    schedule: &Schedule,
    base: &TestPlan,
    size: Size,
    direction: Direction,
) -> Result<(), Failure> {
    let start = start_bits_per_second(&session.output, size, direction);
    let scope = Scope {
        begin: Begin::Around {
            start,
            from: (start / 1024).max(100_000),
            to: ceiling_bits_per_second(&session.output, size).max(start),
        },
        resolution_ratio: schedule.resolution_ratio(),
        trials_max: schedule.trials_max(size),
        payload_bytes: size.payload_bytes().unwrap_or(FULL_PAYLOAD_BYTES),
    };
    let mut search = Search::new(direction, scope);
    let ended = climb(session, &mut search, |rate| {
        schedule.trial(base, size, direction, rate)
    });
    search.conclude(&mut session.output);
    ended
}

/// One trial after the other until the search is over.
fn climb(
    session: &mut Session,
    search: &mut Search,
    plan: impl Fn(u64) -> TestPlan,
) -> Result<(), Failure> {
    while let Some(rate) = search.next_rate() {
        let ids = session.run(&plan(rate))?;
        let test = session
            .tests(&ids)
            .find(|test| test.direction == search.direction);
        match test {
            Some(test) => search.feed(rate, test),
            None => {
                return Err(Failure::measuring(
                    "judge a trial",
                    "the engine returned none in its direction",
                ));
            }
        }
    }
    Ok(())
}

/// Where a search begins: a little below what TCP reached; small datagrams at a modest rate.
fn start_bits_per_second(output: &Output, size: Size, direction: Direction) -> u64 {
    match size {
        Size::Full => {
            let reached = best_tcp_bits_per_second(output, direction).unwrap_or(100e6);
            (reached * 0.9).max(1e6) as u64
        }
        Size::Small => START_PPS * u64::from(SMALL_PAYLOAD_BYTES) * 8,
    }
}

/// No search goes beyond: the slower interface's speed where it is known.
fn ceiling_bits_per_second(output: &Output, size: Size) -> u64 {
    let known = verdict::link_bits_per_second(output);
    match (size, known) {
        (Size::Full, Some(link)) => link,
        // 84 bytes of line per 64-byte frame; payload is at most the whole of it.
        (Size::Small, Some(link)) => link,
        (Size::Full, None) => 100_000_000_000,
        (Size::Small, None) => 10_000_000_000,
    }
}

fn best_tcp_bits_per_second(output: &Output, direction: Direction) -> Option<f64> {
    let alone =
        |test: &&Test| test.direction == direction && test.valid && test.sent_packets.is_none();
    let rates = output
        .tests
        .iter()
        .filter(alone)
        .filter_map(|test| test.delivered_bits_per_second);
    rates.max_by(f64::total_cmp)
}

/// UDP over IPv4 over an MTU of 1500; only a guess until the first trial tells.
const FULL_PAYLOAD_BYTES: u32 = 1472;
/// Small enough for the least Ethernet frame but one: 64 bytes of payload.
const SMALL_PAYLOAD_BYTES: u32 = 64;
/// 50 000 datagrams per second, which any board can do.
const START_PPS: u64 = 50_000;
