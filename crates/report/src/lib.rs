// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of a run as text, HTML, CSV, XLSX, JSON, JUnit XML and OpenMetrics.
//!
//! In: [`subject::Subject`]s, each a document with its findings, settings and series. Out: a `String` or bytes; nothing
//! is written to files here. `view` decides what is shown in which order, [`sheets`] turns the document's lists into
//! tables, and one module per format lays it out. [`redact`] replaces names and addresses before; [`live`] and
//! [`interval`] show a test while it runs. No number is computed here.
//!
//! ```
//! use linerate_model::output::Output;
//! use linerate_report::term::{self, Style};
//!
//! let output = Output {
//!     started: "2026-01-31T12:00:00Z".to_owned(),
//!     clock_trusted: true,
//!     duration_s: 10.0,
//!     ..Output::new("tcp", "0.1.0")
//! };
//! let text = term::render(&output, &Style::default());
//! assert_eq!(text, "linerate 0.1.0 tcp, 2026-01-31T12:00:00Z, took 10.0 s\n");
//! ```
#![forbid(unsafe_code)]

pub mod csv;
mod detail;
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
mod view;
pub mod watch;
pub mod xlsx;
mod xml;

pub use detail::Detail;
pub use view::comparison::{figure_text, sentence};
pub use view::matrix::{HOSTS_OF_RUNS, cell_name, matrix_sentence};
