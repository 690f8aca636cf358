// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether both hosts stayed as each configuration left them. A setting that changed during a run, or between two runs of
//! the same configuration, makes the block invalid: its runs were of different hosts. What a configuration itself sets is
//! compared only with itself. Clocks and temperatures are measurements: they are reported, and decide nothing.

use std::collections::BTreeMap;
use std::path::Path;

use linerate_diagnose::moved::{owner, running};
use linerate_model::credible::MOVED_MOST;
use linerate_model::output::{Moved, MovedKind};
use linerate_model::run::Run;
use linerate_model::setting::Setting;
use linerate_model::state;

use super::inner::Ran;
use crate::store;

/// The settings with which the runs of each configuration begin.
#[derive(Debug, Default)]
pub(in crate::cli) struct Steady {
    first: BTreeMap<usize, Vec<Setting>>,
    /// How many changes were returned.
    returned: usize,
}

impl Steady {
    /// Compares a run of configuration `arm`, a number, with itself and, as far as it is `stored`, with the first of that configuration;
    /// returns what changed. The run is not usable if it was a setting, and those that follow are compared among themselves:
    /// a change that stays must not end the comparison.
    pub(in crate::cli) fn judge(
        &mut self,
        arm: usize,
        ran: &mut Ran,
        stored: Option<&Path>,
    ) -> Vec<Moved> {
        let run = stored.and_then(|directory| store::read(directory).ok());
        let between = run
            .map(|(run, _)| self.between(arm, run))
            .unwrap_or_default();
        let within = std::mem::take(&mut ran.output.moved);
        let reason = reason(&within, DURING).or_else(|| reason(&between, BETWEEN));
        if reason.is_some() {
            self.first.clear();
        }
        ran.unusable = ran.unusable.take().or(reason);
        let room = MOVED_MOST.saturating_sub(self.returned);
        let moved: Vec<Moved> = within.into_iter().chain(between).take(room).collect();
        self.returned += moved.len();
        moved
    }

    /// What differs at the begin of a run from the first of the same configuration.
    fn between(&mut self, arm: usize, run: Run) -> Vec<Moved> {
        let first = self.first.get(&arm);
        let moved = first.map(|first| state::difference(first, &run.settings));
        let mut moved = moved.unwrap_or_default();
        moved.retain(|one| one.kind == MovedKind::Setting);
        for one in &mut moved {
            one.owner = owner(one, &running(&run, one.host));
        }
        self.first.entry(arm).or_insert(run.settings);
        moved
    }
}

/// The first setting, and how many more there are.
fn reason(moved: &[Moved], when: &str) -> Option<String> {
    let mut settings = moved.iter().filter(|one| one.kind == MovedKind::Setting);
    let first = settings.next()?.sentence();
    let more = match settings.count() {
        0 => String::new(),
        count => format!("; and {count} more changed"),
    };
    Some(format!("{when} {first}{more}"))
}

const DURING: &str = "during the run";
const BETWEEN: &str = "between two runs of the same configuration";

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Output;

    fn run(rmem: &str, gro: &str) -> Run {
        let setting = |source: &str, name: &str, value: &str| Setting {
            source: source.to_owned(),
            values: [(name.to_owned(), value.to_owned())].into(),
            ..Setting::default()
        };
        Run {
            settings: vec![
                setting("sysctl", "net.ipv4.tcp_rmem", rmem),
                setting("ethtool -k", "rx-gro", gro),
                setting("ps -eo comm", "tuned", "sysctls"),
            ],
            ..Run::default()
        }
    }

    fn ran(moved: Vec<Moved>) -> Ran {
        Ran {
            figures: Vec::new(),
            output: Output {
                moved,
                ..Output::default()
            },
            unusable: None,
        }
    }

    fn moved(kind: MovedKind) -> Moved {
        Moved {
            source: "sysctl".to_owned(),
            name: "net.ipv4.tcp_rmem".to_owned(),
            before: "1".to_owned(),
            after: "2".to_owned(),
            kind,
            ..Moved::default()
        }
    }

    #[test]
    fn a_setting_that_changes_during_a_run_makes_it_unusable_and_a_clock_does_not() {
        let mut steady = Steady::default();
        let mut run = ran(vec![moved(MovedKind::Setting), moved(MovedKind::Setting)]);
        assert_eq!(steady.judge(0, &mut run, None).len(), 2);
        let reason = run.unusable.unwrap();
        assert!(reason.starts_with("during the run net.ipv4.tcp_rmem changed from 1 to 2"));
        assert!(reason.ends_with("and 1 more changed"), "{reason}");
        let mut hot = ran(vec![moved(MovedKind::Clock), moved(MovedKind::Temperature)]);
        assert_eq!(steady.judge(0, &mut hot, None).len(), 2);
        assert_eq!(hot.unusable, None);
        let mut failed = ran(vec![moved(MovedKind::Setting)]);
        failed.unusable = Some("it ended early".to_owned());
        steady.judge(0, &mut failed, None);
        assert_eq!(failed.unusable.as_deref(), Some("it ended early"));
    }

    #[test]
    fn what_a_configuration_sets_is_no_change_and_what_changes_under_it_is() {
        let mut steady = Steady::default();
        assert_eq!(steady.between(0, run("4096", "on")), []);
        assert_eq!(steady.between(1, run("4096", "off")), [], "what B sets");
        assert_eq!(steady.between(0, run("4096", "on")), []);
        let moved = steady.between(0, run("8192", "on"));
        assert_eq!(moved[0].title(), "net.ipv4.tcp_rmem");
        assert_eq!(moved[0].owner.as_deref(), Some("tuned"));
        assert_eq!(moved.len(), 1);
    }

    #[test]
    fn a_change_that_stays_does_not_end_the_comparison() {
        let mut steady = Steady::default();
        steady.between(0, run("4096", "on"));
        let mut changed = ran(vec![moved(MovedKind::Setting)]);
        steady.judge(0, &mut changed, None);
        assert_eq!(
            steady.between(0, run("8192", "on")),
            [],
            "the first one again"
        );
        assert_eq!(steady.between(0, run("8192", "on")), []);
    }
}
