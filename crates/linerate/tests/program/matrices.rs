// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored matrices: their reports in every format, and two of them compared. Nothing is measured.

mod forms;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output as Ran};

use linerate_model::output::{Axis, Cell, CellFigure, CellState, Host, Matrix, Output};
use serde_json::Value;

/// Values of the axes, and the rate of each run of a cell.
#[derive(Clone, Copy)]
struct Measured<'m> {
    axes: &'m [(&'m str, &'m [&'m str])],
    kernel: &'m str,
    rate: fn(cell: u32, round: u32) -> f64,
    rounds: u32,
    /// What else was asked of each test.
    plan: &'m [(&'m str, &'m str)],
}

const AXES: &[(&str, &[&str])] = &[
    ("driver", &["qfe"]),
    ("mtu", &["100", "1500"]),
    ("direction", &["up", "down"]),
];

const QFE: Measured<'_> = Measured {
    axes: AXES,
    kernel: "5.10",
    rate: |cell, round| f64::from(cell) * 10e6 * (1.0 + f64::from(round % 3) / 1000.0),
    rounds: 6,
    plan: PLAN,
};

const PLAN: &[(&str, &str)] = &[("time", "5s"), ("rate", "10M")];

/// Up with an MTU of 100 is slower by a tenth, down twice as fast.
fn hme(cell: u32, round: u32) -> f64 {
    let effect = [0.9, 2.0, 1.0, 1.0][cell as usize - 1];
    effect * (QFE.rate)(cell, round + 1)
}

impl Measured<'_> {
    fn output(&self) -> Output {
        let axes: Vec<Axis> = self
            .axes
            .iter()
            .map(|(name, values)| Axis {
                name: (*name).to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            })
            .collect();
        let many: usize = axes.iter().map(|axis| axis.values.len()).product();
        Output {
            hosts: vec![Host {
                kernel: Some(self.kernel.to_owned()),
                ..Host::default()
            }],
            cells: (1..=many as u32).map(|id| self.cell(&axes, id)).collect(),
            matrix: Some(Matrix {
                rows: vec!["mtu".to_owned()],
                rounds: self.rounds,
                rounds_done: self.rounds,
                axes,
                plan: self
                    .plan
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                ..Matrix::default()
            }),
            ..Output::new("matrix", "0.1.0")
        }
    }

    fn cell(&self, axes: &[Axis], id: u32) -> Cell {
        let mut rest = id as usize - 1;
        let on = axes.iter().rev().map(|axis| {
            let value = axis.values[rest % axis.values.len()].clone();
            rest /= axis.values.len();
            (axis.name.clone(), value)
        });
        let axes = on.collect();
        let values: Vec<f64> = (0..self.rounds)
            .map(|round| (self.rate)(id, round))
            .collect();
        let figure = |name: &str, scale: f64, higher_is_better| CellFigure {
            name: name.to_owned(),
            unit: "bit/s".to_owned(),
            higher_is_better,
            n: self.rounds,
            median: scale * values[0],
            values: values.iter().map(|value| scale * value).collect(),
            ..CellFigure::default()
        };
        Cell {
            id,
            axes,
            figures: vec![
                figure("delivered_bits_per_second", 1.0, true),
                figure("cpu_local", 1e-9, false),
            ],
            state: CellState::Done,
            ..Cell::default()
        }
    }

    /// The name of its document.
    fn stored(&self, name: &str) -> String {
        stored(&self.output(), name)
    }
}

/// The name of the file of a document.
fn stored(output: &Output, name: &str) -> String {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("matrices");
    fs::create_dir_all(&directory).unwrap();
    let file = directory.join(format!("{name}.json"));
    fs::write(&file, serde_json::to_string(output).unwrap()).unwrap();
    file.display().to_string()
}

fn linerate(arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(arguments).env("LC_ALL", "C.UTF-8");
    command.output().unwrap()
}

fn words(of: &[u8]) -> String {
    let text = String::from_utf8_lossy(of);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn other(kernel: &'static str, axes: &'static [(&str, &[&str])]) -> Measured<'static> {
    Measured {
        axes,
        kernel,
        rate: hme,
        ..QFE
    }
}

