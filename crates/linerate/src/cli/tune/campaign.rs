// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune HOST`: a check, a trial of each change that its findings propose, a trial of all that is kept, and a
//! fresh check.

mod guard;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use linerate_method::campaign::{Campaign, Step};
use linerate_method::experiment::{Plan, margin};
use linerate_model::failure::Failure;
use linerate_model::order::Gather as _;
use linerate_model::output::{
    Candidate, CandidateState, ChangeState, Expectation, Output, Role, Tuning, TuningEnd,
};

use super::candidate::{Proposal, Proposals, ceiling};
use super::far::Reached;
use super::measurement::{Again, Measurement};
use super::mechanism::is_found;
use super::permission::Permission;
use super::persist::{Persisted, System};
use super::reach::server_words;
use super::rolled_back::RolledBackList;
use super::stage::{Stage, Trouble};
use super::times::Times;
use super::trial::{Asked, Gave, failure};
use super::{explore, find, hands, persist, texts, times};
use crate::cli::ab::drawn_seed;
use crate::cli::ab::inner::Inner;
use crate::cli::args::CampaignArgs;
use crate::cli::session::Session;
use crate::cli::target::Target;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(args: &CampaignArgs, options: BTreeMap<String, String>) -> Exit {
    let target = Target::server("tune", &args.server, options);
    target.measure(|session, host| {
        let mut tuning = Tuning::default();
        let ended = carried_out(args, session, host, &mut tuning);
        if args.server.lab.lab {
            texts::lab_has_ended(&mut tuning.candidates, &mut session.output.changes);
        }
        session.output.tuning = Some(tuning);
        ended
    })
}

fn carried_out(
    args: &CampaignArgs,
    session: &mut Session,
    host: &str,
    tuning: &mut Tuning,
) -> Result<(), Failure> {
    let _alone = match changes_this_machine(args) {
        true => Some(persist::alone("linerate tune", "change settings")?),
        false => None,
    };
    let system = System::below(args.root.as_deref())?;
    let server = server_words(&args.server.target, host);
    let mut reached = reached(args, session, host)?;
    let first = first_words(args, &server);
    let begun = Instant::now();
    let check = find::measured(session, &first, "check", &mut || None)?;
    let check_s = begun.elapsed().as_secs_f64();
    session.output.hosts.clone_from(&check.hosts);
    tuning.check_dir.clone_from(&check.run_dir);
    let list = rolled_back_list(args, &reached)?;
    let found = proposals(args, &mut reached, &list, &check)?;
    let measurements = measurements(args, &server, &found, &check);
    tuning.by_hand.clone_from(&found.by_hand);
    let candidates = found.all.iter().zip(&measurements).zip(1..);
    tuning.candidates = candidates.map(texts::untried).collect();
    session.console.say(&texts::found(&check, tuning));
    let times = durations(args, &measurements, check_s);
    if found.all.is_empty() {
        tuning.why = ceiling(&check);
        tuning.ended = match tuning.why {
            Some(_) => TuningEnd::Ceiling,
            None => TuningEnd::NothingToTry,
        };
        return Ok(());
    }
    let left_s = times.left_s(&Campaign::new(times.groups.clone()));
    session.console.say(&times::announced(left_s));
    if args.dry_run {
        tuning.ended = TuningEnd::DryRun;
        return Ok(());
    }
    if args.retry {
        let forgotten = list.forget(&found.all);
        forgotten.map_err(|why| Failure::measuring("forget what was rolled back", why))?;
    }
    let mut stage = Stage::new(reached.hands, found.all);
    stage.watch(&check.hosts).map_err(failure)?;
    let trials = Trials {
        args,
        session,
        stage,
        list,
        measurements,
        measured: BTreeSet::new(),
        times,
        system,
        seed: args.seed.unwrap_or_else(drawn_seed),
        tuning,
    };
    trials.carry_out(&first)
}

fn changes_this_machine(args: &CampaignArgs) -> bool {
    !args.server.lab.lab && !args.dry_run
}

