// SPDX-License-Identifier: MIT OR Apache-2.0
//! From claims to the ledger's entry: what each stage lost at least and at most, what is left, and
//! who cannot be asked.
//!
//! Always: `Σ lo ≤ lost`, and `Σ lo + unattributed_hi = lost`.

use std::collections::BTreeMap;

use linerate_model::output::{Evidence, LedgerEntry, LinkKind, Protocol, Role, Stage as Entry};

use super::balance::{Balance, Gap};
use super::claim::{Claim, Claims, Kind, moved};
use super::path::Path;
use super::span::Span;
use linerate_knowledge::Stage;

/// What is known of one stage.
#[derive(Debug, Clone)]
struct Tally {
    host: Role,
    interface: Option<String>,
    kind: Kind,
    seen: Span,
    largest: u64,
    evidence: Vec<Evidence>,
}

type Tallies = BTreeMap<Stage, Tally>;

/// The entry of `path`; its test and unit are for the caller to name.
pub(super) fn settle(path: &Path<'_>, mut claims: Claims, balance: &Balance) -> LedgerEntry {
    beyond_counters(path, &mut claims, balance);
    let proven = on_the_wire(path, &claims, balance);
    let mut tallies = tallies(claims);
    tallies.retain(|stage, _| exists(path, *stage));
    if let Some(gap) = proven {
        book_on_the_wire(path, &mut tallies, &gap);
    }
    let exact = tallies.values().filter(|tally| tally.kind == Kind::Exact);
    let claimed: u64 = exact.map(|tally| tally.seen.lo).sum();
    share_out(path.lost, &mut tallies);
    narrow(path.lost, &mut tallies);
    entry(path, tallies, claimed)
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
        claims.add(Claim {
            stage,
            host: path.receiver.role,
            interface: None,
            kind: Kind::Balance,
            seen: gap.seen.without(counted),
            evidence: gap.evidence.clone(),
        });
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
    let evidence = [outward, inward].map(|gap| {
        let link = |one: &&Evidence| one.fact.ends_with("x_packets");
        gap.evidence.iter().find(link).cloned()
    });
    Some(Gap {
        seen: Span::new(path.lost.saturating_sub(elsewhere), path.lost),
        evidence: evidence.into_iter().flatten().collect(),
    })
}

fn book_on_the_wire(path: &Path<'_>, tallies: &mut Tallies, gap: &Gap) {
    let wire = tallies.entry(Stage::Wire).or_insert_with(|| Tally {
        host: path.receiver.role,
        interface: path.receiver.interface.map(str::to_owned),
        kind: Kind::Balance,
        seen: Span::default(),
        largest: 0,
        evidence: Vec::new(),
    });
    if gap.seen.lo > wire.seen.lo || wire.seen.hi == 0 {
        wire.kind = Kind::Balance;
        wire.evidence.extend(gap.evidence.iter().cloned());
    }
    wire.seen = Span::new(wire.seen.lo.max(gap.seen.lo), path.lost);
}

/// Claims of one stage never overlap: they are added.
fn tallies(claims: Claims) -> Tallies {
    let mut tallies = Tallies::new();
    for claim in claims.all {
        match tallies.get_mut(&claim.stage) {
            None => {
                tallies.insert(
                    claim.stage,
                    Tally {
                        host: claim.host,
                        interface: claim.interface,
                        kind: claim.kind,
                        seen: claim.seen,
                        largest: claim.seen.hi,
                        evidence: claim.evidence,
                    },
                );
            }
            Some(tally) => tally.join(claim),
        }
    }
    tallies
}

impl Tally {
    fn join(&mut self, claim: Claim) {
        if claim.seen.hi > self.largest {
            self.largest = claim.seen.hi;
            self.kind = claim.kind;
        }
        self.seen = self.seen.plus(claim.seen);
        self.interface = self.interface.take().or(claim.interface);
        for one in claim.evidence {
            if !self.evidence.contains(&one) {
                self.evidence.push(one);
            }
        }
    }
}

/// No more than was lost, the best evidence first.
fn share_out(lost: u64, tallies: &mut Tallies) {
    let mut left = lost;
    for kind in [Kind::Exact, Kind::Shared, Kind::Balance] {
        for tally in tallies.values_mut().filter(|tally| tally.kind == kind) {
            tally.seen.lo = tally.seen.lo.min(left);
            left -= tally.seen.lo;
        }
    }
}

/// What other stages lost at least was not lost at this one.
fn narrow(lost: u64, tallies: &mut Tallies) {
    let least: u64 = tallies.values().map(|tally| tally.seen.lo).sum();
    for tally in tallies.values_mut() {
        let elsewhere = least - tally.seen.lo;
        tally.seen = tally.seen.at_most(lost - elsewhere);
    }
}

fn entry(path: &Path<'_>, tallies: Tallies, claimed: u64) -> LedgerEntry {
    let least: u64 = tallies.values().map(|tally| tally.seen.lo).sum();
    let most = tallies
        .values()
        .fold(0_u64, |sum, tally| sum.saturating_add(tally.seen.hi));
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let too_many = signed(claimed.saturating_sub(path.lost));
    let seen = |stage: &Stage| exists(path, *stage) && !tallies.contains_key(stage);
    LedgerEntry {
        lost_packets: path.lost,
        blind: STAGES
            .into_iter()
            .filter(seen)
            .map(|stage| stage.word().to_owned())
            .collect(),
        stages: tallies
            .into_iter()
            .map(|(stage, tally)| line(stage, tally))
            .collect(),
        unattributed_lo: signed(path.lost.saturating_sub(most)) - too_many,
        unattributed_hi: signed(path.lost - least),
        ..LedgerEntry::default()
    }
}

/// Where packets died, counters that stood still say nothing more.
fn line(stage: Stage, mut tally: Tally) -> Entry {
    if tally.seen.hi > 0 && tally.evidence.iter().any(moved) {
        tally.evidence.retain(moved);
    }
    Entry {
        stage: stage.word().to_owned(),
        host: tally.host,
        interface: tally.interface,
        lo: tally.seen.lo,
        hi: tally.seen.hi,
        kind: tally.kind.word().to_owned(),
        evidence: tally.evidence,
    }
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

const STAGES: [Stage; 14] = [
    Stage::TxApp,
    Stage::TxSocket,
    Stage::TxIp,
    Stage::TxQdisc,
    Stage::TxRing,
    Stage::TxMac,
    Stage::Wire,
    Stage::RxMac,
    Stage::RxRing,
    Stage::RxXdp,
    Stage::RxSoftnet,
    Stage::RxIp,
    Stage::RxSocket,
    Stage::RxApp,
];
