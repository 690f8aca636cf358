// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate matrix`: every combination of the axes of a plan, measured several times.

mod commands;
mod directory;
mod file;
mod lab_link;
mod measurement;
mod request;
mod settings;
mod texts;
mod trial;
mod words;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Instant;

use linerate_method::experiment::environment;
use linerate_method::matrix::{self, Progress};
use linerate_model::failure::Failure;
use linerate_model::output::{Difference, Host, Role, Test};
use linerate_model::printable::Printable;
use linerate_model::run::Run;
use linerate_report::Detail;

use super::ab::drawn_seed;
use super::ab::inner::Inner;
use super::ab::pace::Pace;
use super::ab::steady::Steady;
use super::args::MatrixArgs;
use super::document;
use super::session::{self, Session};
use super::target::Target;
use super::tune::find;
use crate::exit::Exit;
use crate::store;
use directory::Claim;
use lab_link::LabLink;
use measurement::Peer;
use request::Request;
use settings::Settings;
use trial::Trial;

/// Runs the command.
pub(super) fn run(args: &MatrixArgs, options: BTreeMap<String, String>) -> Exit {
    let refused = |failure: &Failure| session::refuse("matrix", args.document.json, failure);
    let planned = match Planned::of(args) {
        Ok(planned) => planned,
        Err(failure) => return refused(&failure),
    };
    if args.dry_run {
        let shown = planned.shown(args);
        return session::ended("matrix", args.document.json, shown);
    }
    planned.measure(args, options)
}

/// What will be done, and where it is stored.
struct Planned {
    request: Request,
    /// `None`: in a new directory of all runs.
    directory: Option<PathBuf>,
    /// The directory has an earlier part.
    claim: Option<Claim>,
}

impl Planned {
    fn of(args: &MatrixArgs) -> Result<Self, Failure> {
        let directory = args.resume.as_ref().or(args.output.as_ref()).cloned();
        let mut request = match &args.resume {
            Some(directory) => directory::resumed(directory)?,
            None => Request::of(args)?,
        };
        let stored = match &directory {
            Some(directory) => directory::stored(directory)?,
            None => None,
        };
        let mut claim = None;
        if let (Some(directory), Some(stored)) = (&directory, &stored) {
            directory::same(&mut request, stored, directory)?;
            if !args.dry_run {
                claim = Some(directory::claim(directory, &request)?);
            }
        }
        request.seed.get_or_insert_with(drawn_seed);
        check_measurements(&request)?;
        Ok(Self {
            request,
            directory,
            claim,
        })
    }

    /// The plan on stdout, or the document of a matrix without a run.
    fn shown(&self, args: &MatrixArgs) -> Result<(), Failure> {
        let mut matrix = self.request.matrix();
        let progress = Progress::new(&matrix, &[]);
        let each_s = each_s(&self.request);
        let mut console = session::console(&args.output_flags(None));
        console.say(&texts::announcement(&matrix, &progress, each_s));
        let cells = matrix::cells(&mut matrix, &[]);
        for cell in cells.iter().filter(|cell| cell.reason.is_some()) {
            let why = cell.reason.as_deref().unwrap_or_default();
            console.say(&format!(
                "not possible: {}: {why}",
                texts::label(&cell.axes)
            ));
        }
        if args.document.json {
            let mut output = document::document("matrix");
            output.matrix = Some(matrix);
            output.cells = cells;
            return args.document.print(&output, Detail::Full);
        }
        document::print(&Printable::of(&file::text(&self.request)))
    }

    fn measure(&self, args: &MatrixArgs, mut options: BTreeMap<String, String>) -> Exit {
        let flags = args.output_flags(self.directory.clone());
        let shape = self.request.shape();
        let host = self.request.host.as_deref();
        if let Some(host) = host {
            options.insert("host".to_owned(), host.to_owned());
        }
        let mut target = match self.request.lab {
            true => Target::in_lab_of("matrix", &shape, &flags, options),
            false => Target::named("matrix", host, &flags, options),
        };
        target.resumes = self.claim.is_some();
        target.measure(|session, host| {
            let _claim = match (session.run_directory(), &self.claim) {
                (Some(directory), None) => Some(directory::claim(&directory, &self.request)?),
                _ => None,
            };
            measured(&self.request, args, session, host)
        })
    }
}

/// One command line of each protocol must be understood, before anything is done.
fn check_measurements(request: &Request) -> Result<(), Failure> {
    let peer = Peer {
        host: "192.0.2.1".to_owned(),
        host6: None,
    };
    let matrix = request.matrix();
    let progress = Progress::new(&matrix, &[]);
    let cells = (1..=progress.all() as u32).filter_map(|id| progress.cell(id));
    let mut seen = Vec::new();
    for cell in cells.filter(|cell| matrix::impossible(&cell.axes).is_none()) {
        let protocol = cell.axes.get(matrix::PROTOCOL);
        if !seen.contains(&protocol) {
            seen.push(protocol);
            Inner::of(&measurement::words(request, &cell.axes, &peer))?;
        }
    }
    Ok(())
}

/// The estimated duration of a run with what is around it.
fn each_s(request: &Request) -> Option<f64> {
    let peer = Peer {
        host: "192.0.2.1".to_owned(),
        host6: None,
    };
    let words = measurement::words(request, &BTreeMap::new(), &peer);
    Inner::of(&words).ok()?.estimate_s
}

