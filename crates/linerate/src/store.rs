// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run directory: `run.json`, `samples.jsonl`, `latency.hlog`, `runs.ndjson` … (see `docs/run-directory.md`).
//!
//! Storing never fails a measurement. Where nothing can be written (read-only root, full disk, no
//! HOME) the store says why and swallows the rest. `run.json` is replaced by rename, so a run that
//! is cut off at any moment is valid and marked partial.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use linerate_model::cell_run::CellRun;
use linerate_model::failure::without_code;
use linerate_model::output::{Output, Phase, Trial};
use linerate_model::round_trips::{self, RoundTrips};
use linerate_model::run::Run;
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use linerate_model::{compat, credible};
use linerate_wire::json;
use serde::de::DeserializeOwned;

use crate::{history, input};
use linerate_model::date::Date;

/// Where runs go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// This very directory (`-o DIR`); a number is appended when it holds a run already.
    Directory(PathBuf),
    /// Nowhere, for this reason.
    Nowhere(String),
    /// The directory of a run that is continued.
    Again(PathBuf),
    /// A new directory under this one.
    Runs(PathBuf),
}

impl Destination {
    /// `-o DIR`, else `${XDG_STATE_HOME:-~/.local/state}/linerate/runs`.
    pub(crate) fn chosen(directory: Option<&Path>) -> Self {
        match directory {
            Some(directory) => Self::Directory(directory.to_owned()),
            None => Self::default_of(&|name| std::env::var_os(name).map(PathBuf::from)),
        }
    }

    fn default_of(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        match state(variable) {
            Some(state) => Self::Runs(state.join("runs")),
            None => Self::Nowhere(NO_STATE.to_owned()),
        }
    }
}

/// `${XDG_STATE_HOME:-~/.local/state}/linerate/journal`: what `tune restore` undoes.
///
/// # Errors
/// There is no such directory.
pub(crate) fn journal() -> Result<PathBuf, &'static str> {
    let state = state(&|name| std::env::var_os(name).map(PathBuf::from));
    Ok(state.ok_or(NO_STATE)?.join("journal"))
}

/// Relative paths in the variables are ignored, as the XDG specification demands.
fn state(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let state = absolute("XDG_STATE_HOME").or_else(home)?;
    Some(state.join("linerate"))
}

const NO_STATE: &str = "neither XDG_STATE_HOME nor HOME is set";

/// Whether there is a run on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// All that was given is there.
    Stored(PathBuf),
    /// Not, or not all of it.
    NotStored {
        /// The operation and what the system said.
        why: String,
        /// The directory with what was written before, if any.
        partial: Option<PathBuf>,
    },
}

impl Location {
    /// The directory, when everything is in it: the `run_dir` of the document.
    pub(crate) fn run_dir(&self) -> Option<String> {
        match self {
            Self::Stored(directory) => Some(directory.display().to_string()),
            Self::NotStored { .. } => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(directory) => write!(f, "stored in {}", directory.display()),
            Self::NotStored { why, partial: None } => {
                write!(f, "not stored: {}", without_code(why))
            }
            Self::NotStored {
                why,
                partial: Some(directory),
            } => {
                let why = without_code(why);
                write!(f, "not stored: {why}; a part is in {}", directory.display())
            }
        }
    }
}

/// What is known when a run begins.
#[derive(Debug, Clone)]
pub(crate) struct Beginning<'a> {
    /// The command: `check`, `udp` …
    pub(crate) kind: &'a str,
    /// The command line.
    pub(crate) command: &'a [String],
    /// Whom it measures against; becomes a part of the directory's name.
    pub(crate) peer: &'a str,
    /// Option names and values, defaults filled in.
    pub(crate) plan: BTreeMap<String, String>,
    /// The wall clock.
    pub(crate) started: Date,
}

/// A run that is being written.
#[derive(Debug)]
pub(crate) struct Store {
    location: Location,
    run: Run,
    samples: Option<File>,
    /// Runs of cells for which there was no room yet, as lines.
    unwritten: String,
    /// What ended the storing: a full disk, or another failure.
    lacked_room: bool,
    /// In the directory of all runs, not in one given by `-o`.
    among_others: bool,
}

