// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test as the ledger sees it: its two ends, what each can count, and how counters' units
//! relate to its packets.

use linerate_model::output::{Evidence, IoMode, LinkKind, Protocol, Role, Test};

use super::claim::{Claim, Kind};
use super::span::Span;
use crate::evidence::{self, Extent, Moved, Place, Source};
use crate::facts::signal_quality;
use linerate_knowledge::{Driver, Stage};
use linerate_model::record::Side;

/// One direction of one test.
#[derive(Debug)]
pub(super) struct Path<'r> {
    pub(super) test: &'r Test,
    /// To be explained.
    pub(super) lost: u64,
    pub(super) sender: End<'r>,
    pub(super) receiver: End<'r>,
    /// Frames of one datagram.
    pub(super) fragments: u64,
    /// Lost by other tests that the same counters may have seen.
    pub(super) lost_by_others: u64,
    /// The same, of counters of the whole machine.
    lost_on_machine: u64,
}

/// One end.
#[derive(Debug)]
pub(super) struct End<'r> {
    pub(super) role: Role,
    pub(super) interface: Option<&'r str>,
    /// Where its interface's counters are read.
    pub(super) place: Place<'r, 'r>,
    pub(super) driver: Option<&'static Driver>,
    /// Whether its program counts what the kernel really took or gave.
    pub(super) exact: bool,
    /// How many packets of the test the stack may have handled as one.
    pub(super) joined: u64,
    pub(super) mtu_bytes: Option<u32>,
    /// The index of the signal that its PHY receives, and the best one.
    pub(super) signal_quality: Option<(f64, f64)>,
}

impl<'r> Path<'r> {
    pub(super) fn of(evidence: &'r evidence::Evidence<'r>, test: &'r Test, lost: u64) -> Self {
        let record = evidence.record;
        let (sender, receiver) = (
            End::of(evidence, test, Side::Sender),
            End::of(evidence, test, Side::Receiver),
        );
        let together = evidence.group(&test.group).iter().copied();
        let others = together.filter(|other| other.id != test.id);
        let lost_of = |tests: Vec<&Test>| tests.iter().filter_map(|test| losses(test)).sum();
        let (beside, across): (Vec<_>, Vec<_>) =
            others.partition(|other| other.direction == test.direction);
        let lost_by_others = lost_of(beside);
        let across: u64 = if record.one_machine() {
            lost_of(across)
        } else {
            0
        };
        let mut path = Self {
            test,
            lost,
            fragments: fragments(test, sender.mtu_bytes),
            sender,
            receiver,
            lost_by_others,
            lost_on_machine: lost_by_others + across,
        };
        path.receiver.joined = path.joined_at_receiver();
        path
    }

    /// The end of a side.
    pub(super) const fn end(&self, side: Side) -> &End<'r> {
        match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        }
    }

    /// What a counter did at a side, by this test or another.
    pub(super) fn counted(&self, side: Side, source: Source, name: &str) -> Option<Moved> {
        let place = self.end(side).place;
        match source.extent() {
            Extent::Interface => place.moved(source, name),
            Extent::Namespace | Extent::Machine => place.whole_host().moved(source, name),
        }
    }

    /// The same, where other tests may have moved it as well.
    pub(super) fn moved(&self, side: Side, source: Source, name: &str) -> Option<Moved> {
        let others = match source.extent() {
            Extent::Interface | Extent::Namespace => self.lost_by_others,
            Extent::Machine => self.lost_on_machine,
        };
        let counted = self.counted(side, source, name)?;
        Some(counted.perhaps_without(others))
    }

    /// What a counter grew by in the idle interval, as it was counted.
    pub(super) fn idle(&self, side: Side, source: Source, name: &str) -> Option<u64> {
        let place = self.end(side).place;
        match source.extent() {
            Extent::Interface => place.idle(source, name),
            Extent::Namespace | Extent::Machine => place.whole_host().idle(source, name),
        }
    }

    /// Whether the link is memory of a machine: it has no MAC.
    pub(super) fn has_mac(&self) -> bool {
        matches!(self.test.link_kind, None | Some(LinkKind::Wire))
    }

    /// The IP counters of this test's address family: source and name.
    pub(super) fn ip(&self, name: &str) -> (Source, String) {
        if self.test.af == 6 {
            (Source::Snmp6, format!("Ip6{name}"))
        } else {
            (Source::Snmp, format!("Ip{name}"))
        }
    }

    /// The UDP counters of this test's address family: source and name.
    pub(super) fn udp(&self, name: &str) -> (Source, String) {
        if self.test.af == 6 {
            (Source::Snmp6, format!("Udp6{name}"))
        } else {
            (Source::Snmp, format!("Udp{name}"))
        }
    }

    /// How many packets the receiver's stack may have handled as one: one, if its IP counted as
    /// many packets as it was given buffers.
    fn joined_at_receiver(&self) -> u64 {
        match self.joined_packets() {
            Some(0) => 1,
            Some(more) => self.receiver.joined.min(more + 1),
            None => self.receiver.joined,
        }
    }

    /// How many more packets than buffers the receiver's IP was given.
    pub(super) fn joined_packets(&self) -> Option<u64> {
        let grew = |(source, name): (Source, String)| {
            let moved = self.counted(Side::Receiver, source, &name)?;
            Some(moved.grew.at_least)
        };
        let packets = ["NoECTPkts", "ECT1Pkts", "ECT0Pkts", "CEPkts"].map(|kind| {
            if self.test.af == 6 {
                grew((Source::Snmp6, format!("Ip6In{kind}")))
            } else {
                grew((Source::Netstat, format!("IpExtIn{kind}")))
            }
        });
        let buffers = grew(self.ip("InReceives"))?;
        let packets: u64 = packets.into_iter().sum::<Option<u64>>()?;
        Some(packets.saturating_sub(buffers))
    }
}

