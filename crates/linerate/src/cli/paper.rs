// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document of a command that measures nothing, and how it gets onto stdout.

use std::io::ErrorKind;

use linerate_model::output::Output;

use super::args::ColorChoice;
use super::{progress, session};
use crate::output::{self, Surroundings};
use linerate_model::date::Date;
use linerate_model::failure::Failure;

/// An empty document that begins now.
pub(super) fn document(kind: &str) -> Output {
    let mut output = Output::new(kind, env!("CARGO_PKG_VERSION"));
    output.command = std::env::args().collect();
    let started = Date::at(linerate_linux::clock::wall_ns());
    output.started = started.to_string();
    output.clock_trusted = started.trusted();
    output
}

/// In which form it is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paper {
    pub(super) json: bool,
    pub(super) color: ColorChoice,
    pub(super) ascii: bool,
}

impl Paper {
    /// To stdout; a reader that went away is a quiet success.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn print(self, output: &Output) -> Result<(), Failure> {
        match output::print(&self.text(output)?) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::measuring("write the results to stdout", error))
            }
            _ => Ok(()),
        }
    }

    fn text(self, output: &Output) -> Result<String, Failure> {
        if self.json {
            let document = linerate_report::json::document(output);
            return document.map_err(|error| Failure::measuring("write the document", error));
        }
        let look = Surroundings::read().look(session::color(self.color), self.ascii);
        Ok(progress::render(output, look))
    }
}
