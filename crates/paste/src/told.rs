// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sentences say of a machine that no counter in the text shows: a hub, a busy graphics unit, a known fault of the
//! chip. It is what somebody wrote, and is kept as that.

use crate::text::{Content, Settings};

/// The source of such settings; the key is the symptom, the value how many sentences name it.
pub(super) const SOURCE: &str = "told";

/// The symptoms that a paragraph tells of.
pub(super) fn read(paragraph: &str) -> Option<Content> {
    let lower = paragraph.to_lowercase();
    let sentences: Vec<&str> = lower
        .split(['.', ';', '!'])
        .filter(|part| part.len() < SENTENCE_MAX)
        .collect();
    let count = |words: &Words| {
        let says = |from: usize| {
            let part = sentences[from..].iter().take(SENTENCES).copied();
            let part: String = part.collect::<Vec<_>>().join(".");
            words
                .iter()
                .all(|any| any.iter().any(|word| part.contains(word)))
        };
        (0..sentences.len()).filter(|from| says(*from)).count()
    };
    let told = SYMPTOMS.iter().map(|(name, words)| (name, count(words)));
    let values: Vec<(String, String)> = told
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| ((*name).to_owned(), count.to_string()))
        .collect();
    (!values.is_empty()).then(|| {
        Content::Settings(Settings {
            source: SOURCE.to_owned(),
            interface: None,
            values,
        })
    })
}

/// Of each list one word has to stand in the same two sentences.
type Words = &'static [&'static [&'static str]];

/// In small letters.
const SYMPTOMS: &[(&str, Words)] = &[
    (
        "hub",
        &[
            &["half duplex", "half-duplex"],
            &["hub"],
            &["collision", "using", "test"],
        ],
    ),
    (
        "low_rate_loss",
        &[
            &["loss", "lost", "drops"],
            &["low data rate", "low rate", "any rate", "slow rate"],
        ],
    ),
    (
        "graphics",
        &[
            &["gpu", "graphics unit", "opengl", "3d demo"],
            &[
                "loss", "lost", "issue", "problem", "mbps", "mbit", "slower", "memory",
            ],
        ],
    ),
    (
        "capture",
        &[
            &["packet_mmap", "wireshark", "tcpdump", "packet capture"],
            &["reduce", "slow", "drop", "down to"],
        ],
    ),
    (
        "no_link",
        &[
            &["no link", "link does not come", "link up with"],
            &["switch", "cable", "device"],
        ],
    ),
    (
        "no_pause_sent",
        &[
            &["pause frame"],
            &[
                "not sent",
                "not send",
                "not increment",
                "stands still",
                "never sent",
            ],
        ],
    ),
    ("status_fifo", &[&["err005783"]]),
    ("mac_ceiling", &[&["err004512"]]),
    (
        "short_checksum",
        &[
            &["checksum"],
            &[
                "less than 64",
                "64-byte",
                "64 byte",
                "padded",
                "short packet",
            ],
            &["fail", "not be checksummed", "wrong", "broken"],
        ],
    ),
    (
        "zero_checksum",
        &[
            &["checksum"],
            &["udp"],
            &[
                "0xffff",
                "zero checksum",
                "value of 0",
                "checksum of zero",
                "comes out as 0",
            ],
        ],
    ),
    (
        "iommu",
        &[&["iommu"], &["passthrough", "pass-through", "translat"]],
    ),
    (
        "group_scheduling",
        &[&["fair_group_sched", "group scheduling"]],
    ),
    (
        "fast_route",
        &[
            &["netfast", "fastroute", "fast path", "flow offload"],
            &["increase", "faster", "more", "%"],
        ],
    ),
    (
        "interrupt_each",
        &[
            &["interrupt"],
            &["every packet", "each packet", "per packet", "for a packet"],
        ],
    ),
    (
        "one_way_only",
        &[
            &["static ip", "static address"],
            &["parameters", "settings", "values"],
            &["dhcp"],
        ],
    ),
    (
        "few_percent",
        &[
            &[
                "1-2%",
                "1 to 2 %",
                "1 or 2 percent",
                "2% difference",
                "3% better",
            ],
            &["difference", "gain", "better", "worth"],
        ],
    ),
    (
        "both_ways_alike",
        &[
            &["bidirectional", "both directions", "both ways"],
            &["unidirectional", "one direction", "one way"],
            &["dissimilar", "aggregate", "in total", "together"],
        ],
    ),
    (
        "newer_driver",
        &[
            &["driver"],
            &["chip"],
            &[
                "better performance",
                "doubled",
                "twice",
                "makes use",
                "take advantage",
            ],
        ],
    ),
    (
        "coalescing",
        &[
            &["coalesc", "bundle"],
            &["single interrupt", "one interrupt", "fewer interrupts"],
        ],
    ),
    (
        "pcie_card",
        &[
            &["pcie", "pci-e", "pci express"],
            &["ethernet", "network card", "gigabit card"],
            &["similar", "peak", "only", "no more"],
            &["mbit", "mbps", "gbit", "gbps"],
        ],
    ),
    (
        "joined_frames",
        &[
            &["fifo"],
            &["truncat", "extra long", "over-long", "overlong"],
        ],
    ),
    (
        "copy_threshold",
        &[
            &["bcopy", "copybreak", "dvma", "copies", "copied"],
            &["threshold"],
        ],
    ),
    (
        "board_wiring",
        &[
            &["rgmii"],
            &["phy"],
            &["must use", "break out", "breaks out", "wired", "brings out"],
        ],
    ),
    (
        "little_memory",
        &[
            &["free ram", "free memory", "less memory", "more memory"],
            &["mbps", "mbit", "performance", "throughput"],
        ],
    ),
];

const SENTENCE_MAX: usize = 1000;
/// A symptom and its circumstances may stand in neighbouring sentences.
const SENTENCES: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_and_what_is_not() {
        let named = |text: &str| match read(text) {
            Some(Content::Settings(settings)) => {
                settings.values.into_iter().map(|(name, _)| name).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(
            named("I test with a 10 Mbit half duplex hub. Collisions are lost."),
            ["hub"]
        );
        assert_eq!(named("The hub is fine."), Vec::<String>::new());
        assert_eq!(
            named(
                "The MAC's sum is wrong for what is less than 64 bytes: the checksum engine fails"
            ),
            ["short_checksum"]
        );
        assert_eq!(named("A checksum is computed."), Vec::<String>::new());
        assert_eq!(
            named("The board brings out RGMII only, so this PHY cannot work"),
            ["board_wiring"]
        );
        for unsaid in [
            "The phy-mode of this board is rgmii-id.",
            "Both directions together are what I want to know.",
            "The driver of this chip is in the kernel.",
            "The FIFO overflows.",
        ] {
            assert_eq!(named(unsaid), Vec::<String>::new(), "{unsaid}");
        }
    }
}
