// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `ethtool` family (Documentation/networking/ethtool-netlink.rst): the standard statistics, those of pause frames
//! and of forward error correction, the state of link and PHY, the memory of modules, cable tests. The names are those
//! that `ethtool` prints, which the kernel keeps in net/ethtool/stats.c; a driver that does not count something leaves it
//! out.

pub mod cable;
pub mod eeprom;
pub mod fec;
pub mod link_state;
pub mod mse;

use super::attribute::{NESTED, attributes, find, push, unsigned, word};
use super::generic;

/// The family's name.
pub const FAMILY: &str = "ethtool";

/// Counters of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// `eth-phy`, `eth-mac`, `eth-ctrl`, `rmon` or `phydev`.
    pub name: &'static str,
    /// What the driver counts of it.
    pub counters: Vec<(String, u64)>,
}

/// The payload that asks for the standard statistics of the interface of number `index`
/// (`ethtool -S X --groups eth-phy eth-mac eth-ctrl rmon`, Linux 5.13).
#[must_use]
pub fn statistics_request(index: u32) -> Vec<u8> {
    groups_request(index, 4, 0b1111)
}

/// The payload that asks for what the PHY counts (`ethtool -S X --groups phydev`, Linux 6.14). An older kernel refuses
/// the number of the group.
#[must_use]
pub fn phy_request(index: u32) -> Vec<u8> {
    groups_request(index, 5, 0b1_0000)
}

/// Asks for the groups that these bits name.
fn groups_request(index: u32, bits: u32, groups: u32) -> Vec<u8> {
    let mut all = Vec::new();
    push(&mut all, BITSET_NOMASK, &[]);
    push(&mut all, BITSET_SIZE, &bits.to_ne_bytes());
    push(&mut all, BITSET_VALUE, &groups.to_ne_bytes());
    let mut wanted = header(STATS_HEADER, index, 0);
    push(&mut wanted, STATS_GROUPS | NESTED, &all);
    generic::command(STATS_GET, &wanted)
}

/// The groups of which the driver counts something.
#[must_use]
pub fn statistics(payload: &[u8]) -> Vec<Group> {
    let groups = attributes(generic::attributes(payload)).filter(|(kind, _)| *kind == STATS_GROUP);
    groups
        .filter_map(|(_, group)| one_group(group))
        .filter(|group| !group.counters.is_empty())
        .collect()
}

/// The payload that asks for the pause parameters with their statistics (`ethtool -I -a X`, 5.10).
#[must_use]
pub fn pause_request(index: u32) -> Vec<u8> {
    generic::command(PAUSE_GET, &header(PAUSE_HEADER, index, WITH_STATISTICS))
}

/// What the driver counts of pause frames.
#[must_use]
pub fn pause(payload: &[u8]) -> Vec<(&'static str, u64)> {
    let statistics = find(generic::attributes(payload), PAUSE_STATS).unwrap_or(&[]);
    let counter = |(kind, value): (u16, &[u8])| {
        let name = match kind {
            PAUSE_TX => "tx_pause_frames",
            PAUSE_RX => "rx_pause_frames",
            _ => return None,
        };
        Some((name, unsigned(value)?))
    };
    attributes(statistics).filter_map(counter).collect()
}

fn header(kind: u16, index: u32, flags: u32) -> Vec<u8> {
    let mut header = Vec::new();
    push(&mut header, HEADER_INDEX, &index.to_ne_bytes());
    push(&mut header, HEADER_FLAGS, &flags.to_ne_bytes());
    let mut bytes = Vec::new();
    push(&mut bytes, kind | NESTED, &header);
    bytes
}

fn one_group(group: &[u8]) -> Option<Group> {
    let id = find(group, GROUP_ID).and_then(word)? as usize;
    let (name, names) = *GROUPS.get(id)?;
    let mut counters = Vec::new();
    for (kind, value) in attributes(group) {
        match kind {
            GROUP_STAT => counters.extend(attributes(value).filter_map(|(id, value)| {
                let name = names.get(usize::from(id))?;
                Some(((*name).to_owned(), unsigned(value)?))
            })),
            GROUP_HISTOGRAM_RX => counters.extend(bucket("rx", value)),
            GROUP_HISTOGRAM_TX => counters.extend(bucket("tx", value)),
            _ => {}
        }
    }
    Some(Group { name, counters })
}

/// Frames by length, as `ethtool` names them: `rx-etherStatsPkts64to64Octets`.
fn bucket(direction: &str, value: &[u8]) -> Option<(String, u64)> {
    let low = find(value, BUCKET_LOW).and_then(word)?;
    let high = find(value, BUCKET_HIGH).and_then(word)?;
    let count = find(value, BUCKET_VALUE).and_then(unsigned)?;
    Some((
        format!("{direction}-etherStatsPkts{low}to{high}Octets"),
        count,
    ))
}

