// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test as the ledger sees it: its two ends, what each can count, and how counters' units
//! relate to its packets.

use linerate_model::counters::Width;
use linerate_model::output::{Host, LinkKind, Protocol, Role, Test};

use super::readings::{List, Moved, Readings};
use linerate_knowledge::{self as knowledge, Driver};
use linerate_model::record::{Record, Side};

/// One direction of one test.
#[derive(Debug)]
pub(super) struct Path<'r> {
    pub(super) test: &'r Test,
    pub(super) readings: &'r Readings<'r>,
    /// To be explained.
    pub(super) lost: u64,
    pub(super) sender: End<'r>,
    pub(super) receiver: End<'r>,
    /// Frames of one datagram.
    pub(super) fragments: u64,
    /// Lost by other tests that the same counters may have seen.
    pub(super) lost_beside: u64,
    /// The same, of counters of the whole machine.
    pub(super) lost_on_machine: u64,
}

/// One end.
#[derive(Debug)]
pub(super) struct End<'r> {
    pub(super) role: Role,
    pub(super) interface: Option<&'r str>,
    pub(super) driver: Option<&'static Driver>,
    /// Whether its program counts what the kernel really took or gave.
    pub(super) exact: bool,
    /// How many packets of the test the stack may have handled as one.
    pub(super) joined: u64,
    pub(super) mtu_bytes: Option<u32>,
    long: Width,
    frames_per_second: f64,
}

