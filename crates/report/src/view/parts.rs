// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same blocks for a page: the answer first, the evidence below.

use linerate_model::output::Output;

use super::{
    Block, answer, benchmarks, conclusions, counters, device, findings, forward, history,
    is_measured, knees, ledger, matrix, moved, processors, setup, tcp, title, udp,
};

/// A result, answer first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// What, when, and a line an end.
    pub ends: Vec<Block>,
    /// What, where and when, in full.
    pub title: Vec<Block>,
    /// Invalid numbers, verdicts, expectations, comparisons; the rates of a device.
    pub answer: Vec<Block>,
    /// Causes.
    pub fix: Vec<Block>,
    /// Where packets were lost.
    pub losses: Vec<Block>,
    /// The numbers.
    pub measured: Vec<Block>,
    /// Warnings.
    pub cautions: Vec<Block>,
    /// Counters, settings, and what is unknown.
    pub evidence: Vec<Block>,
}

impl Parts {
    /// The blocks of a result.
    pub(crate) fn of(output: &Output) -> Self {
        if output.history.is_some() {
            return Self {
                answer: history::blocks(output),
                ..Self::default()
            };
        }
        if let Some(layout) = matrix::Layout::of(output) {
            return Self {
                ends: vec![answer::ends(output)],
                title: vec![title::block(output)],
                answer: matrix::answer_blocks(output, &layout),
                measured: matrix::every_cell(output, &layout).into_iter().collect(),
                cautions: moved::all(output).into_iter().collect(),
                evidence: setup::blocks(output),
                ..Self::default()
            };
        }
        let (causes, rest) = findings::answer_and_rest(output);
        Self {
            ends: vec![answer::ends(output)],
            title: vec![title::block(output)],
            answer: answer(output),
            fix: causes.into_iter().collect(),
            losses: ledger::block(output).into_iter().collect(),
            measured: measured(output),
            cautions: [conclusions::warnings(output), moved::all(output)]
                .into_iter()
                .flatten()
                .collect(),
            evidence: counters::block(output)
                .into_iter()
                .chain(rest)
                .chain(setup::blocks(output))
                .collect(),
        }
    }

    /// Title to evidence.
    pub(crate) fn into_blocks(self) -> Vec<Block> {
        let parts = [
            self.title,
            self.answer,
            self.fix,
            self.losses,
            self.measured,
            self.cautions,
            self.evidence,
        ];
        parts.into_iter().flatten().collect()
    }
}

fn answer(output: &Output) -> Vec<Block> {
    let mut answer = match output.forward {
        Some(_) => [forward::rates(output), benchmarks::blocks(output)].concat(),
        None => answer::numbers(output, None),
    };
    answer.extend(conclusions::expectations(output));
    answer
}

fn measured(output: &Output) -> Vec<Block> {
    let mut blocks: Vec<Block> = tcp::block(output).into_iter().collect();
    blocks.extend(udp::blocks(output));
    blocks.extend(processors(output));
    blocks.extend(forward::how(output));
    blocks.extend(device::block(output));
    blocks.extend(conclusions::verdicts(output));
    blocks.extend(knees::block(output));
    blocks.extend(conclusions::latency(output));
    if !is_measured(output) {
        blocks.iter_mut().for_each(Block::forget_unknown);
    }
    blocks
}
