// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with the device of a bench, made for real: `--fault NAME[=VALUE]`.

mod make;
mod table;

use std::str::FromStr;

pub(super) use make::{mischief, refuse_impossible};
pub use table::{DEVICE_FAULTS, DeviceFaultKind};

/// One fault of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceFault {
    /// Each of its interfaces sends no more than this, and queues a few frames.
    Rate { bits_per_second: u64 },
    /// It drops every n-th frame that it routes.
    Loss { every: u32 },
    /// It never learns where an address is.
    Flood,
    /// It forgets its neighbours this often.
    NeighbourExpiry { ns: u64 },
    /// Its second interface goes down after so long, for so long.
    LinkDown { after_ns: u64, for_ns: u64 },
    /// Its second interface is taken out of it after so long, and with it the tester's port.
    PortGone { after_ns: u64 },
    /// Its second interface takes packets of so many bytes.
    Mtu { bytes: u32 },
    /// It sends every n-th test frame back out of the port that it came in by.
    SendBack { every: u32 },
    /// It flips a bit of every n-th test frame.
    Corrupt { every: u32 },
    /// It sends every n-th test frame twice.
    Duplicate { every: u32 },
    /// It sends every n-th test frame behind the next one.
    Reorder { every: u32 },
    /// It sends a frame of its own after every n-th test frame.
    Chatter { every: u32 },
    /// It takes so many hops of the TTL.
    Hops { hops: u8 },
    /// It leaves the tag out.
    Untagged,
}

impl DeviceFault {
    /// As it is called.
    fn name(self) -> &'static str {
        match self {
            Self::Rate { .. } => "rate",
            Self::Loss { .. } => "loss",
            Self::Flood => "flood",
            Self::NeighbourExpiry { .. } => "neighbour-expiry",
            Self::LinkDown { .. } => "link-down",
            Self::PortGone { .. } => "port-gone",
            Self::Mtu { .. } => "mtu",
            Self::SendBack { .. } => "send-back",
            Self::Corrupt { .. } => "corrupt",
            Self::Duplicate { .. } => "duplicate",
            Self::Reorder { .. } => "reorder",
            Self::Chatter { .. } => "chatter",
            Self::Hops { .. } => "hops",
            Self::Untagged => "untagged",
        }
    }
}

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