fn reached<'h>(
    args: &CampaignArgs,
    session: &mut Session,
    host: &str,
) -> Result<Reached<'h>, Failure> {
    match (args.server.lab.lab, args.dry_run) {
        (true, _) => Ok(Reached::in_lab(hands::of_lab(session)?)),
        (false, true) => Reached::only_shown(),
        (false, false) => Reached::open(&args.far, session, host),
    }
}

/// What was rolled back before on these hosts. A lab's hosts are new each time.
fn rolled_back_list(args: &CampaignArgs, reached: &Reached<'_>) -> Result<RolledBackList, Failure> {
    if args.server.lab.lab {
        return Ok(RolledBackList::default());
    }
    let journal = super::journal()?;
    Ok(RolledBackList::beside(journal.path(), reached.names()))
}

/// What may be tried; the rest is left to a person.
fn proposals(
    args: &CampaignArgs,
    reached: &mut Reached<'_>,
    list: &RolledBackList,
    check: &Output,
) -> Result<Proposals, Failure> {
    let mut found = Proposals::of(check);
    if let Some(word) = &args.explore {
        explore::add(&mut found, &mut reached.hands, check, word);
    }
    let permission = Permission {
        consents: &args.consent,
        in_lab: args.server.lab.lab,
        hosts: &check.hosts,
    };
    permission.withhold(&mut found);
    reached.withhold(&mut found, &args.far);
    if !args.retry {
        let withheld = list.withhold(&mut found);
        withheld.map_err(|why| {
            let failure = Failure::measuring("read what was rolled back before", why);
            failure.hint("remove the file `rolled-back` next to the journal")
        })?;
    }
    Ok(found)
}

/// By which measurement each is judged.
fn measurements(
    args: &CampaignArgs,
    server: &[String],
    found: &Proposals,
    check: &Output,
) -> Vec<Measurement> {
    let again = Again {
        server,
        time: &args.time,
    };
    let of = |one: &Proposal| match args.measurement.as_slice() {
        [] => again.of(&one.finding, check),
        words => Measurement::given(words, server),
    };
    found.all.iter().map(of).collect()
}

/// What is known of their duration. Candidates that are judged by the same measurement are of one group.
fn durations(args: &CampaignArgs, measurements: &[Measurement], check_s: f64) -> Times {
    let first = |one: &Measurement| measurements.iter().position(|other| other == one);
    let groups: Vec<usize> = measurements.iter().filter_map(first).collect();
    let settle_s = Duration::from_millis(args.settle).as_secs_f64();
    let each_s = measurements.iter().zip(&groups).filter_map(|(one, group)| {
        let inner = Inner::of(&one.words).ok()?;
        Some((*group, inner.estimate_s? + settle_s))
    });
    Times {
        each_s: each_s.collect(),
        groups,
        noise_blocks: args.aa as usize,
        most_blocks: args.blocks as usize,
        check_s,
        ..Times::default()
    }
}

/// What shows the findings: the measurement that was given, else a check.
fn first_words(args: &CampaignArgs, server: &[String]) -> Vec<String> {
    if !args.measurement.is_empty() {
        return Measurement::given(&args.measurement, server).words;
    }
    let quick = args.quick.then(|| "--quick".to_owned());
    let check = ["check".to_owned()].into_iter();
    check.chain(server.iter().cloned()).chain(quick).collect()
}

/// The trials of a campaign, and what they gave.
struct Trials<'t, 'h> {
    args: &'t CampaignArgs,
    session: &'t mut Session,
    stage: Stage<'h>,
    list: RolledBackList,
    measurements: Vec<Measurement>,
    /// Those whose noise is known.
    measured: BTreeSet<Measurement>,
    times: Times,
    /// For which the files are that make permanent what is kept.
    system: System,
    seed: u64,
    tuning: &'t mut Tuning,
}

impl Trials<'_, '_> {
    /// The whole campaign. If it does not come to its end, all that it changed is undone.
    fn carry_out(mut self, first: &[String]) -> Result<(), Failure> {
        let ended = self.campaign().and_then(|kept| self.settle(&kept, first));
        if ended.is_err() {
            self.note_alarm();
            texts::cut_off(&mut self.tuning.candidates);
            // What cannot be undone stays in the journal, and is named below.
            let undone = self.stage.bring(&[]).map_err(failure);
            let left = self.stage.left().to_vec();
            let lost = undone.err().map(|failure| failure.why);
            let left: BTreeSet<String> = left.into_iter().chain(lost).gather();
            let left: Vec<String> = left.into_iter().collect();
            self.tuning.why = (!left.is_empty()).then(|| left.join("; "));
        }
        ended?;
        // What is kept stays so, also if it cannot be made permanent.
        self.next()
    }

