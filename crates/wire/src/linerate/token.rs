// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who knows the token of a server: each end proves it to the other, and neither sends it.
//!
//! ```text
//! client ── its nonce ──► server
//!        ◄── its nonce ──
//!        ── proof ──►              the client goes first: an unauthenticated client gets nothing to test guesses on
//!        ◄── proof ──              only of a server that took the client's
//! proof = HMAC-SHA256(token, label of who proves ‖ cookie ‖ client's nonce ‖ server's nonce)   RFC 2104
//! ```
//! All parts have one length each, so no two exchanges are the same bytes. The label makes a proof that is
//! sent back worthless, the nonces one of another connection, the cookie one of another test.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use hmac::digest::{Digest, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::iperf3::cookie::Cookie;

/// The environment variable that names the token's file where no flag does.
pub const FILE_VARIABLE: &str = "LINERATE_TOKEN_FILE";

/// What both ends know. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; BLOCK_BYTES]);

/// Random bytes, for one connection only.
pub type Nonce = Digits<NONCE_BYTES>;

/// That one end of an exchange knows the secret.
pub type Proof = Digits<PROOF_BYTES>;

/// Bytes that travel as hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits<const LEN: usize>(pub [u8; LEN]);

/// Who proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// Who connected.
    Client,
    /// Who was connected to.
    Server,
}

/// One connection, on which both have said their nonce.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Its first 37 bytes.
    pub cookie: Cookie,
    /// The client's.
    pub client: Nonce,
    /// The server's.
    pub server: Nonce,
}

impl Secret {
    /// The shortest that is taken, bytes.
    pub const LEAST_BYTES: usize = 16;

    /// The fewest different bytes of one that is taken.
    pub const LEAST_DIFFERENT: usize = 8;

    /// `None` if it is too short or too uniform: an eavesdropper can test guesses offline.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let different = bytes.iter().collect::<BTreeSet<_>>().len();
        let taken = bytes.len() >= Self::LEAST_BYTES && different >= Self::LEAST_DIFFERENT;
        taken.then(|| Self::key(bytes))
    }

    /// As RFC 2104 makes a key of it: padded to a block, one longer than that hashed before.
    fn key(bytes: &[u8]) -> Self {
        let mut key = [0; BLOCK_BYTES];
        match key.get_mut(..bytes.len()) {
            Some(begin) => begin.copy_from_slice(bytes),
            None => key[..PROOF_BYTES].copy_from_slice(&Sha256::digest(bytes)),
        }
        Self(key)
    }

    /// What shows the other end that `party` knows the secret.
    #[must_use]
    pub fn prove(&self, party: Party, exchange: &Exchange) -> Proof {
        Digits(self.over(party, exchange).finalize().into_bytes().into())
    }

    /// Whether `party` knows it. Takes as long for each wrong proof.
    #[must_use]
    pub fn accepts(&self, proof: &Proof, party: Party, exchange: &Exchange) -> bool {
        self.over(party, exchange).verify_slice(&proof.0).is_ok()
    }

    fn over(&self, party: Party, exchange: &Exchange) -> Hmac<Sha256> {
        let label = match party {
            Party::Client => CLIENT,
            Party::Server => SERVER,
        };
        let parts = [
            label,
            exchange.cookie.as_bytes(),
            &exchange.client.0,
            &exchange.server.0,
        ];
        let mut mac = self.mac();
        parts.iter().for_each(|part| mac.update(part));
        mac
    }

    fn mac(&self) -> Hmac<Sha256> {
        KeyInit::new(&self.0.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<const LEN: usize> Digits<LEN> {
    /// Reads what [`fmt::Display`] writes; `None` for anything else.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 2 * LEN {
            return None;
        }
        let mut bytes = [0; LEN];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl<const LEN: usize> fmt::Display for Digits<LEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            f.write_char(DIGITS[usize::from(byte >> 4)].into())?;
            f.write_char(DIGITS[usize::from(byte & 15)].into())?;
        }
        Ok(())
    }
}

fn digit(character: u8) -> Option<u8> {
    let value = DIGITS.iter().position(|known| *known == character)?;
    u8::try_from(value).ok()
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";
const CLIENT: &[u8] = b"linerate token 1 client";
const SERVER: &[u8] = b"linerate token 1 server";
/// Of SHA-256.
const BLOCK_BYTES: usize = 64;
const PROOF_BYTES: usize = 32;
const NONCE_BYTES: usize = 32;

#[cfg(test)]
mod tests;
