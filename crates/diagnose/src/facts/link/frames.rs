// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that arrived broken.

use crate::facts::Facts;
use crate::facts::counted::{Counted, Place};
use crate::knowledge::Group;

pub(super) fn collect(place: &Place<'_>, facts: &mut Facts) {
    place.add_counted(
        facts,
        "rx_length_errors",
        "frames",
        link(place, "rx_length_errors"),
    );
}

/// A link counter, unless this driver never fills it.
fn link(place: &Place<'_>, name: &str) -> Option<Counted> {
    let blind = place
        .table()
        .is_some_and(|table| table.is_blind(Group::Link, name));
    place
        .of_interface("rtnl_link_stats64", name)
        .filter(|_| !blind)
}
