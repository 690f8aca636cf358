// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named faults of the DUT: `--fault NAME[=VALUE]`.

mod inject;

use std::mem::discriminant;
use std::str::FromStr;

use super::DeviceKind::{self, Bridge, Flowtable, Route, UserRoute};
use crate::fault_kind::{self, FaultKind, fault_kinds};

pub(super) use inject::refuse_impossible;

/// One fault of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceFault {
    /// Limits the rate of each of its interfaces, with a queue of a few frames.
    Rate { bits_per_second: u64 },
    /// It drops every n-th frame it routes.
    Loss { every: u32 },
    /// It never learns an address.
    Flood,
    /// It forgets its neighbours this often.
    NeighbourExpiry { ns: u64 },
    /// Its second interface goes down after this time, for this long.
    LinkDown { after_ns: u64, for_ns: u64 },
    /// Its second interface and the tester's port at it are deleted after this time.
    PortGone { after_ns: u64 },
    /// The MTU of its second interface.
    Mtu { bytes: u32 },
    /// It sends every n-th test frame back out of the port it came from.
    SendBack { every: u32 },
    /// It flips a bit of every n-th test frame.
    Corrupt { every: u32 },
    /// It sends every n-th test frame twice.
    Duplicate { every: u32 },
    /// It swaps every n-th test frame with the next.
    Reorder { every: u32 },
    /// It sends a foreign frame after every n-th test frame.
    Chatter { every: u32 },
    /// It decrements the TTL by this much.
    Hops { hops: u8 },
    /// It strips the VLAN tag.
    Untagged,
}

/// Every fault of a device, in the order of the help.
const DEVICE_FAULTS: &[FaultKind<DeviceFault>] = fault_kinds! { DeviceFault:
    "rate" "10M" Rate { bits_per_second: bits_per_second } "rate limit of the device (bits from Ethernet header to payload)" KERNELS;
    "loss" "1000" Loss { every: count } "the router drops every n-th frame" LOSING;
    "flood" "" Flood {} "the bridge learns no address" &[Bridge];
    "neighbour-expiry" "200ms" NeighbourExpiry { ns: nanoseconds } "the router forgets its neighbours this often" ROUTERS;
    "link-down" "5s:1s" LinkDown { after_ns: nanoseconds, for_ns: nanoseconds } "the device's second interface goes down after this time, for this long" &DeviceKind::ALL;
    "port-gone" "5s" PortGone { after_ns: nanoseconds } "the device's second interface and the port at it are deleted after this time" KERNELS;
    "mtu" "1400" Mtu { bytes: bytes } "MTU of the router's second interface" &[Route, Flowtable];
    "send-back" "100" SendBack { every: count } "the router sends every n-th test frame back where it came from" &[UserRoute];
    "corrupt" "100" Corrupt { every: count } "the router flips a bit of every n-th test frame" &[UserRoute];
    "duplicate" "100" Duplicate { every: count } "the router sends every n-th test frame twice" &[UserRoute];
    "reorder" "100" Reorder { every: count } "the router swaps every n-th test frame with the next" &[UserRoute];
    "chatter" "100" Chatter { every: count } "the router sends a foreign frame after every n-th test frame" &[UserRoute];
    "hops" "2" Hops { hops: hops } "the router decrements the TTL by this much" &[UserRoute];
    "untagged" "" Untagged {} "the router strips the VLAN tag" &[UserRoute];
};

const KERNELS: &[DeviceKind] = &[Bridge, Route, Flowtable];
const ROUTERS: &[DeviceKind] = &[Route, Flowtable, UserRoute];
/// No filter sees the flows that a flowtable forwards.
const LOSING: &[DeviceKind] = &[Route, UserRoute];

impl DeviceFault {
    fn kind(self) -> Option<&'static FaultKind<Self>> {
        let is_same = |other: Self| discriminant(&other) == discriminant(&self);
        let mut kinds = DEVICE_FAULTS.iter();
        kinds.find(|kind| kind.read(None).is_ok_and(is_same))
    }

    fn name(self) -> &'static str {
        self.kind().map_or("", |kind| kind.name)
    }
}

impl FromStr for DeviceFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fault_kind::parse(DEVICE_FAULTS, text)
    }
}

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
        let unknown = "gremlins".parse::<DeviceFault>();
        assert!(unknown.is_err_and(|why| why.contains("rate, loss, flood")));
        for kind in DEVICE_FAULTS {
            let name = kind.name.parse().map(|fault: DeviceFault| fault.name());
            assert_eq!(name, Ok(kind.name));
        }
    }
}
