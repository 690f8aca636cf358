// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is measured: linerate and its peers, each with its defaults and its best options.

mod bare;
mod iperf2;
mod iperf3;
mod linerate;
mod nuttcp;
mod program;

use std::time::Duration;

use super::load::{Account, Load, Measured};
use super::meter::{self, Metered, Pair};
use super::testbed::{SERVER_ADDRESS, Testbed};
pub(crate) use program::{Program, Tool};

/// A program with a set of options.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    /// The program.
    pub(crate) program: Program,
    /// Options in addition to those that the load asks for.
    pub(crate) options: Vec<String>,
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
        self.program.tool == Tool::Linerate
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
        let path = self.program.word();
        match self.program.tool {
            Tool::Linerate => linerate::pair(path, &self.options, load),
            Tool::Iperf3 => iperf3::pair(path, &self.options, load),
            Tool::Iperf2 => iperf2::pair(path, &self.options, load),
            Tool::Nuttcp => nuttcp::pair(path, &self.options, load),
            Tool::Bare => bare::pair(path, &self.options, load),
        }
    }

    fn read(&self, load: &Load, metered: &Metered) -> Option<Account> {
        match self.program.tool {
            Tool::Linerate => linerate::read(metered),
            Tool::Iperf3 => iperf3::read(load, metered),
            Tool::Iperf2 => iperf2::read(load, metered),
            Tool::Nuttcp => nuttcp::read(load, metered),
            Tool::Bare => bare::read(load, metered),
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

/// Our own document of a valid test; the peers tell nothing like it.
pub(crate) fn detail(metered: &Metered) -> Option<serde_json::Value> {
    linerate::test(metered)
}

/// Where every server is reached.
const HOST: &str = SERVER_ADDRESS;
