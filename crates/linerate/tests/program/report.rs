// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate report` on runs that are written here by hand: nothing is measured, so every figure is known.

mod axe;
pub(crate) mod browser;
mod figures;
mod files;
pub(crate) mod made;
mod pandas;
pub(crate) mod readers;
mod readme;
pub(crate) mod workbook;
