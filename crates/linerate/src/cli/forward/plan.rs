// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flags of `forward` as a plan.

use linerate_linux::port::Backend;
use linerate_method::frame_size::{IPV6_SMALLEST_BYTES, Mix};
use linerate_method::profile::Profile;
use linerate_method::search::Goal;
use linerate_wire::frame::{Family, Side};

use crate::cli::args::ForwardArgs;
use crate::cli::values::forward::Gateways;
use crate::cli::values::goal::GoalWord;
use linerate_forward::{ForwardPlan, PathMode, Procedure, RouterPort, Way};
use linerate_lab::dut::{DeviceKind, DutLab};
use linerate_model::failure::Failure;

/// The plan that was asked for.
pub(super) fn of(args: &ForwardArgs) -> Result<ForwardPlan, Failure> {
    let family = family(args);
    let profile = profile(args)?;
    Ok(ForwardPlan {
        ports: ports(args)?,
        own_cable: args.lab.map(|_| DutLab::LOOP.map(str::to_owned)),
        path: path(args, family),
        family,
        vlan: args.vlan,
        flows: args.flows,
        networks: args.networks,
        sizes: sizes(args, family),
        ways: ways(args),
        procedures: procedures(args, &profile),
        reset_command: args.reset_command.clone(),
        goals: goals(args, &profile),
        profile,
        max_load: args.max_load,
        time_limit_s: args.time_limit.map(|ms| ms as f64 / 1000.0),
        backend: args.backend.as_deref().and_then(Backend::named),
        device: None,
    })
}

/// That of the routers' addresses, where they are given.
fn family(args: &ForwardArgs) -> Family {
    let routers = args.routed.as_ref().and_then(|Gateways(given)| *given);
    let is_ipv6 = match routers {
        Some([router, _]) => router.address.is_ipv6(),
        None => args.version6,
    };
    if is_ipv6 { Family::Ipv6 } else { Family::Ipv4 }
}

fn ports(args: &ForwardArgs) -> Result<[String; 2], Failure> {
    match (&args.ports[..], args.lab) {
        (_, Some(_)) => Ok(DutLab::PORTS.map(str::to_owned)),
        ([a, b], None) if a != b => Ok([a.clone(), b.clone()]),
        _ => Err(Failure::usage(
            "measure a device between two ports",
            "it takes two different interfaces of this host",
        )
        .hint("linerate forward eth1 eth2      or      linerate forward --lab route")),
    }
}

fn path(args: &ForwardArgs, family: Family) -> PathMode {
    let usual = [Side::A, Side::B].map(|side| RouterPort::usual(side, family));
    match (args.bridged, args.routed, args.lab) {
        (true, ..) | (_, None, Some(DeviceKind::Bridge)) => PathMode::Bridged,
        (_, Some(Gateways(given)), _) => PathMode::Routed(given.unwrap_or(usual)),
        (_, None, Some(_)) => PathMode::Routed(usual),
        (_, None, None) => PathMode::Either,
    }
}

/// The smallest frame with room for the signature is larger with IPv6, and with a tag.
fn sizes(args: &ForwardArgs, family: Family) -> Vec<Mix> {
    let least = match family {
        Family::Ipv6 => IPV6_SMALLEST_BYTES,
        Family::Ipv4 => 64,
    };
    let least = least + if args.vlan.is_some() { 4 } else { 0 };
    let mut sizes = Vec::new();
    for size in args
        .sizes
        .0
        .iter()
        .map(|size| size.mix.clone().at_least(least))
    {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    sizes
}

fn ways(args: &ForwardArgs) -> Vec<Way> {
    let mut ways = vec![if args.reverse { Way::BToA } else { Way::AToB }];
    ways.extend(args.bidirectional.then_some(Way::Both));
    ways
}

fn profile(args: &ForwardArgs) -> Result<Profile, Failure> {
    let mut profile = Profile::named(&args.profile).ok_or_else(|| {
        Failure::usage(
            format!("use the profile '{}'", args.profile),
            "no profile has this name",
        )
        .hint("strict, lab or quick")
    })?;
    if let Some(trial_ms) = args.trial {
        let goal = &mut profile.throughput;
        let shorter = trial_ms as f64 / 1000.0 / goal.final_trial_s;
        goal.initial_trial_s *= shorter;
        goal.final_trial_s *= shorter;
        goal.duration_sum_s *= shorter;
    }
    if let Some(watched_ms) = args.reset_time {
        profile.reset_s = watched_ms as f64 / 1000.0;
    }
    Ok(profile)
}

fn procedures(args: &ForwardArgs, profile: &Profile) -> Vec<Procedure> {
    match (&args.tests[..], profile.with_curves) {
        ([], false) => vec![Procedure::Throughput],
        ([], true) => vec![
            Procedure::Throughput,
            Procedure::LossCurve,
            Procedure::BackToBack,
        ],
        (asked, _) => asked.to_vec(),
    }
}

fn goals(args: &ForwardArgs, profile: &Profile) -> Vec<(String, Goal)> {
    let usual = || {
        let names = ["ndr", "pdr"].map(str::to_owned);
        names.into_iter().zip(profile.goals()).collect()
    };
    if args.goal.is_empty() {
        return usual();
    }
    let named = |word: &GoalWord| (word.name.clone(), word.goal(profile));
    args.goal.iter().map(named).collect()
}
