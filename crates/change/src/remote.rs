// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of another host, through an agent there at the other end of ssh or of any command.
//!
//! ```text
//! here: Far ── {"id", "ask"} ──►  there: attend      lines of JSON; one request at a time
//!           ◄── {"id", "answer"} ──
//!           ── {"id", "ask": "beat"} ──►             without an answer: the connection lasts
//! ```
//! The agent sends a hello first. When its input ends, a signal asks it to end, or nothing comes for the agreed time, it
//! undoes what it has changed and not kept, and ends. It runs no command for the other end.

mod attend;
mod far;
mod message;
mod process;
mod settings;
mod talk;
#[cfg(test)]
mod tests;
mod way;

pub use attend::{Ending, Seat, attend};
pub use far::{Far, Terms};
pub use message::{Ask, Greeting, Hello, PROTOCOL};
pub use settings::settings;
pub use talk::{Talk, answered};
pub use way::Way;