fn measured(
    request: &Request,
    args: &MatrixArgs,
    session: &mut Session,
    host: &str,
) -> Result<(), Failure> {
    let matrix = request.matrix();
    let directory = session.run_directory();
    if directory.is_none() && (args.output.is_some() || args.resume.is_some()) {
        let why = "that directory cannot be written";
        return Err(Failure::measuring("store the matrix", why)
            .hint("-o DIR that this user may write, on a disk with room"));
    }
    let runs = directory.as_deref().map(store::cell_runs);
    let runs = runs.transpose();
    let runs = runs.map_err(|error| Failure::measuring("read the runs so far", error))?;
    let (runs, damaged) = runs.map_or_else(Default::default, |read| (read.runs, read.damaged));
    for line in &damaged {
        session.console.alert(&format!("{line}; it does not count"));
    }
    let progress = Progress::new(&matrix, &runs);
    let each_s = each_s(request);
    let text = texts::announcement(&matrix, &progress, each_s);
    session.console.say(&text);
    session.matrix(&matrix);
    let peer = peer(request, session, host);
    let is_over = progress.runs_left() == 0;
    let first = match is_over {
        true => None,
        false => Some(first_look(request, args.other_host, &peer, session)?),
    };
    let settings = Settings::open(request, &args.far, session, host, first.as_ref())?;
    let mut trial = Trial {
        request,
        matrix,
        progress,
        runs,
        settings,
        peer,
        pace: Pace::new(each_s),
        begun: Instant::now(),
        steady: Steady::default(),
        directory: directory.map(|directory| directory.join("runs")),
        unstored: 0,
    };
    let ended = trial.carry_out(session);
    let restored = trial.restore(session);
    let ended = match ended {
        Err(failure) => {
            let again = format!("to continue: {}", trial.resumption());
            session.console.say(&again);
            Err(failure)
        }
        Ok(()) => trial.failures(),
    };
    trial.conclude(session);
    if let (Err(_), Err(also)) = (&ended, &restored) {
        session.console.alert(&also.to_string());
    }
    ended.and(restored)
}

fn peer(request: &Request, session: &Session, host: &str) -> Peer {
    let host6 = match (request.lab, request.host6) {
        (true, _) => LabLink::of_peer(session).map(|address| address.to_string()),
        (false, Some(address)) => Some(with_port_of(host, address)),
        (false, None) => None,
    };
    Peer {
        host: host.to_owned(),
        host6,
    }
}

/// HOST may name the port as well.
fn with_port_of(host: &str, address: Ipv6Addr) -> String {
    match host.split_once(':') {
        Some((_, port)) if !port.contains(':') => format!("[{address}]:{port}"),
        _ => address.to_string(),
    }
}

/// A short test before a long matrix: does the server answer, and through which interfaces?
/// One that goes on must find the hosts as they were.
fn first_look(
    request: &Request,
    other_host: bool,
    peer: &Peer,
    session: &mut Session,
) -> Result<Test, Failure> {
    let ways = [false, true].map(|udp| measurement::first_look(request, peer, udp));
    let understood = ways.iter().find(|words| Inner::of(words).is_ok());
    let words = understood.unwrap_or(&ways[0]);
    let output = find::measured(session, words, "first-look", &mut || None)?;
    if !other_host {
        same_hosts(&session.output.hosts, &output.hosts)?;
    }
    session.output.hosts = output.hosts;
    let test = output.tests.into_iter().next();
    test.ok_or_else(|| Failure::measuring("reach the server", "its first test gave no result"))
}

/// Refuses to mix the runs of two kernels, machines or drivers in one cell.
fn same_hosts(before: &[Host], now: &[Host]) -> Result<(), Failure> {
    let [before, now] = [before, now].map(|hosts| Run {
        hosts: hosts.to_vec(),
        ..Run::default()
    });
    let all = environment::differences(&[&before], &[&now]);
    let identity = |one: &&Difference| IDENTITY.contains(&one.what.as_str());
    let named = all.iter().filter(identity).map(|one| {
        let host = match one.host {
            Some(Role::Remote) => "remote ",
            _ => "local ",
        };
        let [before, now] = [&one.before, &one.after].map(|values| values.join(", "));
        format!("{host}{}: {before} before, {now} now", one.what)
    });
    let named: Vec<String> = named.collect();
    match named.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage("continue the matrix", named.join("; "))
            .hint("a new matrix, and `linerate compare` of both; --other-host continues this one")),
    }
}

/// What makes it another host. Settings such as the MTU are set by cells.
const IDENTITY: [&str; 5] = ["kernel", "host", "processor", "processors", "driver"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kernel_is_another_host_and_another_boot_is_not() {
        let host = |kernel: &str, boot: &str| Host {
            kernel: Some(kernel.to_owned()),
            boot_id: Some(boot.to_owned()),
            ..Host::default()
        };
        let before = [host("5.10", "a")];
        assert_eq!(same_hosts(&[], &before), Ok(()));
        assert_eq!(same_hosts(&before, &[host("5.10", "b")]), Ok(()));
        let refused = same_hosts(&before, &[host("6.1", "b")]).unwrap_err();
        assert!(refused.why.contains("local kernel: 5.10 before, 6.1 now"));
    }
}
