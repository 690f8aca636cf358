// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is told what: the token's exchange at both ends, as messages of the extension.
//!
//! ```text
//! client ── parameters {…, "linerate": {…, "nonce"}} ──► server
//!        ◄── AGENT challenge {nonce} ──                   only with a token, and to who said a nonce
//!        ── AGENT proof {proof} ──►
//!        ◄── AGENT hello {…, token, proof} ──
//! ```
//! Whatever comes of it, the test runs: only what the server tells of its host depends on it.

mod challenge;
mod client;
mod file;

pub use challenge::{Access, Challenge};
pub use client::ClientAuth;
pub use file::{given, read};

use super::sampler::{self, Audience};
use linerate_linux::random;
use linerate_model::output::{Host, Withheld};
use linerate_wire::linerate::token::{Digits, Nonce};
use serde::{Deserialize, Serialize};
use std::io;

/// How a client stands with a server, in the server's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenStatus {
    /// This server has no token: nobody is told more.
    None,
    /// It has one, and the client gave none.
    Needed,
    /// The client gave another.
    Refused,
    /// The client knows it, and is told all.
    Accepted,
}

impl TokenStatus {
    /// `None` for a word of a later version.
    pub fn of(word: &str) -> Option<Self> {
        [Self::None, Self::Needed, Self::Refused, Self::Accepted]
            .into_iter()
            .find(|status| status.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Needed => "needed",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
        }
    }
}

/// A host as its server tells of it, as far as that is to be believed.
pub fn known(host: Host, withheld: Option<Withheld>) -> Host {
    let audience = withheld.map_or(Audience::User, |_| Audience::Peer);
    Host {
        withheld,
        ..sampler::host_for(audience, host)
    }
}

fn nonce() -> io::Result<Nonce> {
    let mut bytes = [0; 32];
    random::fill(&mut bytes)?;
    Ok(Digits(bytes))
}

#[cfg(test)]
mod tests;
