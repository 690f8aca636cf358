// SPDX-License-Identifier: MIT OR Apache-2.0
//! perf-stat(1), attached to a process.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether perf counts the task clock here.
///
/// # Errors
/// What it says.
pub(crate) fn have_perf() -> Result<(), String> {
    let output = Command::new("perf")
        .args(["stat", "-e", "task-clock", "-x", ",", "true"])
        .output();
    let output = output.map_err(|error| format!("no perf in PATH: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match milliseconds(&said) {
        Some(_) => Ok(()),
        None => Err(said),
    }
}

/// A perf that counts.
pub(crate) struct Attached {
    perf: Child,
    report: PathBuf,
}

impl Attached {
    /// Begins to count the threads of a process, also those that it starts.
    pub(crate) fn to(process: u32) -> Self {
        let name = format!("task-clock-{process}.csv");
        let report = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let perf = Command::new("perf")
            .args(["stat", "-e", "task-clock", "-x", ",", "-o"])
            .arg(&report)
            .args(["-p", &process.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let attached = Self { perf, report };
        attached.wait(process);
        attached
    }

    /// Waits until it has an event for each thread: what a thread starts before it has one is not counted.
    fn wait(&self, process: u32) {
        let deadline = Instant::now() + Duration::from_secs(40);
        let directory = format!("/proc/{}/fd", self.perf.id());
        let is_event = |path: &PathBuf| {
            let target = std::fs::read_link(path);
            target.is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
        };
        let entries = |directory: &str| {
            let all = std::fs::read_dir(directory).into_iter().flatten();
            all.flatten().map(|one| one.path())
        };
        let threads = format!("/proc/{process}/task");
        let events = || entries(&directory).filter(|path| is_event(path)).count();
        while events() < entries(&threads).count() {
            assert!(Instant::now() < deadline, "perf does not attach");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it: CPU time of the process, in seconds.
    pub(crate) fn task_clock_s(mut self) -> f64 {
        let id = self.perf.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        self.perf.wait().unwrap();
        let text = std::fs::read_to_string(&self.report).unwrap();
        milliseconds(&text).unwrap_or_else(|| panic!("{text}")) / 1e3
    }
}

/// `3012.45,msec,task-clock,…`.
fn milliseconds(report: &str) -> Option<f64> {
    let line = report.lines().find(|line| line.contains("task-clock"))?;
    line.split(',').next()?.parse().ok()
}