impl Store {
    /// Makes the directory and writes `run.json`, marked partial.
    pub(crate) fn open(place: &Destination, beginning: &Beginning<'_>) -> Self {
        let mut run = Run::begin(beginning.kind, env!("CARGO_PKG_VERSION"), beginning.command);
        run.started = beginning.started.to_string();
        run.clock_trusted = beginning.started.trusted();
        run.plan.clone_from(&beginning.plan);
        if let Destination::Again(directory) = place
            && let Ok(begun) = history::record(directory)
        {
            run.started = begun.started;
            run.clock_trusted = begun.clock_trusted;
            run.command = begun.command;
            run.plan = begun.plan;
            run.duration_s = begun.duration_s;
            run.hosts = begun.hosts;
            run.moved = begun.moved;
        }
        let mut store = Self {
            location: not_stored(String::new(), None),
            run,
            samples: None,
            unwritten: String::new(),
            lacked_room: false,
            among_others: matches!(place, Destination::Runs(_)),
        };
        match make_directory(place, beginning) {
            Ok(directory) => {
                store.location = Location::Stored(directory);
                store.write_run();
            }
            Err(why) => store.location = not_stored(why, None),
        }
        store
    }

    /// Whether all went well so far.
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// The record as it stands, without the measurements.
    pub(crate) fn run(&mut self) -> &mut Run {
        &mut self.run
    }

    /// Appends a line to `samples.jsonl`, at once.
    pub(crate) fn sample(&mut self, sample: &Sample) {
        let line = serde_json::to_string(sample).map_err(io::Error::from);
        self.attempt(SAMPLES, |store, path| {
            if store.samples.is_none() {
                store.samples = Some(append(path)?);
            }
            match &mut store.samples {
                Some(file) => file.write_all(format!("{}\n", line?).as_bytes()),
                None => Ok(()),
            }
        });
    }

    /// Appends a line to `trials.ndjson`, at once.
    pub(crate) fn trial(&mut self, trial: &Trial) {
        let line = serde_json::to_string(trial).map_err(io::Error::from);
        self.attempt(TRIALS, |_, path| {
            append(path)?.write_all(format!("{}\n", line?).as_bytes())
        });
    }

    /// Appends a line to `runs.ndjson`, at once, and those for which there was no room before. It begins a line: a crash
    /// may have left a part of one.
    pub(crate) fn cell_run(&mut self, run: &CellRun) {
        match serde_json::to_string(run) {
            Ok(line) => self.unwritten.push_str(&format!("\n{line}\n")),
            Err(error) => self.fail(RUNS, &error.into()),
        }
        self.write_cell_runs();
    }

    /// A run of hours is not ended by a disk that is full for a minute: it is tried again, unlike all else. After any other
    /// failure the runs are still written, but its reason stands: something else is missing.
    fn write_cell_runs(&mut self) {
        let before = self.location.clone();
        if let Location::NotStored {
            partial: Some(directory),
            ..
        } = &before
        {
            self.location = Location::Stored(directory.clone());
        }
        let stands = !self.lacked_room;
        self.attempt(RUNS, |store, path| {
            append_whole(path, &store.unwritten)?;
            store.unwritten.clear();
            Ok(())
        });
        if stands && before.run_dir().is_none() {
            self.location = before;
            self.lacked_room = false;
        }
    }

    /// Adds the hosts' settings; written with the next results.
    pub(crate) fn settings(&mut self, settings: &[Setting]) {
        self.run.settings.extend_from_slice(settings);
    }

    /// Appends a histogram of round-trip times, `(upper bound ns, count)`, to `latency.hlog`.
    pub(crate) fn latency(&mut self, phase: Phase, histogram: &[(u64, u64)]) {
        self.pairs([LATENCY, LATENCY_HEADER, " "], phase, histogram);
    }

    /// Appends round trips, `(when ns, time ns)`, to `latency.csv`.
    pub(crate) fn latency_over_time(&mut self, phase: Phase, trips: &[(u64, u64)]) {
        self.pairs([OVER_TIME, OVER_TIME_HEADER, ","], phase, trips);
    }

    /// Appends a line per pair, after the header of a new file.
    fn pairs(&mut self, [name, header, gap]: [&str; 3], phase: Phase, pairs: &[(u64, u64)]) {
        self.attempt(name, |_, path| {
            let mut text = String::from(if path.exists() { "" } else { header });
            for (one, other) in pairs {
                text.push_str(&format!("{}{gap}{one}{gap}{other}\n", phase_name(phase)));
            }
            append(path)?.write_all(text.as_bytes())
        });
    }

    /// Writes the results as they are now, still marked partial.
    pub(crate) fn checkpoint(&mut self, output: &mut Output) {
        self.run.exchange(output);
        self.run.partial = true;
        self.write_run();
        self.run.exchange(output);
    }

