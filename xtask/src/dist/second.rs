// SPDX-License-Identifier: MIT OR Apache-2.0
//! `dist --reproducible`: the same source, built a second time in another directory, with another home, user, time zone and
//! locale, must give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Build;
use crate::build::Place;
use crate::package::archive;
use crate::process;
use crate::tally::Tally;

/// Builds each of `builds` again and compares.
pub(super) fn run(builds: &[Build], first: &Place, tally: &mut Tally) {
    let second = Checkout::of(first);
    for build in builds {
        let what = format!("second build of {}", build.target.triple);
        let same = second
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|second| second.compare(build));
        tally.check(&what, same);
    }
}

/// A copy of the source with a home of its own; removed when dropped.
#[derive(Debug)]
struct Checkout {
    directory: PathBuf,
    place: Place,
}

impl Checkout {
    /// A copy of what git tracks or would track, changes included.
    fn of(first: &Place) -> Result<Self, String> {
        let directory = std::env::temp_dir().join(format!("linerate-{}", std::process::id()));
        let place = place(&directory);
        let copy = Self { directory, place };
        for file in files(&first.root)? {
            copy_file(&first.root.join(&file), &copy.place.root.join(&file))?;
        }
        copy.furnish(&first.cargo_home)?;
        Ok(copy)
    }

    /// The home of another user, with the crates that the first one has downloaded.
    fn furnish(&self, cargo_home: &Path) -> Result<(), String> {
        let home = &self.place.cargo_home;
        fs::create_dir_all(home).map_err(|why| failure(home, &why))?;
        for name in ["registry", "git", "config.toml", "config"] {
            let (from, to) = (cargo_home.join(name), home.join(name));
            if from.exists() {
                std::os::unix::fs::symlink(&from, &to).map_err(|why| failure(&to, &why))?;
            }
        }
        Ok(())
    }

    fn compare(&self, first: &Build) -> Result<String, String> {
        let second = first.target.build(&self.place, first.profile)?;
        let bytes = [&first.path, &second.path]
            .map(|path| fs::read(path).map_err(|why| failure(path, &why)));
        let [ours, theirs] = bytes;
        let (ours, theirs) = (ours?, theirs?);
        match difference(&ours, &theirs) {
            None => Ok(format!(
                "the same {} bytes in another directory ({:.0} s), SHA-256 {}",
                ours.len(),
                second.took.as_secs_f64(),
                archive::sha256(&ours)
            )),
            Some(at) => Err(format!("{}: {at}", kept(&first.path, &second.path)?)),
        }
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Left behind, it is in the directory for temporary files.
        let _removed = fs::remove_dir_all(&self.directory);
    }
}

/// Every name differs from the first in its length, too.
fn place(directory: &Path) -> Place {
    let home = directory.join("home");
    let cargo_home = home.join("cargo");
    let text = |path: &Path| path.display().to_string();
    let rustup = || std::env::var("HOME").map(|home| home + "/.rustup");
    let mut environment = vec![
        ("HOME".to_owned(), text(&home)),
        ("CARGO_HOME".to_owned(), text(&cargo_home)),
        ("CARGO_TARGET_DIR".to_owned(), text(&directory.join("out"))),
        ("TMPDIR".to_owned(), text(directory)),
    ];
    let others = [
        ("USER", "second"),
        ("LOGNAME", "second"),
        ("TZ", "Asia/Kathmandu"),
        ("LC_ALL", "C"),
    ];
    environment.extend(others.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // The compiler is the same one.
    if let Ok(rustup) = std::env::var("RUSTUP_HOME").or_else(|_| rustup()) {
        environment.push(("RUSTUP_HOME".to_owned(), rustup));
    }
    Place {
        root: directory.join("a/second/checkout"),
        cargo_home,
        environment,
    }
}

/// What git tracks or would track.
fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ])
    .current_dir(root);
    let listed = process::run(&mut git, Duration::from_secs(30))?;
    if !listed.status.success() {
        return Err(format!(
            "git ls-files: {}",
            process::last_line(&listed.stderr)
        ));
    }
    let names = listed.stdout.split_terminator('\0').map(PathBuf::from);
    // A tracked file may have been removed.
    Ok(names.filter(|name| root.join(name).is_file()).collect())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    let parent = to.parent().unwrap_or(to);
    fs::create_dir_all(parent).map_err(|why| failure(parent, &why))?;
    fs::copy(from, to)
        .map(drop)
        .map_err(|why| failure(from, &why))
}

/// Where the first of both differs from the second.
fn difference(first: &[u8], second: &[u8]) -> Option<String> {
    if first == second {
        return None;
    }
    let at = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    Some(format!(
        "{} and {} bytes, the first difference at byte {at}",
        first.len(),
        second.len()
    ))
}

/// Keeps the second binary next to the first.
fn kept(first: &Path, second: &Path) -> Result<String, String> {
    let copy = first.with_extension("second");
    fs::copy(second, &copy).map_err(|why| failure(&copy, &why))?;
    Ok(format!("{} and {} differ", first.display(), copy.display()))
}

fn failure(path: &Path, why: &std::io::Error) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_source_and_no_name_of_the_first_place() {
        let first = Place::here();
        let second = Checkout::of(&first).unwrap();
        let manifest = |place: &Place| fs::read(place.root.join("Cargo.toml")).unwrap();
        assert_eq!(manifest(&first), manifest(&second.place));
        assert!(
            second
                .place
                .root
                .join("crates/linerate/src/main.rs")
                .exists()
        );
        assert!(!second.place.root.join("target").exists());
        assert_ne!(first.root, second.place.root);
        assert_ne!(first.cargo_home, second.place.cargo_home);
        let directory = second.directory.clone();
        drop(second);
        assert!(!directory.exists());
        assert!(first.root.join("Cargo.toml").exists());
    }

    #[test]
    fn binaries_that_differ_are_not_the_same() {
        assert_eq!(difference(b"linerate", b"linerate"), None);
        let at = difference(b"linerate", b"linetest!").unwrap();
        assert!(
            at.contains("8 and 9 bytes") && at.ends_with("at byte 4"),
            "{at}"
        );
        let longer = difference(b"line", b"linerate").unwrap();
        assert!(longer.ends_with("at byte 4"), "{longer}");
    }
}
