// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reset, RFC 6201: frames at the throughput, and for how long none of them arrives.

use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linerate_method::reset::{self, by_loss_s};
use linerate_model::failure::Failure;
use linerate_model::output::{self, ResetAttempt, TrialDirection};

use super::NO_THROUGHPUT;
use crate::event::Event;
use crate::subject::Subject;
use crate::trial::{TrialRequest, TrialRun};
use crate::trials::Trials;
use crate::watch::{Watch, Watched};

pub(super) fn measure(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
) -> Result<output::Reset, Failure> {
    let plan = trials.tester.plan;
    let mut result = output::Reset {
        subject: subject.record(),
        load_fps: subject.throughput_fps,
        command: plan.reset_command.clone(),
        watched_s: plan.profile.reset_s,
        ..output::Reset::default()
    };
    let Some(load_fps) = subject.throughput_fps else {
        result.not_measured = Some(NO_THROUGHPUT.to_owned());
        return Ok(result);
    };
    let mut seen = Vec::new();
    for _ in 0..plan.profile.repeats {
        let run = once(subject, trials, load_fps)?;
        let (reset, missing) = judged(&run);
        let by_loss_s = by_loss_s(missing, load_fps);
        result
            .attempts
            .push(attempt(run.trial.id, reset, by_loss_s));
        seen.push(reset);
    }
    result.mean_s = mean_s(&seen);
    result.not_measured = why_not(&seen).map(str::to_owned);
    Ok(result)
}

fn once(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
    load_fps: f64,
) -> Result<TrialRun, Failure> {
    let plan = trials.tester.plan;
    let watched_s = plan.profile.reset_s;
    let operator = match &plan.reset_command {
        Some(command) => Some(later(command, plan.profile.waits.learning_s + LEAD_S)?),
        None => {
            trials.report(Event::Note(format!(
                "reset the device NOW; observing for {watched_s} s"
            )));
            None
        }
    };
    let request = TrialRequest {
        purpose: "reset",
        load_fps: Some(load_fps),
        duration_s: watched_s,
        watch: Watch::Silence,
        ..TrialRequest::of(subject.sizes, subject.way)
    };
    let run = trials.run(&request, |_| {});
    if let Some(operator) = operator {
        let ended = operator.join().unwrap_or(Ok(()));
        ended.map_err(|why| Failure::measuring("reset the device", why))?;
    }
    run
}

/// Runs the command after a delay, in the network namespace of the caller.
fn later(command: &str, after_s: f64) -> Result<JoinHandle<Result<(), String>>, Failure> {
    let command = command.to_owned();
    let work = move || {
        thread::sleep(Duration::from_secs_f64(after_s));
        let ended = spawn(&command).and_then(|mut child| child.wait());
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("'{command}' ended with {status}")),
            Err(why) => Err(format!("'{command}': {why}")),
        }
    };
    let thread = thread::Builder::new().name("reset".to_owned()).spawn(work);
    thread.map_err(|why| Failure::measuring("start a thread", why))
}

/// What it prints goes to stderr: stdout is for results.
fn spawn(command: &str) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .spawn()
}

/// The reset of the direction that takes longest, and the number of frames that did not arrive there.
fn judged(run: &TrialRun) -> (reset::Reset, u64) {
    let ways = run.trial.directions.iter().zip(&run.arrivals);
    let worst = ways.max_by_key(|(way, _)| way.bad_frames());
    let Some((way, arrivals)) = worst else {
        return (reset::Reset::None, 0);
    };
    let missing = TrialDirection::bad_frames(way);
    let Watched::Silence(watch) = &arrivals.watched else {
        return (reset::Reset::None, missing);
    };
    let reset = reset::Reset::of(watch, arrivals.sent_until_ns, missing);
    (reset, missing)
}

fn attempt(trial: u32, reset: reset::Reset, by_loss_s: Option<f64>) -> ResetAttempt {
    let (state, by_timestamps_s) = match reset {
        reset::Reset::After { seconds } => ("came-back", Some(seconds)),
        reset::Reset::NotBack => ("not-back", None),
        reset::Reset::None => ("no-reset", None),
    };
    ResetAttempt {
        trial,
        state: state.to_owned(),
        by_timestamps_s,
        by_loss_s: by_loss_s.filter(|_| by_timestamps_s.is_some()),
    }
}

fn mean_s(seen: &[reset::Reset]) -> Option<f64> {
    let seconds = seen.iter().map(|one| match one {
        reset::Reset::After { seconds } => Some(*seconds),
        reset::Reset::NotBack | reset::Reset::None => None,
    });
    let seconds: Vec<f64> = seconds.collect::<Option<_>>()?;
    (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
}

fn why_not(seen: &[reset::Reset]) -> Option<&'static str> {
    let mut seen = seen.iter();
    seen.find_map(|one| match one {
        reset::Reset::After { .. } => None,
        reset::Reset::NotBack => Some("the device did not recover within the observation time"),
        reset::Reset::None => Some("nothing was lost: the device was not reset"),
    })
}

/// The delay after the first frame, seconds.
const LEAD_S: f64 = 1.0;
