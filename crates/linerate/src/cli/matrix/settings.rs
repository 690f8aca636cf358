// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is in force of the axes that change a host: MTU and offloads by the journal, on each host that is reached; other
//! settings by commands of the user.

use linerate_change::parse;
use linerate_method::matrix::{Axes, MTU, OFFLOAD, SETTINGS};
use linerate_model::failure::Failure;
use linerate_model::output::{Finding, Role, Test};

use super::commands::Commands;
use super::lab_link::LabLink;
use super::request::{PlannedAxis, PlannedValue, Request, wrong};
use crate::cli::args::FarFlags;
use crate::cli::session::Session;
use crate::cli::tune::candidate::Proposal;
use crate::cli::tune::far::Reached;
use crate::cli::tune::hands;
use crate::cli::tune::stage::{Stage, Trouble};
use crate::cli::tune::trial::failure;

/// The settings of a matrix.
pub(super) struct Settings<'a> {
    commands: Commands<'a>,
    stage: Option<Stage<'a>>,
    /// Axis and value of each candidate of the stage.
    values: Vec<(&'a str, &'a str)>,
    /// Those of the last cell, as far as they are known to be in force.
    in_force: Option<Axes>,
    /// Sets the MTU in a lab.
    lab: Option<LabLink>,
}

/// Why a cell's settings are not in force.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A host does not take one.
    Impossible(String),
    /// One could not be set.
    Failed(String),
    /// No cell can be measured any more, or the user interrupted.
    Over(Failure),
}

impl<'a> Settings<'a> {
    /// Nothing is changed yet; `first` is a test between the hosts, whose interfaces are set, or nothing where no cell runs.
    ///
    /// # Errors
    /// A host whose settings are to be changed is not reached, or an interface carries the management session.
    pub(super) fn open(
        request: &'a Request,
        far: &FarFlags,
        session: &mut Session,
        host: &str,
        first: Option<&Test>,
    ) -> Result<Self, Failure> {
        let mut settings = Self {
            commands: Commands::of(request, session)?,
            stage: None,
            values: Vec::new(),
            in_force: None,
            lab: None,
        };
        let is_set = |name: &&str| request.built_in(name).is_some();
        let Some(first) = first.filter(|_| SETTINGS.iter().any(&is_set)) else {
            return Ok(settings);
        };
        let reached = match request.lab {
            true => Reached::in_lab(hands::of_lab(session)?),
            false => Reached::open(far, session, host)?,
        };
        let is_mtu_of_lab = request.lab && is_set(&MTU);
        settings.lab = is_mtu_of_lab.then(|| LabLink::of(session, first));
        let mut proposals = Vec::new();
        for (role, axis, value) in settings.staged(request) {
            let Some(interface) = interface(role, first, &reached)? else {
                continue;
            };
            let proposal = proposal(role, axis, value, interface)?;
            if let Some(why) = reached.refusal(&proposal, far) {
                return Err(wrong(&why, "another interface, or that flag"));
            }
            settings.values.push((&axis.name, value));
            proposals.push(proposal);
        }
        if !request.lab && !reached.hands.contains_key(&Role::Remote) {
            session.console.alert(ONE_SIDE);
        }
        settings.stage = Some(Stage::new(reached.hands, proposals).with_idle());
        Ok(settings)
    }

    /// What the stage sets: each value of each axis on both hosts.
    fn staged(&self, request: &'a Request) -> Vec<(Role, &'a PlannedAxis, &'a str)> {
        let names = SETTINGS.iter();
        let names = names.filter(|name| self.lab.is_none() || **name != MTU);
        let axes = names.filter_map(|name| request.built_in(name));
        let values = axes.flat_map(|axis| axis.values.iter().map(move |value| (axis, value)));
        let both = |(axis, value): (&'a PlannedAxis, &'a PlannedValue)| {
            [Role::Local, Role::Remote].map(|role| (role, axis, value.name.as_str()))
        };
        values.flat_map(both).collect()
    }

    /// Brings the settings of a cell in force; whether anything was changed.
    ///
    /// # Errors
    /// Why they are not.
    pub(super) fn bring(&mut self, axes: &Axes, session: &mut Session) -> Result<bool, Refusal> {
        let same = |known: &Axes| {
            self.concerned()
                .all(|axis| known.get(axis) == axes.get(axis))
        };
        if self.concerned().next().is_none() || self.in_force.as_ref().is_some_and(same) {
            return Ok(false);
        }
        self.in_force = None;
        if self.commands.are_due(axes) {
            // A command may replace the interface.
            self.stage_to(&[])?;
            self.commands.bring(axes, session)?;
        }
        let wanted: Vec<usize> = self.candidates(axes).collect();
        self.stage_to(&wanted)?;
        if let (Some(link), Some(mtu)) = (&self.lab, axes.get(MTU)) {
            let mtu = mtu.parse().unwrap_or_default();
            link.set_mtu(mtu).map_err(Refusal::Impossible)?;
        }
        self.in_force = Some(axes.clone());
        Ok(true)
    }

    /// Restores everything, also after an error.
    ///
    /// # Errors
    /// What could not be restored, and how to do it by hand.
    pub(super) fn back(&mut self, session: &mut Session) -> Result<(), Failure> {
        let staged = match self.stage_to(&[]) {
            Err(Refusal::Over(failure)) => Err(failure),
            _ => Ok(()),
        };
        self.in_force = None;
        let commanded = self.commands.back(session);
        staged.and(commanded)
    }

