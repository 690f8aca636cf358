// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path between two hosts whose losses are known, and the counters that such hosts would show.

use std::collections::BTreeMap;

use linerate_model::output::{Host, Interface, LinkKind, Protocol, Role, Test};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};

const SECOND: u64 = 1_000_000_000;
pub(crate) const LOAD_S: u64 = 4;
const RESET_S: u64 = 3;

/// Datagrams of one test that died, by what killed them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Losses {
    pub(crate) neighbour: u64,
    pub(crate) qdisc: u64,
    pub(crate) tx_ring: u64,
    pub(crate) silent_wire: u64,
    pub(crate) crc: u64,
    pub(crate) checksum: u64,
    pub(crate) mac_fifo: u64,
    pub(crate) rx_ring: u64,
    pub(crate) backlog: u64,
    pub(crate) filter: u64,
    pub(crate) address: u64,
    pub(crate) socket: u64,
    pub(crate) corrupt: u64,
}

impl Losses {
    pub(crate) fn all(&self) -> u64 {
        self.by_stage().values().sum()
    }

    pub(crate) fn by_stage(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("tx-ip", self.neighbour),
            ("tx-qdisc", self.qdisc),
            ("tx-ring", self.tx_ring),
            ("wire", self.silent_wire + self.crc + self.checksum),
            ("rx-mac", self.mac_fifo),
            ("rx-ring", self.rx_ring),
            ("rx-softnet", self.backlog),
            ("rx-ip", self.filter + self.address),
            ("rx-socket", self.socket),
            ("rx-app", self.corrupt),
        ])
    }
}

/// A counter of a simulated host.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) host: Role,
    pub(crate) source: &'static str,
    pub(crate) name: String,
    pub(crate) of_interface: bool,
    pub(crate) start: u64,
    pub(crate) by_test: u64,
    pub(crate) per_second: u64,
    pub(crate) turn: Option<u64>,
    /// Set to zero in the middle of the load.
    pub(crate) reset: bool,
}

impl Counter {
    fn at(&self, second: u64) -> u64 {
        let counted = |second: u64| {
            let load = second.saturating_sub(1);
            self.start + self.per_second * second + self.by_test * load / LOAD_S
        };
        let value = if self.reset && second > RESET_S {
            counted(second) - counted(RESET_S)
        } else {
            counted(second)
        };
        self.turn.map_or(value, |turn| value % turn)
    }
}

/// Which drivers the two ends have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nic {
    Igb,
    Fec,
    Veth,
    Unknown,
}

impl Nic {
    const fn driver(self) -> &'static str {
        match self {
            Self::Igb => "igb",
            Self::Fec => "fec",
            Self::Veth => "veth",
            Self::Unknown => "nobody_wrote_a_table",
        }
    }

    const fn kind(self) -> LinkKind {
        match self {
            Self::Veth => LinkKind::Veth,
            _ => LinkKind::Wire,
        }
    }
}

/// One test from the local to the remote host.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) nic: Nic,
    pub(crate) sent: u64,
    pub(crate) losses: Losses,
    /// Other datagrams that the receiver gets each second.
    pub(crate) foreign_per_second: u64,
    /// What every counter of drops does each second without the test.
    pub(crate) drops_per_second: u64,
    /// Where 32-bit and 16-bit counters stand when it begins, below their end.
    pub(crate) before_the_end: u64,
    pub(crate) reset: Option<&'static str>,
}

impl World {
    pub(crate) fn new(nic: Nic, losses: Losses) -> Self {
        Self {
            nic,
            sent: 100_000,
            losses,
            foreign_per_second: 0,
            drops_per_second: 0,
            before_the_end: 1 << 15,
            reset: None,
        }
    }

    pub(crate) fn record(&self) -> Record {
        Record::of_run(self.run(), samples(&self.counters()))
    }

    fn test(&self) -> Test {
        let losses = self.losses;
        let lost = losses.all();
        Test {
            id: "t".to_owned(),
            group: "g".to_owned(),
            protocol: Protocol::Udp,
            af: 4,
            payload_bytes: 1448,
            sent_packets: Some(self.sent),
            received_packets: Some(self.sent - lost),
            lost_packets: Some(lost),
            duplicate_packets: Some(0),
            late_packets: Some(0),
            corrupt_packets: Some(losses.corrupt),
            socket_drops: Some(losses.socket + losses.checksum),
            refused_packets: Some(0),
            local_interface: Some("eth0".to_owned()),
            remote_interface: Some("eth0".to_owned()),
            link_kind: Some(self.nic.kind()),
            valid: true,
            ..Test::default()
        }
    }

