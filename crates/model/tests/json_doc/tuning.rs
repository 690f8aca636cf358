// SPDX-License-Identifier: MIT OR Apache-2.0
//! A campaign with nothing empty.

use linerate_model::output::*;

pub(super) fn tuning(comparison: &Comparison) -> Tuning {
    Tuning {
        why: Some(String::new()),
        candidates: vec![Candidate {
            commands: vec![String::new()],
            undo: vec![String::new()],
            measurement: vec![String::new()],
            reason: Some(String::new()),
            comparison: Some(comparison.clone()),
            confirmation: Some(comparison.clone()),
            mechanism: Some(Mechanism {
                facts: vec![MovedFact {
                    before: Some(1.0),
                    after: Some(1.0),
                    ..MovedFact::default()
                }],
                ..Mechanism::default()
            }),
            finding_gone: Some(true),
            run_dir: Some(String::new()),
            ..Candidate::default()
        }],
        by_hand: vec![ByHand {
            commands: vec![String::new()],
            ..ByHand::default()
        }],
        whole: vec![comparison.clone()],
        smallest_effect: Some(0.1),
        check_dir: Some(String::new()),
        fresh_check_dir: Some(String::new()),
        ..Tuning::default()
    }
}
