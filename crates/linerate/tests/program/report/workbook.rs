// SPDX-License-Identifier: MIT OR Apache-2.0
//! A workbook read back by another's reader.

use std::io::Cursor;

use calamine::{Data, Reader, Xlsx};

/// What the reader saw: sheets with their cells.
pub(crate) struct Workbook(Vec<(String, Vec<Vec<Data>>)>);

impl Workbook {
    /// Opens the bytes as a spreadsheet does.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).unwrap();
        let sheets = book.worksheets().into_iter();
        let rows = |sheet: calamine::Range<Data>| sheet.rows().map(<[Data]>::to_vec).collect();
        Self(sheets.map(|(name, sheet)| (name, rows(sheet))).collect())
    }

    /// A column of a sheet, where every cell is a number.
    pub(crate) fn numbers(&self, sheet: &str, column: &str) -> Vec<f64> {
        let named = self.0.iter().find(|(name, _)| name == sheet);
        let names: Vec<_> = self.0.iter().map(|(name, _)| name).collect();
        let (_, rows) = named.unwrap_or_else(|| panic!("{sheet} of {names:?}"));
        let head = Data::String(column.to_owned());
        let at = rows[0].iter().position(|cell| *cell == head).unwrap();
        let number = |cell: &Data| match cell {
            Data::Float(number) => *number,
            Data::Int(number) => *number as f64,
            other => panic!("{sheet}.{column}: {other:?} is no number"),
        };
        rows[1..].iter().map(|row| number(&row[at])).collect()
    }
}