    fn run(&self) -> Run {
        let host = |role, boot: &str| Host {
            role,
            boot_id: Some(boot.to_owned()),
            arch: Some(
                if self.nic == Nic::Fec {
                    "armv7l"
                } else {
                    "x86_64"
                }
                .to_owned(),
            ),
            agent: true,
            withheld: None,
            interfaces: vec![Interface {
                name: "eth0".to_owned(),
                driver: Some(self.nic.driver().to_owned()),
                link_bits_per_second: Some(1_000_000_000),
                mtu: Some(1500),
                link_kind: Some(self.nic.kind()),
            }],
            ..Host::default()
        };
        Run {
            hosts: vec![host(Role::Local, "one"), host(Role::Remote, "other")],
            tests: vec![self.test()],
            ..Run::default()
        }
    }

    fn counters(&self) -> Vec<Counter> {
        let mut counters = self.sender();
        counters.extend(self.receiver());
        for counter in &mut counters {
            counter.reset = self.reset == Some(&counter.name);
        }
        counters
    }

    fn sender(&self) -> Vec<Counter> {
        let losses = self.losses;
        let left = self.sent - losses.neighbour - losses.qdisc - losses.tx_ring;
        let host = |source, name: &str, by_test| self.passed(Role::Local, source, name, by_test);
        let mut counters = vec![
            host("/proc/net/snmp", "UdpOutDatagrams", self.sent),
            host("/proc/net/snmp", "TcpOutSegs", 40),
            host("/proc/net/snmp", "UdpSndbufErrors", 0),
            on_link(host("rtnl_link_stats64", "tx_packets", left + 40)),
            self.dropped(
                Role::Local,
                "/proc/net/stat/arp_cache",
                "unresolved_discards",
                losses.neighbour,
            ),
            on_link(self.dropped(Role::Local, "tc -s qdisc", "drops", losses.qdisc)),
        ];
        let link = |name: &str, by_test| {
            on_link(self.dropped(Role::Local, "rtnl_link_stats64", name, by_test))
        };
        counters.push(link("tx_dropped", losses.tx_ring));
        if self.nic == Nic::Igb {
            counters.push(link("tx_aborted_errors", 0));
        }
        if self.nic == Nic::Fec {
            counters.push(link("tx_fifo_errors", 0));
        }
        counters
    }

    fn receiver(&self) -> Vec<Counter> {
        let losses = self.losses;
        let at_app = self.sent - losses.all() + losses.corrupt;
        let delivered = at_app + losses.socket + losses.checksum;
        let to_ip = delivered + losses.filter + losses.address;
        let host = |source, name: &str, by_test| self.passed(Role::Remote, source, name, by_test);
        let drop = |source, name: &str, by_test| self.dropped(Role::Remote, source, name, by_test);
        let foreign = |mut counter: Counter, also: u64| {
            counter.per_second += self.foreign_per_second + also * self.drops_per_second;
            counter
        };
        let mut counters = vec![
            foreign(host("/proc/net/snmp", "IpInReceives", to_ip), 1),
            foreign(host("/proc/net/netstat", "IpExtInNoECTPkts", to_ip), 1),
            host("/proc/net/netstat", "IpExtInECT1Pkts", 0),
            host("/proc/net/netstat", "IpExtInECT0Pkts", 0),
            host("/proc/net/netstat", "IpExtInCEPkts", 0),
            foreign(host("/proc/net/snmp", "IpInDelivers", delivered), 0),
            on_link(foreign(
                host("rtnl_link_stats64", "rx_packets", to_ip + losses.backlog),
                2,
            )),
            drop("/proc/net/snmp", "IpInAddrErrors", losses.address),
            drop("/proc/net/softnet_stat", "dropped", losses.backlog),
            drop("/proc/net/snmp", "UdpRcvbufErrors", losses.socket),
            drop("/proc/net/snmp", "UdpInCsumErrors", losses.checksum),
            host("/proc/net/snmp", "UdpMemErrors", 0),
        ];
        let both = losses.socket + losses.checksum;
        let mut errors = drop("/proc/net/snmp", "UdpInErrors", both);
        errors.per_second *= 2;
        counters.push(errors);
        counters.extend(self.device());
        counters
    }

