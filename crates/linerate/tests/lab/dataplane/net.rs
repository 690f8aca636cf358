// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device with two ports and a third interface, and a host at the end of each.

use std::error::Error;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::icmp::Pinger;
use linerate_linux::netns::NetNs;
use linerate_linux::packet::PacketSender;
use linerate_linux::rtnl::Rtnl;
use linerate_linux::{nic, proc, setup, sysctl};
use linerate_wire::checksum::Checksum;

use crate::verdict::{Outcome, Verdict, ensure};

pub(super) const PORTS: [&str; 2] = ["p1", "p2"];
/// Of the device, to the host that is a router there.
pub(super) const UPLINK: &str = "up.7";
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Net {
    pub(super) device: NetNs,
    left: NetNs,
    right: NetNs,
    _router: NetNs,
    /// What the left host pings.
    far: [&'static str; 2],
}

impl Net {
    /// The hosts are in one network: a bridge is missing between them.
    pub(super) fn of_one_network() -> Outcome<Self> {
        let net = Self::new(["198.18.0.2", "2001:2::2"])?;
        let hosts = [
            (&net.left, ["198.18.0.1", "2001:2::1"]),
            (&net.right, net.far),
        ];
        for (host, addresses) in hosts {
            inside(host, || addressed("eth0", addresses))?;
        }
        Ok(net)
    }

    /// The device has an address in the network of each: a router is missing between them.
    pub(super) fn of_two_networks() -> Outcome<Self> {
        let net = Self::new(["198.18.1.1", "2001:2:0:1::1"])?;
        let (left, right) = (
            ["198.18.0.254", "2001:2::fe"],
            ["198.18.1.254", "2001:2:0:1::fe"],
        );
        inside(&net.device, || {
            PORTS
                .into_iter()
                .try_for_each(|name| Rtnl::open()?.set_up(name, true))?;
            addressed(PORTS[0], left)?;
            addressed(PORTS[1], right)
        })?;
        let hosts = [
            (&net.left, ["198.18.0.1", "2001:2::1"], left),
            (&net.right, net.far, right),
        ];
        for (host, addresses, gateways) in hosts {
            inside(host, || {
                addressed("eth0", addresses)?;
                let mut rtnl = Rtnl::open()?;
                rtnl.add_route("0.0.0.0".parse()?, 0, gateways[0].parse()?)?;
                Ok(rtnl.add_route("::".parse()?, 0, gateways[1].parse()?)?)
            })?;
        }
        Ok(net)
    }

    fn new(far: [&'static str; 2]) -> Outcome<Self> {
        let [device, left, right, router] = [(); 4].map(|()| NetNs::create());
        let (device, left, right, router) = (device?, left?, right?, router?);
        let mut rtnl = Rtnl::open()?;
        for (port, host) in PORTS
            .into_iter()
            .chain([UPLINK])
            .zip([&left, &right, &router])
        {
            rtnl.veth(("eth0", host), (port, &device))?;
            inside(host, || Ok(Rtnl::open()?.set_up("eth0", true)?))?;
        }
        inside(&device, || {
            // One that has never been up has no queueing discipline yet.
            for is_up in [true, false] {
                PORTS
                    .into_iter()
                    .try_for_each(|name| Rtnl::open()?.set_up(name, is_up))?;
            }
            Rtnl::open()?.set_up("lo", true)?;
            Ok(Rtnl::open()?.set_up(UPLINK, true)?)
        })?;
        Ok(Self {
            device,
            left,
            right,
            _router: router,
            far,
        })
    }

    /// Both IP versions, several echoes each: the first ones wait for neighbours.
    pub(super) fn passes(&self) -> Outcome {
        for address in self.far {
            let answers = inside(&self.left, || echoes(address.parse()?, ECHOES, PATIENCE))?;
            ensure(answers == ECHOES, || format!("{address} does not answer"))?;
        }
        Ok(())
    }

    pub(super) fn is_cut(&self) -> Outcome {
        for address in self.far {
            let answers = inside(&self.left, || echoes(address.parse()?, 1, SHORT))?;
            ensure(answers == 0, || {
                format!("{address} answers without a data plane")
            })?;
        }
        Ok(())
    }

    /// The device learns a default route from the router's advertisement.
    pub(super) fn advertise(&self) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        while !inside(&self.device, || Ok(has_advertised_route()))? {
            ensure(Instant::now() < deadline, || {
                "no route was learnt".to_owned()
            })?;
            inside(&self._router, || {
                PacketSender::open("eth0")?
                    .send(&advertisement())
                    .or(Ok(()))
            })?;
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    pub(super) fn learnt(&self) -> Outcome<bool> {
        inside(&self.device, || Ok(has_advertised_route()))
    }

    /// All that a data plane could change, in words.
    pub(super) fn state(&self) -> Outcome<Vec<String>> {
        inside(&self.device, || Ok(state()?))
    }

    /// Waits until the device is as before.
    pub(super) fn is_as_before(&self, before: &[String]) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.state()?;
            if now == before {
                return Ok(());
            }
            let new: Vec<_> = now.iter().filter(|line| !before.contains(line)).collect();
            let gone: Vec<_> = before.iter().filter(|line| !now.contains(line)).collect();
            ensure(Instant::now() < deadline, || {
                format!("now {new:#?}\nbefore {gone:#?}")
            })?;
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn start(&self, command: &mut Command) -> Outcome {
        Ok(self.device.start_inside(command)?)
    }
}

type Work<T> = Result<T, Box<dyn Error>>;

pub(super) fn inside<T: Send>(host: &NetNs, work: impl FnOnce() -> Work<T> + Send) -> Outcome<T> {
    let done = host.run(|| work().map_err(|error| error.to_string()))?;
    done.map_err(Verdict::Failed)
}

fn addressed(name: &str, [v4, v6]: [&str; 2]) -> Work<()> {
    let mut rtnl = Rtnl::open()?;
    rtnl.add_address(name, v4.parse()?, 24)?;
    Ok(rtnl.add_address(name, v6.parse()?, 64)?)
}

/// How many of this number are answered in time.
fn echoes(to: IpAddr, wanted: u16, within: Duration) -> Work<u16> {
    let (deadline, mut answers) = (Instant::now() + within, 0);
    let mut pinger = Pinger::open(to, None)?;
    while answers < wanted && Instant::now() < deadline {
        // What a host without a neighbour reports is no answer.
        let _unreachable = pinger.send(answers);
        let answered = pinger.receive(Duration::from_millis(200));
        answers += u16::from(matches!(answered, Ok(Some(_))));
    }
    Ok(answers)
}

fn has_advertised_route() -> bool {
    let table = proc::net("ipv6_route").unwrap_or_default();
    let routes = linerate_wire::proc::route::advertised_route_interfaces(&table);
    routes.contains(&UPLINK.to_owned())
}

fn state() -> std::io::Result<Vec<String>> {
    let mut all = Vec::new();
    for link in nic::list()? {
        let name = &link.name;
        all.push(format!(
            "{name}: master {:?}, kind {:?}",
            link.controller, link.kind
        ));
        for one in setup::state::of_interface(name) {
            let values = one.values.into_iter();
            all.extend(values.map(|(key, value)| format!("{name}: {} {key} {value}", one.source)));
        }
        for (address, prefix) in nic::addresses_of(link.index)? {
            all.push(format!("{name}: {address}/{prefix}"));
        }
    }
    for one in setup::state::of_host() {
        let values = one.values.into_iter().filter(|_| one.source == "sysctl");
        all.extend(values.map(|(key, value)| format!("{key} = {value}")));
    }
    all.extend(interface_sysctls());
    all.extend(routes());
    all.sort();
    Ok(all)
}

/// Every setting of every interface.
fn interface_sysctls() -> Vec<String> {
    let mut all = Vec::new();
    for family in ["ipv4", "ipv6"] {
        let folder = format!("/proc/sys/net/{family}/conf");
        for interface in names(&folder) {
            for setting in names(&format!("{folder}/{interface}")) {
                let path = format!("{folder}/{interface}/{setting}");
                let value = fs::read_to_string(&path).unwrap_or_default();
                all.push(format!("{path} = {}", value.trim()));
            }
        }
    }
    all
}

/// Without references and uses, and without routes to own addresses, which appear when no other host has the address.
fn routes() -> Vec<String> {
    let table = proc::net("ipv6_route").unwrap_or_default();
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let own = [0, 1, 4, 5, 8, 9].map(|at| words.get(at).copied().unwrap_or_default());
        let is_local = own[4].starts_with('8');
        (!is_local).then(|| own.join(" "))
    };
    let ipv6 = table.lines().filter_map(of);
    let ipv4 = proc::net("route").unwrap_or_default();
    ipv6.chain(ipv4.lines().map(str::to_owned)).collect()
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(folder))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.collect()
}

/// Of a router with a lifetime of half an hour: RFC 4861 §4.2.
fn advertisement() -> Vec<u8> {
    let (router, all) = ("fe80::7", "ff02::1");
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let octets = |text: &str| match address(text) {
        IpAddr::V4(_) => unreachable!("an address of IPv6"),
        IpAddr::V6(address) => address.octets(),
    };
    let mut body = [134, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0];
    let sum = Checksum::pseudo_header(address(router), address(all), 58, 16).unwrap();
    let sum = sum.with(&body).finish().to_be_bytes();
    body[2..4].copy_from_slice(&sum);
    let ethernet = [0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x86, 0xdd];
    let ip = [0x60, 0, 0, 0, 0, 16, 58, 255];
    [&ethernet[..], &ip, &octets(router), &octets(all), &body].concat()
}

pub(super) fn set(name: &str, value: &str) -> Work<()> {
    Ok(sysctl::write(name, value)?)
}

const ECHOES: u16 = 5;
/// Several echoes without an answer.
const SHORT: Duration = Duration::from_millis(600);
