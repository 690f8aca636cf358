// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the program concludes from recorded runs, and how it reports them: written where the live run leaves it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::unit::CHECKS;
use crate::machines::causes;
use crate::machines::middle::MODES;
use crate::machines::offloads;
use crate::process::{self, last_line};

/// One command.
#[derive(Debug)]
struct Task {
    directory: PathBuf,
    /// Words after the program.
    words: Vec<String>,
    /// Where what it prints is kept.
    output: String,
}

/// Explains each run below `machines`, on every processor; the errors.
pub(super) fn all<'m>(linerate: &Path, machines: impl Iterator<Item = &'m Path>) -> Vec<String> {
    let tasks: Vec<Task> = machines.flat_map(tasks).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Vec<String> {
        let taken = std::iter::from_fn(|| tasks.get(next.fetch_add(1, Ordering::Relaxed)));
        taken.filter_map(|task| task.run(linerate).err()).collect()
    };
    let count = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .flat_map(|errors| {
                errors.unwrap_or_else(|_| vec!["explain: a worker panicked".to_owned()])
            })
            .collect()
    })
}

/// Those of the runs that a machine has.
fn tasks(machine: &Path) -> Vec<Task> {
    let causes = causes::names().map(|name| {
        (
            machine.join("causes"),
            format!("{name}.run"),
            format!("{name}.explained.stdout"),
        )
    });
    let checks = CHECKS.iter().map(|name| {
        (
            machine.to_owned(),
            format!("{name}.run"),
            format!("{name}.stdout"),
        )
    });
    let explained = causes
        .chain(checks)
        .map(|(directory, run, output)| explain(directory, &run, output));
    let middle = MODES
        .iter()
        .flat_map(|mode| shown(&machine.join("middle").join(mode.name)));
    let offloads = [reported(&machine.join(offloads::PLACE))];
    let mut tasks: Vec<Task> = explained.chain(middle).chain(offloads).collect();
    tasks.retain(|task| task.directory.join(&task.words[1]).is_dir());
    tasks
}

fn explain(directory: PathBuf, run: &str, output: String) -> Task {
    Task {
        directory,
        words: ["explain", run, "--json"].map(str::to_owned).into(),
        output,
    }
}

/// `explain` concludes, and shows no check.
fn reported(directory: &Path) -> Task {
    let run = format!("{}.run", offloads::STEP);
    Task {
        directory: directory.to_owned(),
        words: ["report", &run, "--format", "json"]
            .map(str::to_owned)
            .into(),
        output: format!("{}.stdout", offloads::STEP),
    }
}

/// As a machine in the middle is explained and reported.
fn shown(directory: &Path) -> [Task; 3] {
    let report = |words: &[&str], output: &str| Task {
        directory: directory.to_owned(),
        words: ["report", "forward.run"]
            .iter()
            .chain(words)
            .map(|word| (*word).to_owned())
            .collect(),
        output: output.to_owned(),
    };
    [
        explain(
            directory.to_owned(),
            "forward.run",
            "forward.stdout".to_owned(),
        ),
        report(&[], "text.stdout"),
        report(&["-o", "forward.html"], "page.stdout"),
    ]
}

impl Task {
    fn run(&self, linerate: &Path) -> Result<(), String> {
        let mut command = Command::new(linerate);
        command
            .args(&self.words)
            .current_dir(&self.directory)
            .env("XDG_STATE_HOME", self.directory.join("state"))
            .env("COLUMNS", "80");
        let ended = process::run(&mut command, LIMIT)?;
        let of = || format!("{} in {}", self.words.join(" "), self.directory.display());
        if !ended.status.success() {
            return Err(format!(
                "{}: {}: {}",
                of(),
                ended.status,
                last_line(&ended.stderr)
            ));
        }
        fs::write(self.directory.join(&self.output), ended.stdout)
            .map_err(|why| format!("{}: {why}", of()))
    }
}

/// No run takes a hundredth of it.
const LIMIT: Duration = Duration::from_secs(120);
