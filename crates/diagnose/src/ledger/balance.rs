// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses that no counter of drops tells: two counts of what came through, of one host, differ.
//!
//! Each balance stays within one host and its samples, because two hosts are never read at the
//! same moment. Units have to fit, else there is no balance.

use linerate_model::output::{Evidence, IoMode};

use super::claim::evidence;
use super::path::Path;
use super::span::Span;
use crate::evidence::Source;
use linerate_knowledge::{Group, Unit};
use linerate_model::record::Side;

/// What went missing between two counts.
#[derive(Debug, Clone)]
pub(super) struct Gap {
    pub(super) seen: Span,
    pub(super) evidence: Vec<Evidence>,
}

/// The balances of a path, where they can be drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Balance {
    /// From the sockets of the sender to its interface.
    pub(super) outward: Option<Gap>,
    /// From the interface of the receiver to its IP.
    pub(super) inward: Option<Gap>,
    /// Within the receiver's IP: filters, routing, reassembly.
    pub(super) internet: Option<Gap>,
}

pub(super) fn of(path: &Path<'_>) -> Balance {
    Balance {
        outward: outward(path),
        inward: inward(path),
        internet: internet(path),
    }
}

/// Everything that sockets and protocols sent, less what the interface sent. Joined datagrams are
/// counted once by UDP and perhaps more often by the interface: then there is no balance.
fn outward(path: &Path<'_>) -> Option<Gap> {
    if !sent_singly(path) {
        return None;
    }
    let mut account = Account::new(path, Side::Sender);
    account.must(Source::Snmp, "UdpOutDatagrams", 1)?;
    account.must(Source::Snmp, "TcpOutSegs", 1)?;
    account.may(Source::Snmp, "TcpRetransSegs", 1);
    account.may(Source::Snmp, "IcmpOutMsgs", 1);
    account.may(Source::Snmp6, "Udp6OutDatagrams", 1);
    account.may(Source::Snmp6, "Icmp6OutMsgs", 1);
    account.must(Source::Link, "tx_packets", -1)?;
    account.more(more_frames(path)?);
    Some(account.gap(path, 0))
}

fn sent_singly(path: &Path<'_>) -> bool {
    path.test.mode.tx != Some(IoMode::Gso)
}

/// Fragments beyond the first of each datagram.
fn more_frames(path: &Path<'_>) -> Option<i128> {
    if path.fragments == 1 {
        return Some(0);
    }
    Some(i128::from(path.test.sent_packets?) * i128::from(path.fragments - 1))
}

/// What the interface received less what came to IP. Frames of other protocols, such as ARP's, look
/// like losses here.
fn inward(path: &Path<'_>) -> Option<Gap> {
    let mut account = Account::new(path, Side::Receiver);
    account.must(Source::Link, "rx_packets", 1)?;
    let driver = path.receiver.driver;
    let unit = driver.and_then(|driver| driver.counter(Group::Link, "rx_packets"));
    match unit.map(|counter| counter.unit) {
        Some(Unit::Segments) => buffers(&mut account)?,
        Some(Unit::Frames) => packets(&mut account)?,
        _ if path.joined_packets() == Some(0) => buffers(&mut account)?,
        _ => return None,
    }
    Some(account.gap(path, OTHER_PROTOCOLS))
}

fn buffers(account: &mut Account<'_, '_>) -> Option<()> {
    account.must(Source::Snmp, "IpInReceives", -1)?;
    account.may(Source::Snmp6, "Ip6InReceives", -1);
    Some(())
}

fn packets(account: &mut Account<'_, '_>) -> Option<()> {
    for kind in ["NoECTPkts", "ECT1Pkts", "ECT0Pkts", "CEPkts"] {
        account.must(Source::Netstat, &format!("IpExtIn{kind}"), -1)?;
        account.may(Source::Snmp6, &format!("Ip6In{kind}"), -1);
    }
    Some(())
}

