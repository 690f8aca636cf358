// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fuzz [--build] [--seconds N] [--keep] [TARGET...]`: every fuzz target of `fuzz/` for this long, with libFuzzer's
//! coverage and AddressSanitizer, as a table of executions. A crash ends the task and names the input. `--build` only
//! compiles them.
//!
//! Inputs that reach new code stay in `fuzz/grown/`; `--keep` reduces them to those that the coverage needs.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::Outcome;
use crate::process;

/// Builds the targets and runs each. Whether none found anything.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    let targets = options.targets()?;
    let built = build()?;
    if options.only_build {
        return Ok(true);
    }
    println!(
        "{:<18} {:>12} {:>10} {:>8}",
        "target", "executions", "a second", "inputs"
    );
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let mut sum = 0;
    for some in targets.chunks(processors) {
        for (name, executions) in some.iter().zip(side_by_side(&built, some, &options)) {
            let executions = executions?;
            sum += executions;
            let (rate, inputs) = (executions / options.seconds.max(1), inputs(&grown(name)));
            println!("{name:<18} {executions:>12} {rate:>10} {inputs:>8}");
        }
    }
    println!("{:<18} {sum:>12}", "all");
    Ok(true)
}

/// What was asked for.
struct Options {
    seconds: u64,
    only_build: bool,
    keep: bool,
    only: Vec<String>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            seconds: SECONDS,
            only_build: false,
            keep: false,
            only: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--seconds" => {
                    let value = words.next().and_then(|value| value.parse().ok());
                    options.seconds = value.ok_or("fuzz: --seconds: expected a number")?;
                }
                "--build" => options.only_build = true,
                "--keep" => options.keep = true,
                name if name.starts_with('-') => return Err(format!("fuzz: no option {name}")),
                name => options.only.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// The names of the targets, sorted: each has a file.
    fn targets(&self) -> Result<Vec<String>, String> {
        let files = fs::read_dir("fuzz/fuzz_targets").map_err(|why| {
            format!("fuzz/fuzz_targets: {why} (run it in the project's directory)")
        })?;
        let named = files.flatten().filter_map(|file| {
            let path = file.path();
            Some(path.file_stem()?.to_str()?.to_owned())
        });
        let mut all: Vec<String> = named.collect();
        all.sort();
        match self.only.iter().find(|name| !all.contains(name)) {
            Some(name) => Err(format!(
                "fuzz: no target {name} (there are {})",
                all.join(", ")
            )),
            None if self.only.is_empty() => Ok(all),
            None => Ok(self.only.clone()),
        }
    }
}

/// Builds all targets; returns their directory.
fn build() -> Result<PathBuf, String> {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "build", "--quiet", "--release"])
        .args(["--manifest-path", "fuzz/Cargo.toml", "--target", &triple()])
        .args(["--target-dir", "target/fuzz"])
        .env("RUSTFLAGS", FLAGS.join(" "));
    let built = process::run(&mut command, Duration::from_secs(1800))?;
    match built.status.success() {
        true => Ok(Path::new("target/fuzz").join(triple()).join("release")),
        false => Err(format!(
            "cannot build the targets: {}",
            built.stderr.trim_end()
        )),
    }
}

/// Runs several targets at once, each on a processor; the executions of each.
fn side_by_side(built: &Path, targets: &[String], options: &Options) -> Vec<Result<u64, String>> {
    thread::scope(|scope| {
        let run = |name: &'_ String| {
            let name = name.clone();
            scope.spawn(move || fuzz(built, &name, options))
        };
        let all: Vec<_> = targets.iter().map(run).collect();
        let ended = all.into_iter().map(thread::ScopedJoinHandle::join);
        let panicked = |_| Err("fuzz: its thread panicked".into());
        ended.map(|end| end.unwrap_or_else(panicked)).collect()
    })
}

/// Runs one target; returns the number of executions.
fn fuzz(built: &Path, name: &str, options: &Options) -> Result<u64, String> {
    let (seeds, grown) = (Path::new("fuzz/corpus").join(name), grown(name));
    fs::create_dir_all(&grown).map_err(|why| format!("{}: {why}", grown.display()))?;
    let mut command = Command::new(built.join(name));
    command
        .arg(format!("-max_total_time={}", options.seconds))
        .args(["-print_final_stats=1", "-timeout=10", "-rss_limit_mb=2048"])
        .arg("-artifact_prefix=fuzz/artifacts/")
        .args([&grown, &seeds]);
    fs::create_dir_all("fuzz/artifacts").map_err(|why| format!("fuzz/artifacts: {why}"))?;
    let ended = process::run(&mut command, Duration::from_secs(options.seconds + 300))?;
    if !ended.status.success() {
        return Err(format!("{name}: {}", last_lines(&ended.stderr)));
    }
    if options.keep {
        reduce(built, name, &grown, &seeds)?;
    }
    executions(&ended.stderr).ok_or_else(|| format!("{name}: no statistics"))
}

/// Leaves in `grown` only the inputs that reach what the seeds do not.
fn reduce(built: &Path, name: &str, grown: &Path, seeds: &Path) -> Result<(), String> {
    let least = grown.with_extension("least");
    fs::create_dir_all(&least).map_err(|why| format!("{}: {why}", least.display()))?;
    let mut command = Command::new(built.join(name));
    command
        .args(["-merge=1", "-max_len=4096"])
        .args([&least, seeds, grown]);
    let ended = process::run(&mut command, Duration::from_secs(600))?;
    if !ended.status.success() {
        return Err(format!(
            "{name}: cannot reduce: {}",
            last_lines(&ended.stderr)
        ));
    }
    fs::remove_dir_all(grown)
        .and_then(|()| fs::rename(&least, grown))
        .map_err(|why| format!("{}: {why}", grown.display()))
}

/// Of this machine: AddressSanitizer is not for musl.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn grown(name: &str) -> PathBuf {
    Path::new("fuzz/grown").join(name)
}

fn inputs(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// `stat::number_of_executed_units: N`.
fn executions(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.starts_with("stat::number_of_executed_units"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

const SECONDS: u64 = 60;
/// As cargo-fuzz builds: counters and comparisons for libFuzzer, AddressSanitizer, the checks of a debug build.
const FLAGS: [&str; 10] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_unknown_is_refused() {
        let options = Options::parse(&["--build", "--seconds", "5", "frame"]).unwrap();
        assert!(options.only_build && options.seconds == 5 && options.only == ["frame"]);
        assert!(Options::parse(&["--built"]).is_err());
    }

    #[test]
    fn executions_are_read_from_the_statistics() {
        let text = "Done 12 runs\nstat::number_of_executed_units: 1234567\nstat::peak_rss_mb: 40\n";
        assert_eq!(executions(text), Some(1_234_567));
        assert_eq!(executions("Done"), None);
    }
}