    /// Writes the results permanently.
    pub(crate) fn finish(&mut self, output: &mut Output) -> &Location {
        if !self.unwritten.is_empty() {
            self.write_cell_runs();
        }
        self.attempt(SAMPLES, |store, _| match store.samples.take() {
            Some(file) => file.sync_all(),
            None => Ok(()),
        });
        self.run.exchange(output);
        self.write_run();
        self.run.exchange(output);
        if let (Location::Stored(run), true) = (&self.location, self.among_others) {
            history::remember(run);
        }
        &self.location
    }

    fn write_run(&mut self) {
        self.attempt(RUN, |store, path| {
            replace(path, |file| {
                linerate_report::json::write(&store.run, file)?;
                file.write_all(b"\n")
            })
        });
    }

    /// Does `write` on a file of the run; the first failure ends the storing, but for the runs of cells.
    fn attempt(&mut self, name: &str, write: impl FnOnce(&mut Self, &Path) -> io::Result<()>) {
        let Location::Stored(directory) = &self.location else {
            return;
        };
        let path = directory.join(name);
        if let Err(error) = write(self, &path) {
            self.fail(name, &error);
        }
    }

    /// Stores no more.
    fn fail(&mut self, name: &str, error: &io::Error) {
        let Location::Stored(directory) = &self.location else {
            return;
        };
        let why = format!("cannot write {}: {error}", directory.join(name).display());
        let partial = Some(directory.clone()).filter(|directory| directory.join(RUN).exists());
        self.samples = None;
        self.lacked_room = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        );
        self.location = not_stored(why, partial);
    }
}

/// Reads a run. A damaged line of the samples is left out: it costs a sample, not the run. What cannot be is taken out
/// and named ([`credible`]).
///
/// # Errors
/// `run.json` is missing, unreadable, no run, or of a later version; `samples.jsonl` is no file, or too long.
pub fn read(directory: &Path) -> io::Result<(Run, Vec<Sample>)> {
    let named = |why: &dyn fmt::Display| io::Error::other(format!("{RUN}: {why}"));
    let text = input::of_run(&directory.join(RUN)).map_err(|why| named(&why))?;
    let run = json::read(&text).map_err(|why| named(&why))?;
    let mut run = compat::run(run).map_err(|why| named(&why))?;
    let mut samples = lines(directory, SAMPLES)?;
    for at in 1..samples.len() {
        let (earlier, rest) = samples.split_at_mut(at);
        rest.iter_mut()
            .take(1)
            .for_each(|sample: &mut Sample| sample.share_names(earlier));
    }
    credible::settle(run.duration_s, &mut run.hosts, &mut run.tests, &mut samples);
    credible::moved(&mut run.moved);
    Ok((run, samples))
}

/// The trials of a device, in their order; none where there is no such file. A damaged line costs
/// a trial.
///
/// # Errors
/// As [`content`].
pub(crate) fn trials(directory: &Path) -> io::Result<Vec<Trial>> {
    lines(directory, TRIALS)
}

/// The runs of a matrix's cells.
pub(crate) struct CellRuns {
    /// In their order.
    pub(crate) runs: Vec<CellRun>,
    /// The lines that are none, each with its number and the reason.
    pub(crate) damaged: Vec<String>,
}

/// The runs of a matrix's cells; none where there is no such file. A damaged line costs a run.
///
/// # Errors
/// As [`content`].
pub(crate) fn cell_runs(directory: &Path) -> io::Result<CellRuns> {
    let bytes = content(directory, RUNS)?;
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let mut found = CellRuns {
        runs: Vec::new(),
        damaged: Vec::new(),
    };
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        match cell_run_of(line) {
            Ok(run) => found.runs.push(run),
            Err(why) => found.damaged.push(format!("{RUNS}, line {number}: {why}")),
        }
    }
    Ok(found)
}

fn cell_run_of(line: &[u8]) -> Result<CellRun, String> {
    let run: CellRun = json::read(line).map_err(|why| {
        let cell = cell_of(line).map_or(String::new(), |cell| format!("cell {cell}: "));
        format!("{cell}it is not a whole run ({why})")
    })?;
    let is_wrong = |value: f64| !value.is_finite() || value < 0.0;
    let mut values = run.values.iter();
    match values.find(|(_, value)| is_wrong(**value)) {
        Some((name, value)) => Err(format!("cell {}: {name} is {value}", run.cell)),
        None => Ok(run),
    }
}

