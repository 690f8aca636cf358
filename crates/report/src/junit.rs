// SPDX-License-Identifier: MIT OR Apache-2.0
//! JUnit XML for a CI server (schema: `junit.xsd`): expectations, tests and comparisons are cases. A case fails if the
//! command itself fails for it: an expectation that is not met, or invalid numbers.

use linerate_model::output::{
    Cell, CellState, Comparison, Expectation, Judgement, NicCheck, NicState, Output, Test,
};

use crate::subject::Subject;
use crate::view::figures;
use crate::view::matrix::cell_name;
use crate::view::{name, relevant, way};
use crate::xml::escaped;

/// A test case.
struct Case {
    class: String,
    name: String,
    time_s: f64,
    outcome: Outcome,
    said: String,
}

enum Outcome {
    Broken(String),
    Failed(String),
    Passed,
    Skipped(String),
}

/// The document: one suite per run.
#[must_use]
pub fn render(subjects: &[Subject]) -> String {
    let suites: String = subjects.iter().map(suite).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"linerate\">\n{suites}</testsuites>\n"
    )
}

fn suite(subject: &Subject) -> String {
    let output = &subject.output;
    let cases = cases(output);
    let count = |of: fn(&Outcome) -> bool| cases.iter().filter(|case| of(&case.outcome)).count();
    let host = output
        .hosts
        .first()
        .and_then(|host| host.hostname.as_deref())
        .unwrap_or("unknown");
    let label = if subject.label.is_empty() {
        &output.kind
    } else {
        &subject.label
    };
    let mut text = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\" timestamp=\"{}\" hostname=\"{}\">\n",
        escaped(label),
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Broken(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        output.duration_s,
        escaped(&output.started),
        escaped(host),
    );
    text.push_str(&properties(output));
    cases
        .iter()
        .for_each(|case| text.push_str(&case_text(case)));
    text.push_str(&format!(
        "    <system-out>{}</system-out>\n  </testsuite>\n",
        escaped(&findings(output))
    ));
    text
}

/// Key figures in base units, by name, test and direction.
fn properties(output: &Output) -> String {
    let mut text = String::from("    <properties>\n");
    let mut push = |name: &str, value: &str| {
        text.push_str(&format!(
            "      <property name=\"{}\" value=\"{}\"/>\n",
            escaped(name),
            escaped(value)
        ));
    };
    push("linerate.version", &output.tool.version);
    push("command", &output.command.join(" "));
    for figure in figures::of(output) {
        let Some(value) = figure.value else { continue };
        let parts = [figure.metric, &figure.of, &figure.direction];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        push(&parts.join(" "), &value.to_string());
    }
    for cell in &output.cells {
        let Some(matrix) = &output.matrix else { break };
        for figure in cell.figures.iter().filter(|figure| figure.n > 0) {
            let name = format!("{} {}", figure.name, cell_name(matrix, cell));
            push(&name, &figure.median.to_string());
        }
    }
    text + "    </properties>\n"
}

fn cases(output: &Output) -> Vec<Case> {
    let mut cases = vec![whole(output)];
    let tests = relevant(output).into_iter();
    cases.extend(tests.map(|test| of_test(output, test)));
    cases.extend(output.verdicts.iter().map(|verdict| {
        let said = format!("{}\n{}", verdict.why, verdict.try_);
        let way = way(verdict.direction);
        case(output, "verdict", way, Outcome::Passed, said)
    }));
    let expectations = output.expectations.iter();
    cases.extend(expectations.map(|one| expectation(output, one)));
    cases.extend(output.cells.iter().filter_map(|cell| of_cell(output, cell)));
    let checks = output.checks.iter();
    cases.extend(checks.map(|one| of_check(output, one)));
    let comparisons = output.comparison.iter();
    cases.extend(comparisons.map(|one| of_comparison(output, one)));
    cases
}

fn case(output: &Output, class: &str, name: &str, outcome: Outcome, said: String) -> Case {
    Case {
        class: format!("linerate.{}.{class}", output.kind),
        name: name.to_owned(),
        time_s: 0.0,
        outcome,
        said: said.trim().to_owned(),
    }
}

