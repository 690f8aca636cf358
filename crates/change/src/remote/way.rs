// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way to an agent on another host, and what its end means.

use std::fmt;
use std::process::{Command, ExitStatus};

use linerate_model::failure::printable;

/// How an agent is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// `ssh HOST linerate agent --stdio` and a flag that says which agent.
    Ssh {
        /// The host, as ssh takes it.
        host: String,
    },
    /// A command that prints an agent's hello, by `/bin/sh -c`.
    Command {
        /// The command.
        line: String,
    },
}

impl Way {
    /// It asks nothing on a terminal. `flag` says which agent ssh starts.
    pub(super) fn command(&self, flag: &str) -> Command {
        match self {
            Self::Ssh { host } => {
                let mut ssh = Command::new("ssh");
                ssh.args(["-T", "-o", "BatchMode=yes", "--", host]);
                ssh.args(AGENT).arg(flag);
                ssh
            }
            Self::Command { line } => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", line]);
                shell
            }
        }
    }

    /// Why it ended without an agent, and what helps. `said` is what it wrote to standard error.
    pub(super) fn ended(&self, status: Option<ExitStatus>, said: &str) -> (String, String) {
        let code = status.and_then(|status| status.code());
        let (why, hint) = match self.known(code, said) {
            Some(known) => known,
            None => {
                let how = status.map_or_else(
                    || "it closed its output".to_owned(),
                    |status| format!("its command has ended ({status})"),
                );
                (how, self.by_hand())
            }
        };
        match last_lines(said) {
            said if said.is_empty() => (why, hint),
            said => (format!("{why}: {said}"), hint),
        }
    }

    fn known(&self, code: Option<i32>, said: &str) -> Option<(String, String)> {
        let place = self.place();
        let (why, hint) = match code? {
            SSH_FAILED if said.contains("Host key verification failed") => (
                "ssh does not trust the host key",
                format!("ssh {place} true   # accept the key only if it is the host's"),
            ),
            SSH_FAILED if said.contains("Permission denied") => (
                "ssh has no key that the host accepts without a password",
                format!("ssh-add, or ssh-copy-id {place}"),
            ),
            SSH_FAILED => ("ssh has no connection", self.by_hand()),
            NOT_FOUND => ("there is no linerate in the PATH there", self.by_hand()),
            NOT_EXECUTABLE => ("linerate cannot be run there", self.by_hand()),
            USAGE if said.contains("unexpected argument") => (
                "the linerate there is older: it has no such agent",
                format!("install this version on {place}"),
            ),
            _ => return None,
        };
        Some((why.to_owned(), hint))
    }

    fn place(&self) -> &str {
        match self {
            Self::Ssh { host } => host,
            Self::Command { .. } => "that host",
        }
    }

    /// What a person can try.
    pub(super) fn by_hand(&self) -> String {
        match self {
            Self::Ssh { host } => format!("ssh {host} linerate --version"),
            Self::Command { line } => format!("{line}   # prints an agent's hello"),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { host } => write!(f, "ssh {host}"),
            Self::Command { line } => write!(f, "`{line}`"),
        }
    }
}

/// The reason is at the end; what is above it are banners and warnings.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    printable(&last.join("; "))
}

const AGENT: [&str; 3] = ["linerate", "agent", "--stdio"];
const LINES: usize = 3;
/// ssh(1), "Exit status": an error occurred. Else it is that of the remote command.
const SSH_FAILED: i32 = 255;
/// POSIX, Shell Command Language 2.8.2: not found; found, and not executable.
const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;
/// Of a linerate: wrong command line.
const USAGE: i32 = 2;

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn ended(code: i32, said: &str) -> (String, String) {
        let host = "root@router".to_owned();
        Way::Ssh { host }.ended(Some(ExitStatus::from_raw(code << 8)), said)
    }

    #[test]
    fn the_end_of_ssh_is_explained() {
        for (code, said, why, hint) in [
            (
                255,
                "@@@\nHost key verification failed.\n",
                "does not trust the host key",
                "ssh root@router",
            ),
            (
                255,
                "x: Permission denied (publickey).\n",
                "no key that the host accepts",
                "ssh-copy-id root@router",
            ),
            (
                255,
                "ssh: connect to host x port 22: Connection refused\n",
                "no connection: ssh: connect",
                "ssh root@router",
            ),
            (
                127,
                "bash: line 1: linerate: command not found\n",
                "no linerate in the PATH there",
                "ssh root@router linerate --version",
            ),
            (
                2,
                "error: unexpected argument '--changes' found\n",
                "older",
                "install this version on root@router",
            ),
            (
                1,
                "",
                "exit status: 1",
                "ssh root@router linerate --version",
            ),
        ] {
            let found = ended(code, said);
            assert!(found.0.contains(why) && found.1.contains(hint), "{found:?}");
        }
    }

    #[test]
    fn what_it_wrote_is_shown_without_what_moves_a_terminal() {
        let (why, _) = ended(1, "1\n2\n3\n\u{1b}[2J4\n5\n");
        assert!(why.ends_with(": 3; [2J4; 5"), "{why}");
    }

    #[test]
    fn a_host_is_never_an_option_of_ssh() {
        let host = "-oProxyCommand=true".to_owned();
        let command = Way::Ssh { host }.command("--changes");
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words[3..5], ["--", "-oProxyCommand=true"]);
    }
}
