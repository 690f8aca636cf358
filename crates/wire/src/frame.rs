// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test frames of forwarding measurements (RFC 2544 appendix C): what is sent, what arrives, and the neighbour
//! protocols that a device in the middle asks for.
//!
//! Frame sizes count the 4 bytes of the FCS, as RFC 2544 does; the bytes given and taken here are without it. Nothing
//! on the path of a frame allocates: a [`Template`] is made once a flow and size, then stamped.
//!
//! ```
//! use linerate_wire::frame::{self, Arrived, Flow, Signature, Template};
//!
//! let flow = Flow {
//!     source_mac: [2, 0, 0, 0, 0, 1],
//!     destination_mac: [2, 0, 0, 0, 0, 2],
//!     vlan: None,
//!     source: "198.18.1.2".parse()?,
//!     destination: "198.19.1.2".parse()?,
//!     source_port: frame::SOURCE_PORT,
//!     destination_port: frame::DESTINATION_PORT,
//!     ttl: frame::TTL,
//! };
//! let template = Template::new(&flow, 64)?;
//! let mut bytes = template.bytes().to_vec();
//! let signature = Signature { run: 1, stream: 0, sequence: 7, sent_ns: 1_000 };
//! template.stamp(&mut bytes, &signature);
//! assert!(matches!(frame::read(&bytes), Arrived::Ours(ours) if ours.signature == signature && ours.is_intact()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod arrived;
mod complaint;
mod control;
mod flow;
mod flows;
mod foreign;
mod internet;
mod learning;
mod neighbour;
mod pattern;
mod signature;
mod template;

pub use address::{AddressRange, Family, Side, is_benchmark_address};
pub use arrived::{Arrived, Ours, read};
pub use complaint::{Complaint, Kind as ComplaintKind};
pub use control::ControlFrame;
pub use flow::{DESTINATION_PORT, Flow, SOURCE_PORT, TTL};
pub use flows::{Spread, flows};
pub use foreign::Foreign;
pub use learning::learning;
pub use neighbour::{Neighbours, resolved};
pub use signature::Signature;
pub use template::{Refusal, Template};
