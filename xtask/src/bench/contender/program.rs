// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that are measured: ours, the peers that are installed, and those given by a path.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Contender, words};
use crate::build::has_program;

/// A program that measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Whose command line it understands.
    pub(crate) tool: Tool,
    /// What is run.
    pub(crate) path: PathBuf,
    name: String,
}

/// Whose command line a program understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Ours.
    Linerate,
    /// iperf3.
    Iperf3,
    /// iperf 2.
    Iperf2,
    /// nuttcp.
    Nuttcp,
    /// A loop of system calls and nothing else.
    Bare,
}

impl Tool {
    /// The peers.
    pub(crate) const PEERS: [Self; 3] = [Self::Iperf3, Self::Iperf2, Self::Nuttcp];

    /// How it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Linerate => "linerate",
            Self::Iperf3 => "iperf3",
            Self::Iperf2 => "iperf",
            Self::Nuttcp => "nuttcp",
            Self::Bare => "send(2) in a loop",
        }
    }

    /// The option that asks for its version.
    pub(crate) fn version_option(self) -> &'static str {
        match self {
            Self::Linerate | Self::Bare => "--version",
            Self::Iperf3 | Self::Iperf2 => "-v",
            Self::Nuttcp => "-V",
        }
    }

    /// The version in the first line that it prints: `iperf 3.21+ (cJSON 1.7.15)`, `iperf version 2.1.8 (…)`, `nuttcp-6.1.2`.
    fn version_in(self, line: &str) -> Option<&str> {
        let start = match self {
            Self::Linerate => "linerate ",
            Self::Iperf3 => "iperf 3",
            Self::Iperf2 => "iperf version ",
            Self::Nuttcp => "nuttcp-",
            Self::Bare => return None,
        };
        line.strip_prefix(start)?;
        line.split([' ', '-'])
            .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
    }
}

impl Program {
    /// The linerate at this path.
    pub(crate) fn ours(path: PathBuf) -> Self {
        Self::at(Tool::Linerate, path, Tool::Linerate.name())
    }

    /// This program, which sends and receives in a loop.
    pub(crate) fn bare() -> Self {
        let path = std::env::current_exe().unwrap_or_default();
        Self::at(Tool::Bare, path, Tool::Bare.name())
    }

    /// As it is installed, if it is.
    pub(crate) fn installed(tool: Tool) -> Option<Self> {
        has_program(tool.name()).then(|| Self::at(tool, tool.name().into(), tool.name()))
    }

    /// The peer at this path, known by the version that it prints, which is part of its name.
    ///
    /// # Errors
    /// It is no peer.
    pub(crate) fn given(path: &Path) -> Result<Self, String> {
        let known = |tool: Tool| {
            let line = first_line(path, tool.version_option())?;
            let name = format!("{}-{}", tool.name(), tool.version_in(&line)?);
            Some(Self::at(tool, path.to_owned(), &name))
        };
        Tool::PEERS.into_iter().find_map(known).ok_or_else(|| {
            format!(
                "bench: --peer {}: expected an iperf3, iperf or nuttcp that prints its version",
                path.display()
            )
        })
    }

    fn at(tool: Tool, path: PathBuf, name: &str) -> Self {
        let name = name.to_owned();
        Self { tool, path, name }
    }

    /// As it stands in a table.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is run, as a word of a command line.
    pub(crate) fn word(&self) -> String {
        self.path.display().to_string()
    }

    /// The line that states its version, for the record.
    pub(crate) fn version(&self) -> Option<String> {
        first_line(&self.path, self.tool.version_option())
    }

    /// Whether its help mentions this option.
    pub(crate) fn offers(&self, option: &str) -> bool {
        printed(&self.path, "--help").is_some_and(|help| help.contains(option))
    }

    /// With these options.
    pub(crate) fn with(&self, options: &[&str]) -> Contender {
        Contender {
            program: self.clone(),
            options: words(options),
        }
    }
}

fn first_line(path: &Path, option: &str) -> Option<String> {
    printed(path, option)?.lines().next().map(str::to_owned)
}

fn printed(path: &Path, option: &str) -> Option<String> {
    let output = Command::new(path).arg(option).output().ok()?;
    // iperf prints its version on stderr.
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_known_by_their_version() {
        let lines = [
            (Tool::Iperf3, "iperf 3.21+ (cJSON 1.7.15)", "3.21+"),
            (
                Tool::Iperf2,
                "iperf version 2.1.8 (12 August 2022)",
                "2.1.8",
            ),
            (Tool::Nuttcp, "nuttcp-6.1.2", "6.1.2"),
        ];
        for (tool, line, version) in lines {
            let known = Tool::PEERS.map(|other| other.version_in(line));
            let wanted = Tool::PEERS.map(|other| (other == tool).then_some(version));
            assert_eq!(known, wanted);
        }
    }

    #[test]
    fn what_is_no_peer_is_refused() {
        for path in ["/bin/echo", "/nowhere/iperf3"] {
            let why = Program::given(Path::new(path)).unwrap_err();
            assert!(why.contains(path), "{why}");
        }
    }
}
