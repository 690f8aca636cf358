// SPDX-License-Identifier: MIT OR Apache-2.0
//! `perf top` and `perf report --stdio`: the share of samples of each function, in percent.

use std::collections::BTreeMap;

use super::number::decimal;
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    row(lines.get(0)?)?;
    let found = lines.run(0, |line| row(line).is_some() || is_branch(line));
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for (symbol, percent) in found.iter().filter_map(|(_, line)| row(line)) {
        // A report has a row for each program that was in the function.
        *shares.entry(symbol).or_default() += percent;
    }
    let values = shares
        .into_iter()
        .map(|(symbol, percent)| (symbol.to_owned(), format!("{percent:.2}%")));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "perf",
        content: vec![Settings::new("perf top", None, values.collect())],
    })
}

/// `  23.45%  [kernel]  [k] nft_do_chain`; of `Children` and `Self` the second is the function's own.
fn row(line: &str) -> Option<(&str, f64)> {
    if line.len() > 400 {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    let shares = words.iter().map_while(|word| percent(word));
    let own = shares.take(2).last()?;
    let mark = words.iter().position(|word| SPACES.contains(word))?;
    let symbol = words.get(mark + 1)?;
    (own <= 100.0).then_some((*symbol, own))
}

fn percent(word: &str) -> Option<f64> {
    decimal(word.strip_suffix('%')?).filter(|percent| *percent >= 0.0)
}

/// The call graph below a row: `|--12.00%--nf_hook_slow`, `---__softirqentry_text_start`.
fn is_branch(line: &str) -> bool {
    let line = line.trim_start();
    line.len() < 400 && (line.starts_with('|') || line.starts_with("--"))
}

/// The owner of the code: kernel, program, guest, hypervisor.
const SPACES: [&str; 5] = ["[k]", "[.]", "[g]", "[u]", "[H]"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn shares(text: &str) -> Vec<(String, String)> {
        match block_of(text, read).map(|block| block.content) {
            Some(content) => match content.into_iter().next() {
                Some(Content::Settings(settings)) => settings.values,
                other => panic!("{other:?}"),
            },
            None => Vec::new(),
        }
    }

    #[test]
    fn top_and_report() {
        let top =
            shares("  31.20%  [kernel]       [k] nft_do_chain\n   4.00%  libc.so.6  [.] memcpy\n");
        assert_eq!(top[1], ("nft_do_chain".to_owned(), "31.20%".to_owned()));
        let report = shares(
            "    40.00%     7.50%  ksoftirqd/0  [kernel.kallsyms]  [k] v7_dma_inv_range\n            |\n            ---fec_enet_rx_napi\n    12.00%     2.50%  iperf  [kernel.kallsyms]  [k] v7_dma_inv_range\n",
        );
        assert_eq!(
            report,
            [("v7_dma_inv_range".to_owned(), "10.00%".to_owned())]
        );
    }

    #[test]
    fn a_percentage_alone_is_no_profile() {
        for line in [
            "12.5% of the packets were lost",
            "3 [k] x",
            "100.1% a [k] b",
            "5.0% perf [k]",
        ] {
            assert_eq!(shares(line), [], "{line}");
        }
    }
}
