// SPDX-License-Identifier: MIT OR Apache-2.0
//! Challenges a client that claims to know the token. Until its proof the connection is pending: it
//! holds no slot.

use super::STEP_NS;
use crate::control::Control;
use crate::extension::Message;
use crate::server::Server;
use crate::token::{Access, Challenge, TokenStatus};
use linerate_linux::clock::monotonic_ns;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::server::{ServerEvent, ServerSession};

/// Returns the client's access. `nonce` is the client's, if it sent one.
pub(super) fn authenticate(
    control: &mut Control<ServerSession>,
    server: &Server<'_>,
    cookie: &Cookie,
    nonce: Option<&str>,
) -> Result<Access, String> {
    let Some(secret) = &server.options.token else {
        return Ok(Access::unauthenticated(TokenStatus::None));
    };
    let Some(nonce) = nonce else {
        return Ok(Access::unauthenticated(TokenStatus::Needed));
    };
    let Some(challenge) = Challenge::of(secret, cookie, nonce) else {
        return Ok(Access::unauthenticated(TokenStatus::Refused));
    };
    control.session.agent(&challenge.message());
    await_proof(control, server).map(|proof| challenge.judge(&proof))
}

/// The first message of the client, within a time that its talk does not lengthen.
fn await_proof(
    control: &mut Control<ServerSession>,
    server: &Server<'_>,
) -> Result<String, String> {
    let deadline_ns = monotonic_ns() + ANSWER_NS;
    while monotonic_ns() < deadline_ns {
        if server.is_stopping() {
            return Err("the server is shutting down".to_owned());
        }
        let until_ns = deadline_ns.min(monotonic_ns() + STEP_NS);
        let event = control.next(until_ns).map_err(|error| error.to_string())?;
        match event {
            Some(ServerEvent::Agent(message)) => match Message::read(&message) {
                Some(Message::Proof { proof }) => return Ok(proof),
                _ => return Err("refused: expected a proof of the token".to_owned()),
            },
            Some(ServerEvent::Refused { reason }) => return Err(format!("refused: {reason}")),
            Some(_) => {
                return Err("the client disconnected before its proof of the token".to_owned());
            }
            None => {}
        }
    }
    Err("refused: no proof of the token within 5 s".to_owned())
}

const ANSWER_NS: u64 = 5_000_000_000;
