// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate nic-check`: an interface of this host against a linerate at the other end of its link, or one of a lab.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use linerate_change::remote::{Talk, Way};
use linerate_change::{Change, Hand, Local, Memory, Outcome, Undo};
use linerate_lab::{Host, Isolation, Lab, LabPlan, Nic, WireSpec};
use linerate_linux::management::Management;
use linerate_linux::terminal::Foreground;
use linerate_model::failure::Failure;
use linerate_model::output::NicCheck;
use linerate_nic::{Bench, FRAMES, Far, serve_stream};

use super::agent::warded;
use super::args::NicCheckArgs;
use super::session::{self, Session};
use super::target::Target;
use super::tune::journal;
use crate::exit::Exit;

/// Runs the command. A property that does not hold is exit code 1, as an expectation that is not met.
pub(super) fn run(args: &NicCheckArgs, options: BTreeMap<String, String>) -> Exit {
    let json = args.output.document.json;
    let terminal = Foreground::held();
    // Private namespaces must be entered before any thread exists.
    let isolation = args.lab.then(Isolation::enter);
    let interrupt = match session::interrupt() {
        Ok(interrupt) => interrupt,
        Err(failure) => return session::refuse("nic-check", json, &failure),
    };
    let peer = args.host.map(|host| host.to_string());
    let target = Target::named("nic-check", peer.as_deref(), &args.output, options);
    let mut session = Session::begin(&target, interrupt, terminal);
    let ended = match &isolation {
        Some(isolation) => in_lab(args, isolation, &mut session),
        None => on_link(args, &mut session),
    };
    session.finish(ended)
}

fn on_link(args: &NicCheckArgs, session: &mut Session) -> Result<(), Failure> {
    let (Some(interface), Some(host)) = (&args.interface, args.host) else {
        return Err(Failure::usage(
            "check",
            "neither IFACE and HOST nor --lab was given",
        ));
    };
    let talk = Talk::open(way(args, host), FRAMES, &session.interrupt)?;
    let failed = |why: io::Error| Failure::measuring("change settings of this host", why);
    let mut hand = match args.toggle {
        true => Some(warded(journal()?, &Management::of_session()).map_err(failed)?),
        false => None,
    };
    let hand = hand.as_mut().map(|hand| hand as &mut dyn Hand);
    check(session, interface, host, talk, hand)
}

fn way(args: &NicCheckArgs, host: IpAddr) -> Way {
    match (&args.remote_command, &args.remote) {
        (Some(line), _) => Way::Command { line: line.clone() },
        (None, Some(ssh)) => Way::Ssh { host: ssh.clone() },
        (None, None) => Way::Ssh {
            host: host.to_string(),
        },
    }
}

fn in_lab(
    args: &NicCheckArgs,
    isolation: &Isolation,
    session: &mut Session,
) -> Result<(), Failure> {
    session.console.say(&format!("lab: {isolation}"));
    let plan = LabPlan {
        wire: (!args.veth).then(|| WireSpec {
            nic: Some(Nic::default()),
            ..WireSpec::default()
        }),
        faults: args.fault.clone(),
        ..LabPlan::default()
    };
    let lab = Lab::open(isolation, &plan)?;
    let [here, there] = lab.hosts();
    let talk = talk(there, session)?;
    let entered = |why: io::Error| Failure::measuring("enter a host of the lab", why);
    let checked = here.enter(|| {
        let mut hand = match args.toggle {
            true => Some(Local::here(Memory::default()).map_err(entered)?),
            false => None,
        };
        let hand = hand.as_mut().map(|hand| hand as &mut dyn Hand);
        check(session, here.interface, IpAddr::V4(there.ipv4), talk, hand)
    });
    checked.map_err(entered)?
}

/// The agent is a thread in the other host.
fn talk(there: &Host, session: &Session) -> Result<Talk, Failure> {
    let failed = |why: io::Error| Failure::measuring("start an agent in host B of the lab", why);
    let stream = there
        .enter(serve_stream)
        .and_then(|stream| stream)
        .map_err(failed)?;
    let input = stream.try_clone().map_err(failed)?;
    let mut talk = Talk::over(input, stream, &session.interrupt).map_err(failed)?;
    talk.wait_until_ready().map_err(failed)?;
    Ok(talk)
}

fn check(
    session: &mut Session,
    interface: &str,
    host: IpAddr,
    talk: Talk,
    hand: Option<&mut dyn Hand>,
) -> Result<(), Failure> {
    let what = format!("check {interface}");
    let failed = |why: io::Error| match why.kind() {
        io::ErrorKind::Interrupted => Failure::interrupted(what.clone()),
        _ => Failure::measuring(what.clone(), why),
    };
    let interrupt = session.interrupt.clone();
    let mut bench = Bench::open(interface, host, Far::over(talk), &interrupt)?;
    session.output.hosts = bench.hosts();
    if let Some(note) = bench.crossing() {
        session.console.say(&note);
    }
    bench
        .run(&mut |check| take(session, check))
        .map_err(failed)?;
    match hand {
        Some(hand) => toggled(session, &mut bench, interface, hand).map_err(failed),
        None => Ok(()),
    }
}

fn take(session: &mut Session, check: NicCheck) {
    let line = format!("{}: {}", check.id, check.state.words());
    session.console.block(&[line]);
    session.checked(check);
}

/// Each offload is switched over, checked, and restored, also if the check breaks off.
fn toggled(
    session: &mut Session,
    bench: &mut Bench,
    interface: &str,
    hand: &mut dyn Hand,
) -> io::Result<()> {
    for (name, value) in bench.offloads() {
        let new = if value.starts_with("on") { "off" } else { "on" };
        let key = hand.key(&format!("ethtool -K {name}"), Some(interface))?;
        let change = Change {
            key,
            new: new.to_owned(),
            undo: Undo::Write,
            because: "nic-check --toggle".to_owned(),
        };
        // Of one that is fixed there is nothing to compare.
        let (number, checked) = match hand.apply(change)? {
            Outcome::Applied { change, .. } => {
                let checked = bench.run_of(name, &mut |check| take(session, check));
                (change, checked)
            }
            Outcome::Half { change, .. } => (change, Ok(())),
            _ => continue,
        };
        hand.undo(number)?;
        checked?;
    }
    Ok(())
}
