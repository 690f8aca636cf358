// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record as text: one [`view`] says what is shown in which order, one module a format says
//! how. No number is computed here.
#![forbid(unsafe_code)]

pub mod csv;
pub mod html;
pub mod interval;
pub mod json;
pub mod junit;
pub mod live;
pub mod markdown;
pub mod openmetrics;
pub mod redact;
pub mod sheets;
pub mod subject;
pub mod term;
pub mod view;
pub mod xlsx;
mod xml;
