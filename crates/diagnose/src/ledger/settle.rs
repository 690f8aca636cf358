// SPDX-License-Identifier: MIT OR Apache-2.0
//! From claims to the ledger's entry: what each stage lost at least and at most, what is left, and
//! who cannot be asked.

use linerate_model::output::{Evidence, LedgerEntry, LinkKind, Protocol};

use super::balance::{Balance, Gap};
use super::claim::{Claim, Claims, Kind};
use super::path::Path;
use super::span::Span;
use super::tally::{Tallies, Tally, signed};
use linerate_knowledge::Stage;

/// The entry of `path`; the caller sets its test and unit.
pub(super) fn settle(path: &Path<'_>, mut claims: Claims, balance: &Balance) -> LedgerEntry {
    beyond_counters(path, &mut claims, balance);
    let proven = on_the_wire(path, &claims, balance);
    let mut tallies = Tallies::of(claims.all);
    tallies.0.retain(|stage, _| exists(path, *stage));
    if let Some(gap) = proven {
        book_on_the_wire(path, &mut tallies, &gap);
    }
    let excess = tallies.exact().saturating_sub(path.lost);
    tallies.doubt(excess);
    let is_blind = |stage: &Stage| exists(path, *stage) && !tallies.0.contains_key(stage);
    let blind = Stage::ALL.iter().filter(|stage| is_blind(stage));
    let blind = blind.map(|stage| stage.word().to_owned()).collect();
    let entry = tallies.entry(path.lost);
    LedgerEntry {
        unattributed_lo: entry.unattributed_lo - signed(excess),
        blind,
        ..entry
    }
}

/// What the balances find beyond the counters of drops of the same stage.
fn beyond_counters(path: &Path<'_>, claims: &mut Claims, balance: &Balance) {
    let gaps = [
        (Stage::RxSoftnet, &balance.inward),
        (Stage::RxIp, &balance.internet),
    ];
    for (stage, gap) in gaps {
        let Some(gap) = gap else { continue };
        let counted = claims.all.iter().filter(|claim| claim.stage == stage);
        let counted = counted.fold(Span::default(), |sum, claim| sum.plus(claim.seen));
        let seen = gap.seen.without(counted);
        claims.add(
            path.receiver
                .claim(stage, Kind::Balance, seen, gap.evidence.clone()),
        );
    }
}

/// What must have died between the two interfaces, because every other place is watched and did not
/// lose it. `None` where a place is not watched.
fn on_the_wire(path: &Path<'_>, claims: &Claims, balance: &Balance) -> Option<Gap> {
    let has = |stage: Stage| claims.all.iter().any(|claim| claim.stage == stage);
    let most = |stages: &[Stage]| -> u64 {
        let at = |claim: &&Claim| stages.contains(&claim.stage);
        let all = claims.all.iter().filter(at);
        all.fold(0, |sum: u64, claim| sum.saturating_add(claim.seen.hi))
    };
    let outward = balance.outward.as_ref()?;
    let (inward, internet) = (balance.inward.as_ref()?, balance.internet.as_ref()?);
    let between = [Stage::TxMac, Stage::RxMac, Stage::RxRing];
    let socket = match path.test.protocol {
        Protocol::Udp => claims.is_complete(Stage::RxSocket),
        Protocol::Tcp => has(Stage::RxSocket),
    };
    let watched = socket
        && exists(path, Stage::Wire)
        && between
            .into_iter()
            .filter(|stage| exists(path, *stage))
            .all(has);
    if !watched {
        return None;
    }
    let before = most(&BEFORE).max(outward.seen.hi);
    let elsewhere = [
        before,
        most(&between),
        most(&[Stage::RxXdp]),
        most(&[Stage::RxSoftnet]).max(inward.seen.hi),
        most(&[Stage::RxIp]).max(internet.seen.hi),
        most(&[Stage::RxSocket, Stage::RxApp]),
    ];
    let elsewhere = elsewhere.into_iter().fold(0, u64::saturating_add);
    Some(Gap {
        seen: Span::new(path.lost.saturating_sub(elsewhere), path.lost),
        evidence: left_and_arrived(outward, inward),
    })
}

/// What left one interface and arrived at the other. Two hosts are not read at the same moment: where as much or more
/// arrived, the two counts show no loss.
fn left_and_arrived(outward: &Gap, inward: &Gap) -> Vec<Evidence> {
    let counted = [outward, inward].map(|gap| {
        let link = |one: &&Evidence| one.fact.ends_with("x_packets");
        gap.evidence.iter().find(link).cloned()
    });
    match &counted {
        [Some(left), Some(arrived)] if left.value.number() > arrived.value.number() => {
            counted.into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

fn book_on_the_wire(path: &Path<'_>, tallies: &mut Tallies<Stage>, gap: &Gap) {
    let receiver = &path.receiver;
    let none = || {
        Tally::new(
            receiver.role,
            receiver.interface.map(str::to_owned),
            Kind::Balance,
        )
    };
    let wire = tallies.0.entry(Stage::Wire).or_insert_with(none);
    if gap.seen.lo > wire.seen.lo || wire.seen.hi == 0 {
        wire.kind = Kind::Balance;
        wire.evidence.extend(gap.evidence.iter().cloned());
    }
    wire.seen = Span::new(wire.seen.lo.max(gap.seen.lo), path.lost);
}

/// Memory between two hosts has no MAC; the loopback has no link at all.
fn exists(path: &Path<'_>, stage: Stage) -> bool {
    match stage {
        Stage::TxMac | Stage::RxMac => path.has_mac(),
        Stage::TxRing | Stage::Wire | Stage::RxRing | Stage::RxXdp => {
            path.test.link_kind != Some(LinkKind::Loopback)
        }
        // TCP keeps what it has not seen acknowledged, and acknowledges only what it keeps.
        Stage::TxApp | Stage::TxSocket | Stage::RxApp => path.test.protocol == Protocol::Udp,
        _ => true,
    }
}

const BEFORE: [Stage; 5] = [
    Stage::TxApp,
    Stage::TxSocket,
    Stage::TxIp,
    Stage::TxQdisc,
    Stage::TxRing,
];