    /// Why the run under way must end: the settings harmed the host, and are undone.
    pub(super) fn alarm(&mut self) -> Option<String> {
        let why = self.stage.as_mut()?.alarm()?;
        self.in_force = None;
        Some(why)
    }

    fn concerned(&self) -> impl Iterator<Item = &str> {
        let built_in = self.values.iter().map(|(axis, _)| *axis);
        let of_lab = self.lab.iter().map(|_| MTU);
        built_in.chain(of_lab).chain(self.commands.names())
    }

    fn candidates(&self, axes: &Axes) -> impl Iterator<Item = usize> {
        let is_wanted =
            |(axis, value): &(&str, &str)| axes.get(*axis).is_some_and(|wanted| wanted == value);
        let all = self.values.iter().enumerate();
        all.filter(move |(_, one)| is_wanted(one)).map(|(at, _)| at)
    }

    fn stage_to(&mut self, wanted: &[usize]) -> Result<(), Refusal> {
        let Some(stage) = &mut self.stage else {
            return Ok(());
        };
        stage.bring(wanted).map_err(|trouble| match trouble {
            Trouble::Impossible(why) => Refusal::Impossible(why),
            Trouble::Harmful(why) => Refusal::Failed(why),
            lost @ Trouble::Lost(_) => Refusal::Over(failure(lost)),
        })
    }
}

/// The interface of a host that is measured; nothing where its settings stay.
fn interface<'t>(
    role: Role,
    first: &'t Test,
    reached: &Reached<'_>,
) -> Result<Option<&'t str>, Failure> {
    let interface = match role {
        Role::Local => &first.local_interface,
        _ => &first.remote_interface,
    };
    match (reached.hands.contains_key(&role), interface) {
        (false, _) => Ok(None),
        (true, Some(interface)) => Ok(Some(interface)),
        (true, None) => Err(Failure::measuring(
            "find the interface that is measured",
            "the first test does not report it",
        )
        .hint("set it by commands: --set")),
    }
}

/// One value of an axis on one host.
fn proposal(
    host: Role,
    axis: &PlannedAxis,
    value: &str,
    interface: &str,
) -> Result<Proposal, Failure> {
    let line = match axis.name.as_str() {
        OFFLOAD => offloads(axis, value, interface),
        _ => format!("ip link set dev {interface} mtu {value}"),
    };
    let wanted = parse(&line).ok_or_else(|| {
        let why = format!("`{line}` sets nothing that is known");
        wrong(
            &why,
            "features as ethtool(8) calls them: tso, gso, gro, tx, rx, sg",
        )
    })?;
    Ok(Proposal {
        host,
        finding: Finding {
            rule: "linerate".to_owned(),
            title: "matrix".to_owned(),
            host,
            ..Finding::default()
        },
        line,
        wanted,
        risk: "blip".to_owned(),
    })
}

/// Each feature that a value of the axis names is on or off.
fn offloads(axis: &PlannedAxis, value: &str, interface: &str) -> String {
    let mut features = SEGMENTATION.to_vec();
    let named = axis.values.iter().flat_map(|value| value.name.split('+'));
    for feature in named.filter(|name| !["on", "off"].contains(name)) {
        if !features.contains(&feature) {
            features.push(feature);
        }
    }
    let switch = |feature: &&str| {
        let is_on = value == "on" || value.split('+').any(|on| on == *feature);
        format!(" {feature} {}", if is_on { "on" } else { "off" })
    };
    let switches: String = features.iter().map(switch).collect();
    format!("ethtool -K {interface}{switches}")
}

/// Why a value of the axis names no feature that is known. The long names, which have a hyphen, are those of the kernel and
/// its drivers: only the host knows them.
pub(super) fn unknown_offload(value: &str) -> Option<String> {
    let names: Vec<&str> = linerate_change::offloads().chain(KERNELS).collect();
    let is_known = |name: &str| name.contains('-') || names.contains(&name);
    let unknown = value.split('+').find(|name| !is_known(name))?;
    Some(format!(
        "no offload is called {unknown}; known: {}, and the long names of ethtool -k",
        names.join(", ")
    ))
}

/// What is no short name of ethtool(8) and has no hyphen.
const KERNELS: [&str; 4] = ["on", "off", "highdma", "loopback"];

const ONE_SIDE: &str = "MTU and offloads are set on this host only; those of HOST stay as they are (--remote sets \
    them by ssh)";
const SEGMENTATION: [&str; 3] = ["tso", "gso", "gro"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::matrix::words;

    #[test]
    fn an_unknown_offload_is_named_with_those_that_are_known() {
        for value in ["on", "off", "tso+gso", "tx-checksumming"] {
            assert_eq!(unknown_offload(value), None, "{value}");
        }
        let why = unknown_offload("tso+warp").unwrap();
        assert!(why.contains("called warp") && why.contains("gro"), "{why}");
    }

    #[test]
    fn offloads_are_on_off_or_a_list() {
        let axis = &words::axes("offload=on,off,tso+tx").unwrap()[0];
        for (value, line) in [
            ("on", "tso on gso on gro on tx on"),
            ("off", "tso off gso off gro off tx off"),
            ("tso+tx", "tso on gso off gro off tx on"),
        ] {
            assert_eq!(
                offloads(axis, value, "eth0"),
                format!("ethtool -K eth0 {line}")
            );
            assert_eq!(
                proposal(Role::Local, axis, value, "eth0")
                    .unwrap()
                    .wanted
                    .len(),
                4
            );
        }
    }
}
