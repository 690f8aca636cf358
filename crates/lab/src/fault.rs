// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named faults: `--fault NAME[=VALUE]`, where a value may have two parts, `A:B`.
//!
//! A fault reproduces a cause for real. Its name exists only here and on the command line of
//! the lab: nothing that measures or explains ever sees it.

use std::fmt;
use std::str::FromStr;

use super::size::{self, Unreadable};

/// One fault, with all that it needs to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Datagram sockets of host B's commands hold no more than this, whatever they ask for.
    ReceiveBuffer { bytes: u32 },
    /// Both hosts' own queueing discipline sends no faster and holds 16 packets.
    QdiscLimit { bits_per_second: u64 },
    /// Host B's packet filter drops every n-th datagram.
    NftDrop { every: u32 },
    /// Host B's commands share one CPU with so many busy threads.
    CpuContention { threads: u32 },
    /// Host B's interface takes smaller packets than host A's.
    Mtu { bytes: u32 },
    /// The wire loses frames, each alike.
    Loss { ratio: f64 },
    /// The wire loses this share of the frames, in bursts of this many on average.
    BurstLoss { ratio: f64, frames: u32 },
    /// The wire holds up some frames so that later ones overtake them.
    Reorder { ratio: f64, by_ns: u64 },
    /// The wire delivers some frames twice.
    Duplicate { ratio: f64 },
    /// The wire flips a bit in some packets.
    Corrupt { ratio: f64 },
    /// The wire takes so long each way, and up to so much longer.
    Delay { ns: u64, jitter_ns: u64 },
    /// The wire carries no more than this and queues so much.
    Rate {
        bits_per_second: u64,
        fifo_bytes: u32,
    },
    /// Both hosts do without segmentation, receive and checksum offload.
    OffloadOff,
    /// Both hosts use the Reno congestion control, over a wire with delay and a little loss.
    Reno { delay_ns: u64, loss_ratio: f64 },
    /// The largest TCP receive buffer of both hosts.
    TcpReceiveMemory { bytes: u32 },
    /// The largest TCP send buffer of both hosts.
    TcpSendMemory { bytes: u32 },
    /// Host B's commands are stopped for so long in every second.
    PausedReader { ns: u64 },
    /// Host B's interface goes down after so long, for so long.
    LinkDown { after_ns: u64, for_ns: u64 },
}

/// A fault's name, the values it takes when none is given, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct FaultKind {
    pub name: &'static str,
    /// Empty: takes no value.
    pub default: &'static str,
    pub effect: &'static str,
    parse: fn(&[&str]) -> Result<Fault, Unreadable>,
}

