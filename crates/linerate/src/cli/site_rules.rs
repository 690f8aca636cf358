// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--rules DIR`: a site's rules in addition to the built-in ones. One of the same id
//! replaces ours.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use linerate_diagnose::rules::{self, Rule};

use super::session;
use crate::input;
use linerate_model::failure::Failure;
use linerate_model::order;

/// The program's own rules. A file of them that is wrong takes no part, which `say` tells.
pub(super) fn built_in(say: impl FnOnce(&str)) -> &'static [Rule] {
    if let Some(first) = rules::embedded_mistakes().first() {
        say(&format!(
            "rules that this program carries are left out, because their file is wrong: {first}; please report it"
        ));
    }
    rules::embedded()
}

/// The program's rules, and those of a directory.
///
/// # Errors
/// The directory cannot be read, has no rule, or a rule in it is wrong: every mistake is reported.
pub(super) fn with(directory: Option<&Path>) -> Result<Cow<'static, [Rule]>, Failure> {
    let Some(directory) = directory else {
        return Ok(built_in(session::say).into());
    };
    let own = read(directory)?;
    let mut all = built_in(session::say).to_vec();
    all.retain(|rule| !own.iter().any(|own| own.id == rule.id));
    all.extend(own);
    Ok(all.into())
}

fn read(directory: &Path) -> Result<Vec<Rule>, Failure> {
    let what = || format!("read the rules in {}", directory.display());
    let entries = fs::read_dir(directory).map_err(|error| {
        Failure::usage(what(), error)
            .hint("a directory with at least one [[rule]] in a file NAME.toml")
    })?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    order::by(&mut files, Ord::cmp);
    let mut understood = Vec::new();
    let mut mistakes = Vec::new();
    for path in &files {
        let name = path.display().to_string();
        let text = input::named(path)
            .map_err(|error| Failure::usage(what(), format!("{name}: {error}")))?;
        match rules::parse(&name, &text) {
            Ok(rules) => understood.push((name, rules)),
            Err(found) => mistakes.extend(found),
        }
    }
    if !mistakes.is_empty() {
        let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(what(), texts.join("\n"))
            .hint("knowledge/README.md in the sources has a complete example"));
    }
    let rules: Vec<Rule> = understood
        .into_iter()
        .flat_map(|(_, rules)| rules)
        .collect();
    if rules.is_empty() {
        return Err(
            Failure::usage(what(), "there is no rule in a file NAME.toml")
                .hint("a directory with at least one [[rule]]"),
        );
    }
    Ok(rules)
}
