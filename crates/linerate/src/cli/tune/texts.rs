// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a campaign says while it runs, and what its document has of each candidate.

use linerate_change::{Key, command};
use linerate_model::output::{
    Candidate, CandidateState, ChangeState, Comparison, Judgement, Output, Role, SettingChange,
    Tuning, TuningEnd,
};
use linerate_report::sentence;

use super::candidate::Proposal;
use super::measurement::Measurement;
use super::stage::{Applied, Stage};
use super::trial::Gave;

/// A proposal before its trial.
pub(super) fn untried(
    ((proposal, measurement), number): ((&Proposal, &Measurement), u32),
) -> Candidate {
    Candidate {
        number,
        host: proposal.host,
        because: proposal.finding.rule.clone(),
        title: proposal.finding.title.clone(),
        commands: vec![proposal.line.clone()],
        risk: proposal.risk.clone(),
        measurement: measurement.words.clone(),
        ..Candidate::default()
    }
}

/// What was better so far, in a campaign that does not come to its end.
pub(super) fn cut_off(candidates: &mut [Candidate]) {
    let better = candidates
        .iter_mut()
        .filter(|one| one.state == CandidateState::Kept);
    for one in better {
        one.state = CandidateState::Reverted;
        one.reason =
            Some("it was better, and the campaign ended before that was confirmed".to_owned());
    }
}

/// A file that makes a setting permanent, or why there is none.
pub(super) fn persisted(one: &SettingChange) -> Option<String> {
    let written = one
        .persisted_file
        .as_ref()
        .map(|file| format!("written: {file}"));
    let refused = one
        .reason
        .as_ref()
        .map(|why| format!("{}: {why}", one.knob));
    refused.or(written)
}

/// A trial that did not come to its end.
pub(super) fn cut_short(name: &str) -> String {
    format!("its trial was not completed; its runs are in trials/{name} of the record")
}

/// After the check.
pub(super) fn found(check: &Output, tuning: &Tuning) -> String {
    let findings = check.findings.iter().filter(|one| !one.informational);
    let (findings, tried) = (findings.count(), tuning.candidates.len());
    let number = |count: usize, word: &str| match count {
        0 => format!("no {word}"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    };
    let findings = number(findings, "finding");
    format!("{findings}; {} to try", number(tried, "change"))
}

/// The directory of the first trial of a candidate.
pub(super) fn trial_name(one: &Candidate) -> String {
    format!("trial-{}", one.number)
}

/// The directory of the trial that confirms it.
pub(super) fn confirmation_name(one: &Candidate) -> String {
    format!("confirmation-{}", one.number)
}

/// What became of a candidate.
pub(super) fn tried(one: &Candidate) -> String {
    let what = one.commands.join("; ");
    let host = on(one.host);
    let said = match one.state {
        CandidateState::NotTried => "not tried",
        CandidateState::NotPossible => "not possible",
        CandidateState::Reverted => "undone",
        CandidateState::RolledBack => "rolled back at once",
        CandidateState::Kept => "better, kept for now",
    };
    let why = one.reason.as_ref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("{}. `{what}`{host}: {said}{why}", one.number)
}

fn on(host: Role) -> &'static str {
    match host {
        Role::Local => "",
        Role::Remote | Role::Device => " on the peer",
    }
}

/// Why a trial does not count for a change.
pub(super) fn not_better(gave: &Gave) -> String {
    let Some(one) = &gave.comparison else {
        return "its trial gave no result".to_owned();
    };
    match gave.harm() {
        Some(guard) if one.verdict == Judgement::Better => {
            let name = format!("{} {}", guard.metric, guard.name);
            format!("{}; but {} became worse", said(one), name.trim_end())
        }
        _ => said(one),
    }
}

/// Why a change that was better is not kept.
pub(super) fn not_confirmed(gave: &Gave) -> String {
    format!("a second trial did not confirm it: {}", not_better(gave))
}

fn said(one: &Comparison) -> String {
    match one.sentence.as_str() {
        "" => sentence(one),
        said => said.to_owned(),
    }
}

/// What makes a set and what undoes it.
pub(super) fn all_commands(candidates: &[Candidate], set: &[usize]) -> [String; 2] {
    let of = |commands: fn(&Candidate) -> &Vec<String>, order: &mut dyn Iterator<Item = &usize>| {
        let lines = order.flat_map(|one| commands(&candidates[*one]).iter().cloned());
        lines.collect::<Vec<_>>().join("; ")
    };
    [
        of(|one| &one.commands, &mut set.iter()),
        of(|one| &one.undo, &mut set.iter().rev()),
    ]
}

/// Whether the runs with a change no longer have its finding.
pub(super) fn is_removed(one: &Candidate) -> bool {
    one.mechanism
        .as_ref()
        .is_some_and(|seen| seen.found_before > 0 && seen.runs_after > 0 && seen.found_after == 0)
}