/// Whether the run completed.
fn whole(output: &Output) -> Case {
    let outcome = match &output.error {
        Some(error) => Outcome::Broken(format!("{}: {}", error.what, error.why)),
        None if output.partial => Outcome::Broken("ended early".to_owned()),
        None => Outcome::Passed,
    };
    let case = case(output, "run", "completed", outcome, String::new());
    Case {
        time_s: output.duration_s,
        ..case
    }
}

fn of_test(output: &Output, test: &Test) -> Case {
    let reason = test
        .invalid_reason
        .as_deref()
        .unwrap_or("no reason was recorded");
    let outcome = match test.valid {
        true => Outcome::Passed,
        false => Outcome::Broken(reason.to_owned()),
    };
    let warnings: Vec<_> = test
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.id, warning.text))
        .collect();
    let title = format!("{} {} ({})", name(test), way(test.direction), test.id);
    Case {
        time_s: test.duration_s,
        ..case(output, "test", &title, outcome, warnings.join("\n"))
    }
}

fn expectation(output: &Output, expectation: &Expectation) -> Case {
    let outcome = match expectation.met {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("not met: {}", expectation.expression)),
    };
    let name = &expectation.expression;
    case(output, "expect", name, outcome, String::new())
}

/// A cell of a matrix that was measured, failed, or cannot be.
fn of_cell(output: &Output, cell: &Cell) -> Option<Case> {
    let matrix = output.matrix.as_ref()?;
    let reason = cell.reason.clone().unwrap_or_default();
    let outcome = match cell.state {
        CellState::Done => Outcome::Passed,
        CellState::Failed => Outcome::Broken(reason),
        CellState::NotPossible | CellState::NotComparable => Outcome::Skipped(reason),
        CellState::Pending => Outcome::Skipped("not every round has run".to_owned()),
    };
    let name = cell_name(matrix, cell);
    Some(case(output, "cell", &name, outcome, String::new()))
}

/// A property of an interface.
fn of_check(output: &Output, check: &NicCheck) -> Case {
    let reason = check.reason.clone().unwrap_or_default();
    let outcome = match check.state {
        NicState::Right => Outcome::Passed,
        NicState::Wrong => Outcome::Failed(format!(
            "{} of {} wrong; {reason}",
            check.wrong, check.tried
        )),
        NicState::NotAWire | NicState::NotPossible => Outcome::Skipped(reason),
    };
    let title = format!("{} {}", check.id, check.offload);
    case(output, "nic", title.trim(), outcome, check.what.clone())
}

fn of_comparison(output: &Output, comparison: &Comparison) -> Case {
    let said = comparison.sentence.clone();
    let outcome = match comparison.verdict {
        Judgement::Worse => Outcome::Failed(said.clone()),
        Judgement::Inconclusive => Outcome::Skipped(said.clone()),
        _ => Outcome::Passed,
    };
    let title = format!("{} {}", comparison.name, comparison.metric);
    case(output, "comparison", title.trim(), outcome, said)
}

/// The causes as text; only an expectation fails a build.
fn findings(output: &Output) -> String {
    let causes = output
        .findings
        .iter()
        .filter(|finding| !finding.informational);
    causes
        .map(|finding| format!("{}: {}", finding.rule, finding.title))
        .collect::<Vec<_>>()
        .join("\n")
}

fn case_text(case: &Case) -> String {
    let inner = match &case.outcome {
        Outcome::Broken(why) => format!("<error type=\"invalid\" message=\"{}\"/>", escaped(why)),
        Outcome::Failed(why) => format!(
            "<failure type=\"expectation\" message=\"{}\"/>",
            escaped(why)
        ),
        Outcome::Passed => String::new(),
        Outcome::Skipped(why) => format!("<skipped message=\"{}\"/>", escaped(why)),
    };
    let said = match case.said.as_str() {
        "" => String::new(),
        said => format!("<system-out>{}</system-out>", escaped(said)),
    };
    format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">{inner}{said}</testcase>\n",
        escaped(&case.class),
        escaped(&case.name),
        case.time_s
    )
}
