// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's part: proves the token to a server that challenges it, and checks the server's proof.

use super::{TokenStatus, nonce};
use crate::extension::Message;
use linerate_model::output::Withheld;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::token::{Digits, Exchange, Nonce, Party, Proof, Secret};
use std::io;

/// The state of one connection. By default nothing is proven.
#[derive(Debug, Default)]
pub struct ClientAuth {
    own: Option<Own>,
    exchange: Option<Exchange>,
}

#[derive(Debug)]
struct Own {
    secret: Secret,
    cookie: Cookie,
    nonce: Nonce,
}

impl ClientAuth {
    /// On the connection that begins with `cookie`.
    ///
    /// # Errors
    /// Those of the kernel's random numbers.
    pub fn begin(secret: Option<&Secret>, cookie: &Cookie) -> io::Result<Self> {
        let Some(secret) = secret else {
            return Ok(Self::default());
        };
        Ok(Self {
            own: Some(Own {
                secret: secret.clone(),
                cookie: *cookie,
                nonce: nonce()?,
            }),
            exchange: None,
        })
    }

    /// The nonce for the parameters.
    pub fn nonce(&self) -> Option<String> {
        self.own.as_ref().map(|own| own.nonce.to_string())
    }

    /// Returns the answer to the server's first nonce.
    pub fn answer(&mut self, challenge: &str) -> Option<Message> {
        let own = self.own.as_ref()?;
        let server = Digits::read(challenge).filter(|_| self.exchange.is_none())?;
        let exchange = Exchange {
            cookie: own.cookie,
            client: own.nonce,
            server,
        };
        let proof = own.secret.prove(Party::Client, &exchange).to_string();
        self.exchange = Some(exchange);
        Some(Message::Proof { proof })
    }

    /// Returns why the server withholds details, or why its report is not trusted. A version without
    /// tokens sends no status.
    pub fn judge(&self, status: Option<TokenStatus>, proof: Option<&str>) -> Option<Withheld> {
        let Some(own) = &self.own else {
            return match status? {
                TokenStatus::None => Some(Withheld::HasNoToken),
                TokenStatus::Needed => Some(Withheld::NeedsToken),
                TokenStatus::Refused | TokenStatus::Accepted => None,
            };
        };
        match status {
            None | Some(TokenStatus::None) => Some(Withheld::HasNoToken),
            Some(TokenStatus::Refused) => Some(Withheld::OtherToken),
            Some(TokenStatus::Needed) => Some(Withheld::Unproven),
            Some(TokenStatus::Accepted) => {
                (!self.is_proven(&own.secret, proof)).then_some(Withheld::Unproven)
            }
        }
    }

    fn is_proven(&self, secret: &Secret, proof: Option<&str>) -> bool {
        match (&self.exchange, proof.and_then(Proof::read)) {
            (Some(exchange), Some(proof)) => secret.accepts(&proof, Party::Server, exchange),
            _ => false,
        }
    }
}
