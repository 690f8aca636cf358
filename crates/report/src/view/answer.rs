// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer on one screen: who and where, the verdict, the numbers side by side, what to fix. All else is in
//! [`super::View::of`]'s full form.

mod ends;
mod figures;
mod fixes;
mod height;
mod notes;
mod short;
mod streams;
mod verdict;

use linerate_model::output::Output;
use linerate_model::units::rate_unit::RateUnit;

use super::{
    Block, Line, benchmarks, comparison, conclusions, cost, findings, forward, knees, moved, nic,
    udp,
};

pub(super) use ends::block as ends;
pub(super) use short::blocks as one_line;
pub(super) use streams::every as every_stream;

/// The blocks of a result, the answer on the last screen; the rates of streams in this unit.
pub(super) fn blocks(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
    if ["ab", "compare"].contains(&output.kind.as_str()) {
        return compared(output);
    }
    let mut blocks = vec![ends::block(output)];
    blocks.extend(numbers(output, unit));
    let last = last(output);
    let room = match output.kind.as_str() {
        "check" => SCREEN.saturating_sub(height::of(&blocks) + height::of(&last)),
        _ => FINDINGS,
    };
    // What a packet costs is measured, not diagnosed.
    if output.kind != "cost" {
        blocks.extend(fixes::block(output, room));
    }
    blocks.extend(last);
    blocks
}

/// The verdict and the numbers.
pub(super) fn numbers(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
    let mut blocks = Vec::new();
    match output.kind.as_str() {
        "check" => {
            blocks.extend(verdict::block(output));
            blocks.extend(figures::block(output));
            blocks.extend(figures::latency(output));
        }
        "sweep" => {
            blocks.extend(udp::rates(output));
            blocks.extend(conclusions::invalid(output));
            blocks.extend(knees::answers(output));
        }
        "cost" => {
            blocks.extend(cost::blocks(output));
            blocks.extend(conclusions::invalid(output));
        }
        "forward" => {
            blocks.extend(forward::answer(output));
            blocks.extend(benchmarks::blocks(output));
        }
        "nic-check" => blocks.extend(nic::answer(output)),
        "ab" | "compare" => return comparison::blocks(output),
        _ => blocks.extend(streams::blocks(output, unit)),
    }
    blocks.extend(notes::block(output));
    blocks.extend(moved::short(output));
    blocks
}

/// Lines of a check.
const SCREEN: usize = 35;
/// Lines of what to fix after another command.
const FINDINGS: usize = 6;

/// Where a run is, and what to run for more.
pub(super) fn last(output: &Output) -> Vec<Block> {
    let line = |directory| {
        let command = format!("details  linerate report {directory} -o run.html");
        Line::command(0, command)
    };
    let lines = output.run_dir.iter().map(line);
    let ends = [conclusions::expectations(output), Block::lines("", lines)];
    ends.into_iter().flatten().collect()
}

/// Two configurations: plot, figures, the answer.
fn compared(output: &Output) -> Vec<Block> {
    let mut blocks = comparison::answer_blocks(output);
    blocks.extend(moved::short(output));
    blocks.extend(last(output));
    blocks
}

/// Where each lost packet died and why, under the name of the run.
pub(super) fn causes(output: &Output) -> Vec<Block> {
    let ledger = super::ledger::block(output);
    let title = std::iter::once(ends::block(output));
    title
        .chain(conclusions::invalid(output))
        .chain(moved::all(output))
        .chain(ledger)
        .chain(findings::blocks(output))
        .collect()
}
