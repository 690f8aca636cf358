// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two matrices compared, as a page, Markdown, CSV and a workbook: each read by a program that it is for, each with the
//! verdicts of the document.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{AXES, QFE, linerate, other, words};
use crate::report::browser;
use crate::report::readers::installed;
use crate::report::workbook::Workbook;
use crate::support::python::python;

const VERDICTS: [&str; 4] = ["worse", "better", "equivalent", "equivalent"];

/// A directory with the document of a comparison, and what it says.
fn compared(name: &str) -> (PathBuf, Value) {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("matrices-forms")
        .join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let before = QFE.stored(&format!("{name}-before"));
    let after = other("6.1", AXES).stored(&format!("{name}-after"));
    let ran = linerate(&["compare", &before, &after, "--json"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    fs::write(place.join("compared.json"), &ran.stdout).unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let all = document["comparison"].as_array().unwrap();
    let rate = |one: &&Value| one["metric"] == "delivered_bits_per_second";
    let of_cells = all.iter().filter(rate).filter(|one| one["cell"].is_u64());
    let verdicts: Vec<&str> = of_cells
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, VERDICTS);
    (place, document)
}

/// Writes the comparison in a form; the path of the file.
fn written(place: &Path, file: &str) -> String {
    let document = place.join("compared.json").display().to_string();
    let file = place.join(file).display().to_string();
    let ran = linerate(&["report", &document, "-o", &file]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    file
}

/// The grid of the delivered rate: the first word of each cell, by the rows of the MTUs.
fn are_verdicts(rows: &[Vec<String>]) {
    let mut rows = rows.iter();
    let head = ["mtu", "up", "down"];
    assert!(rows.any(|row| row.as_slice() == head), "no grid: {rows:?}");
    for (mtu, verdicts) in ["100", "1500"].iter().zip(VERDICTS.chunks(2)) {
        let row = rows
            .find(|row| row.first().is_some_and(|first| first == mtu))
            .unwrap();
        let words = row[1..].iter().map(|cell| cell.split(' ').next().unwrap());
        assert_eq!(words.collect::<Vec<_>>(), verdicts, "{row:?}");
    }
}

#[test]
fn markdown_has_a_table_of_verdicts() {
    let (place, _) = compared("md");
    let text = fs::read_to_string(written(&place, "compared.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = |row: &str| {
        let cells = row.trim_end_matches(" |").split(" | ");
        cells.map(str::to_owned).collect()
    };
    are_verdicts(&rows.map(cells).collect::<Vec<Vec<String>>>());
    for said in ["B is better in 1 of 4 cells", "kernel", "5.10"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// As Chromium sees it, where it is installed and opens a page; else the file.
#[test]
fn a_page_has_a_table_of_verdicts() {
    let (place, _) = compared("html");
    let file = written(&place, "compared.html");
    let text = fs::read_to_string(&file).unwrap();
    let seen = installed("chromium", "chromium").then(|| browser::seen(&place, Path::new(&file)).0);
    let seen = seen.filter(|page| !page.is_empty());
    let page = seen.unwrap_or(text);
    let rows = page.split("<tr").skip(1).map(|row| {
        let row = row.split("</tr>").next().unwrap();
        let cells = row.split("<t").skip(1).map(plain);
        cells.collect::<Vec<String>>()
    });
    are_verdicts(&rows.collect::<Vec<_>>());
    assert!(words(page.as_bytes()).contains("B is better in 1 of 4 cells"));
}

/// The text of a cell of which the begin of the tag is gone.
fn plain(cell: &str) -> String {
    let parts = cell
        .split('>')
        .skip(1)
        .map(|part| part.split('<').next().unwrap());
    parts.collect::<String>().trim().to_owned()
}

#[test]
fn a_workbook_has_a_row_for_each_cell_and_figure() {
    let (place, document) = compared("xlsx");
    let file = written(&place, "compared.xlsx");
    let all = document["comparison"].as_array().unwrap();
    let of = |name: &str| -> Vec<f64> { all.iter().filter_map(|one| one[name].as_f64()).collect() };
    let book = Workbook::read(&fs::read(&file).unwrap());
    for column in ["ratio", "p_adjusted", "margin"] {
        assert_eq!(book.numbers("comparison", column), of(column), "{column}");
    }
    let code = "import sys, openpyxl\n\
        rows = list(openpyxl.load_workbook(sys.argv[1])['comparison'].values)\n\
        at = [rows[0].index(name) for name in ('metric', 'cell', 'verdict')]\n\
        print(*(row[at[2]] for row in rows[1:] if row[at[0]].startswith('delivered') and row[at[1]]))";
    reads(&place, "openpyxl", code, &file);
}

#[test]
fn csv_has_a_row_for_each_cell_and_figure() {
    let (place, _) = compared("csv");
    let file = written(&place, "compared.csv");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 11, "{text}");
    let code = "import sys, pandas\n\
        t = pandas.read_csv(sys.argv[1])\n\
        print(*t[t.metric.str.startswith('delivered') & t.cell.notna()].verdict)";
    reads(&place, "pandas", code, &file);
}

/// Another's reader finds the verdicts, where it is installed.
fn reads(place: &Path, package: &str, code: &str, file: &str) {
    let Some(output) = python(package, place, code, &[file]) else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(words(&output.stdout), VERDICTS.join(" "));
}
