// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate man`: the manual pages, generated from the text of `--help`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::args::Cli;
use crate::exit::Exit;
use linerate_model::failure::Failure;

/// One page: of a command, or of linerate itself.
pub(super) fn page(name: Option<&str>) -> Result<String, Failure> {
    let top = Cli::command();
    let command = match name {
        None => top,
        Some(name) => subcommand(&top, name)?,
    };
    render(command).map_err(|error| Failure::measuring("make the page", error))
}

/// Every page, into this directory.
pub(super) fn write_all(dir: &Path) -> Result<Vec<String>, Failure> {
    let fail = |error: io::Error| {
        Failure::measuring(format!("write the pages to {}", dir.display()), error)
    };
    fs::create_dir_all(dir).map_err(fail)?;
    let top = Cli::command();
    let pages = std::iter::once(top.clone()).chain(top.get_subcommands().map(paged));
    let mut written = Vec::new();
    for command in pages {
        let file = format!("{}.1", command.get_name());
        fs::write(dir.join(&file), render(command).map_err(fail)?).map_err(fail)?;
        written.push(file);
    }
    Ok(written)
}

fn subcommand(top: &Command, name: &str) -> Result<Command, Failure> {
    let found = top
        .get_subcommands()
        .find(|command| command.get_name() == name);
    found.map(paged).ok_or_else(|| {
        let names: Vec<&str> = top.get_subcommands().map(Command::get_name).collect();
        Failure::usage(format!("show the page of '{name}'"), "no such command")
            .hint(format!("one of {}", names.join(", ")))
    })
}

/// A subcommand as its own page: `linerate-check`.
fn paged(command: &Command) -> Command {
    let name = command.get_name();
    let (page, called) = (format!("linerate-{name}"), format!("linerate {name}"));
    command
        .clone()
        .name(page)
        .bin_name(called)
        .version(env!("CARGO_PKG_VERSION"))
}

fn render(command: Command) -> io::Result<String> {
    let examples = examples(&command);
    let own = command.get_name().to_owned();
    let command = command.before_long_help("").before_help("").after_help("");
    let fault_help = command.get_after_long_help().map(ToString::to_string);
    let man = Man::new(command.after_long_help(""))
        .section("1")
        .source("linerate");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if own == "linerate" {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(faults) = fault_help.filter(|text| !text.is_empty()) {
        verbatim(&mut page, "FAULTS", &faults)?;
    }
    exit_status(&mut page)?;
    entries(&mut page, "FILES", FILES)?;
    entries(&mut page, "ENVIRONMENT", ENVIRONMENT)?;
    verbatim(&mut page, "EXAMPLES", &examples)?;
    see_also(&mut page, &own)?;
    Ok(String::from_utf8(page).unwrap_or_default())
}

/// The examples of `--help`, without their heading and margin.
pub(super) fn examples(command: &Command) -> String {
    let text = command
        .get_before_long_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let lines = text.lines().skip(1).map(str::trim_start);
    lines.collect::<Vec<_>>().join("\n")
}

fn exit_status(page: &mut impl Write) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in Exit::ALL {
        roff.control("TP", [])
            .text([bold(exit.code().to_string())])
            .text([roman(meaning)]);
    }
    roff.to_writer(page)
}

fn entries(page: &mut impl Write, heading: &str, entries: &[(&str, &str)]) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    for (name, meaning) in entries {
        roff.control("TP", [])
            .text([bold(*name)])
            .text([roman(*meaning)]);
    }
    roff.to_writer(page)
}

fn verbatim(page: &mut impl Write, heading: &str, text: &str) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [heading]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}

fn see_also(page: &mut impl Write, own: &str) -> io::Result<()> {
    let top = Cli::command();
    let pages = top
        .get_subcommands()
        .map(|command| format!("linerate-{}(1)", command.get_name()));
    let ours = std::iter::once("linerate(1)".to_owned()).chain(pages);
    let others = OTHERS.iter().map(|page| (*page).to_owned());
    let all: Vec<String> = ours
        .filter(|page| *page != format!("{own}(1)"))
        .chain(others)
        .collect();
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"])
        .text([roman(all.join(", "))]);
    roff.to_writer(page)
}

const FILES: &[(&str, &str)] = &[(
    "${XDG_STATE_HOME:-~/.local/state}/linerate/runs/",
    "a directory for each run: run.json, samples.jsonl",
)];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "no colour, unless --color always"),
    ("CLICOLOR_FORCE", "colour even if stdout is not a terminal"),
    ("TERM", "dumb: no colour, no status line"),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "a locale without UTF-8 gets only ASCII characters",
    ),
    ("COLUMNS", "width of the text"),
    ("XDG_STATE_HOME, HOME", "where runs are stored"),
];

const OTHERS: &[&str] = &["ethtool(8)", "ip(8)", "ss(8)", "tc(8)", "iperf3(1)"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_every_section() {
        let top = Cli::command();
        let names = top
            .get_subcommands()
            .map(|command| Some(command.get_name()));
        for name in std::iter::once(None).chain(names) {
            let page = page(name).unwrap();
            for section in [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "EXIT STATUS",
                "FILES",
                "ENVIRONMENT",
                "EXAMPLES",
                "SEE ALSO",
            ] {
                let quoted = format!(".SH \"{section}\"");
                assert!(
                    page.contains(&format!(".SH {section}\n")) || page.contains(&quoted),
                    "{name:?} lacks {section}"
                );
            }
            assert!(page.contains("linerate "), "{name:?} has no example");
        }
    }

    #[test]
    fn an_unknown_page_is_refused_with_the_known_ones() {
        let failure = page(Some("chekc")).unwrap_err();
        assert!(failure.to_string().contains("check, tcp, udp"), "{failure}");
    }
}
