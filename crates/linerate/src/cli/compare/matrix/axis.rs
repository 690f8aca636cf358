// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two values of an axis of one matrix, as if they were two matrices: their runs were interleaved.

use linerate_method::matrix::rows;
use linerate_model::failure::Failure;
use linerate_model::output::{Axis, Cell, Difference, Matrix};
use linerate_report::subject::Subject;

/// The cells of either value of `wanted` (`NAME`, or `NAME=A,B` of more than two), without that axis; and the difference.
pub(super) fn split(
    subject: &Subject,
    wanted: &str,
) -> Result<([Subject; 2], Difference), Failure> {
    let matrix = super::matrix(subject)?;
    let (name, values) = wanted.split_once('=').unwrap_or((wanted, ""));
    let found = matrix.axes.iter().find(|axis| axis.name == name);
    let axis = found.ok_or_else(|| {
        let names: Vec<&str> = matrix.axes.iter().map(|axis| axis.name.as_str()).collect();
        wrong(wanted, "the matrix has no such axis").hint(format!("one of {}", names.join(", ")))
    })?;
    let values = two(axis, values).ok_or_else(|| {
        let known = axis.values.join(",");
        wrong(
            wanted,
            &format!("two of its values are compared; it has {known}"),
        )
        .hint(format!("--axis {name}=A,B"))
    })?;
    let difference = Difference {
        what: name.to_owned(),
        before: vec![values[0].to_owned()],
        after: vec![values[1].to_owned()],
        ..Difference::default()
    };
    Ok((
        values.map(|value| part(subject, matrix, name, value)),
        difference,
    ))
}

fn wrong(wanted: &str, why: &str) -> Failure {
    Failure::usage(format!("compare along the axis {wanted}"), why)
}

/// Two different values of the axis: those named, or the only two.
fn two<'a>(axis: &'a Axis, values: &'a str) -> Option<[&'a str; 2]> {
    let named = match values {
        "" => axis.values.iter().map(String::as_str).collect::<Vec<_>>(),
        values => values.split(',').collect(),
    };
    let known = |value: &&str| axis.values.iter().any(|known| known == value);
    match named.as_slice() {
        [one, other] if one != other && named.iter().all(known) => Some([one, other]),
        _ => None,
    }
}

/// The cells with one value, numbered as those of a matrix without the axis.
fn part(subject: &Subject, matrix: &Matrix, axis: &str, value: &str) -> Subject {
    let has = |cell: &&Cell| cell.axes.get(axis).is_some_and(|found| found == value);
    let cells = subject.output.cells.iter().filter(has).zip(1..);
    let cells = cells.map(|(cell, id)| Cell { id, ..cell.clone() });
    let mut part = subject.clone();
    part.label = format!("{axis} {value}");
    part.output.cells = cells.collect();
    let axes: Vec<Axis> = matrix
        .axes
        .iter()
        .filter(|one| one.name != axis)
        .cloned()
        .collect();
    // Some axis makes columns.
    let all_rows = axes.iter().all(|axis| matrix.rows.contains(&axis.name));
    part.output.matrix = Some(Matrix {
        rows: if all_rows {
            rows(&axes)
        } else {
            matrix.rows.clone()
        },
        axes,
        ..matrix.clone()
    });
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Output;

    fn subject() -> Subject {
        let axis = |name: &str, values: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let axes = vec![
            axis("driver", &["qfe", "hme", "old"]),
            axis("mtu", &["100", "1500"]),
        ];
        let cell = |id: u32| {
            let at = id as usize - 1;
            let values = [
                ("driver", &axes[0].values[at / 2]),
                ("mtu", &axes[1].values[at % 2]),
            ];
            Cell {
                id,
                axes: values
                    .map(|(name, value)| (name.to_owned(), value.clone()))
                    .into(),
                ..Cell::default()
            }
        };
        Subject {
            output: Output {
                cells: (1..=6).map(cell).collect(),
                matrix: Some(Matrix {
                    axes: axes.clone(),
                    ..Matrix::default()
                }),
                ..Output::default()
            },
            ..Subject::default()
        }
    }

    #[test]
    fn two_values_of_an_axis_are_two_matrices_without_it() {
        let ([before, after], difference) = split(&subject(), "driver=qfe,old").unwrap();
        for (side, driver) in [(&before, "qfe"), (&after, "old")] {
            let matrix = side.output.matrix.as_ref().unwrap();
            assert_eq!(matrix.axes.len(), 1);
            assert_eq!(side.label, format!("driver {driver}"));
            let cells = side.output.cells.iter();
            let cells: Vec<_> = cells
                .map(|cell| (cell.id, cell.axes["mtu"].as_str()))
                .collect();
            assert_eq!(cells, [(1, "100"), (2, "1500")]);
            assert!(
                side.output
                    .cells
                    .iter()
                    .all(|cell| cell.axes["driver"] == driver)
            );
        }
        assert_eq!(
            (difference.before, difference.after),
            (vec!["qfe".to_owned()], vec!["old".to_owned()])
        );
        assert!(split(&subject(), "mtu").is_ok(), "the only two");
    }

    #[test]
    fn other_values_are_named() {
        for (wanted, said) in [
            ("driver", "it has qfe,hme,old"),
            ("driver=qfe,qfe", "two of its values"),
            ("driver=qfe,new", "two of its values"),
            ("size", "no such axis"),
        ] {
            let failure = split(&subject(), wanted).unwrap_err();
            assert!(failure.to_string().contains(said), "{failure}");
        }
    }
}