impl<'r> End<'r> {
    fn of(evidence: &'r evidence::Evidence<'r>, test: &'r Test, side: Side) -> Self {
        let (role, name) = (side.role(test), side.interface(test));
        let record = evidence.record;
        let host = record.host(role);
        let place = evidence.at(role, name, evidence.window(test));
        Self {
            role,
            interface: name,
            driver: place.driver(),
            exact: !record.pasted && (role == Role::Local || host.is_some_and(|host| host.agent)),
            joined: joined(test),
            signal_quality: signal_quality(record, role, name),
            mtu_bytes: place.described().and_then(|own| own.mtu),
            place,
        }
    }
}

impl End<'_> {
    /// A claim of this host of one stage.
    pub(super) fn claim(
        &self,
        stage: Stage,
        kind: Kind,
        seen: Span,
        evidence: Vec<Evidence>,
    ) -> Claim {
        Claim {
            stage,
            host: self.role,
            interface: None,
            kind,
            seen,
            evidence,
        }
    }

    /// A claim of this end's interface of one stage.
    pub(super) fn claim_at_interface(
        &self,
        stage: Stage,
        kind: Kind,
        seen: Span,
        evidence: Vec<Evidence>,
    ) -> Claim {
        Claim {
            interface: self.interface.map(str::to_owned),
            ..self.claim(stage, kind, seen, evidence)
        }
    }
}

fn losses(test: &Test) -> Option<u64> {
    test.lost_packets.or(test.retransmits)
}

fn fragments(test: &Test, mtu_bytes: Option<u32>) -> u64 {
    let ip_bytes: u32 = if test.af == 6 { 48 } else { 20 };
    match (test.protocol, mtu_bytes) {
        (Protocol::Udp, Some(mtu)) if mtu > ip_bytes + 8 => {
            let datagram = u64::from(test.payload_bytes) + 8;
            let whole = if test.af == 6 { mtu - 40 } else { mtu - 20 };
            if datagram <= u64::from(whole) {
                return 1;
            }
            datagram.div_ceil(u64::from((mtu - ip_bytes) / 8 * 8))
        }
        _ => 1,
    }
}

/// Segmentation and merging hand several packets through the stack as one.
fn joined(test: &Test) -> u64 {
    match test.protocol {
        Protocol::Tcp => TCP_JOINED,
        Protocol::Udp if test.mode.tx == Some(IoMode::Gso) || test.mode.rx == Some(IoMode::Gro) => {
            UDP_JOINED
        }
        Protocol::Udp => 1,
    }
}

/// `UDP_MAX_SEGMENTS`, include/linux/udp.h.
const UDP_JOINED: u64 = 128;
/// `GSO_LEGACY_MAX_SIZE` over the smallest usual MSS, include/linux/netdevice.h.
const TCP_JOINED: u64 = 128;
