// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is in force of the axes that change a host: MTU and offloads by the journal, on each host that is reached; other
//! settings by commands of the user.

use linerate_change::parse;
use linerate_linux::nic;
use linerate_method::matrix::{Axes, MTU, OFFLOAD, SETTINGS};
use linerate_model::failure::Failure;
use linerate_model::output::{Finding, Role, Test};

use super::addresses::Addresses;
use super::commands::Commands;
use super::request::{PlannedAxis, Request, wrong};
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
    addresses: Addresses,
    /// Why an MTU below IPv6's is not set.
    small_mtu: Option<String>,
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
    /// Nothing is changed yet; `first` is a test between the hosts, whose interfaces are set.
    ///
    /// # Errors
    /// A host whose settings are to be changed is not reached, or an interface carries the management session.
    pub(super) fn open(
        request: &'a Request,
        far: &FarFlags,
        session: &mut Session,
        host: &str,
        first: &Test,
    ) -> Result<Self, Failure> {
        let mut settings = Self {
            commands: Commands::of(request, session)?,
            stage: None,
            values: Vec::new(),
            in_force: None,
            addresses: Addresses::default(),
            small_mtu: None,
        };
        let axes: Vec<&PlannedAxis> = SETTINGS
            .iter()
            .filter_map(|name| request.built_in(name))
            .collect();
        if axes.is_empty() {
            return Ok(settings);
        }
        let reached = match request.lab {
            true => Reached::in_lab(hands::of_lab(session)?),
            false => Reached::open(far, session, host)?,
        };
        let ends = [
            (Role::Local, &first.local_interface),
            (Role::Remote, &first.remote_interface),
        ];
        let mut proposals = Vec::new();
        for (role, interface) in ends {
            let Some(interface) = interface
                .as_deref()
                .filter(|_| reached.hands.contains_key(&role))
            else {
                continue;
            };
            for axis in &axes {
                for value in &axis.values {
                    let proposal = proposal(role, axis, &value.name, interface)?;
                    if let Some(why) = reached.refusal(&proposal, far) {
                        return Err(wrong(&why, "another interface, or that flag"));
                    }
                    settings
                        .values
                        .push((axis.name.as_str(), value.name.as_str()));
                    proposals.push(proposal);
                }
            }
        }
        if request.lab {
            settings.addresses = Addresses::of_lab(session, first);
        } else {
            settings.small_mtu = small_mtu(first.local_interface.as_deref());
            if !reached.hands.contains_key(&Role::Remote) {
                session.console.alert(ONE_SIDE);
            } else {
                settings
                    .small_mtu
                    .get_or_insert_with(|| FAR_ADDRESSES.to_owned());
            }
        }
        settings.stage = Some(Stage::new(reached.hands, proposals).with_idle());
        Ok(settings)
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
        let mtu = axes.get(MTU).and_then(|mtu| mtu.parse::<u32>().ok());
        let small = mtu.is_some_and(|mtu| mtu < IPV6_MTU);
        if let Some(why) = self.small_mtu.as_ref().filter(|_| small) {
            return Err(Refusal::Impossible(why.clone()));
        }
        if self.commands.are_due(axes) {
            // A command may replace the interface.
            self.stage_to(&[])?;
            self.commands.bring(axes, session)?;
        }
        let wanted: Vec<usize> = self.candidates(axes).collect();
        self.stage_to(&wanted)?;
        if !small {
            self.addresses.restore();
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
        self.addresses.restore();
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
        built_in.chain(self.commands.names())
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

/// The kernel removes the IPv6 addresses of an interface with such an MTU (net/ipv6/addrconf.c, `NETDEV_CHANGEMTU`), and
/// their routes.
fn small_mtu(interface: Option<&str>) -> Option<String> {
    let interface = interface?;
    let index = nic::link(interface).ok()?.index;
    let held = nic::addresses_of(index).ok()?;
    let address = held.into_iter().find_map(|(address, _)| match address {
        std::net::IpAddr::V6(address) if !address.is_unicast_link_local() => Some(address),
        _ => None,
    })?;
    Some(format!(
        "an MTU below 1280 removes the IPv6 address {address} of {interface} and its routes, which nothing here \
         would restore: remove them first, or set the MTU by --set"
    ))
}

const ONE_SIDE: &str = "MTU and offloads are set on this host only; those of HOST stay as they are (--remote sets \
    them by ssh)";
const FAR_ADDRESSES: &str = "an MTU below 1280 removes the IPv6 addresses of the other host, if it has any, which \
    nothing here would restore: set the MTU by --set";
const SEGMENTATION: [&str; 3] = ["tso", "gso", "gro"];
const IPV6_MTU: u32 = 1280;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::matrix::words;

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
        let axis = &words::axes("offload=warp").unwrap()[0];
        assert!(proposal(Role::Local, axis, "warp", "eth0").is_err());
    }
}
