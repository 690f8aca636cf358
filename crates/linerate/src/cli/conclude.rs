// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a document concludes, put into it: ledger, findings, what cannot be told. The same for a run
//! that just ended and for a stored one.

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules::Rule;
use linerate_model::output::Output;
use linerate_model::record::Record;

/// Explains `record` in `output`; with every fact, if asked.
pub(super) fn conclude(output: &mut Output, record: &Record, rules: &[Rule], facts: bool) {
    let explanation = explain(record, rules);
    output.explained = true;
    output.ledger.extend(explanation.ledger);
    output.findings.extend(explanation.findings);
    for untold in explanation.cannot_tell {
        if !output.cannot_tell.contains(&untold) {
            output.cannot_tell.push(untold);
        }
    }
    if facts {
        output.facts.extend(explanation.facts);
    }
    for command in explanation.next_commands {
        if !output.next_commands.contains(&command) {
            output.next_commands.push(command);
        }
    }
}
