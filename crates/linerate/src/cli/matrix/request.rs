// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked: the plan of a file, and what the command line says otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use linerate_method::matrix::{self, FAMILY, MTU, is_setting};
use linerate_model::failure::Failure;
use linerate_model::order::Gather as _;
use linerate_model::output::{Axis, Matrix};

use super::settings::unknown_offload;
use super::{file, words};
use crate::cli::args::{LabShape, MatrixArgs};

/// A matrix, complete enough to be done again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Request {
    pub(super) name: String,
    /// Of the server; `None` in a lab.
    pub(super) host: Option<String>,
    /// For family 6.
    pub(super) host6: Option<Ipv6Addr>,
    pub(super) lab: bool,
    pub(super) topology: Option<String>,
    pub(super) fault: Vec<String>,
    pub(super) rows: Vec<String>,
    pub(super) rounds: Option<u32>,
    pub(super) time_ms: Option<u64>,
    /// Of UDP, as `-b` takes it.
    pub(super) rate: Option<String>,
    /// `None`: any.
    pub(super) seed: Option<u64>,
    pub(super) settle_ms: Option<u64>,
    /// Of each test.
    pub(super) flags: Vec<String>,
    pub(super) axes: Vec<PlannedAxis>,
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PlannedAxis {
    pub(super) name: String,
    pub(super) values: Vec<PlannedValue>,
    /// The shell command that restores what those of the values changed.
    pub(super) restore: Option<String>,
}

/// A value of an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PlannedValue {
    pub(super) name: String,
    /// The shell command that sets it.
    pub(super) command: Option<String>,
}

impl PlannedAxis {
    /// Whether its values are set by commands.
    pub(super) fn has_commands(&self) -> bool {
        self.values.iter().any(|value| value.command.is_some())
    }
}

impl Request {
    /// The request of a command line, with the plan that it names; defaults are filled in.
    ///
    /// # Errors
    /// A plan that cannot be read, an axis or a value that is none, no server.
    pub(super) fn of(args: &MatrixArgs) -> Result<Self, Failure> {
        let is_plan = |word: &&String| word.ends_with(".toml");
        let (plans, hosts): (Vec<&String>, Vec<&String>) = args.words.iter().partition(is_plan);
        let mut request = match plans.as_slice() {
            [] => Self::default(),
            [plan] => file::read(Path::new(plan))?,
            _ => return Err(wrong("two plans are given", "one PLAN.toml")),
        };
        match hosts.as_slice() {
            [] => {}
            [host] => {
                request.lab = false;
                request.host = Some((*host).clone());
            }
            _ => return Err(wrong("two hosts are given", "one HOST")),
        }
        request.amend(args)?;
        request.complete(args.quick);
        request.check()?;
        Ok(request)
    }

    /// What the command line says otherwise.
    fn amend(&mut self, args: &MatrixArgs) -> Result<(), Failure> {
        if args.lab {
            if args.words.iter().any(|word| !word.ends_with(".toml")) {
                return Err(wrong("both HOST and --lab are given", "HOST or --lab"));
            }
            self.lab = true;
            self.host = None;
        }
        let mut given = Vec::new();
        for text in &args.axes {
            given.extend(words::axes(text).map_err(|why| wrong(&why, AXES_HINT))?);
        }
        for text in &args.set {
            given.push(words::setting(text).map_err(|why| wrong(&why, SET_HINT))?);
        }
        check_names(&given)?;
        given.into_iter().for_each(|axis| self.put(axis));
        let list = |mine: &mut Vec<String>, given: &[String]| {
            if !given.is_empty() {
                *mine = given.to_vec();
            }
        };
        list(&mut self.rows, &args.rows);
        list(&mut self.fault, &args.fault);
        list(&mut self.flags, &args.flags);
        self.host6 = args.host6.or(self.host6);
        self.rounds = args.rounds.or(self.rounds);
        self.time_ms = args.time.or(self.time_ms);
        self.settle_ms = args.settle.or(self.settle_ms);
        self.seed = args.seed.or(self.seed);
        self.rate = args.bitrate.clone().or(self.rate.take());
        let topology = args.topology.map(|topology| topology.to_string());
        self.topology = topology.or(self.topology.take());
        if let Some(name) = &args.name {
            self.name.clone_from(name);
        }
        Ok(())
    }