/// Every fault, in the order of the help.
pub const FAULTS: &[FaultKind] = &[
    FaultKind {
        name: "rcvbuf",
        default: "16K",
        effect: "datagram sockets of the peer hold no more than this",
        parse: |v| {
            Ok(Fault::ReceiveBuffer {
                bytes: size::bytes(v[0])?,
            })
        },
    },
    FaultKind {
        name: "qdisc-limit",
        default: "50M",
        effect: "both hosts' own queue sends no faster and holds 16 packets",
        parse: |v| {
            Ok(Fault::QdiscLimit {
                bits_per_second: size::bits_per_second(v[0])?,
            })
        },
    },
    FaultKind {
        name: "nft-drop",
        default: "100",
        effect: "the peer's packet filter drops every n-th datagram",
        parse: |v| {
            Ok(Fault::NftDrop {
                every: size::count(v[0])?,
            })
        },
    },
    FaultKind {
        name: "cpu-contention",
        default: "2",
        effect: "the peer shares one CPU with so many busy threads",
        parse: |v| {
            Ok(Fault::CpuContention {
                threads: size::count(v[0])?,
            })
        },
    },
    FaultKind {
        name: "mtu",
        default: "1400",
        effect: "the peer's interface takes smaller packets",
        parse: |v| {
            Ok(Fault::Mtu {
                bytes: size::count(v[0])?,
            })
        },
    },
    FaultKind {
        name: "loss",
        default: "1%",
        effect: "the wire loses frames",
        parse: |v| {
            Ok(Fault::Loss {
                ratio: size::ratio(v[0])?,
            })
        },
    },
    FaultKind {
        name: "burst-loss",
        default: "1%:10",
        effect: "the wire loses this share, in bursts of so many frames",
        parse: |v| {
            let (ratio, frames) = (size::ratio(v[0])?, size::count(v[1])?);
            Ok(Fault::BurstLoss { ratio, frames })
        },
    },
    FaultKind {
        name: "reorder",
        default: "1%:2ms",
        effect: "the wire holds up this share for so long",
        parse: |v| {
            let (ratio, by_ns) = (size::ratio(v[0])?, size::nanoseconds(v[1])?);
            Ok(Fault::Reorder { ratio, by_ns })
        },
    },
    FaultKind {
        name: "duplicate",
        default: "1%",
        effect: "the wire delivers this share twice",
        parse: |v| {
            Ok(Fault::Duplicate {
                ratio: size::ratio(v[0])?,
            })
        },
    },
    FaultKind {
        name: "corrupt",
        default: "1%",
        effect: "the wire flips a bit in this share",
        parse: |v| {
            Ok(Fault::Corrupt {
                ratio: size::ratio(v[0])?,
            })
        },
    },
    FaultKind {
        name: "delay",
        default: "10ms:0ms",
        effect: "the wire takes so long each way, and up to so much longer",
        parse: |v| {
            let (ns, jitter_ns) = (size::nanoseconds(v[0])?, size::nanoseconds(v[1])?);
            Ok(Fault::Delay { ns, jitter_ns })
        },
    },
    FaultKind {
        name: "rate",
        default: "100M:32K",
        effect: "the wire carries no more and queues so much",
        parse: |v| {
            let (bits_per_second, fifo_bytes) = (size::bits_per_second(v[0])?, size::bytes(v[1])?);
            Ok(Fault::Rate {
                bits_per_second,
                fifo_bytes,
            })
        },
    },
    FaultKind {
        name: "offload-off",
        default: "",
        effect: "both hosts segment and checksum in software",
        parse: |_| Ok(Fault::OffloadOff),
    },
    FaultKind {
        name: "reno",
        default: "10ms:0.1%",
        effect: "Reno congestion control over such a delay each way and such a loss",
        parse: |v| {
            let (delay_ns, loss_ratio) = (size::nanoseconds(v[0])?, size::ratio(v[1])?);
            Ok(Fault::Reno {
                delay_ns,
                loss_ratio,
            })
        },
    },
    FaultKind {
        name: "tcp-rmem",
        default: "16K",
        effect: "the largest TCP receive buffer of both hosts",
        parse: |v| {
            Ok(Fault::TcpReceiveMemory {
                bytes: size::bytes(v[0])?,
            })
        },
    },
    FaultKind {
        name: "tcp-wmem",
        default: "16K",
        effect: "the largest TCP send buffer of both hosts",
        parse: |v| {
            Ok(Fault::TcpSendMemory {
                bytes: size::bytes(v[0])?,
            })
        },
    },
    FaultKind {
        name: "paused-reader",
        default: "200ms",
        effect: "the peer stops for so long in every second",
        parse: |v| {
            Ok(Fault::PausedReader {
                ns: size::nanoseconds(v[0])?,
            })
        },
    },
    FaultKind {
        name: "link-down",
        default: "2s:1s",
        effect: "the peer's link goes down after so long, for so long",
        parse: |v| {
            let (after_ns, for_ns) = (size::nanoseconds(v[0])?, size::nanoseconds(v[1])?);
            Ok(Fault::LinkDown { after_ns, for_ns })
        },
    },
];

