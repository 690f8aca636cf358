// SPDX-License-Identifier: MIT OR Apache-2.0
//! Authentication by a shared token, at both ends, as messages of the extension.
//!
//! ```text
//! client ── parameters {…, "linerate": {…, "nonce"}} ──► server
//!        ◄── AGENT challenge {nonce} ──                   only with a token, after a nonce
//!        ── AGENT proof {proof} ──►
//!        ◄── AGENT hello {…, token, proof} ──
//! ```
//! The test runs in any case: only what the server reports about its host depends on it.

mod challenge;
mod client;
mod file;

pub(crate) use challenge::{Access, Challenge};
pub use client::ClientAuth;
pub use file::{given, read};

use super::sampler::{self, Audience};
use linerate_linux::{host, random};
use linerate_model::output::{Host, Withheld};
use linerate_wire::linerate::boot_id;
use linerate_wire::linerate::token::{Digits, Nonce};
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::io;

/// The result of the authentication, as the server reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenStatus {
    /// The server has no token.
    None,
    /// The server has one, the client gave none.
    Needed,
    /// The client has another token.
    Refused,
    /// The client proved the token.
    Accepted,
}

impl TokenStatus {
    /// `None` for a word of a later version.
    pub fn of(word: &str) -> Option<Self> {
        let word: StrDeserializer<'_, Error> = word.into_deserializer();
        Self::deserialize(word).ok()
    }
}

/// Returns a host as its server described it, without what is withheld or not trusted.
pub fn known(host: Host, withheld: Option<Withheld>) -> Host {
    let audience = withheld.map_or(Audience::User, |_| Audience::Peer);
    let host = sampler::host_for(audience, host);
    Host {
        withheld,
        boot_id: host.boot_id.map(or_ours),
        ..host
    }
}

/// Returns this machine's boot id for the hash of it that its own server sends.
fn or_ours(theirs: String) -> String {
    let ours = host::boot_id().filter(|ours| boot_id::is_of(&theirs, ours));
    ours.unwrap_or(theirs)
}

fn nonce() -> io::Result<Nonce> {
    let mut bytes = [0; 32];
    random::fill_when_ready(&mut bytes)?;
    Ok(Digits(bytes))
}

#[cfg(test)]
mod tests;
