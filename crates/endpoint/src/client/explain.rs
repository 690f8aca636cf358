// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a conversation ended early, in words: what, why, and what to try.

use super::Client;
use linerate_model::failure::Failure;
use linerate_wire::iperf3::client::{ClientEvent, Phase};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// Why a conversation ended early.
#[derive(Debug)]
pub(super) struct Ended {
    /// Whether another attempt may succeed.
    pub(super) again: Again,
    /// For the user.
    pub(super) failure: Failure,
}

/// What another attempt needs to succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Nothing is known to help.
    No,
    /// Time: the server is busy with another test.
    Later,
    /// Short segments: with those of this MSS nothing came through.
    WithShortSegments { mss_bytes: u32 },
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self {
            again: Again::No,
            failure,
        }
    }
}

impl Client<'_> {
    /// The connection broke or was reset.
    pub(super) fn lost(&self, during: &str, error: &io::Error) -> Failure {
        let what = format!("finish the test with {}", self.server);
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                let why = format!("the server closed the connection while {during}: {error}");
                Failure::measuring(what, why).hint("is the server still running? its log says why")
            }
            ErrorKind::WouldBlock => {
                let why = format!("the server stopped reading while {during}");
                Failure::measuring(what, why).hint(is_it_gone(self.server))
            }
            _ => {
                let why = format!("the connection broke while {during}: {error}");
                Failure::measuring(what, why).hint(is_it_gone(self.server))
            }
        }
    }

    /// The server's kernel may still acknowledge, but no message comes.
    pub(super) fn silent(&self, silent_ns: u64) -> Failure {
        let why = format!(
            "no message from the server for {} s (process stopped, or host down)",
            silent_ns / 1_000_000_000
        );
        Failure::measuring(format!("finish the test with {}", self.server), why)
            .hint(is_it_gone(self.server))
    }

    pub(super) fn explain(&self, event: ClientEvent) -> Ended {
        let server = self.server;
        let what = format!("finish the test with {server}");
        let failure = match event {
            ClientEvent::Busy => {
                return Ended {
                    again: Again::Later,
                    failure: Failure::measuring(format!("start a test with {server}"), "the server is busy with another test")
                        .hint("wait for that test, or use `linerate serve` there: it serves many at a time"),
                };
            }
            ClientEvent::ServerTerminated => {
                Failure::measuring(what, "the server was interrupted").hint("start it again")
            }
            ClientEvent::ServerError { code, text, .. } => {
                let code = code.map_or_else(String::new, |code| format!(" (iperf3 error {code})"));
                Failure::measuring(what, format!("the server refused: {text}{code}"))
                    .hint("see the server's own log for its limits")
            }
            ClientEvent::Violation(refusal) => {
                Failure::measuring(what, format!("not iperf3's protocol: {refusal}"))
                    .hint(not_it(server))
            }
            ClientEvent::Timeout { phase } => {
                let why = format!("no message from the server while {}", doing(phase));
                let hint = match phase {
                    Phase::Hello => not_it(server),
                    _ => is_it_gone(server),
                };
                Failure::measuring(what, why).hint(hint)
            }
            ClientEvent::Closed { phase } => match self.control.broken() {
                Some(error) => self.lost(doing(phase), error),
                None => Failure::measuring(
                    what,
                    format!("the server closed the connection while {}", doing(phase)),
                )
                .hint("is the server still running? its log says why"),
            },
            other => Failure::measuring(what, format!("unexpected {other:?}")),
        };
        failure.into()
    }
}

fn not_it(server: SocketAddr) -> String {
    let port = server.port();
    format!("check that an iperf3 or linerate server listens on port {port}")
}

fn is_it_gone(server: SocketAddr) -> String {
    format!("ping {}; is the server or the link down?", server.ip())
}

/// What the client was doing, to be read after "while".
fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Hello | Phase::Accepting => "the test was requested",
        Phase::Connecting => "the streams were connected",
        Phase::Running => "the test ran",
        Phase::Ending => "its counters were awaited",
        Phase::Reporting | Phase::AwaitingResults | Phase::AwaitingDisplay => {
            "results were exchanged"
        }
        Phase::Displaying | Phase::Closed => "the connection was closed",
    }
}
