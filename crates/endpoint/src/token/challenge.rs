// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's part: it asks who said a nonce for a proof, and gives its own for a right one only.

use super::{TokenStatus, nonce};
use crate::extension::Message;
use crate::sampler::Audience;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::token::{Digits, Exchange, Party, Proof, Secret};

/// A client that has yet to prove itself.
#[derive(Debug)]
pub struct Challenge<'a> {
    secret: &'a Secret,
    exchange: Exchange,
}

/// What a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// In the server's words.
    pub status: TokenStatus,
    /// That this is the server which the client means.
    pub proof: Option<String>,
}

impl<'a> Challenge<'a> {
    /// To who said `client` as its nonce. `None` if that is none, or the kernel has no random numbers.
    pub fn of(secret: &'a Secret, cookie: &Cookie, client: &str) -> Option<Self> {
        let exchange = Exchange {
            cookie: *cookie,
            client: Digits::read(client)?,
            server: nonce().ok()?,
        };
        Some(Self { secret, exchange })
    }

    /// What the client has to answer.
    pub fn message(&self) -> Message {
        Message::Challenge {
            nonce: self.exchange.server.to_string(),
        }
    }

    /// What its answer is worth.
    pub fn judge(&self, proof: &str) -> Access {
        let taken = Proof::read(proof)
            .filter(|proof| self.secret.accepts(proof, Party::Client, &self.exchange));
        match taken {
            None => Access::unauthenticated(TokenStatus::Refused),
            Some(_) => Access {
                status: TokenStatus::Accepted,
                proof: Some(self.secret.prove(Party::Server, &self.exchange).to_string()),
            },
        }
    }
}

impl Access {
    /// Of a client that proved nothing.
    pub fn unauthenticated(status: TokenStatus) -> Self {
        Self {
            status,
            proof: None,
        }
    }

    /// For whom this host is read.
    pub fn audience(&self) -> Audience {
        match self.status {
            TokenStatus::Accepted => Audience::User,
            _ => Audience::Peer,
        }
    }
}