    /// An axis replaces the one of its name.
    fn put(&mut self, axis: PlannedAxis) {
        match self.axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) => *known = axis,
            None => self.axes.push(axis),
        }
    }

    fn complete(&mut self, quick: bool) {
        let (rounds, time_ms, settle_ms) = match quick {
            true => (3, 1000, 200),
            false => (6, 5000, 1000),
        };
        self.rounds.get_or_insert(rounds);
        self.time_ms.get_or_insert(time_ms);
        self.settle_ms.get_or_insert(settle_ms);
        self.rate.get_or_insert_with(|| "0".to_owned());
        if self.name.is_empty() {
            "matrix".clone_into(&mut self.name);
        }
        if self.rows.is_empty() {
            self.rows = matrix::rows(&self.matrix_axes());
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if self.axes.is_empty() {
            return Err(wrong("there is no axis", AXES_HINT));
        }
        let names = check_names(&self.axes)?;
        for axis in &self.axes {
            check_axis(axis).map_err(|why| wrong(&why, AXES_HINT))?;
        }
        if let Some(unknown) = self.rows.iter().find(|row| !names.contains(row.as_str())) {
            let known: Vec<&str> = names.into_iter().collect();
            let why = format!("no axis is called {unknown}, which is to be a row");
            return Err(wrong(&why, &format!("one of: {}", known.join(", "))));
        }
        let cells = self.axes.iter().map(|axis| axis.values.len());
        let cells = cells.fold(1_usize, usize::saturating_mul);
        if cells > matrix::MOST_CELLS {
            let why = format!("{cells} cells are more than {}", matrix::MOST_CELLS);
            return Err(wrong(&why, "fewer axes or values"));
        }
        self.check_runs()?;
        self.check_target()
    }

    /// The direction is an axis: a flag that changes it would measure another cell than the one that is named.
    fn check_runs(&self) -> Result<(), Failure> {
        let rounds = self.rounds.unwrap_or_default();
        if !ROUNDS.contains(&rounds) {
            let why = format!(
                "{rounds} rounds, expected {} … {}",
                ROUNDS.start(),
                ROUNDS.end()
            );
            return Err(wrong(&why, "--rounds 6"));
        }
        let turns = |flag: &&String| {
            ["-R", "--reverse", "--bidir", "-d", "--dualtest"].contains(&flag.as_str())
        };
        match self.flags.iter().find(turns) {
            Some(flag) => Err(wrong(
                &format!("{flag} changes the direction of each test"),
                "the axis direction=up,down,both",
            )),
            None => Ok(()),
        }
    }

    fn check_target(&self) -> Result<(), Failure> {
        let lab_only = !self.fault.is_empty() || self.topology.is_some();
        match (&self.host, self.lab) {
            (None, false) => Err(wrong("neither HOST nor --lab is given", "HOST or --lab")),
            (Some(_), _) if lab_only => Err(wrong(
                "--fault and --topology change the lab, and --lab is not given",
                "--lab in place of HOST",
            )),
            (Some(host), _) => self.check_families(host),
            (None, true) => Ok(()),
        }
    }

    /// An address has one family; a name may have both.
    fn check_families(&self, host: &str) -> Result<(), Failure> {
        let bare = host.trim_start_matches('[').split(']').next();
        let address = bare.and_then(|host| host.parse::<IpAddr>().ok());
        let has = |family| self.has_value(FAMILY, family);
        match address {
            Some(IpAddr::V4(_)) if has("6") && self.host6.is_none() => Err(wrong(
                &format!("{host} has no address of family 6"),
                "--host6 ADDRESS, or a name that has both",
            )),
            Some(IpAddr::V6(_)) if has("4") => Err(wrong(
                &format!("{host} has no address of family 4"),
                "the IPv4 address as HOST, and --host6 ADDRESS",
            )),
            _ => Ok(()),
        }
    }

    fn has_value(&self, axis: &str, value: &str) -> bool {
        let mut of_axis = self.axes.iter().filter(|one| one.name == axis);
        of_axis.any(|one| one.values.iter().any(|known| known.name == value))
    }

    /// The axis of this name, unless commands set it.
    pub(super) fn built_in(&self, name: &str) -> Option<&PlannedAxis> {
        let mut axes = self.axes.iter().filter(|axis| !axis.has_commands());
        axes.find(|axis| axis.name == name)
    }

    fn matrix_axes(&self) -> Vec<Axis> {
        let names = |axis: &PlannedAxis| axis.values.iter().map(|one| one.name.clone()).collect();
        let axis = |axis: &PlannedAxis| Axis {
            name: axis.name.clone(),
            values: names(axis),
        };
        self.axes.iter().map(axis).collect()
    }

    /// As the document has it.
    pub(super) fn matrix(&self) -> Matrix {
        Matrix {
            name: self.name.clone(),
            axes: self.matrix_axes(),
            rows: self.rows.clone(),
            rounds: self.rounds.unwrap_or_default(),
            order_seed: self.seed.unwrap_or_default(),
            plan: self.plan(),
            ..Matrix::default()
        }
    }

    /// What each test is besides its cell.
    fn plan(&self) -> BTreeMap<String, String> {
        let list = |words: &[String]| (!words.is_empty()).then(|| words.join(" "));
        let time = self
            .time_ms
            .map(|time| format!("{}s", time as f64 / 1000.0));
        let known = [
            ("time", time),
            ("rate", self.rate.clone()),
            ("fault", list(&self.fault)),
            ("topology", self.topology.clone()),
            ("flags", list(&self.flags)),
        ];
        let given = known.into_iter();
        given
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .gather()
    }

    /// The lab: its MTU is the largest that is measured.
    pub(super) fn shape(&self) -> LabShape {
        let mtu = self.built_in(MTU).into_iter().flat_map(|axis| &axis.values);
        let largest = mtu.filter_map(|value| value.name.parse().ok()).max();
        LabShape {
            fault: self
                .fault
                .iter()
                .filter_map(|one| one.parse().ok())
                .collect(),
            topology: self.topology.as_ref().and_then(|one| one.parse().ok()),
            mtu: largest.map(|mtu: u32| mtu.max(ETHERNET)),
        }
    }
}