    /// Tries all; the candidates that are proven, which are in force.
    fn campaign(&mut self) -> Result<Vec<usize>, Failure> {
        let mut campaign = Campaign::new(self.times.groups.clone());
        loop {
            let better = match campaign.next() {
                Step::Try { candidate, with } => self.first_trial(candidate, &with)?,
                Step::Needed { candidate, with } => self.second_trial(candidate, &with)?,
                Step::Whole { set, group } => self.whole(&set, group)?,
                Step::Done => break,
            };
            campaign.report(better);
            if campaign.next() != Step::Done {
                let left = times::left(self.times.left_s(&campaign));
                left.iter().for_each(|text| self.session.console.say(text));
            }
        }
        self.stage.bring(campaign.kept()).map_err(failure)?;
        for candidate in campaign.kept() {
            // What is in force without it may have become another value meanwhile.
            self.tuning.candidates[*candidate].undo = self.stage.undo_of(*candidate);
        }
        Ok(campaign.kept().to_vec())
    }

    fn first_trial(&mut self, candidate: usize, with: &[usize]) -> Result<bool, Failure> {
        if self.is_needless(candidate) || !self.is_possible(candidate, with)? {
            return Ok(false);
        }
        let name = texts::trial_name(&self.tuning.candidates[candidate]);
        let ended = self.trial(name, candidate, with);
        let Some(gave) = self.unless_harmful(candidate, ended)? else {
            return Ok(false);
        };
        let better = gave.is_better();
        let one = &mut self.tuning.candidates[candidate];
        one.state = match better {
            true => CandidateState::Kept,
            false => CandidateState::Reverted,
        };
        one.reason = (!better).then(|| texts::not_better(&gave));
        one.run_dir = gave.run_dir;
        one.comparison = gave.comparison;
        one.mechanism = gave.mechanism;
        self.session.console.say(&texts::tried(one));
        Ok(better)
    }

    /// Whether another change has removed the finding that proposes this one.
    fn is_needless(&mut self, candidate: usize) -> bool {
        let same = |one: &Candidate, other: &Candidate| {
            !one.because.is_empty() && one.because == other.because && one.host == other.host
        };
        let all = &self.tuning.candidates;
        let this = &all[candidate];
        let mut kept = all.iter().filter(|one| one.state == CandidateState::Kept);
        let by = kept.find(|one| same(one, this) && texts::is_removed(one));
        let reason = by.map(|one| format!("change {} removed the finding", one.number));
        let one = &mut self.tuning.candidates[candidate];
        one.reason = reason;
        one.reason.is_some()
    }

    /// Applies it once and undoes it: what the host does not take needs no trial.
    fn is_possible(&mut self, candidate: usize, with: &[usize]) -> Result<bool, Failure> {
        let tried = self.stage.bring(&joined(with, candidate));
        let one = &mut self.tuning.candidates[candidate];
        match tried {
            Ok(()) => {
                one.undo = self.stage.undo_of(candidate);
                let undone = self.stage.bring(with).map_err(failure);
                let gave = self.unless_harmful(candidate, undone.map(|()| Gave::default()))?;
                Ok(gave.is_some())
            }
            Err(Trouble::Impossible(why)) => {
                one.state = CandidateState::NotPossible;
                one.reason = Some(why);
                self.session.console.say(&texts::tried(one));
                Ok(false)
            }
            Err(lost) => Err(failure(lost)),
        }
    }

    fn second_trial(&mut self, candidate: usize, with: &[usize]) -> Result<bool, Failure> {
        let name = texts::confirmation_name(&self.tuning.candidates[candidate]);
        let ended = self.trial(name, candidate, with);
        let Some(gave) = self.unless_harmful(candidate, ended)? else {
            return Ok(false);
        };
        let better = gave.is_better();
        let one = &mut self.tuning.candidates[candidate];
        if !better {
            one.state = CandidateState::Reverted;
            one.reason = Some(texts::not_confirmed(&gave));
        }
        one.confirmation = gave.comparison;
        self.session.console.say(&texts::tried(one));
        Ok(better)
    }