/// How a campaign ended that kept nothing.
pub(super) fn nothing_kept(candidates: &[Candidate]) -> TuningEnd {
    let was_tried = |one: &&Candidate| {
        matches!(
            one.state,
            CandidateState::Reverted | CandidateState::RolledBack
        )
    };
    let tried: Vec<&Candidate> = candidates.iter().filter(was_tried).collect();
    // What harms a host is not better.
    let is_open = |one: &&Candidate| {
        let trials = [&one.comparison, &one.confirmation];
        let verdict = trials.into_iter().flatten().last().map(|one| one.verdict);
        one.state == CandidateState::Reverted
            && matches!(verdict, None | Some(Judgement::Inconclusive))
    };
    match tried.iter().any(is_open) {
        _ if tried.is_empty() => TuningEnd::NothingToTry,
        true => TuningEnd::Inconclusive,
        false => TuningEnd::NothingBetter,
    }
}

/// The largest of the effects that trials without a result could have missed.
pub(super) fn smallest_effect(candidates: &[Candidate]) -> Option<f64> {
    let undone = candidates
        .iter()
        .filter(|one| one.state == CandidateState::Reverted);
    let missed = undone.filter_map(|one| one.comparison.as_ref()?.mde);
    missed.max_by(f64::total_cmp)
}

/// The settings that are kept, one by one.
pub(super) fn changes(
    candidates: &[Candidate],
    stage: &Stage<'_>,
    kept: &[usize],
) -> Vec<SettingChange> {
    let of = |candidate: &usize| {
        let settings = stage.settings(*candidate).unwrap_or_default();
        let one = &candidates[*candidate];
        settings.iter().map(|applied| change(applied, one))
    };
    kept.iter().flat_map(of).collect()
}

fn change(applied: &Applied, of: &Candidate) -> SettingChange {
    SettingChange {
        host: applied.host,
        id: applied.number,
        knob: applied.key.knob.clone(),
        interface: interface(&applied.key),
        before: Some(applied.before.clone()),
        after: applied.after.clone(),
        effective: Some(applied.effective.clone()),
        because: of.because.clone(),
        pid: std::process::id(),
        state: ChangeState::Open,
        commands: vec![command(&applied.key, &applied.after)],
        undo: vec![applied.undo()],
        kept: true,
        comparison: of.comparison.clone(),
        ..SettingChange::default()
    }
}

/// On this host, the commands that would have undone the settings of a lab would set its own.
pub(super) fn lab_has_ended(candidates: &mut [Candidate], changes: &mut [SettingChange]) {
    let of_candidates = candidates.iter_mut().map(|one| &mut one.undo);
    let of_changes = changes.iter_mut().map(|one| &mut one.undo);
    for undo in of_candidates.chain(of_changes) {
        if !undo.is_empty() {
            *undo = vec![LAB_HAS_ENDED.to_owned()];
        }
    }
}

const LAB_HAS_ENDED: &str = "# nothing: the setting ended with the lab";

pub(super) fn interface(key: &Key) -> Option<String> {
    key.place.device().map(|device| device.name.clone())
}

/// Why all of a group is undone.
pub(super) fn whole_not_better(gave: &Gave) -> String {
    format!(
        "all that was better is not proven better together than the original configuration: {}",
        not_better(gave)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_effect_is_that_of_the_noisiest_trial_that_showed_nothing() {
        let one = |state, mde| Candidate {
            state,
            comparison: Some(Comparison {
                mde,
                ..Comparison::default()
            }),
            ..Candidate::default()
        };
        let all = [
            one(CandidateState::Reverted, Some(0.03)),
            one(CandidateState::Reverted, Some(0.08)),
            one(CandidateState::Kept, Some(0.2)),
            one(CandidateState::NotPossible, None),
        ];
        assert_eq!(smallest_effect(&all), Some(0.08));
        assert_eq!(smallest_effect(&all[2..]), None);
    }

    #[test]
    fn what_is_open_is_not_called_useless() {
        let undone = |verdict| Candidate {
            state: CandidateState::Reverted,
            comparison: Some(Comparison {
                verdict,
                ..Comparison::default()
            }),
            ..Candidate::default()
        };
        let equal = undone(Judgement::Equivalent);
        let open = undone(Judgement::Inconclusive);
        let harmful = Candidate {
            state: CandidateState::RolledBack,
            ..Candidate::default()
        };
        for (all, end) in [
            (vec![equal.clone()], TuningEnd::NothingBetter),
            (vec![equal, open], TuningEnd::Inconclusive),
            (vec![Candidate::default()], TuningEnd::NothingToTry),
            (vec![harmful], TuningEnd::NothingBetter),
        ] {
            assert_eq!(nothing_kept(&all), end);
        }
    }

    #[test]
    fn what_is_undone_last_was_made_first() {
        let one = |name: &str| Candidate {
            commands: vec![format!("{name} on")],
            undo: vec![format!("{name} off")],
            ..Candidate::default()
        };
        let all = [one("a"), one("b"), one("c")];
        let [make, undo] = all_commands(&all, &[0, 2]);
        assert_eq!(
            (make.as_str(), undo.as_str()),
            ("a on; c on", "c off; a off")
        );
    }
}
