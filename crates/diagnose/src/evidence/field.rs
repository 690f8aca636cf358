// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drops of a driver without a table: what the names of include/uapi/linux/if_link.h promise, and which of them may be
//! the same packets.

use super::count::is_of_side;
use super::{Count, Moved, Place, Source};
use linerate_knowledge::{Stage, Unit};
use linerate_model::record::Side;

/// The fields of one side that were read. Nobody says which of them contain each other: together the errors are no more
/// than the field of their sum.
pub(super) fn drops(place: &Place<'_, '_>, side: Side) -> Vec<Count> {
    let of_side = FIELDS
        .iter()
        .filter(|(stage, _, _)| is_of_side(*stage, side));
    let mut counts: Vec<Count> = of_side
        .filter_map(|(stage, words, name)| {
            let (source, moved) = read(place, name)?;
            Some(Count {
                name: (*name).to_owned(),
                source,
                stage: *stage,
                unit: Unit::Frames,
                words: words.iter().map(|word| (*word).to_owned()).collect(),
                moved,
                counted: moved.grew.at_least,
                general: words.len() > 1,
                shared: true,
            })
        })
        .collect();
    within_their_sum(&mut counts);
    counts
}

pub(super) fn read(place: &Place<'_, '_>, name: &str) -> Option<(Source, Moved)> {
    let of_link = place
        .moved(Source::Link, name)
        .map(|moved| (Source::Link, moved));
    of_link.or_else(|| {
        let (_, own) = PROC.iter().find(|(field, _)| *field == name)?;
        Some((Source::ProcDev, place.moved(Source::ProcDev, own)?))
    })
}

fn within_their_sum(counts: &mut [Count]) {
    let mut sums = counts.iter().filter(|count| count.general);
    let Some(mut left) = sums.next().map(|sum| sum.counted).filter(|sum| *sum > 0) else {
        return;
    };
    for part in counts.iter_mut().filter(|count| count.words.len() == 1) {
        part.moved = part.moved.capped(left);
        left -= part.moved.grew.at_least;
    }
}

const FIELDS: [(Stage, &[&str], &str); 13] = [
    (Stage::RxMac, &["fifo"], "rx_fifo_errors"),
    (Stage::RxMac, &["fifo"], "rx_over_errors"),
    (Stage::RxMac, &["fifo"], "rx_missed_errors"),
    (Stage::RxMac, &["length"], "rx_length_errors"),
    (Stage::Wire, &["crc"], "rx_crc_errors"),
    (Stage::Wire, &["frame"], "rx_frame_errors"),
    (
        Stage::RxMac,
        &["fifo", "length", "crc", "frame"],
        "rx_errors",
    ),
    (Stage::RxRing, &[], "rx_dropped"),
    (Stage::TxMac, &["aborted"], "tx_aborted_errors"),
    (Stage::TxMac, &["carrier"], "tx_carrier_errors"),
    (Stage::TxMac, &["fifo"], "tx_fifo_errors"),
    (Stage::TxMac, &["aborted", "carrier", "fifo"], "tx_errors"),
    (Stage::TxRing, &[], "tx_dropped"),
];

/// Link fields and what `/proc/net/dev` calls the sums that they are part of (dev_seq_printf_stats,
/// net/core/net-procfs.c).
const PROC: [(&str, &str); 7] = [
    ("rx_errors", "rx_errs"),
    ("rx_dropped", "rx_drop"),
    ("rx_fifo_errors", "rx_fifo"),
    ("rx_frame_errors", "rx_frame"),
    ("tx_errors", "tx_errs"),
    ("tx_dropped", "tx_drop"),
    ("tx_fifo_errors", "tx_fifo"),
];