    /// All that is kept against the original configuration, by the measurement of a group.
    fn whole(&mut self, set: &[usize], group: usize) -> Result<bool, Failure> {
        let measurement = self.measurements[group].clone();
        let asked = Asked {
            name: format!("whole-{}", self.tuning.whole.len() + 1),
            a: Vec::new(),
            b: set.to_vec(),
            commands: texts::all_commands(&self.tuning.candidates, set),
            measurement: &measurement,
            finding: None,
            tradeoffs: self.tradeoffs(set),
            lets_wait: self.lets_wait(set),
            plan: self.plan(0),
            settle: self.settle_time(),
            margin: self.args.margin,
        };
        let begun = Instant::now();
        let gave = asked.carry_out(&mut self.stage, self.session, self.args.server.lab.lab)?;
        self.times
            .took(group, gave.runs, begun.elapsed().as_secs_f64());
        let better = gave.is_better();
        let groups = &self.times.groups;
        let of_group = set.iter().filter(|one| groups.get(**one) == Some(&group));
        for candidate in of_group {
            let one = &mut self.tuning.candidates[*candidate];
            if !better {
                one.state = CandidateState::Reverted;
                one.reason = Some(texts::whole_not_better(&gave));
            }
            if one.confirmation.is_none() {
                one.confirmation.clone_from(&gave.comparison);
            }
        }
        self.tuning.whole.extend(gave.comparison);
        Ok(better)
    }

    fn trial(&mut self, name: String, candidate: usize, with: &[usize]) -> Result<Gave, Failure> {
        let measurement = self.measurements[candidate].clone();
        let is_new = self.measured.insert(measurement.clone());
        let plan = self.plan(if is_new { self.args.aa } else { 0 });
        let finding = self.stage.proposal(candidate).finding.clone();
        let finding = Some(&finding).filter(|finding| !finding.rule.is_empty());
        let one = &self.tuning.candidates[candidate];
        let asked = Asked {
            name,
            a: with.to_vec(),
            b: joined(with, candidate),
            commands: [one.commands.join("; "), one.undo.join("; ")],
            measurement: &measurement,
            finding,
            tradeoffs: self.tradeoffs(&[candidate]),
            lets_wait: self.lets_wait(&[candidate]),
            plan,
            settle: self.settle_time(),
            margin: self.args.margin,
        };
        let begun = Instant::now();
        let ended = asked.carry_out(&mut self.stage, self.session, self.args.server.lab.lab);
        if ended.is_err() {
            let one = &mut self.tuning.candidates[candidate];
            one.reason = Some(texts::cut_short(&asked.name));
        }
        let gave = ended?;
        let group = self.times.groups[candidate];
        self.times
            .took(group, gave.runs, begun.elapsed().as_secs_f64());
        Ok(gave)
    }

    /// What the remedies of these candidates are expected to make worse.
    fn tradeoffs(&self, set: &[usize]) -> Vec<String> {
        let proposals = set.iter().map(|one| self.stage.proposal(*one));
        let changes = proposals.filter_map(|one| one.finding.change.as_ref());
        changes.flat_map(|one| one.tradeoffs.clone()).collect()
    }

    /// Whether one of them decides how long packets may wait.
    fn lets_wait(&self, set: &[usize]) -> bool {
        let proposals = set.iter().map(|one| self.stage.proposal(*one));
        let mut settings = proposals.flat_map(|one| &one.wanted);
        settings.any(|one| QUEUES.iter().any(|start| one.knob.starts_with(start)))
    }

    /// Each trial has an order of its own.
    fn plan(&mut self, aa_blocks: u32) -> Plan {
        self.seed = self.seed.wrapping_add(1);
        Plan {
            aa_blocks: aa_blocks as usize,
            most_blocks: self.args.blocks as usize,
            margin: self.args.margin.unwrap_or(margin::RATES),
            seed: self.seed,
        }
    }

