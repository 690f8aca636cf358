// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is measured: linerate and its peers, each with its defaults and its best options.

mod iperf2;
mod iperf3;
mod linerate;
mod nuttcp;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::load::{Account, Load, Measured};
use super::meter::{self, Metered, Pair};
use super::testbed::{SERVER_ADDRESS, Testbed};
use crate::build::has_program;

/// A program with a set of options.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    /// The program.
    pub(crate) program: Program,
    /// Options in addition to those that the load asks for.
    pub(crate) options: Vec<String>,
}

/// A program that measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    /// Ours, at this path.
    Linerate(PathBuf),
    /// iperf3.
    Iperf3,
    /// iperf 2.
    Iperf2,
    /// nuttcp.
    Nuttcp,
}

impl Program {
    /// How it is called.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Linerate(_) => "linerate",
            Self::Iperf3 => "iperf3",
            Self::Iperf2 => "iperf",
            Self::Nuttcp => "nuttcp",
        }
    }

    /// Whether it can be run here.
    pub(crate) fn is_present(&self) -> bool {
        match self {
            Self::Linerate(path) => path.is_file(),
            other => has_program(other.name()),
        }
    }

    /// With these options.
    pub(crate) fn with(&self, options: &[&str]) -> Contender {
        Contender {
            program: self.clone(),
            options: words(options),
        }
    }
}

impl Contender {
    /// As it stands in a table.
    pub(crate) fn label(&self) -> String {
        let options = self.options.iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(self.program.name())
            .chain(options)
            .collect();
        words.join(" ")
    }

    /// Ours?
    pub(crate) fn is_ours(&self) -> bool {
        matches!(self.program, Program::Linerate(_))
    }

    /// Runs it once.
    ///
    /// # Errors
    /// It cannot be run, or says nothing that can be understood.
    pub(crate) fn measure(&self, testbed: &Testbed, load: &Load) -> Result<Measured, String> {
        let pair = self.pair(load);
        let limit = Duration::from_secs(u64::from(load.seconds) + 20);
        let metered = meter::run(testbed, &pair, limit)?;
        let account = self
            .read(load, &metered)
            .ok_or_else(|| self.complaint(&metered))?;
        Ok(Measured { account, metered })
    }

    fn pair(&self, load: &Load) -> Pair {
        match &self.program {
            Program::Linerate(path) => linerate::pair(path, &self.options, load),
            Program::Iperf3 => iperf3::pair(&self.options, load),
            Program::Iperf2 => iperf2::pair(&self.options, load),
            Program::Nuttcp => nuttcp::pair(&self.options, load),
        }
    }

    fn read(&self, load: &Load, metered: &Metered) -> Option<Account> {
        match &self.program {
            Program::Linerate(_) => linerate::read(metered),
            Program::Iperf3 => iperf3::read(load, metered),
            Program::Iperf2 => iperf2::read(load, metered),
            Program::Nuttcp => nuttcp::read(load, metered),
        }
    }

    fn complaint(&self, metered: &Metered) -> String {
        let text = match metered.finished.stderr.trim() {
            "" => &metered.finished.stdout,
            _ => &metered.finished.stderr,
        };
        let line = crate::process::last_line(text);
        format!(
            "{} ended with {}: {line}",
            self.label(),
            metered.finished.status
        )
    }
}

/// Owned words of a command line.
fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|&word| word.to_owned()).collect()
}

/// How iperf, iperf3 and ours are all asked for datagrams.
fn datagrams(payload_bytes: u32, bits_per_second: u64) -> Vec<String> {
    let (payload, rate) = (payload_bytes.to_string(), bits_per_second.to_string());
    words(&["-l", &payload, "-b", &rate])
}

/// The version that each present program states, for the record.
pub(crate) fn version(program: &Program) -> Option<String> {
    let (name, option): (&Path, _) = match program {
        Program::Linerate(path) => (path, "--version"),
        Program::Nuttcp => (Path::new("nuttcp"), "-V"),
        other => (Path::new(other.name()), "-v"),
    };
    let output = std::process::Command::new(name).arg(option).output().ok()?;
    // iperf says it on stderr.
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text)
        .lines()
        .next()
        .map(str::to_owned)
}

/// Our own document of a valid test; the peers tell nothing like it.
pub(crate) fn detail(metered: &Metered) -> Option<serde_json::Value> {
    linerate::test(metered)
}

/// Where every server is reached.
const HOST: &str = SERVER_ADDRESS;