#[test]
fn two_matrices_are_compared_cell_by_cell() {
    let before = QFE.stored("two-before");
    const HME: &[(&str, &[&str])] = &[("driver", &["hme"]), AXES[1], AXES[2]];
    let after = other("6.1", HME).stored("two-after");
    let ran = linerate(&["compare", &before, &after]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let text = words(&ran.stdout);
    for said in [
        "delivered rate: B is better in 1 of 4 cells, worse in 1, equivalent within 2 % in 2",
        "worse -10 %",
        "better × ",
        "driver: qfe -> hme",
        "kernel (local): 5.10 -> 6.1",
        "this comparison cannot tell which of them makes the difference",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let json = linerate(&["compare", &before, &after, "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let all = json["comparison"].as_array().unwrap();
    // Four cells and all together, of two figures.
    assert_eq!(all.len(), 10);
    let of = |cell: u32| &all.iter().find(|one| one["cell"] == cell).unwrap()["verdict"];
    assert_eq!([of(1), of(2), of(3)], ["worse", "better", "equivalent"]);
    assert_eq!(
        (&all[0]["cell"], &all[0]["name"]),
        (&Value::Null, &"all cells".into())
    );
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["cells"][0]["figures"], Value::Array(Vec::new()));
}

#[test]
fn a_check_fails_by_the_cells_and_less_is_better_of_cpu() {
    let (before, after) = (
        QFE.stored("check-before"),
        other("5.10", AXES).stored("check-after"),
    );
    let code = |more: &[&str]| {
        let ran = linerate(&[&["compare", &before, &after], more].concat());
        ran.status.code()
    };
    assert_eq!(code(&["--fail-if", "worse"]), Some(1));
    assert_eq!(code(&["--fail-if", "worse:50%"]), Some(0));
    assert_eq!(
        code(&["--fail-if", "worse:50%", "--metric", "cpu_local"]),
        Some(1)
    );
    assert_eq!(
        code(&["--fail-if", "worse", "--metric", "nothing"]),
        Some(2)
    );
    let same = linerate(&["compare", &before, &before, "--fail-if", "worse"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    assert!(words(&same.stdout).contains("equivalent within 2 % in 4"));
}

#[test]
fn few_rounds_say_how_many_would_do() {
    let few = Measured { rounds: 3, ..QFE }.stored("three-rounds");
    let ran = linerate(&["compare", &few, &few]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let text = words(&ran.stdout);
    assert!(
        text.contains("not enough runs in 4 (about 4 a side would do)"),
        "{text}"
    );
    let check = linerate(&["compare", &few, &few, "--fail-if", "worse"]);
    assert_eq!(check.status.code(), Some(4), "{check:?}");
    let one = Measured { rounds: 1, ..QFE }.stored("one-round");
    let ran = linerate(&["compare", &one, &one]);
    assert_eq!(ran.status.code(), Some(4));
    assert!(
        words(&ran.stderr).contains("one run is one observation"),
        "{ran:?}"
    );
}

#[test]
fn what_is_not_the_same_matrix_is_named() {
    let before = QFE.stored("axes-before");
    const SIZES: &[(&str, &[&str])] = &[AXES[0], ("mtu", &["100", "9000"]), AXES[2]];
    const MORE: &[(&str, &[&str])] = &[AXES[0], AXES[1]];
    for (name, axes, said) in [
        (
            "axes-sizes",
            SIZES,
            "the axis mtu has 100,1500 in A and 100,9000 in B",
        ),
        (
            "axes-more",
            MORE,
            "A has the axes driver, mtu, direction; B has driver, mtu",
        ),
    ] {
        let after = other("5.10", axes).stored(name);
        let ran = linerate(&["compare", &before, &after]);
        assert_eq!(ran.status.code(), Some(2));
        assert!(words(&ran.stderr).contains(said), "{ran:?}");
    }
    let run = format!(
        "{}/tests/records/linerate.run-1/udp/run.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let ran = linerate(&["compare", &before, &run]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert_eq!(linerate(&["compare", &before]).status.code(), Some(2));
}

#[test]
fn tests_of_another_kind_are_named_or_not_compared() {
    const BOTH: &[(&str, &[&str])] = &[("protocol", &["tcp", "udp"]), AXES[2]];
    let of = |name: &str, plan| {
        let axes = BOTH;
        Measured { axes, plan, ..QFE }.stored(name)
    };
    let before = of("plan-before", PLAN);
    let compared = |name: &str, plan| {
        let ran = linerate(&["compare", &before, &of(name, plan)]);
        let text = words(&ran.stdout) + &words(&ran.stderr);
        (ran.status.code(), text)
    };
    let (code, text) = compared("plan-time", &[("time", "1s"), ("rate", "10M")]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the time is 5s in A and 1s in B"), "{text}");
    let (code, text) = compared("plan-rate", &[("time", "5s"), ("rate", "100M")]);
    assert_eq!(code, Some(0), "{text}");
    for said in [
        "equivalent within 2 % in 2",
        "+0 % not comparable (1) not comparable (1)",
        "(1) the rate is 10M in A and 100M in B",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let (code, text) = compared("plan-flags", &[PLAN[0], PLAN[1], ("flags", "-w 4M")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("equivalent within 2 % in 4"), "{text}");
    assert!(text.contains("flags: none -> -w 4M"), "{text}");
}

/// Whatever the number of cells: 0 of a result, 1 of a check that failed, 4 where the rounds can prove nothing.
#[test]
fn one_cell_has_the_exit_codes_of_many() {
    const ONE: &[(&str, &[&str])] = &[("mtu", &["100"]), ("direction", &["up"])];
    for (rounds, check, code) in [
        (1, false, 4),
        (1, true, 4),
        (2, false, 0),
        (3, false, 0),
        (3, true, 4),
        (4, false, 0),
        (6, false, 0),
        (6, true, 1),
    ] {
        for axes in [ONE, AXES] {
            let name = format!("codes-{}-{rounds}", axes.len());
            let before = Measured {
                axes,
                rounds,
                ..QFE
            };
            let after = Measured {
                rate: hme,
                ..before
            };
            let [before, after] = [(before, "a"), (after, "b")]
                .map(|(one, side)| one.stored(&format!("{name}-{side}")));
            let fail_if: &[&str] = if check { &["--fail-if", "worse"] } else { &[] };
            let ran = linerate(&[&["compare", &before, &after], fail_if].concat());
            assert_eq!(ran.status.code(), Some(code), "{name} {check}: {ran:?}");
        }
    }
}

/// A check that compares nothing does not pass.
#[test]
fn two_halves_have_no_cell_in_common() {
    let half = |name: &str, lacks: usize| {
        let mut output = QFE.output();
        let cells = output.cells.iter_mut().skip(lacks).take(2);
        cells.for_each(|cell| cell.figures.clear());
        stored(&output, name)
    };
    let (before, after) = (half("half-a", 0), half("half-b", 2));
    let ran = linerate(&["compare", &before, &after, "--fail-if", "worse"]);
    assert_eq!(ran.status.code(), Some(4), "{ran:?}");
    let text = words(&ran.stderr);
    assert!(
        text.contains("no cell has a run with this figure"),
        "{text}"
    );
}

/// The runs of both values were interleaved in one matrix.
#[test]
fn two_values_of_an_axis_are_compared_in_one_matrix() {
    const BOTH: &[(&str, &[&str])] = &[("driver", &["qfe", "hme"]), AXES[1], AXES[2]];
    let both = Measured {
        axes: BOTH,
        rate: |cell, round| match cell {
            1..=4 => (QFE.rate)(cell, round),
            later => hme(later - 4, round),
        },
        ..QFE
    };
    let both = both.stored("both");
    let ran = linerate(&["compare", "--axis", "driver", &both]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let text = words(&ran.stdout);
    for said in [
        "B is better in 1 of 4 cells, worse in 1",
        "driver: qfe -> hme",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let ran = linerate(&["compare", "--axis", "size", &both]);
    assert!(
        words(&ran.stderr).contains("one of driver, mtu, direction"),
        "{ran:?}"
    );
}

#[test]
fn every_format_shows_a_matrix() {
    let stored = QFE.stored("formats");
    for (format, shown) in [
        ("term", "median [95 % interval]"),
        ("md", "| mtu | up | down |"),
        ("html", "<th scope=\"row\""),
        ("csv", "cell,driver,mtu,direction,state,reason,figure"),
        ("json", "\"cells\""),
        ("junit", "linerate.matrix.cell"),
        ("openmetrics", "linerate_matrix_cell{"),
    ] {
        let ran = linerate(&["report", &stored, "-f", format]);
        assert_eq!(ran.status.code(), Some(0), "{format}: {ran:?}");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(text.contains(shown), "{format}: {text}");
    }
    let book = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("matrices/book.xlsx");
    let name = book.display().to_string();
    let ran = linerate(&["report", &stored, "-o", &name]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let bytes = fs::read(book).unwrap();
    let has = |name: &str| {
        bytes
            .windows(name.len())
            .any(|part| part == name.as_bytes())
    };
    assert!(has("<sheet name=\"delivered_bits_per_second\"") && has("<sheet name=\"cpu_local\""));
    assert!(has("<sheet name=\"matrix\""));
    // Two of them begin with the comparison.
    let ran = linerate(&["report", &stored, &stored]);
    assert!(
        words(&ran.stdout).contains("equivalent within 2 % in 4"),
        "{ran:?}"
    );
}
