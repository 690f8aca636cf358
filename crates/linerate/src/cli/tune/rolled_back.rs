// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes that harmed a host and were rolled back: later campaigns do not try them again, unless the user wants it.
//!
//! The file `rolled-back` in the journal's directory has one line of JSON for each. Users may edit it: a removed line is
//! forgotten, and one that cannot be read is ignored.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linerate_change::{Wanted, parse};
use linerate_linux::clock::wall_ns;
use linerate_linux::file::{open_own, replace_whole};
use linerate_model::date::Date;
use linerate_model::failure::printable;
use linerate_model::output::Role;
use serde::{Deserialize, Serialize};

use super::candidate::{Proposal, Proposals};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    /// When, in RFC 3339.
    at: String,
    /// The name of the host.
    host: String,
    /// The change, as a person would type it.
    command: String,
    /// What happened.
    why: String,
}

/// The file, and the names of the hosts of a campaign.
#[derive(Debug, Default)]
pub(super) struct RolledBackList {
    /// None in a lab: its hosts are new each time.
    path: Option<PathBuf>,
    hosts: BTreeMap<Role, String>,
}

impl RolledBackList {
    /// That of this user, or none.
    pub(super) fn beside(journal: &Path, hosts: BTreeMap<Role, String>) -> Self {
        Self {
            path: Some(journal.with_file_name("rolled-back")),
            hosts,
        }
    }

    /// Leaves to a person what was rolled back before.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn withhold(&self, found: &mut Proposals) -> io::Result<()> {
        let known = self.read()?;
        for proposal in std::mem::take(&mut found.all) {
            match known.iter().rev().find(|line| self.is(line, &proposal)) {
                Some(line) => found.leave(&proposal.finding, &reason(line)),
                None => found.all.push(proposal),
            }
        }
        Ok(())
    }

    /// Forgets these changes: they are tried again.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(super) fn forget(&self, proposals: &[Proposal]) -> io::Result<()> {
        let mut known = self.read()?;
        let before = known.len();
        known.retain(|line| !proposals.iter().any(|one| self.is(line, one)));
        match known.len() == before {
            true => Ok(()),
            false => self.write(&known),
        }
    }

    /// Adds a change.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(super) fn add(&self, proposal: &Proposal, why: &str) -> io::Result<()> {
        let Some(host) = self.hosts.get(&proposal.host) else {
            return Ok(());
        };
        let mut known = self.read()?;
        known.push(Line {
            at: Date::at(wall_ns()).second().to_string(),
            host: host.clone(),
            command: proposal.line.clone(),
            why: why.to_owned(),
        });
        self.write(&known)
    }

    /// The same settings: what a finding proposes for them differs from check to check.
    fn is(&self, line: &Line, proposal: &Proposal) -> bool {
        let setting = |one: &Wanted| (one.knob.clone(), one.interface.clone());
        let settings = |all: &[Wanted]| all.iter().map(setting).collect::<Vec<_>>();
        self.hosts.get(&proposal.host) == Some(&line.host)
            && parse(&line.command).is_some_and(|all| settings(&all) == settings(&proposal.wanted))
    }

    fn read(&self) -> io::Result<Vec<Line>> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        match open_own(path, false) {
            Ok(file) => file.take(LONGEST).read_to_end(&mut bytes)?,
            Err(why) if why.kind() == io::ErrorKind::NotFound => 0,
            Err(why) => return Err(why),
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines();
        Ok(lines
            .filter_map(|line| linerate_wire::json::text(line).ok())
            .collect())
    }

    fn write(&self, all: &[Line]) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut text = String::new();
        for line in all {
            text += &serde_json::to_string(line).map_err(io::Error::other)?;
            text.push('\n');
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace_whole(path, text.as_bytes())
    }
}

/// More lines than a person would read.
const LONGEST: u64 = 1 << 20;

fn reason(line: &Line) -> String {
    let [at, why] = [&line.at, &line.why].map(|text| printable(text));
    let day = at.split('T').next().unwrap_or_default();
    format!("it was rolled back on {day}: {why}; --retry tries it again")
}

#[cfg(test)]
mod tests {
    use linerate_model::output::{Change, Finding};

    use super::*;

    fn proposal(host: Role, line: &str) -> Proposal {
        Proposal {
            host,
            finding: Finding {
                rule: "E01".to_owned(),
                change: Some(Change::default()),
                ..Finding::default()
            },
            line: line.to_owned(),
            wanted: parse(line).unwrap(),
            risk: "blip".to_owned(),
        }
    }

    fn list(name: &str) -> RolledBackList {
        let directory =
            std::env::temp_dir().join(format!("linerate-{name}-{}", std::process::id()));
        let hosts = [Role::Local, Role::Remote].map(|role| (role, format!("{role:?}")));
        RolledBackList::beside(&directory.join("state/journal"), hosts.into())
    }

    #[test]
    fn what_was_rolled_back_is_not_tried_again_until_it_is_forgotten() {
        let list = list("rolled-back");
        let (rings, gro) = ("ethtool -G eth0 rx 4096", "ethtool -K eth0 gro on");
        let bad = proposal(Role::Remote, rings);
        let all = [
            bad.clone(),
            proposal(Role::Local, rings),
            proposal(Role::Remote, gro),
        ];
        let withheld = || {
            let mut found = Proposals {
                all: all.to_vec(),
                by_hand: Vec::new(),
            };
            list.withhold(&mut found).unwrap();
            found
        };
        assert_eq!(withheld().all.len(), 3);
        list.add(&bad, "eth0 has had no link for 10 s").unwrap();
        let found = withheld();
        assert_eq!(found.all, all[1..]);
        let other_value = proposal(Role::Remote, "ethtool -G eth0 rx 2048");
        let mut same = Proposals {
            all: vec![other_value],
            by_hand: Vec::new(),
        };
        list.withhold(&mut same).unwrap();
        assert!(same.all.is_empty());
        let why = &found.by_hand[0].why;
        let expected = ": eth0 has had no link for 10 s; --retry tries it again";
        assert!(
            why.starts_with("it was rolled back on 2") && why.ends_with(expected),
            "{why}"
        );
        list.forget(&all[1..]).unwrap();
        assert_eq!(withheld().all.len(), 2, "others");
        list.forget(&all).unwrap();
        assert_eq!(withheld().all.len(), 3);
        let path = list.path.as_deref().unwrap();
        fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
    }

    #[test]
    fn a_torn_line_is_ignored_and_a_lab_has_no_list() {
        let list = list("torn");
        let path = list.path.as_deref().unwrap();
        let one = proposal(Role::Local, "ethtool -K eth0 gro on");
        list.add(&one, "heat").unwrap();
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, format!("{{\"at\":\n{text}{}", &text[..20])).unwrap();
        let with_garbage = [fs::read(path).unwrap(), vec![255, 254, 10]].concat();
        fs::write(path, with_garbage).unwrap();
        assert_eq!(list.read().unwrap().len(), 1);
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        assert!(list.read().is_err() && list.add(&one, "heat").is_err());
        fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
        let lab = RolledBackList::default();
        lab.add(&one, "heat").unwrap();
        assert_eq!(lab.read().unwrap(), []);
    }
}
