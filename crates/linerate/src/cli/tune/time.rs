// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a campaign takes, before its first trial.

use std::collections::BTreeSet;

use linerate_method::experiment::FEWEST_BLOCKS;
use linerate_report::live::duration;

use super::measurement::Measurement;
use crate::cli::ab::inner::Inner;
use crate::cli::args::CampaignArgs;

/// Of the first trials; nothing where there is none, or the length of a run is not known.
pub(super) fn announcement(args: &CampaignArgs, measurements: &[Measurement]) -> Option<String> {
    let known = measurements.iter().map(|one| run_s(args, one));
    let runs_s: Vec<f64> = known.collect::<Option<_>>()?;
    let of_blocks = |blocks: usize| 4.0 * blocks as f64 * runs_s.iter().sum::<f64>();
    let distinct: BTreeSet<&Measurement> = measurements.iter().collect();
    let noise_s: f64 = distinct.iter().filter_map(|one| run_s(args, one)).sum();
    let noise_s = 4.0 * f64::from(args.aa) * noise_s;
    let [least, most] =
        [FEWEST_BLOCKS, args.blocks as usize].map(|blocks| duration(noise_s + of_blocks(blocks)));
    let time = match least == most {
        true => format!("about {most}"),
        false => format!("{least} to {most}"),
    };
    let more = "each change that is better needs one or two more";
    (!measurements.is_empty()).then(|| format!("the first trials take {time}; {more}"))
}

/// Seconds, with what precedes each run.
fn run_s(args: &CampaignArgs, measurement: &Measurement) -> Option<f64> {
    let measured_s = Inner::of(&measurement.words).ok()?.estimate_s?;
    Some(measured_s + args.settle as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    fn said(flags: &str, lines: &[&str]) -> Option<String> {
        let line = format!("linerate tune h {flags}");
        let Command::Tune(args) = Cli::try_parse_from(line.split_whitespace())
            .unwrap()
            .command
        else {
            panic!("tune")
        };
        let of = |line: &&str| Measurement {
            words: line.split(' ').map(str::to_owned).collect(),
            metric: None,
        };
        let all: Vec<_> = lines.iter().map(of).collect();
        announcement(&args.campaign, &all)
    }

    #[test]
    fn the_time_of_the_first_trials_is_known_before_them() {
        let seconds = |text: &str| said("--settle 0 --aa 0 --blocks 6", &[text; 2]);
        let two = seconds("tcp h -t 1").unwrap();
        assert!(two.starts_with("the first trials take about "), "{two}");
        assert_ne!(two, seconds("tcp h -t 2").unwrap());
        let more = said("--settle 0 --aa 6 --blocks 12", &["tcp h -t 1"]).unwrap();
        assert!(more.contains(" to "), "{more}");
        assert_eq!(said("", &[]), None);
    }
}
