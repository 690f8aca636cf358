// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;

/// The script that teaches a shell the command line.
pub(super) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "linerate", &mut script);
    String::from_utf8(script).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_every_command() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for command in Cli::command().get_subcommands() {
                assert!(
                    script.contains(command.get_name()),
                    "{shell}: {}",
                    command.get_name()
                );
            }
            assert!(script.contains("bind-dev"), "{shell}");
        }
    }
}
