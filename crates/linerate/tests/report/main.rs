// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate report` on runs that are written here by hand: nothing is measured, so every figure is known.

#[cfg(test)]
mod axe;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod files;
#[cfg(test)]
mod made;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod workbook;
