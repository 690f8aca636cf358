// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate ab`: two configurations in blocks of random order, until something is proven.

pub(super) mod child;
pub(super) mod inner;
mod messages;
pub(super) mod pace;
pub(super) mod question;
pub(super) mod steady;
pub(super) mod switch;
pub(super) mod trial;
pub(super) mod verdict;

use std::collections::BTreeMap;
use std::time::Duration;

use linerate_linux::random;
use linerate_method::experiment::{Plan, margin};

use super::args::AbArgs;
use super::session::{self, Session};
use super::target::Target;
use crate::exit::Exit;
use inner::Inner;
use linerate_model::failure::Failure;
use question::Question;
use switch::Switch;
use trial::Trial;

/// Runs the command.
pub(super) fn run(args: &AbArgs, mut options: BTreeMap<String, String>) -> Exit {
    if args.lab {
        return in_lab(args, options);
    }
    let ready = Inner::of(&args.measurement).and_then(|inner| Ok((inner, session::interrupt()?)));
    let (inner, interrupt) = match ready {
        Ok(ready) => ready,
        Err(failure) => return session::refuse("ab", args.document.json, &failure),
    };
    let flags = args.flags();
    let (option, peer) = &inner.peer;
    options.insert((*option).to_owned(), peer.clone());
    let host = Some(peer.as_str()).filter(|peer| !peer.is_empty());
    let target = Target::named("ab", host, &flags, options);
    let mut session = Session::begin(&target, interrupt, None);
    let ended = compared(args, &inner, &mut session);
    session.finish(ended)
}

/// The whole comparison in the first host of a lab.
fn in_lab(args: &AbArgs, options: BTreeMap<String, String>) -> Exit {
    // What is wrong with the measurement is said before anything is built.
    if let Err(failure) = Inner::of(&towards(&args.measurement, "lab")) {
        return session::refuse("ab", args.document.json, &failure);
    }
    let flags = args.flags();
    let target = Target::in_lab_of("ab", &args.shape, &flags, options);
    target.measure(|session, peer| {
        let words = towards(&args.measurement, peer);
        compared(args, &Inner::of(&words)?, session)
    })
}

/// The measurement with its HOST.
pub(super) fn towards(measurement: &[String], peer: &str) -> Vec<String> {
    let mut words: Vec<String> = measurement
        .iter()
        .map(|word| word.replace(PEER, peer))
        .collect();
    if !measurement.iter().any(|word| word.contains(PEER)) {
        words.insert(words.len().min(1), peer.to_owned());
    }
    words
}

/// Stands for the second host of a lab, as in `linerate lab`.
const PEER: &str = "{peer}";

fn compared(args: &AbArgs, inner: &Inner<'_>, session: &mut Session) -> Result<(), Failure> {
    let plan = Plan {
        aa_blocks: args.aa as usize,
        most_blocks: args.blocks as usize,
        margin: args.margin.unwrap_or(margin::RATES),
        seed: args.seed.unwrap_or_else(drawn_seed),
    };
    let question = question(args);
    let switch = Switch::of(args, session.lab_owner);
    let mut trial = Trial::begin(&question, inner, switch, plan, session);
    let ended = trial.carry_out(session);
    let restored = trial.restore(session);
    trial.conclude(session, &ended);
    if let (Err(_), Err(also)) = (&ended, &restored) {
        session.console.alert(&also.to_string());
    }
    ended.and(restored)
}

fn question(args: &AbArgs) -> Question<'_> {
    Question {
        name: "ab".to_owned(),
        a: args.a.clone(),
        b: args.b.clone(),
        restore: args.restore.as_ref().unwrap_or(&args.a).clone(),
        measurement: &args.measurement,
        settle: Duration::from_millis(args.settle),
        metric: args.metric.clone(),
        margin: args.margin,
        fail_if: args.fail_if,
    }
}

/// 32 bits, that a person can type again.
pub(super) fn drawn_seed() -> u64 {
    let mut bytes = [0; 4];
    // Without the kernel's chance the order is that of the seed 1, and still printed.
    random::fill(&mut bytes).map_or(1, |()| u32::from_ne_bytes(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::towards;

    #[test]
    fn a_measurement_in_the_lab_has_its_host() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, wanted) in [
            ("tcp -t 2", "tcp 198.18.0.2 -t 2"),
            ("udp -b 5M {peer}", "udp -b 5M 198.18.0.2"),
        ] {
            assert_eq!(towards(&words(line), "198.18.0.2"), words(wanted));
        }
    }
}