/// By the kernel's number of the group: its name, and the names of its statistics by number.
const GROUPS: [(&str, &[&str]); 5] = [
    ("eth-phy", &["SymbolErrorDuringCarrier"]),
    ("eth-mac", &MAC),
    (
        "eth-ctrl",
        &[
            "MACControlFramesTransmitted",
            "MACControlFramesReceived",
            "UnsupportedOpcodesReceived",
        ],
    ),
    (
        "rmon",
        &[
            "etherStatsUndersizePkts",
            "etherStatsOversizePkts",
            "etherStatsFragments",
            "etherStatsJabbers",
        ],
    ),
    (
        "phydev",
        &[
            "RxFrames", "RxOctets", "RxErrors", "TxFrames", "TxOctets", "TxErrors",
        ],
    ),
];
/// IEEE 802.3 30.3.1.1.
const MAC: [&str; 22] = [
    "FramesTransmittedOK",
    "SingleCollisionFrames",
    "MultipleCollisionFrames",
    "FramesReceivedOK",
    "FrameCheckSequenceErrors",
    "AlignmentErrors",
    "OctetsTransmittedOK",
    "FramesWithDeferredXmissions",
    "LateCollisions",
    "FramesAbortedDueToXSColls",
    "FramesLostDueToIntMACXmitError",
    "CarrierSenseErrors",
    "OctetsReceivedOK",
    "FramesLostDueToIntMACRcvError",
    "MulticastFramesXmittedOK",
    "BroadcastFramesXmittedOK",
    "FramesWithExcessiveDeferral",
    "MulticastFramesReceivedOK",
    "BroadcastFramesReceivedOK",
    "InRangeLengthErrors",
    "OutOfRangeLengthField",
    "FrameTooLongErrors",
];

/// include/uapi/linux/ethtool_netlink.h
const PAUSE_GET: u8 = 21;
const STATS_GET: u8 = 32;
const HEADER_INDEX: u16 = 1;
const HEADER_FLAGS: u16 = 3;
const WITH_STATISTICS: u32 = 1 << 2;
const BITSET_NOMASK: u16 = 1;
const BITSET_SIZE: u16 = 2;
const BITSET_VALUE: u16 = 4;
const STATS_HEADER: u16 = 2;
const STATS_GROUPS: u16 = 3;
const STATS_GROUP: u16 = 4;
const GROUP_ID: u16 = 2;
const GROUP_STAT: u16 = 4;
const GROUP_HISTOGRAM_RX: u16 = 5;
const GROUP_HISTOGRAM_TX: u16 = 6;
const BUCKET_LOW: u16 = 7;
const BUCKET_HIGH: u16 = 8;
const BUCKET_VALUE: u16 = 9;
const PAUSE_HEADER: u16 = 1;
const PAUSE_STATS: u16 = 5;
const PAUSE_TX: u16 = 2;
const PAUSE_RX: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(id: u16, value: u64) -> Vec<u8> {
        let mut stat = Vec::new();
        push(&mut stat, id, &value.to_ne_bytes());
        stat
    }

    fn group(id: u32, stats: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut group = Vec::new();
        push(&mut group, GROUP_ID, &id.to_ne_bytes());
        for (kind, value) in stats {
            push(&mut group, kind | NESTED, value);
        }
        group
    }

    fn answer(kind: u16, nests: &[Vec<u8>]) -> Vec<u8> {
        let mut body = Vec::new();
        for nest in nests {
            push(&mut body, kind | NESTED, nest);
        }
        generic::command(0, &body)
    }

    #[test]
    fn groups_have_the_names_of_the_standards() {
        let mut bucket = Vec::new();
        push(&mut bucket, BUCKET_LOW, &64_u32.to_ne_bytes());
        push(&mut bucket, BUCKET_HIGH, &64_u32.to_ne_bytes());
        push(&mut bucket, BUCKET_VALUE, &5_u64.to_ne_bytes());
        let mac = group(
            1,
            &[
                (GROUP_STAT, stat(0, 10)),
                (GROUP_STAT, stat(21, 3)),
                (GROUP_STAT, stat(99, 1)),
            ],
        );
        let rmon = group(3, &[(GROUP_HISTOGRAM_RX, bucket), (GROUP_STAT, stat(3, 2))]);
        let phy = group(4, &[(GROUP_STAT, stat(2, 8))]);
        let unknown = group(9, &[(GROUP_STAT, stat(0, 1))]);
        let all = [group(0, &[]), mac, rmon, phy, unknown];
        let groups = statistics(&answer(STATS_GROUP, &all));
        let flat: Vec<_> = groups
            .iter()
            .flat_map(|group| {
                group
                    .counters
                    .iter()
                    .map(|(name, value)| (group.name, name.as_str(), *value))
            })
            .collect();
        let expected = [
            ("eth-mac", "FramesTransmittedOK", 10),
            ("eth-mac", "FrameTooLongErrors", 3),
            ("rmon", "rx-etherStatsPkts64to64Octets", 5),
            ("rmon", "etherStatsJabbers", 2),
            ("phydev", "RxErrors", 8),
        ];
        assert_eq!(flat, expected);
    }

    #[test]
    fn pause_frames_a_driver_does_not_count_are_absent() {
        let mut counted = Vec::new();
        push(&mut counted, PAUSE_RX, &7_u64.to_ne_bytes());
        assert_eq!(
            pause(&answer(PAUSE_STATS, &[counted])),
            [("rx_pause_frames", 7)]
        );
        assert_eq!(pause(&answer(PAUSE_STATS, &[])), []);
    }

    #[test]
    fn requests_name_the_interface() {
        for request in [statistics_request(3), phy_request(3), pause_request(3)] {
            let header = attributes(generic::attributes(&request)).next().unwrap().1;
            assert_eq!(find(header, HEADER_INDEX).and_then(word), Some(3));
        }
    }
}
