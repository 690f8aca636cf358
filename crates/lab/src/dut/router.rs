// SPDX-License-Identifier: MIT OR Apache-2.0
//! A router in user space, for what kernels cannot do everywhere (tagged ports) or never do (duplicate, reorder, send
//! back, corrupt, decrement the TTL wrongly). One thread per port; a test frame's sequence number decides its fault,
//! so that the faults of a trial are known exactly.

mod faults;
mod icmp;
mod next_hops;
mod packet;
mod port;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use linerate_linux::nic;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_wire::frame::{AddressRange, Family, Neighbours, Side};

use super::layout::{DEVICE_PORTS, MTU_BYTES};
use crate::{Host, LabError, cannot};
pub(super) use faults::RouterFaults;
use next_hops::NextHops;
use port::Port;

/// A router that runs until it is dropped.
#[derive(Debug)]
pub(super) struct Router {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Router {
    /// Routes between the device's ports, which are up and have no addresses; all frames have this tag.
    ///
    /// # Errors
    /// No packet sockets there, or no threads.
    pub(super) fn start(
        device: &Host,
        vlan: Option<u16>,
        faults: RouterFaults,
    ) -> Result<Self, LabError> {
        let ports = device
            .enter(|| open(vlan, faults))
            .and_then(|ports| ports)
            .map_err(cannot("open the router's ports"))?;
        let mut router = Self {
            stop: Arc::default(),
            threads: Vec::new(),
        };
        for (from, port) in ports {
            let thread = port.spawn(from, Arc::clone(&router.stop));
            router
                .threads
                .push(thread.map_err(cannot("start the router"))?);
        }
        Ok(router)
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

fn open(vlan: Option<u16>, faults: RouterFaults) -> io::Result<[(PacketReceiver, Port); 2]> {
    let macs = [mac(DEVICE_PORTS[0])?, mac(DEVICE_PORTS[1])?];
    let hops = NextHops::new(faults.neighbour_expiry);
    let port = |at: usize, side: Side| {
        let from = PacketReceiver::open(DEVICE_PORTS[at], FRAME_BYTES_MAX, RING_BYTES)?;
        let port = Port {
            side,
            tx_here: PacketSender::open(DEVICE_PORTS[at])?,
            tx_there: PacketSender::open(DEVICE_PORTS[1 - at])?,
            here: neighbours(side, macs[at], vlan),
            there: neighbours(side.opposite(), macs[1 - at], vlan),
            hops: hops.clone(),
            faults: faults.clone(),
        };
        Ok::<_, io::Error>((from, port))
    };
    Ok([port(0, Side::A)?, port(1, Side::B)?])
}

/// The router itself, on one side.
fn neighbours(side: Side, mac: [u8; 6], vlan: Option<u16>) -> Neighbours {
    let own = [Family::Ipv4, Family::Ipv6].map(|family| AddressRange::from(side.device(family)));
    Neighbours {
        mac,
        vlan,
        own: own.to_vec(),
        except: Vec::new(),
    }
}

fn mac(interface: &str) -> io::Result<[u8; 6]> {
    let link = nic::link(interface)?;
    link.address
        .as_slice()
        .try_into()
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

const FRAME_BYTES_MAX: usize = MTU_BYTES as usize + 18;
const RING_BYTES: usize = 8 << 20;
