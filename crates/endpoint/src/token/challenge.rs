// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's part: challenges a client that sent a nonce, and proves itself only to a right answer.

use super::{TokenStatus, nonce};
use crate::extension::Message;
use crate::sampler::Audience;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::token::{Digits, Exchange, Party, Proof, Secret};

/// A challenge to a client.
#[derive(Debug)]
pub(crate) struct Challenge<'a> {
    secret: &'a Secret,
    exchange: Exchange,
}

/// A client's access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    /// The result of the authentication.
    pub(crate) status: TokenStatus,
    /// The server's proof of the token.
    pub(crate) proof: Option<String>,
}

impl<'a> Challenge<'a> {
    /// Answers the nonce `client`. `None` if it is not a nonce, or without random numbers.
    pub(crate) fn of(secret: &'a Secret, cookie: &Cookie, client: &str) -> Option<Self> {
        let exchange = Exchange {
            cookie: *cookie,
            client: Digits::read(client)?,
            server: nonce().ok()?,
        };
        Some(Self { secret, exchange })
    }

    /// The message to the client.
    pub(crate) fn message(&self) -> Message {
        Message::Challenge {
            nonce: self.exchange.server.to_string(),
        }
    }

    /// Checks the client's proof.
    pub(crate) fn judge(&self, proof: &str) -> Access {
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
    /// The access of a client without a proof.
    pub(crate) fn unauthenticated(status: TokenStatus) -> Self {
        Self {
            status,
            proof: None,
        }
    }

    /// The audience of this host's counters.
    pub(crate) fn audience(&self) -> Audience {
        match self.status {
            TokenStatus::Accepted => Audience::User,
            _ => Audience::Peer,
        }
    }
}
