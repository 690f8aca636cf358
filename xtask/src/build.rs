// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the program for a target and says where the binary is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// One binary.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its size.
    pub(crate) bytes: u64,
    /// How long the build took.
    pub(crate) took: Duration,
}

/// Where a build reads and writes. No name of it may enter the binary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The workspace.
    pub(crate) root: PathBuf,
    /// Where cargo keeps the sources of crates.
    pub(crate) cargo_home: PathBuf,
    /// What differs from this process's environment.
    pub(crate) environment: Vec<(String, String)>,
}

impl Place {
    /// This checkout, this user.
    pub(crate) fn here() -> Self {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        Self {
            root: workspace.unwrap_or(Path::new(".")).to_owned(),
            cargo_home: cargo_home.or_else(home).unwrap_or_default(),
            environment: Vec::new(),
        }
    }
}

/// Which build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub(crate) place: &'a Place,
    /// cargo's subcommand: `build`, or another that takes the same options.
    pub(crate) subcommand: &'a str,
    /// Target triple.
    pub(crate) triple: &'a str,
    /// cargo profile.
    pub(crate) profile: &'a str,
    /// More options.
    pub(crate) options: &'a [&'a str],
    /// Environment.
    pub(crate) environment: &'a [(String, String)],
}

/// Builds package `linerate`.
///
/// # Errors
/// The last of what cargo complained about.
pub(crate) fn build(recipe: Recipe<'_>) -> Result<Binary, String> {
    let start = Instant::now();
    let output = Command::new(cargo())
        .args([recipe.subcommand, "--quiet", "--package", "linerate"])
        .args(["--profile", recipe.profile, "--target", recipe.triple])
        .arg("--message-format=json-render-diagnostics")
        .args(recipe.options)
        .envs(recipe.place.environment.iter().cloned())
        .envs(recipe.environment.iter().cloned())
        .current_dir(&recipe.place.root)
        .output()
        .map_err(|why| format!("start cargo: {why}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let error = text.lines().find(|line| line.starts_with("error"));
        return Err(error.unwrap_or(crate::process::last_line(&text)).to_owned());
    }
    let path = executable(&String::from_utf8_lossy(&output.stdout), "linerate")
        .ok_or("cargo named no executable")?;
    let bytes = std::fs::metadata(&path)
        .map_err(|why| format!("{}: {why}", path.display()))?
        .len();
    let took = start.elapsed();
    Ok(Binary { path, bytes, took })
}

/// Builds the program for this machine, in profile release; its path.
///
/// # Errors
/// As [`build`].
pub(crate) fn program() -> Result<PathBuf, String> {
    let output = Command::new(cargo())
        .args(["build", "--quiet", "--release", "--package", "linerate"])
        .arg("--message-format=json-render-diagnostics")
        .output()
        .map_err(|why| format!("start cargo: {why}"))?;
    let path = executable(&String::from_utf8_lossy(&output.stdout), "linerate");
    path.ok_or_else(|| "linerate cannot be built".to_owned())
}

/// Builds an example of a package for this machine, in profile release; its path.
///
/// # Errors
/// As [`build`].
pub(crate) fn example(package: &str, name: &str) -> Result<String, String> {
    let output = Command::new(cargo())
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            package,
            "--example",
            name,
        ])
        .arg("--message-format=json-render-diagnostics")
        .output()
        .map_err(|why| format!("start cargo: {why}"))?;
    let path = executable(&String::from_utf8_lossy(&output.stdout), name);
    let path = path.ok_or_else(|| format!("{package}: example {name} cannot be built"))?;
    Ok(path.display().to_string())
}

/// The `executable` of the artifact messages.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Whether the standard library of `triple` is installed.
pub(crate) fn has_std(triple: &str) -> bool {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .output();
    output.is_ok_and(|output| {
        let directory = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success()
            && Path::new(&directory)
                .join(".")
                .read_dir()
                .is_ok_and(|mut d| d.next().is_some())
    })
}

/// Whether rustc's musl unpacks relocations that are packed (`DT_RELR`, a fortieth of their size): 1.2.4 does,
/// which came with Rust 1.93. An older one would start the program without any.
pub(crate) fn musl_packs_relocations() -> bool {
    rustc_version().is_some_and(|version| {
        let minor = version.split('.').nth(1);
        minor.is_some_and(|minor| minor.parse().is_ok_and(|minor: u32| minor >= 93))
    })
}

/// Whether `program` is in `PATH`.
pub(crate) fn has_program(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|directory| directory.join(program).is_file())
}

/// Options that give each source file the same name wherever it is: messages of panics name it, so it is in the
/// binary. A path with a space cannot be an option here, and stays.
pub(crate) fn remapped_paths(place: &Place) -> String {
    let cargo = place.cargo_home.display().to_string();
    let workspace = place.root.display().to_string();
    // The last that fits counts.
    let mut names = vec![(cargo, "/cargo".to_owned())];
    names.extend(registries(&place.cargo_home).map(|path| (path, "/crates".to_owned())));
    names.push((workspace, "/linerate".to_owned()));
    names.push(library_source());
    names
        .iter()
        .filter(|(path, _)| !path.is_empty() && !path.contains(' '))
        .map(|(path, name)| format!(" --remap-path-prefix={path}={name}"))
        .collect()
}

/// The sources of crates by registry. The name of each directory is a hash of an address: of crates.io's, or of a mirror's.
fn registries(cargo_home: &Path) -> impl Iterator<Item = String> {
    let sources = cargo_home.join("registry/src");
    let crates_io = sources.join("index.crates.io-1949cf8c6b5b557f");
    let entries = sources.read_dir().into_iter().flatten().flatten();
    let others = entries.map(|entry| entry.path());
    let all =
        std::iter::once(crates_io.clone()).chain(others.filter(move |path| *path != crates_io));
    all.map(|path| path.display().to_string())
}

/// The source of the standard library, where it is installed, and its name in a compiler without it.
fn library_source() -> (String, String) {
    let version = rustc(&["-vV"]);
    let hash = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "));
    let source = sysroot() + "/lib/rustlib/src/rust";
    (source, format!("/rustc/{}", hash.unwrap_or_default()))
}

/// Where the compiler is installed.
pub(crate) fn sysroot() -> String {
    rustc(&["--print", "sysroot"])
}

/// What rustc prints; empty where there is none.
fn rustc(arguments: &[&str]) -> String {
    let output = Command::new("rustc").args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Which compiler is in use: `1.95.0`.
pub(crate) fn rustc_version() -> Option<String> {
    rustc(&["--version"]).split(' ').nth(1).map(str::to_owned)
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether the source of the standard library is installed.
pub(crate) fn has_std_source() -> bool {
    let source = Path::new(&sysroot()).join("lib/rustlib/src/rust/library");
    source.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_source_file_depends_on_this_machine() {
        let place = Place::here();
        let options = remapped_paths(&place);
        let names: Vec<&str> = options
            .split(" --remap-path-prefix=")
            .skip(1)
            .filter_map(|option| option.split_once('=').map(|(_, name)| name))
            .collect();
        let [cargo, crates @ .., workspace, library] = &names[..] else {
            panic!("{options}");
        };
        assert_eq!([*cargo, *workspace], ["/cargo", "/linerate"]);
        assert!(!crates.is_empty() && crates.iter().all(|name| *name == "/crates"));
        let mirror = place.cargo_home.join("registry/src/index.crates.io-");
        assert!(options.contains(&format!("={}", mirror.display())));
        assert!(library.starts_with("/rustc/"), "{library}");
    }
}
