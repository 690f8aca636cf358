// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offloads that the oldest ethtool commands can switch (linux/ethtool.h), which is enough for a veth.

use std::io;

use crate::nic::Card as _;
use crate::nic::ethtool::request::{self, Ethtool};

/// An offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    ReceiveChecksum,
    TransmitChecksum,
    TcpSegmentation,
    GenericSegmentation,
    GenericReceive,
}

impl Offload {
    /// Those of a veth's sender and GRO, in an order in which each can be switched off.
    pub const ALL: [Self; 4] = [
        Self::TcpSegmentation,
        Self::GenericSegmentation,
        Self::GenericReceive,
        Self::TransmitChecksum,
    ];

    /// `ETHTOOL_S…`.
    const fn command(self) -> u32 {
        match self {
            Self::ReceiveChecksum => 0x15,
            Self::TransmitChecksum => 0x17,
            Self::TcpSegmentation => 0x1f,
            Self::GenericSegmentation => 0x24,
            Self::GenericReceive => 0x2c,
        }
    }
}

/// Returns whether the interface strips VLAN tags from received frames.
///
/// # Errors
/// EOPNOTSUPP if the driver does not have it.
pub fn strips_vlan_tags(interface: &str) -> io::Result<bool> {
    exchange(interface, GET_FLAGS, 0).map(|flags| flags & RECEIVE_VLAN != 0)
}

/// Switches an offload.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, EOPNOTSUPP if the driver cannot.
pub fn switch(interface: &str, offload: Offload, on: bool) -> io::Result<()> {
    exchange(interface, offload.command(), on.into()).map(drop)
}

/// The offloads of one interface, to be read from any thread and namespace.
#[derive(Debug)]
pub struct InForce(Ethtool);

impl InForce {
    /// Of an interface of the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2).
    pub fn of(interface: &str) -> io::Result<Self> {
        Ethtool::of(interface).map(Self)
    }

    /// Whether an offload is on.
    ///
    /// # Errors
    /// ENODEV once the interface is gone, EOPNOTSUPP if the driver does not have it.
    pub fn is_on(&self, offload: Offload) -> io::Result<bool> {
        // Each command that reads precedes the one that writes.
        ask(&self.0, offload.command() - 1, 0).map(|value| value != 0)
    }

    /// Whether the interface inserts VLAN tags into the frames that it sends.
    ///
    /// # Errors
    /// As [`Self::is_on`].
    pub fn inserts_vlan_tags(&self) -> io::Result<bool> {
        ask(&self.0, GET_FLAGS, 0).map(|flags| flags & TRANSMIT_VLAN != 0)
    }
}

/// `ETHTOOL_GFLAGS`, `ETH_FLAG_TXVLAN` and `ETH_FLAG_RXVLAN`.
const GET_FLAGS: u32 = 0x25;
const TRANSMIT_VLAN: u32 = 1 << 7;
const RECEIVE_VLAN: u32 = 1 << 8;

/// `struct ethtool_value`: command, data.
fn exchange(interface: &str, command: u32, data: u32) -> io::Result<u32> {
    ask(&Ethtool::of(interface)?, command, data)
}

fn ask(ethtool: &Ethtool, command: u32, data: u32) -> io::Result<u32> {
    let mut value = request::command(command, 8);
    request::put(&mut value, 4, data);
    ethtool.exchange(&mut value)?;
    request::get(&value, 4)
}