/// What IP received less what it delivered or forwarded, and less the fragments that became a whole.
/// Wrong checksums were made elsewhere.
fn internet(path: &Path<'_>) -> Option<Gap> {
    let mut account = Account::new(path, Side::Receiver);
    let (source, receives) = path.ip("InReceives");
    account.must(source, &receives, 1)?;
    account.must(source, &path.ip("InDelivers").1, -1)?;
    let forwarded = if path.test.af == 6 {
        "OutForwDatagrams"
    } else {
        "ForwDatagrams"
    };
    account.may(source, &path.ip(forwarded).1, -1);
    account.may(source, &path.ip("ReasmReqds").1, -1);
    account.may(source, &path.ip("ReasmOKs").1, 1);
    if path.test.af != 6 {
        account.may(Source::Netstat, "IpExtInCsumErrors", -1);
    }
    let received = path.counted(Side::Receiver, source, &receives)?;
    let others = others(path, received.grew.at_least, account.sum);
    Some(account.gap(path, others))
}

/// How many of those that are missing were not of the test, in proportion to what IP received.
fn others(path: &Path<'_>, received: u64, missing: i128) -> u64 {
    let test = path.test;
    let Some(arrived) = test.received_packets else {
        return 0;
    };
    let more = [
        test.duplicate_packets,
        test.socket_drops,
        test.corrupt_packets,
        test.late_packets,
    ];
    let more: u128 = more.into_iter().flatten().map(u128::from).sum();
    let own = (u128::from(arrived) + more) * u128::from(path.fragments);
    let missing = u128::try_from(missing).unwrap_or(0);
    let received = u128::from(received);
    let foreign = received.saturating_sub(own).saturating_sub(missing);
    let share = (missing * foreign).div_ceil(received.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// A sum of counters of one side, those that left taken away.
struct Account<'p, 'r> {
    path: &'p Path<'r>,
    side: Side,
    sum: i128,
    background: Option<i128>,
    idle: i128,
    evidence: Vec<Evidence>,
}

impl<'p, 'r> Account<'p, 'r> {
    const fn new(path: &'p Path<'r>, side: Side) -> Self {
        Self {
            path,
            side,
            sum: 0,
            background: Some(0),
            idle: 0,
            evidence: Vec::new(),
        }
    }

    /// A counter without which there is no balance.
    fn must(&mut self, source: Source, name: &str, sign: i128) -> Option<()> {
        let moved = self.path.counted(self.side, source, name)?;
        let grew = moved.grew.at_least;
        self.sum += sign * i128::from(grew);
        let sums = self.background.zip(moved.background);
        self.background = sums.map(|(sum, own)| sum + sign * i128::from(own));
        let idle = self.path.idle(self.side, source, name).unwrap_or(0);
        self.idle += sign * i128::from(idle);
        self.evidence
            .push(evidence(name, grew, "packets", source.text()));
        Some(())
    }

    /// A counter that older kernels do not have.
    fn may(&mut self, source: Source, name: &str, sign: i128) {
        let kept = self.evidence.len();
        if self.must(source, name, sign).is_some() {
            let unmoved = |one: &Evidence| one.value.number() == Some(0.0);
            if self.evidence.last().is_some_and(unmoved) {
                self.evidence.truncate(kept);
            }
        }
    }

    const fn more(&mut self, packets: i128) {
        self.sum += packets;
    }

    /// What others usually miss is at most in it; what they usually bring may hide as much. So few
    /// that a frame between two readings explains them are not projected onto the load.
    fn gap(self, path: &Path<'_>, others: u64) -> Gap {
        let usual = if self.idle.abs() > BETWEEN_READINGS {
            self.background.unwrap_or(0)
        } else {
            self.idle.max(0)
        };
        let count = |packets: i128| u64::try_from(packets.max(0)).unwrap_or(u64::MAX);
        let hidden = -usual.min(0);
        let hi = count(self.sum + hidden);
        let less = usual.max(i128::from(others)) + i128::from(path.lost_by_others);
        let lo = match self.background {
            Some(_) => count(self.sum - less),
            None => 0,
        };
        let end = path.end(self.side);
        Gap {
            seen: Span::new(lo, hi)
                .each_up_to(end.joined)
                .pieces_of(path.fragments),
            evidence: self.evidence,
        }
    }
}

/// Frames that pass while one list has been read and the next has not.
const BETWEEN_READINGS: i128 = 2;
/// Frames that are not IP's and that a test itself causes: address resolution, multicast reports.
const OTHER_PROTOCOLS: u64 = 8;
