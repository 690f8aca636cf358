// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate agent --stdio`: samples of this host for the tester that measures it; with `--changes`, its settings are
//! changed instead, with `--frames` frames are shown and sent.

mod changes;

pub(super) use changes::warded;

use std::io::{self, IsTerminal};

use super::args::AgentArgs;
use super::session;
use crate::exit::Exit;
use linerate_endpoint::agent::{self, Agent};
use linerate_model::failure::Failure;

/// Answers until standard input ends.
pub(super) fn run(args: &AgentArgs) -> Exit {
    // What others sent may be among the samples: no terminal shows them.
    let ended = if io::stdin().is_terminal() || io::stdout().is_terminal() {
        Err(
            Failure::usage("use a terminal", "the agent's protocol is for programs")
                .hint("linerate forward eth1 eth2 --device ssh:HOST"),
        )
    } else if args.warden {
        changes::watch()
    } else if args.frames {
        linerate_nic::serve(io::stdin(), io::stdout())
            .map_err(|why| Failure::measuring("answer requests", why))
    } else if args.changes {
        changes::attend()
    } else {
        samples()
    };
    session::ended("agent", false, ended)
}

fn samples() -> Result<(), Failure> {
    let mut agent = Agent::open();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    agent::serve(&mut agent, &mut input, &mut output, |_| true)
        .map(drop)
        .map_err(|why| Failure::measuring("answer requests", why))
}
