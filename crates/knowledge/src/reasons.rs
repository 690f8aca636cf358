// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stage at which the kernel freed a packet, from the drop reason of `skb:kfree_skb`. A reason
//! that is not in the table is unknown, not harmless.

use std::sync::LazyLock;

use super::parse::sources;
use super::raw::Word;
use super::{Mistake, Source, Stage};
use crate::keys;
use crate::mistake::Mistakes;
use crate::packed;
use crate::toml_table;

/// The meaning of a drop reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonStage {
    /// Dropped at one of these stages, the likeliest first. Never empty.
    Lost(&'static [Stage]),
    /// Nothing was lost: the data was there already, or the connection ended.
    Benign,
    /// A listener's copy was dropped, not the packet.
    Observer,
    /// Dropped, at an unknown stage.
    Unknown,
}

impl ReasonStage {
    /// Returns the stage on a host that `sends` the packets, or receives them; none if nothing was
    /// lost or the stage is unknown.
    #[must_use]
    pub fn on(self, sends: bool) -> Option<Stage> {
        let Self::Lost(stages) = self else {
            return None;
        };
        let fits = |stage: &&Stage| stage.word().starts_with("tx-") == sends;
        stages.iter().find(fits).or(stages.first()).copied()
    }
}

/// Returns the meaning of the kernel's `reason`, with or without `SKB_DROP_REASON_`.
#[must_use]
pub fn stage_of(reason: &str) -> ReasonStage {
    let name = reason.strip_prefix("SKB_DROP_REASON_").unwrap_or(reason);
    let known = REASONS.iter().find(|r| r.name == name);
    match known.map(|r| (&r.kind, &r.stages)) {
        Some((Kind::Lost, stages)) => ReasonStage::Lost(stages),
        Some((Kind::Benign, _)) => ReasonStage::Benign,
        Some((Kind::Observer, _)) => ReasonStage::Observer,
        Some((Kind::Unknown, _)) | None => ReasonStage::Unknown,
    }
}

/// One name of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The kernel's name, without `SKB_DROP_REASON_`.
    pub name: String,
    kind: Kind,
    stages: Vec<Stage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lost,
    Benign,
    Observer,
    Unknown,
}

/// Reads the table `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_reasons(file: &str, text: &str) -> Result<Vec<Reason>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let mut reasons = Vec::new();
        for entry in &raw.reason {
            understand(entry, &mut reasons, mistakes);
        }
        reasons
    })
}

fn understand(raw: &RawReason, reasons: &mut Vec<Reason>, mistakes: &mut Mistakes<'_>) {
    sources(&raw.source, mistakes);
    let stages = raw.stages.iter();
    let stages: Vec<Stage> = stages
        .filter_map(|w| mistakes.word("stages", w, Stage::of_word, Stage::WORDS))
        .collect();
    let kind = kind(raw);
    for name in &raw.names {
        let at = name.span().start;
        let wrong = if reasons.iter().any(|r| r.name == *name.get_ref()) {
            Some((
                format!("`{}` is listed twice", name.get_ref()),
                "each name once",
            ))
        } else if kind.is_none() {
            Some(("what it means is not clear".to_owned(), ONE_OF))
        } else if raw.source.is_empty() {
            Some(("`source` is empty".to_owned(), Source::FORM))
        } else {
            None
        };
        if let Some((wrong, allowed)) = wrong {
            mistakes.at(at, wrong, allowed);
        }
        reasons.push(Reason {
            name: name.get_ref().clone(),
            kind: kind.unwrap_or(Kind::Unknown),
            stages: stages.clone(),
        });
    }
}

/// None unless exactly one of the four is said.
fn kind(raw: &RawReason) -> Option<Kind> {
    match (raw.stages.is_empty(), raw.benign, raw.observer, raw.unknown) {
        (false, false, false, false) => Some(Kind::Lost),
        (true, true, false, false) => Some(Kind::Benign),
        (true, false, true, false) => Some(Kind::Observer),
        (true, false, false, true) => Some(Kind::Unknown),
        _ => None,
    }
}

toml_table! {
    RawFile {
        #[expect(dead_code, reason = "names the kernel that was read")]
        kernel: String = need,
        reason: Vec<RawReason> = or_default,
    }
}

toml_table! {
    RawReason {
        stages: Vec<Word> = or_default,
        benign: bool = or_default,
        observer: bool = or_default,
        unknown: bool = or_default,
        names: Vec<Word> = need,
        source: Vec<Word> = need,
    }
}

static REASONS: LazyLock<Vec<Reason>> = LazyLock::new(|| {
    let files = packed::REASONS.unpack();
    let parsed = files.iter().map(|(file, text)| parse_reasons(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

const ONE_OF: &str = "exactly one of stages = […], benign = true, observer = true, unknown = true";

#[cfg(test)]
mod tests {
    use super::{ReasonStage, Stage, parse_reasons, stage_of};

    #[test]
    fn a_packet_is_where_the_reason_says() {
        let at = |name| stage_of(name).on(false);
        assert_eq!(at("SOCKET_RCVBUFF"), Some(Stage::RxSocket));
        assert_eq!(at("SKB_DROP_REASON_QDISC_DROP"), Some(Stage::TxQdisc));
        assert_eq!(at("CPU_BACKLOG"), Some(Stage::RxSoftnet));
        assert_eq!(at("XDP"), Some(Stage::RxXdp));
    }

    #[test]
    fn the_same_filter_is_on_the_way_out_at_the_sender() {
        let filter = stage_of("NETFILTER_DROP");
        assert_eq!(filter.on(true), Some(Stage::TxIp));
        assert_eq!(filter.on(false), Some(Stage::RxIp));
        assert_eq!(stage_of("CPU_BACKLOG").on(true), Some(Stage::RxSoftnet));
    }

    #[test]
    fn what_is_no_loss_and_what_is_unknown_stay_apart() {
        assert_eq!(stage_of("TCP_OFOMERGE"), ReasonStage::Benign);
        assert_eq!(stage_of("PACKET_SOCK_ERROR"), ReasonStage::Observer);
        assert_eq!(stage_of("NOT_SPECIFIED"), ReasonStage::Unknown);
        assert_eq!(stage_of("OF_A_KERNEL_TO_COME"), ReasonStage::Unknown);
        assert_eq!(stage_of("NOT_SPECIFIED").on(true), None);
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let text = "kernel = \"6.12\"\n[[reason]]\nstages = [\"rx\"]\nnames = [\"A\"]\n\
                    source = [\"recall\"]\n[[reason]]\nbenign = true\nunknown = true\n\
                    names = [\"A\", \"B\"]\nsource = [\"somewhere\"]\n";
        let found = parse_reasons("r.toml", text).unwrap_err();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found[0].starts_with("r.toml:3: `stages` cannot be `rx`"));
        assert!(found[1].starts_with("r.toml:10: `somewhere` gives no place"));
        assert!(found[2].starts_with("r.toml:9: `A` is listed twice"));
        assert!(found[3].starts_with("r.toml:9: what it means"), "{found:?}");
        assert_eq!(found.len(), 4);
    }
}
