// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of a command with a record of its own, in a directory of the command's run: each trial of `tune`.

use std::collections::BTreeMap;

use linerate_model::failure::{Failure, Kind};
use linerate_model::output::Output;

use super::{Session, report};
use crate::cli::args::OutputFlags;
use crate::cli::target::Target;

impl Session {
    /// Begins a part in `flags.output`. It is interrupted with the whole, and has the same token.
    pub(in crate::cli) fn part(
        &self,
        kind: &'static str,
        peer: &str,
        flags: &OutputFlags,
        options: BTreeMap<String, String>,
    ) -> Self {
        let target = Target::named(kind, Some(peer), flags, options);
        let mut part = Self::begin(&target, self.interrupt.clone(), None);
        part.token.clone_from(&self.token);
        part.lab_token = self.lab_token.clone();
        part
    }

    /// Ends a part: its record is stored, nothing is printed. Its document.
    pub(in crate::cli) fn close(mut self, ended: &Result<(), Failure>) -> Output {
        if let Err(failure) = ended {
            self.output.partial = true;
            self.output.error = (failure.kind != Kind::Interrupted).then(|| report(failure));
        }
        self.output.duration_s = self.begun.elapsed().as_secs_f64();
        self.output.run_dir = self.store.location().run_dir();
        self.output.run_dir = self.store.finish(&mut self.output).run_dir();
        self.output
    }
}
