// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measurement of a device under way, in up to three lines: the benchmark and the time left, the trial that runs, the
//! last one that ended.

use std::time::Instant;

use linerate_forward::Event;
use linerate_report::live::duration;

use crate::cli::progress;

/// What is known of it.
#[derive(Debug)]
pub(super) struct Status {
    begun: Instant,
    title: String,
    /// Estimated, and when.
    left: Option<(f64, Instant)>,
    now: String,
    last: Option<String>,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            title: String::new(),
            left: None,
            now: String::new(),
            last: None,
        }
    }
}

impl Status {
    /// Takes in an event.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Benchmarking(title, left_s) => {
                self.title.clone_from(title);
                self.left = Some((*left_s, Instant::now()));
            }
            Event::Status(text) => self.now.clone_from(text),
            Event::Left(left_s) => self.left = Some((*left_s, Instant::now())),
            Event::Trial(trial) => self.last = Some(progress::trial(trial)),
            _ => {}
        }
    }

    /// The lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let elapsed = duration(self.begun.elapsed().as_secs_f64());
        let left = self.left.map_or_else(String::new, |(left_s, at)| {
            let left_s = left_s - at.elapsed().as_secs_f64();
            format!(", about {} left", duration(left_s.max(0.0)))
        });
        let mut lines = vec![format!("{elapsed}{left}  {}", self.title)];
        lines.extend((!self.now.is_empty()).then(|| format!("now  {}", self.now)));
        lines.extend(self.last.as_ref().map(|last| format!("last {last}")));
        lines
    }
}
