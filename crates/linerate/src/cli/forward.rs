// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate forward`: a DUT between two ports, or one created here.

mod device;
mod plan;
mod status;

use std::collections::BTreeMap;

use linerate_linux::terminal::Foreground;

use super::args::ForwardArgs;
use super::session::{self, Session};
use super::target::Target;
use crate::exit::Exit;
use linerate_endpoint::sampler;
use linerate_forward::{Event, ForwardPlan, Surroundings};
use linerate_lab::Isolation;
use linerate_lab::dut::{DutLab, DutPlan};
use linerate_model::failure::Failure;
use status::Status;

/// Runs the command.
pub(super) fn run(args: &ForwardArgs, options: BTreeMap<String, String>) -> Exit {
    let plan = match plan::of(args) {
        Ok(plan) => plan,
        Err(failure) => return session::refuse("forward", args.output.document.json, &failure),
    };
    let terminal = Foreground::held();
    // Private namespaces must be entered before any thread exists.
    let isolation = args.lab.map(|_| Isolation::enter());
    let interrupt = match session::interrupt() {
        Ok(interrupt) => interrupt,
        Err(failure) => return session::refuse("forward", args.output.document.json, &failure),
    };
    let between = match args.lab {
        Some(kind) => format!("lab-{kind}"),
        None => args.ports.join("-"),
    };
    let target = Target::named("forward", Some(&between), &args.output, options);
    let mut session = Session::begin(&target, interrupt, terminal);
    let ended = match isolation {
        Some(isolation) => in_lab(args, &isolation, &mut session, &plan),
        None => guarded(args, &plan).and_then(|()| {
            let device = device::asked_for(args, &session.interrupt)?;
            measure(&mut session, &ForwardPlan { device, ..plan })
        }),
    };
    session.finish(ended)
}

fn guarded(args: &ForwardArgs, plan: &ForwardPlan) -> Result<(), Failure> {
    if args.i_own_this_network {
        return Ok(());
    }
    Surroundings::read()
        .map_err(|why| Failure::measuring("look at this machine's addresses", why))?
        .guard(&plan.ports)
}

fn in_lab(
    args: &ForwardArgs,
    isolation: &Isolation,
    session: &mut Session,
    plan: &ForwardPlan,
) -> Result<(), Failure> {
    let Some(device) = args.lab else {
        return Ok(());
    };
    session.console.say(&format!(
        "lab: a {device} between two veth pairs, {isolation}: not a wire"
    ));
    let lab = DutLab::open(
        isolation,
        &DutPlan {
            device,
            faults: args.fault.clone(),
            vlan: args.vlan,
        },
    )?;
    let plan = &ForwardPlan {
        device: device::of_lab(&lab, session),
        ..plan.clone()
    };
    lab.enter(|| measure(session, plan))
        .map_err(|why| Failure::measuring("enter the tester of the lab", why))?
}

fn measure(session: &mut Session, plan: &ForwardPlan) -> Result<(), Failure> {
    session.output.hosts = vec![sampler::this_host(&plan.ports)];
    let interrupt = session.interrupt.clone();
    let device = plan.device.as_deref();
    device.inspect(|device| device::meet(session, device));
    let mut status = Status::default();
    let mut observe = |event: Event<'_>| {
        take(session, &event);
        status.take(&event);
        session.console.block(&status.lines());
        if let (Event::Trial(trial), Some(device)) = (&event, device) {
            device::note(session, device, trial);
        }
    };
    let ended = linerate_forward::run(plan, &mut observe, &interrupt);
    device.inspect(|device| device::part(session, device));
    ended
}

fn take(session: &mut Session, event: &Event<'_>) {
    match event {
        Event::Note(text) => session.console.say(text),
        Event::Setup(setup) => session.output.forward = Some((*setup).clone()),
        Event::Trial(trial) => session.trial(trial),
        Event::Result(result) => session.found(result),
        Event::Benchmark(measured) => session.benchmark(measured),
        Event::Benchmarking(..) | Event::Status(_) | Event::Left(_) => {}
    }
}
