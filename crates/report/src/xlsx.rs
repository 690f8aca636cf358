// SPDX-License-Identifier: MIT OR Apache-2.0
//! A workbook (ECMA-376): one sheet per table, numbers as numbers, each different text once. No cell is a formula.

mod strings;
mod zip;

use serde::Serialize;

use crate::sheets::{Cell, Sheet};
use crate::xml::escaped;
use strings::Strings;
use zip::Zip;

/// The file. Sheets without rows are left out.
#[must_use]
pub fn render(sheets: &[Sheet]) -> Vec<u8> {
    let sheets: Vec<&Sheet> = sheets
        .iter()
        .filter(|sheet| !sheet.rows.is_empty())
        .collect();
    let mut zip = Zip::default();
    for (name, text) in [
        ("[Content_Types].xml", types(sheets.len())),
        ("_rels/.rels", RELATIONS.to_owned()),
        ("xl/workbook.xml", workbook(&sheets)),
        ("xl/_rels/workbook.xml.rels", parts(sheets.len())),
        ("xl/styles.xml", STYLES.to_owned()),
    ] {
        zip.file(name, |content| content.extend(text.bytes()));
    }
    let mut strings = Strings::default();
    for (number, sheet) in sheets.iter().enumerate() {
        let name = format!("xl/worksheets/sheet{}.xml", number + 1);
        zip.file(&name, |content| worksheet(content, sheet, &mut strings));
    }
    let strings = strings.part();
    zip.file("xl/sharedStrings.xml", |content| {
        content.extend(strings.bytes())
    });
    zip.finish()
}

fn types(sheets: usize) -> String {
    let part = |number| {
        format!(
            "<Override PartName=\"/xl/worksheets/sheet{number}.xml\" ContentType=\"{MAIN}.worksheet+xml\"/>"
        )
    };
    let parts: String = (1..=sheets).map(part).collect();
    format!(
        "{XML}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/xl/workbook.xml\" ContentType=\"{MAIN}.sheet.main+xml\"/><Override PartName=\"/xl/styles.xml\" ContentType=\"{MAIN}.styles+xml\"/><Override PartName=\"/xl/sharedStrings.xml\" ContentType=\"{MAIN}.sharedStrings+xml\"/>{parts}</Types>"
    )
}

fn workbook(sheets: &[&Sheet]) -> String {
    let entry = |(number, sheet): (usize, &&Sheet)| {
        let name: String = sheet.name.chars().take(MOST_NAME).collect();
        let (name, id) = (escaped(&name), number + 1);
        format!("<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"rId{id}\"/>")
    };
    let entries: String = sheets.iter().enumerate().map(entry).collect();
    format!(
        "{XML}<workbook xmlns=\"{SHEET}\" xmlns:r=\"{DOCUMENT}\"><sheets>{entries}</sheets></workbook>"
    )
}

fn parts(sheets: usize) -> String {
    let sheet = |id| {
        format!(
            "<Relationship Id=\"rId{id}\" Type=\"{DOCUMENT}/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"
        )
    };
    let entries: String = (1..=sheets).map(sheet).collect();
    let (styles, strings) = (sheets + 1, sheets + 2);
    format!(
        "{XML}<Relationships xmlns=\"{PACKAGE}/relationships\">{entries}<Relationship Id=\"rId{styles}\" Type=\"{DOCUMENT}/styles\" Target=\"styles.xml\"/><Relationship Id=\"rId{strings}\" Type=\"{DOCUMENT}/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>"
    )
}

/// The header row is frozen and has filters.
fn worksheet<'s>(content: &mut Vec<u8>, sheet: &'s Sheet, strings: &mut Strings<'s>) {
    let last = format!(
        "{}{}",
        letters(sheet.columns.len().max(1) - 1),
        sheet.rows.len().min(MOST_ROWS) + 1
    );
    let head = format!(
        "{XML}<worksheet xmlns=\"{SHEET}\"><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews><cols>"
    );
    content.extend(head.bytes());
    for (at, name) in sheet.columns.iter().enumerate() {
        let (column, width) = (at + 1, name.chars().count().clamp(8, 36) + 3);
        let text =
            format!("<col min=\"{column}\" max=\"{column}\" width=\"{width}\" customWidth=\"1\"/>");
        content.extend(text.bytes());
    }
    let columns: Vec<Column> = sheet.columns.iter().enumerate().map(Column::of).collect();
    content.extend(b"</cols><sheetData><row r=\"1\">");
    for (column, name) in columns.iter().zip(&sheet.columns) {
        let known = strings.of(name.into());
        value(content, column, "1\" s=\"1\" t=\"s\"><v>", &known);
    }
    content.extend(b"</row>");
    for (number, row) in sheet.rows.iter().take(MOST_ROWS).enumerate() {
        self::row(content, strings, &columns, number + 2, row);
    }
    let end = format!("</sheetData><autoFilter ref=\"A1:{last}\"/></worksheet>");
    content.extend(end.bytes());
}

