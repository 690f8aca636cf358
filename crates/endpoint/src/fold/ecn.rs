// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit congestion notification: what was requested and negotiated, and what arrived.

use std::collections::BTreeMap;

use linerate_linux::tcp::{OPTION_ECN, OPTION_ECN_SEEN, field_name};
use linerate_model::order::Gather as _;
use linerate_model::output::{Arrived, Codepoint, Ecn};

use super::{Fold, Pair, StreamAccount};

impl Fold<'_> {
    /// What is known of it; `None` if nothing is.
    pub(super) fn ecn(&self) -> Option<Ecn> {
        let ecn = match self.udp() {
            true => self.of_datagrams(),
            false => self.of_segments(),
        };
        (ecn != Ecn::default()).then_some(ecn)
    }

    fn of_datagrams(&self) -> Ecn {
        let requested = self.measured.plan.tos_byte();
        Ecn {
            requested: requested.map(Codepoint::of_tos),
            arrived: self.rx().filter_map(|rx| rx.ecn).reduce(both),
            ..Ecn::default()
        }
    }

    fn of_segments(&self) -> Ecn {
        let senders = || self.pairs.iter().filter_map(Pair::sender);
        let receivers = self.pairs.iter().filter_map(Pair::receiver);
        let sum = |name| {
            senders()
                .filter_map(|of| of.tcp_info.get(name).copied())
                .reduce(u64::saturating_add)
        };
        Ecn {
            negotiated: have(senders(), OPTION_ECN).reduce(|all, one| all && one),
            ect_seen: have(receivers, OPTION_ECN_SEEN).reduce(|any, one| any || one),
            delivered_segments: sum("tcpi_delivered"),
            delivered_ce_segments: sum("tcpi_delivered_ce"),
            ..Ecn::default()
        }
    }
}

impl<'a> Pair<'a> {
    fn sender(&self) -> Option<&'a StreamAccount> {
        self.side(|stream| stream.tx.is_some())
    }

    fn receiver(&self) -> Option<&'a StreamAccount> {
        self.side(|stream| stream.rx.is_some())
    }

    fn side(&self, is_it: fn(&StreamAccount) -> bool) -> Option<&'a StreamAccount> {
        let both = [self.local, self.remote];
        both.into_iter().flatten().find(|stream| is_it(stream))
    }

    /// What a side knows of the connection; of a far side only what a kernel has.
    pub(super) fn tcp_info(&self, is_it: fn(&StreamAccount) -> bool) -> BTreeMap<String, u64> {
        let all = self.side(is_it).into_iter().flat_map(|of| &of.tcp_info);
        let known = all.filter_map(|(name, value)| Some((field_name(name)?.to_owned(), *value)));
        known.gather()
    }
}

/// Whether the option is on, in each connection of which it is known.
fn have<'a>(
    sides: impl Iterator<Item = &'a StreamAccount>,
    option: u64,
) -> impl Iterator<Item = bool> {
    let options = sides.filter_map(|side| side.tcp_info.get("tcpi_options"));
    options.map(move |options| options & option != 0)
}

fn both(one: Arrived, other: Arrived) -> Arrived {
    Arrived {
        not_ect_packets: one.not_ect_packets.saturating_add(other.not_ect_packets),
        ect1_packets: one.ect1_packets.saturating_add(other.ect1_packets),
        ect0_packets: one.ect0_packets.saturating_add(other.ect0_packets),
        ce_packets: one.ce_packets.saturating_add(other.ce_packets),
    }
}
