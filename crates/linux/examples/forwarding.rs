// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets a second that one processor sends, forwards and receives, over two veth pairs, for each way to forward; needs root.
//!
//! `forwarding WAY… [--seconds N] [--backend NAME]` with `none` (the sender's share: nothing is forwarded), `bridge`, `route` (the
//! kernel's), `xdp-bridge`, `xdp-route`. Everything runs on processor 0, so a rate is one "per core".
#![expect(clippy::print_stdout, reason = "its result")]

use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::port::{Backend, Wanted, open};
use linerate_linux::rtnl::Rtnl;
use linerate_linux::xdp_forward::{Forwarder, Way, welcome};
use linerate_linux::{cpu, nic, packet::PacketSender, sysctl};
use linerate_wire::frame::{AddressRange, Neighbours};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    cpu::pin(0)?;
    let (mut ways, mut seconds, mut backend) = (Vec::new(), 3, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().unwrap_or_default().parse()?,
            "--backend" => backend = Backend::named(&words.next().unwrap_or_default()),
            _ => ways.push(word),
        }
    }
    for way in ways {
        let net = Net::new()?;
        let _forwarder = net.forward(&way)?;
        let (sent, received, duration_s) = net.load(&way, Duration::from_secs(seconds), backend)?;
        let received_pps = received as f64 / duration_s;
        println!("{way}: {received_pps:.0} pps received, {sent} sent, {received} received");
    }
    Ok(())
}

/// A device, and a tester's two ports.
struct Net {
    device: NetNs,
    tester: NetNs,
}

impl Net {
    fn new() -> Result<Self> {
        let (device, tester) = (NetNs::create()?, NetNs::create()?);
        for name in SIDES {
            Rtnl::open()?.veth((name, &device), (name, &tester))?;
        }
        for host in [&device, &tester] {
            host.run(|| -> Result<()> {
                sysctl::write("net.ipv6.conf.all.disable_ipv6", "1")?;
                for name in SIDES {
                    Rtnl::open()?.set_up(name, true)?;
                }
                Ok(())
            })??;
        }
        Ok(Self { device, tester })
    }

    fn forward(&self, way: &str) -> Result<Option<Forwarder>> {
        self.device.run(|| match way {
            "none" => Ok(None),
            "bridge" => bridge().map(|()| None),
            "route" => route().map(|()| None),
            "xdp-bridge" => Ok(Some(Forwarder::start(Way::Bridge, SIDES)?)),
            "xdp-route" => {
                route()?;
                Ok(Some(Forwarder::start(Way::Route, SIDES)?))
            }
            other => Err(format!("no way {other}").into()),
        })?
    }

    /// Sends from the left; how many frames were sent and came to the right, in how many seconds.
    fn load(
        &self,
        way: &str,
        time: Duration,
        backend: Option<Backend>,
    ) -> Result<(usize, u64, f64)> {
        let mac = match way.ends_with("route") {
            true => self.device.run(|| nic::link("left"))??.address,
            false => RECEIVER.into(),
        };
        self.tester.run(|| {
            let _welcome = welcome("right")?;
            while nic::link("right")?.operstate != "up" || nic::link("left")?.operstate != "up" {
                std::thread::yield_now();
            }
            introduce()?;
            let wanted = Wanted {
                backend,
                ..Wanted::default()
            };
            let (mut sender, _receiver, chosen) = open("left", &wanted)?;
            let mut counters = nic::Counters::open("right")?;
            let mut received = || {
                counters
                    .link()
                    .iter()
                    .find(|(name, _)| *name == "rx_packets")
                    .map_or(0, |(_, count)| *count)
            };
            let frame = frame(&mac);
            let (before, start, mut sent) = (received(), Instant::now(), 0);
            while start.elapsed() < time {
                sent += sender.send(64, frame.len(), |_, place| place.copy_from_slice(&frame))?;
            }
            let duration_s = start.elapsed().as_secs_f64();
            println!("sender: {}", chosen.send);
            Ok((sent, received() - before, duration_s))
        })?
    }
}

fn bridge() -> Result<()> {
    let mut net = Rtnl::open()?;
    net.bridge("bridge")?;
    for name in SIDES {
        net.enslave(name, "bridge")?;
    }
    Ok(net.set_up("bridge", true)?)
}

fn route() -> Result<()> {
    sysctl::write("net.ipv4.ip_forward", "1")?;
    let mut net = Rtnl::open()?;
    net.add_address("left", "198.18.0.1".parse()?, 24)?;
    Ok(net.add_address("right", "198.19.0.1".parse()?, 24)?)
}

/// Tells the device where the receiver is: its neighbour table or its bridge learns it.
fn introduce() -> Result<()> {
    let own = "198.19.0.2".parse()?;
    let neighbours = Neighbours {
        mac: RECEIVER,
        vlan: None,
        own: vec![AddressRange::network(own, 32)],
        except: Vec::new(),
    };
    let question = neighbours.request(own, "198.19.0.1".parse()?);
    PacketSender::open("right")?.send(&question.ok_or("no question")?)?;
    Ok(())
}

/// UDP of 64 bytes with the check sequence; in a bridge it is for the receiver, too.
fn frame(to: &[u8]) -> Vec<u8> {
    let mut frame = to.to_vec();
    frame.extend([2, 0, 0, 0, 0xAA, 0, 8, 0]);
    frame.extend([
        0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0xee, 0x95, 198, 18, 0, 2,
    ]);
    frame.extend([198, 19, 0, 2, 0x30, 0x39, 0x75, 0x30, 0, 26, 0, 0]);
    frame.resize(60, 0);
    frame
}

const SIDES: [&str; 2] = ["left", "right"];
const RECEIVER: [u8; 6] = [2, 0, 0, 0, 0xAA, 1];
