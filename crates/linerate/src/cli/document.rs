// SPDX-License-Identifier: MIT OR Apache-2.0
//! A document: begun with its command and time, printed to stdout as text or JSON.

use linerate_model::output::Output;
use linerate_model::printable::Printable;

use super::args::{ColorChoice, DocumentFlags};
use super::progress;
use crate::output::{self, Color, Surroundings};
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_report::Detail;
use linerate_report::term::Style;

/// Returns an empty document that begins now.
pub(super) fn document(kind: &str) -> Output {
    document_of(kind, &Date::at(linerate_linux::clock::wall_ns()))
}

/// Returns an empty document that began at `started`.
pub(super) fn document_of(kind: &str, started: &Date) -> Output {
    let mut output = Output::new(kind, env!("CARGO_PKG_VERSION"));
    output.command = std::env::args().collect();
    output.started = started.to_string();
    output.clock_trusted = started.trusted();
    output
}

/// Prints to stdout; a reader that went away is a quiet success.
///
/// # Errors
/// Those of writing.
pub(super) fn print(text: &Printable) -> Result<(), Failure> {
    output::print(text).map_err(|error| Failure::measuring("write the results to stdout", error))
}

impl DocumentFlags {
    /// How text looks on this terminal.
    pub(super) fn look(self) -> Style {
        Surroundings::read().look(color(self.color), self.ascii)
    }

    /// Prints a document to stdout.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn print(self, output: &Output, detail: Detail) -> Result<(), Failure> {
        if !self.json {
            let look = Style {
                detail,
                ..self.look()
            };
            return print(&progress::render(output, look));
        }
        let document = linerate_report::json::document(output);
        print(&document.map_err(|error| Failure::measuring("write the document", error))?)
    }
}

pub(super) const fn color(choice: ColorChoice) -> Color {
    match choice {
        ColorChoice::Auto => Color::Auto,
        ColorChoice::Always => Color::Always,
        ColorChoice::Never => Color::Never,
    }
}
