// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate dataplane`: a way of forwarding between two interfaces of this host, set up, held and taken down.

mod held;
mod ports;
mod texts;

use std::io;

use linerate_change::Host;
use linerate_change::dataplane::{Plan, Plane, Refused, Surroundings, plan};
use linerate_linux::management::Management;
use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
use linerate_model::output::Output;
use linerate_report::Detail;

use super::agent::warded;
use super::args::{DataplaneArgs, DataplaneCommand, DataplanePorts, XdpMode};
use super::session;
use super::tune::journal;
use crate::exit::Exit;
use held::Held;

/// Runs the command. Exit code 1 where something could not be restored.
pub(super) fn run(args: &DataplaneArgs) -> Exit {
    let flags = args.plane.ports().document;
    // Before threads start.
    let ended = session::interrupt().and_then(|interrupt| forwarded(&args.plane, &interrupt));
    let printed = ended.and_then(|output| {
        flags.print(&output, Detail::Full)?;
        Ok(output.exit_code)
    });
    match printed {
        Ok(0) => Exit::Ok,
        Ok(_) => Exit::ExpectationFailed,
        Err(failure) => session::refuse("dataplane", flags.json, &failure),
    }
}

fn forwarded(command: &DataplaneCommand, interrupt: &Interrupt) -> Result<Output, Failure> {
    let (plane, ports) = (plane(command), command.ports());
    let what = format!("forward between {} and {}", ports.one, ports.other);
    let journal = journal()?;
    let taken = |why| Failure::measuring(what.clone(), why).hint("wait until it has ended");
    let _alone = journal.exclusive("linerate dataplane").map_err(taken)?;
    let management = Management::of_session();
    let plan = planned(plane, ports, &management, &what)?;
    let failed = |why: io::Error| Failure::measuring(what.clone(), why);
    let hand = warded(journal.clone(), &management).map_err(failed)?;
    let mut held = Held::begin(hand, journal, &what);
    held.change(&plan)?;
    held.attach(plane, [&ports.one, &ports.other])?;
    texts::begun(&held, &plan, plane, ports)?;
    held.wait(ports.time, interrupt);
    held.end(plane, plan)
}

const fn plane(command: &DataplaneCommand) -> Plane {
    match command {
        DataplaneCommand::Bridge { .. } => Plane::Bridge,
        DataplaneCommand::Route { .. } => Plane::Route,
        DataplaneCommand::Xdp { mode, .. } => match mode {
            XdpMode::Bridge => Plane::XdpBridge,
            XdpMode::Route => Plane::XdpRoute,
        },
    }
}

fn planned(
    plane: Plane,
    ports: &DataplanePorts,
    management: &Management,
    what: &str,
) -> Result<Plan, Failure> {
    let names = [ports.one.as_str(), ports.other.as_str()];
    let read = Host::here().and_then(|mut host| Surroundings::read(&mut host, management, names));
    let around = read.map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => {
            Failure::usage(what, why).hint("ip link, for the names of the interfaces")
        }
        _ => Failure::measuring(what, why),
    })?;
    let refused = |Refused { why, attempt }| Failure::usage(what, why).hint(attempt);
    plan(plane, &around).map_err(refused)
}