/// The names of axes, each once.
fn check_names(axes: &[PlannedAxis]) -> Result<BTreeSet<&str>, Failure> {
    let mut names = BTreeSet::new();
    let twice = axes.iter().find(|axis| !names.insert(axis.name.as_str()));
    match twice {
        Some(axis) => Err(wrong(
            &format!("the axis {} is there twice", axis.name),
            "one list of values per axis",
        )),
        None => Ok(names),
    }
}

fn check_axis(axis: &PlannedAxis) -> Result<(), String> {
    let name = &axis.name;
    if axis.values.is_empty() {
        return Err(format!("the axis {name} has no value"));
    }
    let mut values = BTreeSet::new();
    for value in &axis.values {
        let text = &value.name;
        matrix::check(name, text).map_err(|expected| {
            format!("the axis {name} has the value '{text}', expected {expected}")
        })?;
        let is_offload = name == matrix::OFFLOAD && value.command.is_none();
        if let Some(why) = is_offload.then(|| unknown_offload(text)).flatten() {
            return Err(why);
        }
        if !values.insert(text) {
            return Err(format!("the axis {name} has the value {text} twice"));
        }
    }
    let with = axis
        .values
        .iter()
        .filter(|one| one.command.is_some())
        .count();
    let is_known = !is_setting(name) || matrix::SETTINGS.contains(&name.as_str());
    match with {
        0 if !is_known => Err(format!(
            "the axis {name} is unknown, and no command sets it"
        )),
        0 if axis.restore.is_some() => Err(format!("the axis {name} has nothing to restore")),
        0 => Ok(()),
        _ if !is_setting(name) => Err(format!("the axis {name} is not set by commands")),
        with if with < axis.values.len() => {
            Err(format!("a value of the axis {name} has no command"))
        }
        _ => Ok(()),
    }
}

pub(super) fn wrong(why: &str, hint: &str) -> Failure {
    Failure::usage("plan the matrix", why).hint(hint)
}

const AXES_HINT: &str = "--axes 'protocol=tcp,udp size=64,1448' (linerate matrix --help)";
const SET_HINT: &str = "--set 'NAME: VALUE=COMMAND; VALUE=COMMAND'";
/// Of an ordinary Ethernet.
const ETHERNET: u32 = 1500;
/// As `--rounds` takes them.
const ROUNDS: std::ops::RangeInclusive<u32> = 1..=200;