    /// Each driver tells the same losses under its own names, most of them more than once.
    fn device(&self) -> Vec<Counter> {
        let Losses {
            crc,
            mac_fifo,
            rx_ring,
            backlog,
            ..
        } = self.losses;
        let of = |source, name: &str, by_test, times: u64| {
            let mut counter = on_link(self.dropped(Role::Remote, source, name, by_test));
            counter.per_second *= times;
            counter
        };
        let link = |name, by_test| of("rtnl_link_stats64", name, by_test, 1);
        let tool = |name, by_test| of("ethtool -S", name, by_test, 1);
        match self.nic {
            Nic::Igb => vec![
                link("rx_missed_errors", mac_fifo),
                of("rtnl_link_stats64", "rx_fifo_errors", mac_fifo + rx_ring, 2),
                link("rx_crc_errors", crc),
                link("rx_errors", crc),
                link("rx_dropped", backlog),
                tool("rx_missed_errors", mac_fifo),
                tool("rx_crc_errors", crc),
                tool("rx_queue_0_drops", rx_ring),
                of("ethtool -S", "rx_fifo_errors", mac_fifo + rx_ring, 2),
            ],
            Nic::Fec => vec![
                narrow(tool("IEEE_rx_macerr", mac_fifo), 16, self.before_the_end),
                narrow(tool("IEEE_rx_crc", crc), 16, self.before_the_end),
                narrow(link("rx_crc_errors", crc), 32, self.before_the_end),
                narrow(
                    of("rtnl_link_stats64", "rx_dropped", rx_ring + backlog, 2),
                    32,
                    self.before_the_end,
                ),
            ],
            Nic::Veth => vec![of("rtnl_link_stats64", "rx_dropped", rx_ring + backlog, 2)],
            Nic::Unknown => vec![
                link("rx_missed_errors", mac_fifo),
                link("rx_crc_errors", crc),
            ],
        }
    }

    fn passed(&self, host: Role, source: &'static str, name: &str, by_test: u64) -> Counter {
        Counter {
            host,
            source,
            name: name.to_owned(),
            of_interface: false,
            start: 1000,
            by_test,
            per_second: 0,
            turn: None,
            reset: false,
        }
    }

    fn dropped(&self, host: Role, source: &'static str, name: &str, by_test: u64) -> Counter {
        Counter {
            per_second: self.drops_per_second,
            ..self.passed(host, source, name, by_test)
        }
    }
}

fn on_link(counter: Counter) -> Counter {
    Counter {
        of_interface: true,
        ..counter
    }
}

fn narrow(counter: Counter, bits: u32, before_the_end: u64) -> Counter {
    let turn = 1_u64 << bits;
    Counter {
        start: turn - before_the_end,
        turn: Some(turn),
        ..counter
    }
}

/// One idle second, then the load, read every second.
fn samples(counters: &[Counter]) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let moments = [(0, Phase::Idle), (1, Phase::Idle)]
        .into_iter()
        .chain((1..=LOAD_S + 1).map(|second| (second, Phase::Load)));
    for (second, phase) in moments {
        for counter in counters {
            let interface = counter.of_interface.then(|| "eth0".to_owned());
            let value = counter.at(second);
            let same = |one: &&mut Sample| {
                one.t_ns == second * SECOND
                    && one.phase == Some(phase)
                    && (one.host, one.source.as_str(), &one.interface)
                        == (counter.host, counter.source, &interface)
            };
            if let Some(sample) = samples.iter_mut().find(same) {
                sample.counters.extend([(counter.name.clone(), value)]);
                continue;
            }
            samples.push(Sample {
                host: counter.host,
                t_ns: second * SECOND,
                source: counter.source.to_owned(),
                interface,
                group: Some("g".to_owned()),
                phase: Some(phase),
                counters: [(counter.name.clone(), value)].into(),
                ..Sample::default()
            });
        }
    }
    samples
}
