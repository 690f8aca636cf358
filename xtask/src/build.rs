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

/// Which build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
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
        .envs(recipe.environment.iter().cloned())
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
pub(crate) fn remapped_paths() -> String {
    let cargo = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"))
        .unwrap_or_default();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let workspace = workspace.map_or_else(String::new, |root| root.display().to_string());
    // The last that fits counts. The name of crates.io's directory is a hash of its address.
    let crates = format!("{cargo}/registry/src/index.crates.io-1949cf8c6b5b557f");
    let names = [
        (cargo, "/cargo".to_owned()),
        (crates, "/crates".to_owned()),
        (workspace, "/linerate".to_owned()),
        library_source(),
    ];
    names
        .iter()
        .filter(|(path, _)| !path.is_empty() && !path.contains(' '))
        .map(|(path, name)| format!(" --remap-path-prefix={path}={name}"))
        .collect()
}

/// The source of the standard library, where it is installed, and its name in a compiler without it.
fn library_source() -> (String, String) {
    let query = |arguments: &[&str]| {
        let output = Command::new("rustc").args(arguments).output();
        output.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        )
    };
    let version = query(&["-vV"]);
    let hash = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "));
    let source = query(&["--print", "sysroot"]) + "/lib/rustlib/src/rust";
    (source, format!("/rustc/{}", hash.unwrap_or_default()))
}

/// Which compiler is in use: `1.95.0`.
pub(crate) fn rustc_version() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split(' ').nth(1).map(str::to_owned)
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether the source of the standard library is installed.
pub(crate) fn has_std_source() -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Path::new(&sysroot)
            .join("lib/rustlib/src/rust/library")
            .is_dir()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_source_file_depends_on_this_machine() {
        let options = remapped_paths();
        let names: Vec<&str> = options
            .split(" --remap-path-prefix=")
            .skip(1)
            .filter_map(|option| option.split_once('=').map(|(_, name)| name))
            .collect();
        let [cargo, crates, workspace, library] = names[..] else {
            panic!("{options}");
        };
        assert_eq!(
            [cargo, crates, workspace],
            ["/cargo", "/crates", "/linerate"]
        );
        assert!(library.starts_with("/rustc/"), "{library}");
    }
}