impl<'r> Path<'r> {
    pub(super) fn of(
        record: &'r Record,
        test: &'r Test,
        readings: &'r Readings<'r>,
        lost: u64,
    ) -> Self {
        let (sender, receiver) = (
            End::of(record, test, Side::Sender),
            End::of(record, test, Side::Receiver),
        );
        let others = record
            .run
            .tests
            .iter()
            .filter(|other| other.group == test.group && other.id != test.id);
        let lost_of = |tests: Vec<&Test>| tests.iter().filter_map(|test| losses(test)).sum();
        let (beside, across): (Vec<_>, Vec<_>) =
            others.partition(|other| other.direction == test.direction);
        let lost_beside = lost_of(beside);
        let across: u64 = if record.one_machine() {
            lost_of(across)
        } else {
            0
        };
        let mut path = Self {
            test,
            readings,
            lost,
            fragments: fragments(test, sender.mtu_bytes),
            sender,
            receiver,
            lost_beside,
            lost_on_machine: lost_beside + across,
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

    /// What a counter of the protocols did at a side.
    pub(super) fn protocol(&self, side: Side, source: &str, name: &str) -> Option<Moved> {
        self.readings
            .moved(self.end(side).host_list(source), name)
            .map(|moved| moved.perhaps_without(self.lost_beside))
    }

    /// As [`Self::protocol`], of a source that has one value for the whole machine.
    pub(super) fn machine(&self, side: Side, source: &str, name: &str) -> Option<Moved> {
        self.readings
            .moved(self.end(side).machine_list(source), name)
            .map(|moved| moved.perhaps_without(self.lost_on_machine))
    }

    /// What the field of the interface's statistics did at a side.
    pub(super) fn link(&self, side: Side, name: &str) -> Option<Moved> {
        let list = self.end(side).link_list("rtnl_link_stats64");
        self.readings.moved(list, name)
    }

    /// Whether the link is memory of a machine: it has no MAC.
    pub(super) fn has_mac(&self) -> bool {
        matches!(self.test.link_kind, None | Some(LinkKind::Wire))
    }

    /// The IP counters of this test's address family: source and name.
    pub(super) fn ip(&self, name: &str) -> (&'static str, String) {
        if self.test.af == 6 {
            ("/proc/net/snmp6", format!("Ip6{name}"))
        } else {
            ("/proc/net/snmp", format!("Ip{name}"))
        }
    }

    /// The UDP counters of this test's address family: source and name.
    pub(super) fn udp(&self, name: &str) -> (&'static str, String) {
        if self.test.af == 6 {
            ("/proc/net/snmp6", format!("Udp6{name}"))
        } else {
            ("/proc/net/snmp", format!("Udp{name}"))
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
        let grew = |(source, name): (&str, String)| {
            let moved = self.protocol(Side::Receiver, source, &name)?;
            Some(moved.grew.at_least)
        };
        let packets = ["NoECTPkts", "ECT1Pkts", "ECT0Pkts", "CEPkts"].map(|kind| {
            if self.test.af == 6 {
                grew(("/proc/net/snmp6", format!("Ip6In{kind}")))
            } else {
                grew(("/proc/net/netstat", format!("IpExtIn{kind}")))
            }
        });
        let buffers = grew(self.ip("InReceives"))?;
        let packets: u64 = packets.into_iter().sum::<Option<u64>>()?;
        Some(packets.saturating_sub(buffers))
    }
}

impl<'r> End<'r> {
    fn of(record: &'r Record, test: &'r Test, side: Side) -> Self {
        let role = side.role(test);
        let host = record.host(role);
        let name = side.interface(test);
        let interface = host
            .zip(name)
            .and_then(|(host, name)| host.interfaces.iter().find(|own| own.name == name));
        let bits = interface.and_then(|own| own.link_bits_per_second);
        let driver = interface.and_then(|own| own.driver.as_deref());
        Self {
            role,
            interface: name,
            driver: driver.and_then(knowledge::driver),
            exact: !record.pasted && (role == Role::Local || host.is_some_and(|host| host.agent)),
            joined: joined(test),
            mtu_bytes: interface.and_then(|own| own.mtu),
            long: long(host),
            frames_per_second: bits.map_or(FRAMES_PER_SECOND, |bits| bits as f64 / FRAME_BITS),
        }
    }

    /// Counters of the network namespace: `unsigned long` in the kernel.
    pub(super) const fn host_list<'a>(&self, source: &'a str) -> List<'a> {
        List {
            role: self.role,
            source,
            interface: None,
            width: self.long,
            most_per_second: FRAMES_PER_SECOND,
        }
    }

    /// Counters of the whole machine: 32 bits.
    pub(super) const fn machine_list<'a>(&self, source: &'a str) -> List<'a> {
        List {
            width: Width::Bits32,
            ..self.host_list(source)
        }
    }

    /// The root qdisc of the interface: 32 bits (`gnet_stats_queue`).
    pub(super) const fn qdisc_list(&self) -> List<'_> {
        List {
            width: Width::Bits32,
            ..self.link_list("tc -s qdisc")
        }
    }

    /// Counters of the interface: 64 bits where no table says otherwise.
    pub(super) const fn link_list<'a>(&'a self, source: &'a str) -> List<'a> {
        List {
            role: self.role,
            source,
            interface: self.interface,
            width: Width::Bits64,
            most_per_second: self.frames_per_second,
        }
    }

    /// The kernel's width of a counter that a table describes.
    pub(super) const fn width(&self, width: knowledge::Width) -> Width {
        match width {
            knowledge::Width::U16 => Width::Bits16,
            knowledge::Width::U32 => Width::Bits32,
            knowledge::Width::U64 => Width::Bits64,
            knowledge::Width::Long => self.long,
        }
    }
}

fn losses(test: &Test) -> Option<u64> {
    test.lost_packets.or(test.retransmits)
}

/// A kernel whose processor is not known to have 64 bits may wrap after 32.
fn long(host: Option<&Host>) -> Width {
    let arch = host.and_then(|host| host.arch.as_deref());
    match arch {
        Some(arch) if arch.contains("64") || arch == "s390x" => Width::Bits64,
        _ => Width::Bits32,
    }
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
    let is = |mode: &Option<String>, word| mode.as_deref() == Some(word);
    match test.protocol {
        Protocol::Tcp => TCP_JOINED,
        Protocol::Udp if is(&test.mode.tx, "gso") || is(&test.mode.rx, "gro") => UDP_JOINED,
        Protocol::Udp => 1,
    }
}

/// `UDP_MAX_SEGMENTS`, include/linux/udp.h.
const UDP_JOINED: u64 = 128;
/// `GSO_LEGACY_MAX_SIZE` over the smallest usual MSS, include/linux/netdevice.h.
const TCP_JOINED: u64 = 128;
/// The shortest frame with preamble and gap, IEEE 802.3.
const FRAME_BITS: f64 = 672.0;
/// No link is known: the shortest frames at 400 Gbit/s.
const FRAMES_PER_SECOND: f64 = 595e6;
