// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same blocks for a page: the answer first, the evidence below.

use linerate_model::output::Output;

use super::{
    Block, benchmarks, comparison, conclusions, counters, device, findings, forward, history,
    is_measured, knees, ledger, processors, setup, tcp, title, udp,
};

/// A result, answer first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// What, where and when.
    pub title: Vec<Block>,
    /// Invalid numbers, verdicts, expectations, and causes.
    pub answer: Vec<Block>,
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
                measured: history::blocks(output),
                ..Self::default()
            };
        }
        let (causes, rest) = findings::answer_and_rest(output);
        Self {
            title: vec![title::block(output)],
            answer: answer(output, causes),
            losses: ledger::block(output).into_iter().collect(),
            measured: measured(output),
            cautions: conclusions::warnings(output).into_iter().collect(),
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
            self.losses,
            self.measured,
            self.cautions,
            self.evidence,
        ];
        parts.into_iter().flatten().collect()
    }
}

fn answer(output: &Output, causes: Option<Block>) -> Vec<Block> {
    let blocks = [
        conclusions::invalid(output),
        conclusions::verdicts(output),
        conclusions::expectations(output),
        knees::block(output),
        causes,
    ];
    let compared = comparison::blocks(output).into_iter();
    compared.chain(blocks.into_iter().flatten()).collect()
}

fn measured(output: &Output) -> Vec<Block> {
    let mut blocks: Vec<Block> = tcp::block(output).into_iter().collect();
    blocks.extend(udp::blocks(output));
    blocks.extend(processors(output));
    blocks.extend(forward::blocks(output));
    blocks.extend(device::block(output));
    blocks.extend(benchmarks::blocks(output));
    blocks.extend(conclusions::latency(output));
    if !is_measured(output) {
        blocks.iter_mut().for_each(Block::forget_unknown);
    }
    blocks
}
