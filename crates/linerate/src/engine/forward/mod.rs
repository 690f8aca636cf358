// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures a device between two ports: a [`ForwardPlan`] in, trials and results out.
//!
//! ```text
//! guard (RFC 6815) ─► ports open, ARP and ND answered from here on ─► what is the device?
//!   ─► 100 frames ─► the tester's own ceiling ─► for each size and way: search ⇄ trials
//! ```
//! A trial is learning, traffic, residual frames, counts (`trial`); which load comes next is
//! the method's ([`linerate_method::search`]).

mod account;
mod ceiling;
mod device;
mod frames;
mod guard;
mod plan;
mod probe;
mod rig;
mod search;
mod station;
mod traffic;
mod trial;
mod watch;

use linerate_linux::signal::Interrupt;
use linerate_method::frame_size::Mix;
use linerate_method::profile::Profile;
use linerate_method::search::estimate;
use linerate_model::output::{Ceiling, Forward, ForwardResult, Goal, Port, Trial, Waits};
use linerate_wire::frame::Family;

pub use device::Device;
pub use guard::Surroundings;
pub use plan::{ForwardPlan, MaxLoad, PathWish, Way};

use crate::error::Failure;
use ceiling::{DEVICE, Limit, OWN_CABLE};
use rig::{Path, Rig};
use search::Hunt;

/// What happens while a device is measured.
#[derive(Debug)]
pub enum Event<'a> {
    /// A sentence for people.
    Note(String),
    /// What is being done now.
    Status(String),
    /// How it is measured; told again when more is known.
    Setup(&'a Forward),
    /// A trial ended.
    Trial(&'a Trial),
    /// A search ended.
    Result(&'a ForwardResult),
}

/// Who is told.
pub type Tell<'a> = &'a mut dyn FnMut(Event<'_>);

/// Measures the device. Must run in the network namespace of the ports.
///
/// # Errors
/// What stood in the way; every trial and result that was told until then is valid.
pub fn run(plan: &ForwardPlan, tell: Tell<'_>, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut rig = Rig::open(plan, &plan.ports, interrupt)?;
    rig.find_path()?;
    let mut setup = setup(plan, &rig);
    tell(Event::Setup(&setup));
    tell(Event::Note(described(&setup)));
    if let Some(sizes) = plan.sizes.first() {
        for remark in rig.probe(everywhere(&plan.ways), sizes)? {
            tell(Event::Note(remark));
        }
    }
    let subjects = subjects(&mut rig, tell)?;
    setup.ceilings = subjects.iter().map(|one| one.ceiling.clone()).collect();
    setup.estimate_s = estimate_s(plan, &subjects)?;
    tell(Event::Setup(&setup));
    tell(Event::Note(foretold(&setup)));
    for subject in &subjects {
        let hunt = Hunt {
            sizes: subject.sizes,
            way: subject.way,
            limit: subject.limit,
        };
        for result in hunt.run(&mut rig, tell)? {
            tell(Event::Result(&result));
        }
    }
    Ok(())
}

/// Both ways if both are measured, together or not.
fn everywhere(ways: &[Way]) -> Way {
    match ways {
        [Way::AToB] => Way::AToB,
        [Way::BToA] => Way::BToA,
        _ => Way::Both,
    }
}

fn setup(plan: &ForwardPlan, rig: &Rig<'_>) -> Forward {
    let profile = &plan.profile;
    let waits = profile.waits;
    let goal = |(name, goal): &(String, linerate_method::search::Goal)| Goal {
        name: name.clone(),
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        final_trial_s: goal.final_trial_s,
        duration_sum_s: goal.duration_sum_s,
        width: goal.width,
    };
    let path = match rig.path {
        Path::Bridged => "bridged",
        Path::Routed { .. } => "routed",
    };
    Forward {
        ports: rig
            .stations
            .iter()
            .map(|one| one.described.clone())
            .collect(),
        path: path.to_owned(),
        af: match plan.family {
            Family::Ipv4 => 4,
            Family::Ipv6 => 6,
        },
        vlan: plan.vlan,
        flows: plan.flows,
        profile: profile.name.to_owned(),
        goals: plan.goals.iter().map(goal).collect(),
        waits: Waits {
            learning_s: waits.learning_s,
            residual_s: waits.residual_s,
            settle_s: waits.settle_s,
        },
        device: plan.device.as_ref().map(|device| device.source()),
        deviations: deviations(profile),
        ..Forward::default()
    }
}

/// Those of trials: what else a profile shortens is not measured.
fn deviations(profile: &Profile) -> Vec<String> {
    let of_trials = |text: &String| text.contains("§23") || text.contains("§24");
    profile.deviations().into_iter().filter(of_trials).collect()
}

/// What is measured: frames of one size, or a mix, one way or both.
#[derive(Debug)]
struct Subject<'a> {
    sizes: &'a Mix,
    way: Way,
    ceiling: Ceiling,
    limit: Limit,
}

/// In the order of measuring.
fn subjects<'a>(rig: &mut Rig<'a>, tell: Tell<'_>) -> Result<Vec<Subject<'a>>, Failure> {
    let plan = rig.plan;
    let mut own = match &plan.own_cable {
        Some(ports) => Some(Rig::open(plan, ports, rig.interrupt)?),
        None => None,
    };
    let mut subjects = Vec::new();
    for sizes in &plan.sizes {
        for way in &plan.ways {
            tell(Event::Status(format!(
                "what the tester can do at {} bytes",
                sizes.frame_bytes()
            )));
            let ceiling = match &mut own {
                Some(own) => own.ceiling(*way, sizes, OWN_CABLE)?,
                None => rig.ceiling(*way, sizes, DEVICE)?,
            };
            subjects.push(Subject {
                sizes,
                way: *way,
                limit: rig.max_load(sizes, &ceiling),
                ceiling,
            });
        }
    }
    Ok(subjects)
}

fn estimate_s(plan: &ForwardPlan, subjects: &[Subject<'_>]) -> Result<f64, Failure> {
    let goals: Vec<_> = plan.goals.iter().map(|(_, goal)| *goal).collect();
    let per_trial_s = plan.profile.waits.per_trial_s() + OVERHEAD_S;
    let mut total_s = 0.0;
    for Subject { limit, .. } in subjects {
        let search = estimate(&goals, limit.least_fps(&goals), limit.load_fps, per_trial_s)
            .map_err(|why| Failure::usage("foretell the time", why))?;
        total_s += search.typical_s;
    }
    Ok(total_s)
}

fn described(setup: &Forward) -> String {
    let ports = setup.ports.iter().map(|port| {
        let Port {
            interface,
            send_backend,
            receive_backend,
            ..
        } = port;
        format!("{interface} sends by {send_backend}, receives by {receive_backend}")
    });
    let ports: Vec<_> = ports.collect();
    format!("{}; the device is {}", ports.join("; "), setup.path)
}

fn foretold(setup: &Forward) -> String {
    let searches = setup.ceilings.len();
    let seconds = setup.estimate_s.ceil();
    let ceiling = setup.ceilings.first().map_or(String::new(), |one| {
        format!(
            "; the tester itself sends {:.0} frames of {} bytes a second",
            one.send_fps, one.frame_bytes
        )
    });
    format!("about {seconds} s for {searches} searches{ceiling}")
}

/// Starting threads and giving orders.
const OVERHEAD_S: f64 = 0.02;