/// What all cells of a column have in common.
struct Column {
    /// The begin of each, to the letters.
    begin: String,
    is_percent: bool,
}

impl Column {
    fn of((at, name): (usize, &String)) -> Self {
        Self {
            begin: format!("<c r=\"{}", letters(at)),
            is_percent: name.ends_with("_ratio"),
        }
    }
}

/// What the cells of a row have in common: from their number to what they hold.
struct Middle {
    row: String,
    number: String,
    percent: String,
    flag: String,
    words: String,
}

impl Middle {
    fn of(row: usize) -> Self {
        Self {
            row: format!("<row r=\"{row}\">"),
            number: format!("{row}\"><v>"),
            percent: format!("{row}\" s=\"2\"><v>"),
            flag: format!("{row}\" t=\"b\"><v>"),
            words: format!("{row}\" t=\"s\"><v>"),
        }
    }

    fn number(&self, column: &Column) -> &str {
        match column.is_percent {
            true => &self.percent,
            false => &self.number,
        }
    }
}

fn row<'s>(
    content: &mut Vec<u8>,
    strings: &mut Strings<'s>,
    columns: &[Column],
    number: usize,
    row: &'s [Cell],
) {
    let middle = Middle::of(number);
    content.extend(middle.row.as_bytes());
    for (column, cell) in columns.iter().zip(row) {
        self::cell(content, strings, column, &middle, cell);
    }
    content.extend(b"</row>");
}

fn cell<'s>(
    content: &mut Vec<u8>,
    strings: &mut Strings<'s>,
    column: &Column,
    middle: &Middle,
    cell: &'s Cell,
) {
    match cell {
        Cell::Count(count) if *count <= EXACT => {
            value(content, column, middle.number(column), count);
        }
        Cell::Number(number) if number.is_finite() => {
            value(content, column, middle.number(column), number);
        }
        Cell::Flag(flag) => value(content, column, &middle.flag, &u8::from(*flag)),
        Cell::Empty => {}
        Cell::Text(known) => {
            let known = strings.of(known.into());
            value(content, column, &middle.words, &known);
        }
        Cell::Count(_) | Cell::Number(_) => {
            let known = strings.of(cell.to_string().into());
            value(content, column, &middle.words, &known);
        }
    }
}

/// A number as JSON has it, which XML Schema's `double` is too.
fn value(content: &mut Vec<u8>, column: &Column, middle: &str, number: &impl Serialize) {
    content.extend(column.begin.as_bytes());
    content.extend(middle.as_bytes());
    // A finite number is written to memory: no error is possible.
    let _ = serde_json::to_writer(&mut *content, number);
    content.extend(b"</v></c>");
}

/// A, B … Z, AA, AB …
fn letters(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    match at / 26 {
        0 => last.to_string(),
        before => format!("{}{last}", letters(before - 1)),
    }
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const MAIN: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const DOCUMENT: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const RELATIONS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>";
/// Plain, bold, percent: `s` of a cell is 0 (left out), 1, 2.
const STYLES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"0.0000%\"/></numFmts><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill></fills><borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs><cellXfs count=\"3\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/><xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/><xf numFmtId=\"164\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/></cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>";
/// A spreadsheet's numbers are doubles.
const EXACT: u64 = 1 << 53;
/// Limits of spreadsheets: rows without the head, characters of a sheet's name.
const MOST_ROWS: usize = 1_048_575;
const MOST_NAME: usize = 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_as_in_a_spreadsheet() {
        assert_eq!(
            [0, 25, 26, 51, 52, 701, 702].map(letters),
            ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]
        );
    }

    #[test]
    fn numbers_are_numbers_and_text_is_not_a_formula() {
        let sheet = Sheet {
            name: "tests".to_owned(),
            columns: ["name", "loss_ratio", "sent", "valid"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![vec![
                Cell::Text("=1+1<&\u{1b}".to_owned()),
                Cell::Number(0.25),
                Cell::Count(u64::MAX),
                Cell::Flag(true),
            ]],
        };
        let mut strings = Strings::default();
        let mut content = Vec::new();
        worksheet(&mut content, &sheet, &mut strings);
        let text = String::from_utf8(content).unwrap();
        assert!(text.contains("<c r=\"A2\" t=\"s\"><v>4</v></c>"), "{text}");
        let known = strings.part();
        assert!(known.contains(">=1+1&lt;&amp;\u{fffd}</t>"), "{known}");
        assert!(
            text.contains("<c r=\"B2\" s=\"2\"><v>0.25</v></c>"),
            "{text}"
        );
        assert!(
            known.contains(">18446744073709551615</t>"),
            "no double holds it: {known}"
        );
        assert!(text.contains("<c r=\"D2\" t=\"b\"><v>1</v></c>"), "{text}");
        assert!(text.contains("<autoFilter ref=\"A1:D2\"/>"), "{text}");
    }
}
