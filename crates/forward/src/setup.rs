// SPDX-License-Identifier: MIT OR Apache-2.0
//! The set-up of a measurement as its record has it, and as notes for the user.

use linerate_method::search;
use linerate_model::output::{Forward, ForwardTest, Goal, Port, Waits};
use linerate_wire::frame::Family;

use crate::plan::{ForwardPlan, Procedure};
use crate::tester::{Path, Tester};

/// The record of the measurement before its first trial.
pub(crate) fn new(tester: &Tester<'_>) -> Forward {
    let plan = tester.plan;
    let (profile, waits) = (&plan.profile, plan.profile.waits);
    let goal = |(name, goal): &(String, search::Goal)| Goal {
        name: name.clone(),
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        final_trial_s: goal.final_trial_s,
        duration_sum_s: goal.duration_sum_s,
        width: goal.width,
    };
    let ports = tester.ports.iter().map(|one| one.described.clone());
    let path = match tester.path {
        Path::Bridged => "bridged",
        Path::Routed { .. } => "routed",
    };
    Forward {
        ports: ports.collect(),
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

/// The deviations from the RFCs that concern the benchmarks of the plan: the profile's, and those of its goals.
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
        let of_trials = text.contains("§23") || text.contains("§24") && has_short_trials(plan);
        of_trials || of_tests.iter().any(|section| text.contains(section))
    };
    let of_profile = profile.deviations().into_iter().filter(concerns);
    let goals = plan.goals.iter();
    let of_goals = goals.filter_map(|(name, goal)| goal.deviation(name));
    of_profile.chain(of_goals).collect()
}

/// Whether a goal has the profile's short trials.
fn has_short_trials(plan: &ForwardPlan) -> bool {
    let short_s = plan.profile.throughput.final_trial_s;
    let mut goals = plan.goals.iter();
    goals.any(|(_, goal)| goal.final_trial_s <= short_s)
}

/// The backends of the ports and the kind of device, for the user.
pub(crate) fn note(setup: &Forward) -> String {
    let port = |port: &Port| {
        let (interface, send, receive) =
            (&port.interface, &port.send_backend, &port.receive_backend);
        format!("{interface} sends with {send}, receives with {receive}")
    };
    let ports: Vec<_> = setup.ports.iter().map(port).collect();
    format!("{}; the device is {}", ports.join("; "), setup.path)
}

/// The estimated duration, for the user.
pub(crate) fn estimate(setup: &Forward) -> String {
    let words = |one: &ForwardTest| format!("{} {}", one.name, duration(one.estimate_s));
    let tests: Vec<String> = setup.tests.iter().map(words).collect();
    let all = duration(setup.estimate_s);
    let ceiling = setup.ceilings.first().map_or(String::new(), |one| {
        format!(
            "; the tester sends up to {:.0} frames of {} bytes per second",
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
