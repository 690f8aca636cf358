// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a test tells of each end: its processors, and what it dropped.

use linerate_model::output::{Cpu, Direction, Limit, MovedCounter, Output, Role, Test};

/// An end by what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

impl End {
    fn role(self, direction: Direction) -> Role {
        match (self, direction) {
            (Self::Sender, Direction::Up) | (Self::Receiver, Direction::Down) => Role::Local,
            (Self::Sender, Direction::Down) | (Self::Receiver, Direction::Up) => Role::Remote,
        }
    }
}

/// Datagrams that one stage of the way counted as dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drop {
    pub(super) limit: Limit,
    pub(super) packets: u64,
    /// There may have been more: the kernel counted joined datagrams as one.
    pub(super) at_least: bool,
    by: &'static str,
    pub(super) source: &'static str,
}

impl Drop {
    /// What became of how many of the lost.
    pub(super) fn sentence(&self, lost: u64) -> String {
        format!(
            "{}{} of {lost} lost were dropped by {}",
            if self.at_least { "at least " } else { "" },
            self.packets.min(lost),
            self.by
        )
    }

    /// Whether it accounts for at least half of the lost.
    pub(super) fn is_most(&self, lost: u64) -> bool {
        self.packets * 2 >= lost
    }

    /// Whether it may account for half of the lost, as far as its count tells.
    pub(super) fn may_be_most(&self, lost: u64) -> bool {
        let joined = if self.at_least { MOST_JOINED } else { 1 };
        self.packets > 0 && self.packets.saturating_mul(joined) >= lost.div_ceil(2)
    }
}

/// What each stage that can be read dropped, from the receiver's socket back to the sender.
pub(super) fn dropped(test: &Test) -> [Drop; 4] {
    let drop = |limit, packets, by, source| Drop {
        limit,
        packets,
        at_least: false,
        by,
        source,
    };
    [
        of_socket(test),
        drop(
            Limit::ReceiverCpu,
            counters(test, End::Receiver, &["dropped"])
                .filter(|counter| counter.source.ends_with("softnet_stat"))
                .map(|counter| counter.delta)
                .sum(),
            "the receiver's backlog queue",
            "softnet_stat dropped",
        ),
        drop(
            Limit::ReceiverInterface,
            most(test, End::Receiver, RX_DROPS),
            "the receiver's interface",
            "its rx_ counters",
        ),
        drop(
            Limit::Sender,
            most(test, End::Sender, TX_DROPS),
            "the sender's own queue or interface",
            "tx_dropped, IpOutDiscards",
        ),
    ]
}

fn of_socket(test: &Test) -> Drop {
    let at_least = test.socket_drops_at_least;
    Drop {
        limit: Limit::ReceiverSocket,
        packets: socket_drops(test),
        at_least,
        by: "the receiving socket's full buffer",
        source: match at_least {
            true => "SO_RXQ_OVFL, which counts joined datagrams as one",
            false => "SO_RXQ_OVFL",
        },
    }
}

/// The busy share of the busiest processor, 0 … 1.
pub(super) fn busiest(test: &Test, end: End) -> Option<f64> {
    cpu(test, end).map(|cpu| cpu.busiest_cpu)
}

/// Is a processor of this end full?
pub(super) fn full(test: &Test, end: End) -> bool {
    busiest(test, end).is_some_and(|busy| busy >= FULL_CPU)
}

/// For people.
pub(super) fn busy_word(test: &Test, end: End) -> String {
    let softirq = cpu(test, end).filter(|cpu| cpu.softirq >= MUCH_SOFTIRQ);
    let softirq = softirq.map(|cpu| format!(", softirq {:.0} % of all", cpu.softirq * 100.0));
    let busy = busiest(test, end).unwrap_or(0.0) * 100.0;
    format!(
        "busiest processor is at {busy:.0} %{}",
        softirq.unwrap_or_default()
    )
}

pub(super) fn one_machine(output: &Output) -> bool {
    let boot_id = |role: Role| {
        let host = output.hosts.iter().find(|host| host.role == role)?;
        host.boot_id.clone()
    };
    boot_id(Role::Local).is_some_and(|local| Some(local) == boot_id(Role::Remote))
}

fn cpu(test: &Test, end: End) -> Option<Cpu> {
    match end.role(test.direction) {
        Role::Local => test.cpu.local,
        Role::Remote => test.cpu.remote,
        Role::Device => None,
    }
}

/// The kernel counts damaged datagrams among the socket's drops (net/ipv4/udp.c, `csum_error`):
/// those are not the buffer's.
fn socket_drops(test: &Test) -> u64 {
    let damaged = moved(
        test,
        End::Receiver,
        &["UdpInCsumErrors", "Udp6InCsumErrors"],
    );
    test.socket_drops.unwrap_or(0).saturating_sub(damaged)
}

fn moved(test: &Test, end: End, names: &[&str]) -> u64 {
    counters(test, end, names)
        .map(|counter| counter.delta)
        .sum()
}

/// Drivers count one lost frame under several names: the largest is the least that were lost.
fn most(test: &Test, end: End, names: &[&str]) -> u64 {
    let deltas = counters(test, end, names).map(|counter| counter.delta);
    deltas.max().unwrap_or(0)
}

fn counters<'a>(
    test: &'a Test,
    end: End,
    names: &'a [&str],
) -> impl Iterator<Item = &'a MovedCounter> {
    let role = end.role(test.direction);
    let carrier = match role {
        Role::Local => &test.local_interface,
        Role::Remote | Role::Device => &test.remote_interface,
    };
    let of_carrier = move |counter: &&MovedCounter| {
        let elsewhere = counter.interface.is_some() && carrier.is_some();
        !elsewhere || counter.interface == *carrier
    };
    test.counters.iter().filter(move |counter| {
        counter.host == role && names.contains(&counter.name.as_str()) && of_carrier(counter)
    })
}

const RX_DROPS: &[&str] = &[
    "rx_dropped",
    "rx_fifo_errors",
    "rx_missed_errors",
    "rx_over_errors",
];
const TX_DROPS: &[&str] = &[
    "IpOutDiscards",
    "Ip6OutDiscards",
    "tx_dropped",
    "tx_fifo_errors",
];
/// Datagrams of one message with `UDP_GRO` (include/net/udp.h, `UDP_GRO_CNT_MAX`; 128 since Linux 6.9).
const MOST_JOINED: u64 = 128;
/// A processor this busy has nothing to spare.
const FULL_CPU: f64 = 0.95;
const MUCH_SOFTIRQ: f64 = 0.10;