impl Fault {
    /// Does it happen on the wire, so that there must be one?
    pub fn needs_wire(&self) -> bool {
        matches!(
            self,
            Self::Loss { .. }
                | Self::BurstLoss { .. }
                | Self::Reorder { .. }
                | Self::Duplicate { .. }
                | Self::Corrupt { .. }
                | Self::Delay { .. }
                | Self::Rate { .. }
                | Self::Reno { .. }
        )
    }
}

/// A `--fault` that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFault(String);

impl fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownFault {}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let kind = FAULTS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| unknown(name))?;
        let parts = kind.parts(value).map_err(UnknownFault)?;
        (kind.parse)(&parts).map_err(|why| UnknownFault(format!("fault {name}: {why}")))
    }
}

impl FaultKind {
    /// The value's parts; a part that is not given is the default's.
    fn parts<'a>(&self, value: Option<&'a str>) -> Result<Vec<&'a str>, String> {
        let name = self.name;
        let mut parts: Vec<&str> = self
            .default
            .split(':')
            .filter(|part| !part.is_empty())
            .collect();
        let given: Vec<&str> = value
            .map(|value| value.split(':').collect())
            .unwrap_or_default();
        if given.len() > parts.len() {
            return Err(match parts.len() {
                0 => format!("fault {name} takes no value"),
                _ => format!(
                    "fault {name}: at most {} parts, as in {}",
                    parts.len(),
                    self.default
                ),
            });
        }
        parts
            .iter_mut()
            .zip(given)
            .for_each(|(part, given)| *part = given);
        Ok(parts)
    }
}

fn unknown(name: &str) -> UnknownFault {
    let names: Vec<&str> = FAULTS.iter().map(|kind| kind.name).collect();
    UnknownFault(format!(
        "unknown fault '{name}'; known: {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_defaults() {
        let table = [
            ("loss", Fault::Loss { ratio: 0.01 }),
            ("loss=5%", Fault::Loss { ratio: 0.05 }),
            ("rcvbuf=8K", Fault::ReceiveBuffer { bytes: 8192 }),
            (
                "burst-loss=2%",
                Fault::BurstLoss {
                    ratio: 0.02,
                    frames: 10,
                },
            ),
            (
                "burst-loss=2%:3",
                Fault::BurstLoss {
                    ratio: 0.02,
                    frames: 3,
                },
            ),
            (
                "delay=5ms:1ms",
                Fault::Delay {
                    ns: 5_000_000,
                    jitter_ns: 1_000_000,
                },
            ),
            (
                "rate=10M",
                Fault::Rate {
                    bits_per_second: 10_000_000,
                    fifo_bytes: 32_768,
                },
            ),
            ("offload-off", Fault::OffloadOff),
            (
                "link-down=1s",
                Fault::LinkDown {
                    after_ns: 1_000_000_000,
                    for_ns: 1_000_000_000,
                },
            ),
        ];
        for (text, fault) in table {
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
    }

    #[test]
    fn messages() {
        let table = [
            (
                "loss=200%",
                "fault loss: '200%' is not a share such as 1%, above 0 and at most 100%",
            ),
            (
                "loss=",
                "fault loss: '' is not a share such as 1%, above 0 and at most 100%",
            ),
            ("loss=1%:2", "fault loss: at most 1 parts, as in 1%"),
            ("offload-off=1", "fault offload-off takes no value"),
            ("rate=slow", "fault rate: 'slow' is not a rate such as 100M"),
            (
                "nft-drop=0",
                "fault nft-drop: '0' is not a number from 1 on",
            ),
        ];
        for (text, message) in table {
            assert_eq!(
                text.parse::<Fault>().map_err(|e| e.to_string()),
                Err(message.to_owned())
            );
        }
        let unknown = "lossy".parse::<Fault>().map_err(|e| e.to_string());
        assert!(unknown.is_err_and(|message| message.starts_with("unknown fault 'lossy'; known: rcvbuf, ")));
    }

    #[test]
    fn every_default_can_be_read() {
        for kind in FAULTS {
            assert!(kind.name.parse::<Fault>().is_ok(), "{}", kind.name);
        }
    }
}
