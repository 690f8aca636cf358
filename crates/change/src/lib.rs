// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of a host's settings that can be undone, also after a crash.
//!
//! In: what is to be changed ([`Change`]), and the settings themselves ([`World`]). Out: an [`Outcome`] of each change, and
//! a [`Journal`] of what is not undone yet. Each change is in the journal, on the disk, before it is made ([`apply()`]);
//! [`restore()`] reads the journal backwards. It may end at any moment, and be started again.
//!
//! ```
//! # use linerate_change::{Entry, Phase, Trace, open};
//! # let entries: Vec<Entry> = Vec::new();
//! // Nothing is open where each change was restored or kept.
//! assert!(open(&entries).is_empty());
//! ```
#![forbid(unsafe_code)]

mod apply;
mod bounds;
mod codec;
mod command;
mod confirming;
mod coupled;
pub mod dataplane;
mod entry;
mod files;
mod forwarding;
mod governor;
mod guarded;
mod hand;
mod host;
mod journal;
mod kernel;
mod knob;
mod latency;
mod lines;
mod link;
mod lock;
mod memory;
mod open;
mod own;
mod owner;
mod parameters;
mod parse;
mod persist;
mod provisional;
pub mod remote;
mod restore;
#[cfg(test)]
mod tests;
mod warden;
mod words;
mod world;

pub use apply::{Outcome, apply};
pub use codec::{Contents, Tail, contents, line};
pub use command::{command, quoted, undo};
pub use confirming::{Confirming, Probe};
pub use coupled::SideEffect;
pub use entry::{Change, Device, Entry, Key, Phase, Place, Undo};
pub use guarded::{Begin, Guarded, Watch};
pub use hand::{Hand, Local};
pub use host::Host;
pub use journal::{Journal, JournalError, Trace};
pub use kernel::Kernel;
pub use lock::{Exclusive, Hold, Taken};
pub use memory::Memory;
pub use open::{Open, open, standing};
pub use owner::Owner;
pub use parse::{Wanted, offloads, parse};
pub use persist::{
    Config, DropIn, Files, Interface, Kept, Refusal, Surroundings, Written, persist, write,
};
pub use provisional::Provisional;
pub use remote::{Ending, Far, attend};
pub use restore::{End, Restored, forget, restore, restore_kept, restore_one};
pub use warden::{Warded, stand};
pub use world::World;
