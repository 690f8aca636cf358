// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with the device of a bench, made for real: `--fault NAME[=VALUE]`.

use std::io;
use std::str::FromStr;
use std::time::Duration;

use linerate_linux::nft;
use linerate_linux::rtnl::{Qdisc, Rtnl, RtnlError};
use linerate_wire::frame::{Family, Side};

use super::Bench;
use super::layout::DEVICE_PORTS;
use crate::lab::size::{self, Unreadable};
use crate::lab::{LabError, cannot};

/// One fault of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceFault {
    /// Each of its interfaces sends no more than this, and queues a few frames.
    Rate { bits_per_second: u64 },
    /// Its packet filter drops every n-th frame that it routes.
    Loss { every: u32 },
    /// It never learns where an address is.
    Flood,
    /// It forgets its neighbours this often.
    NeighbourExpiry { ns: u64 },
    /// Its second interface goes down after so long, for so long.
    LinkDown { after_ns: u64, for_ns: u64 },
}

/// A fault's name, the values it takes when none is given, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFaultKind {
    pub name: &'static str,
    /// Empty: takes no value.
    pub default: &'static str,
    pub effect: &'static str,
    parse: fn(&[&str]) -> Result<DeviceFault, Unreadable>,
}

/// Every fault of a device, in the order of the help.
pub const DEVICE_FAULTS: &[DeviceFaultKind] = &[
    DeviceFaultKind {
        name: "rate",
        default: "10M",
        effect: "the device sends no faster (bits from Ethernet header to payload)",
        parse: |v| {
            let bits_per_second = size::bits_per_second(v[0])?;
            Ok(DeviceFault::Rate { bits_per_second })
        },
    },
    DeviceFaultKind {
        name: "loss",
        default: "1000",
        effect: "the router drops every n-th frame",
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Loss { every })
        },
    },
    DeviceFaultKind {
        name: "flood",
        default: "",
        effect: "the bridge learns no address",
        parse: |_| Ok(DeviceFault::Flood),
    },
    DeviceFaultKind {
        name: "neighbour-expiry",
        default: "200ms",
        effect: "the router forgets its neighbours this often",
        parse: |v| {
            let ns = size::nanoseconds(v[0])?;
            Ok(DeviceFault::NeighbourExpiry { ns })
        },
    },
    DeviceFaultKind {
        name: "link-down",
        default: "5s:1s",
        effect: "the device's second interface goes down after, for",
        parse: |v| {
            let (after_ns, for_ns) = (size::nanoseconds(v[0])?, size::nanoseconds(v[1])?);
            Ok(DeviceFault::LinkDown { after_ns, for_ns })
        },
    },
];

impl FromStr for DeviceFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let kind = DEVICE_FAULTS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| {
            let names: Vec<_> = DEVICE_FAULTS.iter().map(|kind| kind.name).collect();
            format!(
                "no device has the fault '{name}'; known: {}",
                names.join(", ")
            )
        })?;
        let usual: Vec<&str> = kind.default.split(':').collect();
        let given: Vec<&str> = value.map_or_else(Vec::new, |value| value.split(':').collect());
        if given.len() > usual.len() || (value.is_some() && kind.default.is_empty()) {
            return Err(format!("{name} takes fewer values"));
        }
        let values: Vec<&str> = given.iter().chain(&usual[given.len()..]).copied().collect();
        (kind.parse)(&values).map_err(|unreadable| format!("{name}: {unreadable}"))
    }
}

impl DeviceFault {
    pub(super) fn make(self, bench: &mut Bench) -> Result<(), LabError> {
        let Bench {
            device, nuisance, ..
        } = bench;
        match self {
            Self::Rate { bits_per_second } => {
                let qdisc = bucket(bits_per_second);
                inside(bench, || {
                    let mut net = Rtnl::open()?;
                    DEVICE_PORTS
                        .iter()
                        .try_for_each(|port| net.set_qdisc(port, &qdisc))
                })
            }
            Self::Loss { every } => inside(bench, || nft::drop_forwarded_udp(every)),
            Self::Flood => Ok(()),
            Self::NeighbourExpiry { ns } => {
                let done = nuisance.every(device, Duration::from_nanos(ns), forget_neighbours);
                done.map_err(cannot("start the forgetting thread"))
            }
            Self::LinkDown { after_ns, for_ns } => {
                let (after, time) = (Duration::from_nanos(after_ns), Duration::from_nanos(for_ns));
                let done = nuisance.unplug(device, DEVICE_PORTS[1], after, time);
                done.map_err(cannot("start the unplugging thread"))
            }
        }
    }
}

/// Room for what a sender that is a little late sends at once, and no more: a buffer would let
/// short trials pass above the rate.
fn bucket(bits_per_second: u64) -> Qdisc {
    Qdisc::TokenBucket {
        rate_bytes_per_second: u32::try_from(bits_per_second / 8)
            .unwrap_or(u32::MAX)
            .max(1),
        burst_bytes: LARGEST_FRAME_BYTES,
        limit_bytes: LARGEST_FRAME_BYTES,
    }
}

fn forget_neighbours() -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    for (interface, side) in DEVICE_PORTS.into_iter().zip([Side::A, Side::B]) {
        for family in [Family::Ipv4, Family::Ipv6] {
            // Not everyone is known.
            let _unknown = net.forget_neighbour(interface, side.tester(family));
        }
    }
    Ok(())
}

fn inside<E: Into<Box<dyn std::error::Error + Send + Sync>> + Send>(
    bench: &Bench,
    make: impl FnOnce() -> Result<(), E> + Send,
) -> Result<(), LabError> {
    let done = bench
        .device
        .enter(make)
        .map_err(cannot("enter the device"))?;
    done.map_err(|why| LabError::measuring("change the device", io::Error::other(why)))
}

const LARGEST_FRAME_BYTES: u32 = 1518;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_with_their_defaults() {
        let down = |after_ns, for_ns| Ok(DeviceFault::LinkDown { after_ns, for_ns });
        assert_eq!("loss=100".parse(), Ok(DeviceFault::Loss { every: 100 }));
        assert_eq!("loss".parse(), Ok(DeviceFault::Loss { every: 1000 }));
        assert_eq!("flood".parse(), Ok(DeviceFault::Flood));
        assert_eq!("link-down=2s".parse(), down(2_000_000_000, 1_000_000_000));
        assert_eq!(
            "link-down=2s:3s".parse(),
            down(2_000_000_000, 3_000_000_000)
        );
    }

    #[test]
    fn nonsense_is_named() {
        let why = |text: &str| text.parse::<DeviceFault>().unwrap_err();
        assert!(
            why("gremlins").contains("rate, loss, flood"),
            "{}",
            why("gremlins")
        );
        assert_eq!(why("flood=1"), "flood takes fewer values");
        assert_eq!(why("rate=fast"), "rate: 'fast' is not a rate such as 100M");
    }
}
