// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unit of all cells of a figure.

use linerate_model::output::{Cell, CellFigure};
use linerate_model::units::format::{
    BIT_RATES, PACKET_RATES, Step, TIMES, common_step, percent, significant,
};

use super::figure::known;

/// A unit that suits the median cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// Its name; may be empty.
    pub(crate) unit: String,
    /// In base units.
    size: f64,
    is_share: bool,
}

impl Scale {
    /// Of a figure of some cells.
    pub(crate) fn of(cells: &[Cell], name: &str) -> Self {
        let figures = || cells.iter().filter_map(|cell| known(cell, name));
        let unit = figures().next().map_or("", |figure| figure.unit.as_str());
        let (base, steps): (f64, &[Step]) = match unit {
            "bit/s" => (1.0, BIT_RATES),
            "packet/s" | "frame/s" | "pps" => (1.0, PACKET_RATES),
            "ns" => (1.0, TIMES),
            "s" => (1e-9, TIMES),
            _ => (1.0, &[]),
        };
        let median = |figure: &CellFigure| Some(figure.median / base);
        let (size, name) = match (unit, steps) {
            ("ratio", _) => (1.0, "%"),
            (unit, []) => (1.0, unit),
            (_, steps) => common_step(&figures().map(median).collect::<Vec<_>>(), steps),
        };
        Self {
            unit: name.to_owned(),
            size: size * base,
            is_share: unit == "ratio",
        }
    }

    /// A value without its unit.
    pub(crate) fn text(&self, value: f64) -> String {
        match self.is_share {
            true => percent(value),
            false => whole(value / self.size),
        }
    }

    /// A value with its unit.
    pub(crate) fn full(&self, value: f64) -> String {
        format!("{} {}", self.text(value), self.unit)
            .trim_end()
            .to_owned()
    }
}

/// Counts have no decimals.
fn whole(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1000.0 {
        true => format!("{value:.0}"),
        false => significant(value),
    }
}
