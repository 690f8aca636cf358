// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures a device between two ports: a [`ForwardPlan`] in, trials and results out.
//!
//! ```text
//! guard (RFC 6815) ─► ports open, ARP and ND answered from here on ─► what is the device?
//!   ─► 100 frames ─► the tester's own ceiling ─► for each size and way: search ⇄ trials
//!   ─► for each other benchmark, size and way: procedure ⇄ trials
//! ```
//! A trial is learning, traffic, residual frames, counts (`trial`); which load comes next is
//! the method's ([`linerate_method::search`]).
#![forbid(unsafe_code)]

mod account;
mod ceiling;
mod device;
mod diagnosis;
mod forecast;
mod frames;
mod guard;
mod plan;
mod probe;
mod procedure;
mod refused;
mod rig;
mod search;
mod station;
mod traffic;
mod trial;
mod watch;

use std::time::Instant;

use linerate_linux::signal::Interrupt;
use linerate_method::frame_size::Mix;
use linerate_model::output::{
    Benchmarks, Ceiling, Forward, ForwardResult, ForwardTest, Goal, Port, Trial, Waits,
};
use linerate_wire::frame::Family;

pub use device::{Device, Digest};
pub use guard::Surroundings;
pub use plan::{ForwardPlan, MaxLoad, PathWish, Way};
pub use procedure::Procedure;

use ceiling::{Carried, DEVICE, Limit, OWN_CABLE};
use forecast::Forecast;
use linerate_model::failure::Failure;
use procedure::Task;
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
    /// So many seconds are left, if it goes on as it went.
    Left(f64),
    /// A search ended.
    Result(&'a ForwardResult),
    /// Another benchmark of one size and way ended.
    Benchmark(&'a Benchmarks),
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
    for remark in rig.probe(everywhere(&plan.ways))? {
        tell(Event::Note(remark));
    }
    let mut subjects = subjects(&mut rig, tell)?;
    setup.ceilings = subjects.iter().map(|one| one.ceiling.clone()).collect();
    let mut forecast = Forecast::new(&rig, &subjects)?;
    setup.tests = forecast.tests();
    setup.estimate_s = setup.tests.iter().map(|one| one.estimate_s).sum();
    tell(Event::Setup(&setup));
    tell(Event::Note(foretold(&setup)));
    subjects
        .iter()
        .filter_map(Subject::unsteady)
        .take(1)
        .for_each(|note| tell(Event::Note(note)));
    for procedure in plan.tests() {
        for subject in subjects.iter_mut().take(how_many(procedure)) {
            let begun = Instant::now();
            let later_s = forecast.later_s();
            subject.measure(procedure, later_s, &mut rig, tell)?;
            forecast.ended(begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// RFC 6201 section 4: a reset is measured with the smallest frames only.
fn how_many(procedure: Procedure) -> usize {
    match procedure {
        Procedure::Reset => 1,
        _ => usize::MAX,
    }
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
        deviations: deviations(plan),
        ..Forward::default()
    }
}

/// Those of what is measured.
fn deviations(plan: &ForwardPlan) -> Vec<String> {
    let (profile, tests) = (&plan.profile, plan.tests());
    let section = |test: &Procedure| match test {
        Procedure::BackToBack => Some("RFC 9004"),
        Procedure::Latency => Some("latency"),
        Procedure::Recovery => Some("§26.5"),
        Procedure::Throughput | Procedure::LossCurve | Procedure::Reset => None,
    };
    let of_tests: Vec<_> = tests.iter().filter_map(section).collect();
    let concerns = |text: &String| {
        let of_trials = text.contains("§23") || text.contains("§24") && shortens(plan);
        of_trials || of_tests.iter().any(|section| text.contains(section))
    };
    profile.deviations().into_iter().filter(concerns).collect()
}

/// Whether any goal has the profile's short trials.
fn shortens(plan: &ForwardPlan) -> bool {
    let profiles_s = plan.profile.throughput.final_trial_s;
    let mut goals = plan.goals.iter();
    goals.any(|(_, goal)| goal.final_trial_s <= profiles_s)
}

/// What is measured: frames of one size, or a mix, one way or both.
#[derive(Debug)]
struct Subject<'a> {
    sizes: &'a Mix,
    way: Way,
    ceiling: Ceiling,
    limit: Limit,
    /// How the device did when it was offered what the tester can send.
    carried: Carried,
    /// Once it is found.
    throughput_fps: Option<f64>,
}

impl Subject<'_> {
    fn measure(
        &mut self,
        procedure: Procedure,
        later_s: f64,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        if procedure != Procedure::Throughput {
            let measured = self.task().run(procedure, rig, tell)?;
            tell(Event::Benchmark(&measured));
            return Ok(());
        }
        let hunt = Hunt {
            sizes: self.sizes,
            way: self.way,
            limit: self.limit,
            spread: self.carried.spread,
            later_s,
        };
        let results = hunt.run(rig, tell)?;
        results
            .iter()
            .for_each(|result| tell(Event::Result(result)));
        self.throughput_fps = strictest(&rig.plan.goals, &results);
        Ok(())
    }

    /// That its time is hard to foretell.
    fn unsteady(&self) -> Option<String> {
        (self.carried.spread > UNSTEADY).then(|| {
            format!(
                "what gets through varies by {:.0} % from one moment to the next: that costs trials",
                self.carried.spread * 100.0
            )
        })
    }

    fn task(&self) -> Task<'_> {
        Task {
            sizes: self.sizes,
            way: self.way,
            limit: self.limit,
            throughput_fps: self.throughput_fps,
        }
    }
}

/// What the goal with the least loss found.
fn strictest(
    goals: &[(String, linerate_method::search::Goal)],
    results: &[ForwardResult],
) -> Option<f64> {
    let least = goals
        .iter()
        .min_by(|(_, a), (_, b)| a.loss_ratio.total_cmp(&b.loss_ratio));
    let (name, _) = least?;
    let result = results.iter().find(|result| result.goal == *name);
    result.and_then(|result| result.lower_fps)
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
            let (device, carried) = rig.ceiling(*way, sizes, DEVICE)?;
            let ceiling = match &mut own {
                Some(own) => Ceiling {
                    path_fps: Some(device.send_fps),
                    ..own.ceiling(*way, sizes, OWN_CABLE)?.0
                },
                None => device,
            };
            subjects.push(Subject {
                sizes,
                way: *way,
                limit: rig.max_load(sizes, &ceiling),
                ceiling,
                carried,
                throughput_fps: None,
            });
        }
    }
    Ok(subjects)
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
    let words = |one: &ForwardTest| format!("{} {}", one.name, duration(one.estimate_s));
    let tests: Vec<String> = setup.tests.iter().map(words).collect();
    let all = duration(setup.estimate_s);
    let ceiling = setup.ceilings.first().map_or(String::new(), |one| {
        format!(
            "; the tester itself sends {:.0} frames of {} bytes a second",
            one.send_fps, one.frame_bytes
        )
    });
    format!("about {all}: {}{ceiling}", tests.join(", "))
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{:.0} s", seconds.ceil()),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A device that varies by more makes a search longer.
const UNSTEADY: f64 = 0.01;