    fn settle_time(&self) -> Duration {
        Duration::from_millis(self.args.settle)
    }

    /// With what is kept in force: a fresh check, then it is left so.
    fn settle(&mut self, kept: &[usize], first: &[String]) -> Result<(), Failure> {
        self.tuning.smallest_effect = texts::smallest_effect(&self.tuning.candidates);
        if kept.is_empty() {
            self.tuning.ended = texts::nothing_kept(&self.tuning.candidates);
            return Ok(());
        }
        let fresh = find::measured(self.session, first, "fresh-check", &mut || {
            self.stage.alarm()
        })?;
        self.gone(&fresh, kept);
        self.tuning.fresh_check_dir.clone_from(&fresh.run_dir);
        self.tuning.why = ceiling(&fresh);
        let candidates = &self.tuning.candidates;
        let mut changes = texts::changes(candidates, &self.stage, kept);
        // Nothing is kept on a host that was harmed or lost meanwhile.
        self.stage.bring(kept).map_err(failure)?;
        self.stage.keep().map_err(failure)?;
        self.tuning.ended = TuningEnd::Kept;
        changes
            .iter_mut()
            .for_each(|one| one.state = ChangeState::Kept);
        self.session.output.changes = changes;
        Ok(())
    }

    /// What is permanent, and what to run next.
    fn next(&mut self) -> Result<(), Failure> {
        if self.args.server.lab.lab {
            return Ok(());
        }
        let is_kept_on = |host| {
            let mut all = self.tuning.candidates.iter();
            all.any(|one| one.state == CandidateState::Kept && one.host == host)
        };
        let output = &mut self.session.output;
        if is_kept_on(Role::Remote) {
            let there = [PERSIST, UNDO].map(|command| format!("{command}   # on the peer"));
            output.next_commands.extend(there);
        }
        if is_kept_on(Role::Local) && !self.args.persist {
            output
                .next_commands
                .extend([PERSIST, UNDO].map(str::to_owned));
        } else if is_kept_on(Role::Local) {
            output.next_commands.push(UNDO.to_owned());
            let persisted = persist::persisted(&self.system)?;
            for line in persisted.changes.iter().filter_map(texts::persisted) {
                self.session.console.say(&line);
            }
            add_permanent(output, persisted);
        }
        Ok(())
    }

    fn gone(&mut self, fresh: &Output, kept: &[usize]) {
        for candidate in kept {
            let finding = &self.stage.proposal(*candidate).finding;
            if finding.rule.is_empty() {
                continue;
            }
            let one: &mut Candidate = &mut self.tuning.candidates[*candidate];
            one.finding_gone = Some(!is_found(finding, fresh));
        }
    }
}

fn add_permanent(output: &mut Output, persisted: Persisted) {
    output.changes.extend(persisted.changes);
    output.next_commands.splice(..0, persisted.activates);
    output
        .expectations
        .extend(persisted.is_left.then(not_all_permanent));
}

/// One that was kept has no file, although `--persist` wants one for each: exit code 1.
fn not_all_permanent() -> Expectation {
    Expectation {
        expression: "--persist writes a file for each kept change".to_owned(),
        ..Expectation::default()
    }
}

fn joined(with: &[usize], candidate: usize) -> Vec<usize> {
    with.iter().copied().chain([candidate]).collect()
}

/// Settings of queues and of moderation.
const QUEUES: [&str; 4] = ["ethtool -C", "ethtool -G", "ip link txqueuelen", "tc qdisc"];
const PERSIST: &str = "linerate tune persist";
const UNDO: &str = "linerate tune restore --kept";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_change_without_its_file_is_an_expectation_that_is_not_met() {
        for is_left in [false, true] {
            let mut output = Output::default();
            let persisted = Persisted {
                changes: Vec::new(),
                is_left,
                activates: vec!["sysctl --system".to_owned()],
            };
            add_permanent(&mut output, persisted);
            let unmet = output.expectations.iter().filter(|one| !one.met).count();
            assert_eq!(unmet, usize::from(is_left));
            assert_eq!(output.next_commands, ["sysctl --system"]);
        }
    }
}
