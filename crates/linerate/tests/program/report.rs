// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate report` on runs that are written here by hand: nothing is measured, so every figure is known.

mod axe;
mod browser;
mod figures;
mod files;
mod made;
mod readers;
mod readme;
mod workbook;
