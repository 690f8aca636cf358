// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small core of iperf2, in both roles: UDP with the server's final report, TCP without one.
//!
//! There is no control connection: a client sends, and all that it ever hears of the far end is the
//! report that answers its final datagram.

mod client_tcp;
mod client_udp;
mod finish;
mod flow;
mod limits;
mod load;
mod preamble;
mod server;
mod server_report;
mod server_tcp;
mod server_udp;
mod shared;
mod sink;
mod slots;
mod source;

use super::{Direction, Family, Observer, Protocol, TestOutcome, TestPlan, client, connect};
use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
use linerate_model::order;
pub(super) use server::serve;
use std::net::SocketAddr;

/// Runs `plan` against an iperf2 server.
pub(super) fn run(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    plan.affinity
        .map_or(Ok(()), |(cpu, _)| client::may_run_on(cpu))?;
    if plan.direction != Direction::Up {
        return Err(Failure::usage(
            "let an iperf2 server send",
            "only sending to it is supported",
        ));
    }
    match plan.protocol {
        Protocol::Udp => client_udp::run(plan, observer, interrupt),
        Protocol::Tcp => client_tcp::run(plan, observer, interrupt),
    }
}

/// The server's addresses, IPv4 first unless a family was asked: iperf2 listens on IPv4 by default.
fn addresses(plan: &TestPlan) -> Result<Vec<SocketAddr>, Failure> {
    let mut all = connect::resolve(plan)?;
    if plan.family == Family::Any {
        order::by_key(&mut all, |address| !address.is_ipv4());
    }
    Ok(all)
}