/// The cell that a damaged line names.
fn cell_of(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let (_, rest) = text.split_once("\"cell\":")?;
    let digits = rest.trim_start().chars();
    let digits: String = digits.take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// The entries of a file, one a line, without those that cannot be read.
fn lines<T: DeserializeOwned>(directory: &Path, name: &str) -> io::Result<Vec<T>> {
    let bytes = content(directory, name)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| json::read(line).ok()).collect())
}

/// Every round trip of the probe; none where there is no such file.
///
/// # Errors
/// As [`content`].
pub(crate) fn round_trips(directory: &Path) -> io::Result<Vec<RoundTrips>> {
    let histograms = content(directory, LATENCY)?;
    let over_time = content(directory, OVER_TIME)?;
    let [histograms, over_time] =
        [&histograms, &over_time].map(|text| String::from_utf8_lossy(text));
    Ok(round_trips::read(&histograms, &over_time))
}

/// The content of a file that not every run has.
///
/// # Errors
/// It is not a regular file, too long, or unreadable.
fn content(directory: &Path, name: &str) -> io::Result<Vec<u8>> {
    match input::of_run(&directory.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|why| io::Error::new(why.kind(), format!("{name}: {why}"))),
    }
}

/// A new directory: no run ever shares or replaces another's.
fn make_directory(place: &Destination, beginning: &Beginning<'_>) -> Result<PathBuf, String> {
    let wanted = match place {
        Destination::Directory(directory) => directory.clone(),
        Destination::Again(directory) => return Ok(directory.clone()),
        Destination::Nowhere(why) => return Err(why.clone()),
        Destination::Runs(runs) => runs.join(directory_name(beginning)),
    };
    let cannot = |error| format!("cannot create {}: {error}", wanted.display());
    if let Some(parent) = wanted.parent() {
        fs::create_dir_all(parent).map_err(cannot)?;
    }
    let adoptable = matches!(place, Destination::Directory(_));
    for number in 1..=MOST_NAMESAKES {
        let candidate = numbered(&wanted, number);
        match fs::create_dir(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(cannot(error));
            }
            Err(_) if adoptable && candidate.is_dir() && !candidate.join(RUN).exists() => {
                return Ok(candidate);
            }
            Err(_) => {}
        }
    }
    Err(format!(
        "{} and {MOST_NAMESAKES} of its name exist",
        wanted.display()
    ))
}

fn numbered(directory: &Path, number: u32) -> PathBuf {
    match number {
        1 => directory.to_owned(),
        number => {
            let mut name = directory.as_os_str().to_owned();
            name.push(format!("-{number}"));
            name.into()
        }
    }
}

/// `<time>-<command>-<peer>`, without anything that a shell or a file system minds.
fn directory_name(beginning: &Beginning<'_>) -> String {
    let time = beginning.started.compact();
    let plain = |c: char| {
        let harmless = c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        if harmless { c } else { '-' }
    };
    let peer: String = beginning.peer.chars().take(64).map(plain).collect();
    format!("{time}-{}-{peer}", beginning.kind)
}

/// Old or new content, never a part of either. What a full disk did not take whole takes no room.
fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let next = path.with_extension("json.next");
    let mut file = BufWriter::new(File::create(&next)?);
    let written = write(&mut file).and_then(|()| file.into_inner()?.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&next);
    }
    written?;
    fs::rename(&next, path)?;
    match path.parent() {
        // Not every file system can; the rename itself has been done.
        Some(directory) => File::open(directory)?.sync_all().or(Ok(())),
        None => Ok(()),
    }
}

/// The whole text, or nothing of it.
fn append_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = append(path)?;
    let before = file.metadata()?.len();
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_data());
    if written.is_err() && file.metadata()?.len() > before {
        file.set_len(before)?;
    }
    written
}

fn append(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

fn not_stored(why: String, partial: Option<PathBuf>) -> Location {
    Location::NotStored { why, partial }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Up => "up",
        Phase::Down => "down",
        Phase::Both => "both",
    }
}

/// The record of a run, in its directory.
pub(crate) const RUN: &str = "run.json";
const SAMPLES: &str = "samples.jsonl";
const LATENCY: &str = "latency.hlog";
const OVER_TIME: &str = "latency.csv";
const TRIALS: &str = "trials.ndjson";
const RUNS: &str = "runs.ndjson";
const LATENCY_HEADER: &str =
    "# linerate.latency/1: phase, upper bound of the round-trip time in ns, count\n";
const OVER_TIME_HEADER: &str = "phase,t_ns,rtt_ns\n";
/// Runs of one name: as many as a clock that stands at 1970 may make.
const MOST_NAMESAKES: u32 = 10_000;

#[cfg(test)]
mod tests;
