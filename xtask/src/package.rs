// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask dist --packages`: what a distribution installs, from the binaries that `dist` built. The same commit gives
//! the same bytes.

mod apk;
pub(crate) mod archive;
mod check;
mod date;
mod deb;
mod image;
mod payload;
mod rpm;
mod sbom;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::dist::{Build, Names};
use crate::tally::Tally;
use crate::{build, process};
use payload::Parts;

/// One file that a package installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Without a slash at its beginning.
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(path: impl Into<String>, mode: u32, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            mode,
            bytes: bytes.into(),
        }
    }
}

/// What every package states of the program.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) version: String,
    /// The time of every file, in seconds since 1970: SOURCE_DATE_EPOCH, or the commit's.
    pub(crate) time: u64,
}

/// Makes the packages of all `builds`; with `check`, makes them twice and installs the native ones.
pub(crate) fn run(builds: &[Build], check: bool, tally: &mut Tally) {
    match Workshop::open(builds) {
        Ok(workshop) => workshop.work(builds, check, tally),
        Err(why) => tally.check("packages", Err(why)),
    }
}

/// What is needed to make packages.
#[derive(Debug)]
struct Workshop {
    root: PathBuf,
    /// Where the packages go: `target/packages`.
    directory: PathBuf,
    native: PathBuf,
    release: Release,
    sbom: Vec<u8>,
}

impl Workshop {
    fn open(builds: &[Build]) -> Result<Self, String> {
        let native = builds.iter().find(|build| build.target.is_native());
        let native = native
            .ok_or("there is no binary for this machine to print man pages and completions")?;
        let triples: Vec<&str> = builds.iter().map(|build| build.target.triple).collect();
        let metadata = metadata()?;
        let path = |key: &str| {
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .ok_or("cargo metadata names no directory")
        };
        let root = path("workspace_root")?;
        let release = Release {
            version: version(&metadata)?,
            time: time(&root)?,
        };
        let directory = path("target_directory")?.join("packages");
        // What an earlier run made, perhaps of another version.
        let _absent = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).map_err(|why| format!("{}: {why}", directory.display()))?;
        let sbom = sbom::build(&release, &metadata, &triples)?;
        Ok(Self {
            root,
            directory,
            native: native.path.clone(),
            release,
            sbom,
        })
    }

    fn work(&self, builds: &[Build], check: bool, tally: &mut Tally) {
        let made = self.packages(builds).and_then(|first| {
            if check && first != self.packages(builds)? {
                return Err("two builds of the packages differ".into());
            }
            self.write(&first)?;
            Ok(first)
        });
        let made = match made {
            Ok(made) => made,
            Err(why) => return tally.check("packages", Err(why)),
        };
        for package in &made {
            let mib = package.bytes.len() as f64 / f64::from(1 << 20);
            tally.check(&package.path, Ok(format!("{mib:.2} MiB")));
        }
        if check {
            tally.check(
                "reproducible packages",
                Ok(format!("{} files twice, the same bytes", made.len())),
            );
            check::run(&self.directory, &self.release, &self.older(builds), tally);
        }
    }

    /// Every package with its name in `target/packages`, and their checksums.
    fn packages(&self, builds: &[Build]) -> Result<Vec<File>, String> {
        let parts = self.parts()?;
        let bill = format!("linerate-{}.cdx.json", self.release.version);
        let mut packages = vec![File::new(bill, 0o644, self.sbom.as_slice())];
        packages.extend(source(&self.root, &self.release.version));
        for build in builds {
            for package in of_one_target(&self.release, &parts, build)? {
                // Two C libraries of one architecture: the first in the list of targets is packaged.
                if packages.iter().all(|made| made.path != package.path) {
                    packages.push(package);
                }
            }
        }
        packages.sort_by(|a, b| a.path.cmp(&b.path));
        let sums = sums(&packages);
        packages.push(File::new("SHA256SUMS", 0o644, sums));
        Ok(packages)
    }

    /// What every package holds.
    fn parts(&self) -> Result<Parts, String> {
        let man = self.directory.join("man");
        Parts::gather(&self.native, &self.root, &man, &self.sbom)
    }

    fn write(&self, packages: &[File]) -> Result<(), String> {
        for package in packages {
            let path = self.directory.join(&package.path);
            fs::write(&path, &package.bytes).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        Ok(())
    }

    /// The native deb of a lower version, from which the check upgrades.
    fn older(&self, builds: &[Build]) -> Result<Vec<u8>, String> {
        let older = Release {
            version: "0.0.1".into(),
            ..self.release.clone()
        };
        let parts = self.parts()?;
        let native = builds.iter().find(|build| build.target.is_native());
        let native = native.ok_or("no binary for this machine")?;
        let binary = read(&native.path)?;
        deb::build(
            &older,
            native.target.names.deb,
            &parts.deb(&older, &binary)?,
        )
    }
}

fn of_one_target(release: &Release, parts: &Parts, build: &Build) -> Result<Vec<File>, String> {
    let Names {
        deb,
        rpm,
        apk,
        image,
    } = build.target.names;
    let binary = read(&build.path)?;
    let version = &release.version;
    let named = |name: String, bytes: Vec<u8>| File::new(name, 0o644, bytes);
    let mut packages = vec![
        named(
            format!("linerate_{version}_{deb}.deb"),
            deb::build(release, deb, &parts.deb(release, &binary)?)?,
        ),
        named(
            format!("linerate-{version}-1.{rpm}.rpm"),
            rpm::build(release, rpm, &parts.rpm(&binary)?)?,
        ),
        tarball(release, parts, build, &binary)?,
    ];
    if let Some(apk) = apk {
        let bytes = apk::build(release, apk, &parts.apk(&binary)?)?;
        packages.push(named(format!("linerate-{version}-r0.{apk}.apk"), bytes));
    }
    if let Some(platform) = image {
        let bytes = image::build(release, platform, &parts.image(&binary))?;
        let name = platform.0.to_owned() + platform.1.unwrap_or_default();
        packages.push(named(format!("linerate-{version}-{name}.oci.tar"), bytes));
    }
    Ok(packages)
}

fn tarball(release: &Release, parts: &Parts, build: &Build, binary: &[u8]) -> Result<File, String> {
    let triple = build.target.triple.replace("-unknown", "");
    let name = format!("linerate-{}-{triple}", release.version);
    let files: Vec<File> = parts
        .tarball(binary)
        .into_iter()
        .map(|file| File {
            path: format!("{name}/{}", file.path),
            ..file
        })
        .collect();
    let tar = archive::tar(&files, archive::Style::PLAIN, release.time)?;
    Ok(File::new(
        format!("{name}.tar.gz"),
        0o644,
        archive::gzip(&tar)?,
    ))
}

/// The source of the commit, from which recipes build; none outside a git repository.
fn source(root: &Path, version: &str) -> Option<File> {
    let name = format!("linerate-{version}");
    let mut git = Command::new("git");
    git.args(["archive", "--format=tar", "HEAD"])
        .arg(format!("--prefix={name}/"))
        .current_dir(root);
    let archive = git.output().ok().filter(|git| git.status.success())?;
    let bytes = archive::gzip(&archive.stdout).ok()?;
    Some(File::new(format!("{name}.tar.gz"), 0o644, bytes))
}

/// As sha256sum(1) prints and `sha256sum -c` reads them.
fn sums(packages: &[File]) -> String {
    let line = |file: &File| format!("{}  {}\n", archive::sha256(&file.bytes), file.path);
    packages.iter().map(line).collect()
}

fn metadata() -> Result<Value, String> {
    let mut metadata = Command::new(build::cargo());
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    let metadata = process::run(&mut metadata, Duration::from_secs(120))?;
    if !metadata.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            process::last_line(&metadata.stderr)
        ));
    }
    serde_json::from_str(&metadata.stdout).map_err(|why| format!("cargo metadata: {why}"))
}

fn version(metadata: &Value) -> Result<String, String> {
    let packages = metadata["packages"].as_array();
    let program = packages
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "linerate");
    let version = program.and_then(|program| program["version"].as_str());
    version
        .map(str::to_owned)
        .ok_or_else(|| "cargo metadata: no version of linerate".into())
}

/// <https://reproducible-builds.org/specs/source-date-epoch/>, else the time of the commit.
fn time(root: &Path) -> Result<u64, String> {
    if let Ok(set) = std::env::var("SOURCE_DATE_EPOCH") {
        return set.parse().map_err(|_| {
            format!("SOURCE_DATE_EPOCH: {set} is not a number of seconds since 1970")
        });
    }
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root);
    let commit =
        process::run(&mut git, Duration::from_secs(30)).map(|git| git.stdout.trim().parse());
    let Ok(Ok(time)) = commit else {
        return Err(
            "packages: no commit gives their time (set SOURCE_DATE_EPOCH to seconds since 1970)"
                .into(),
        );
    };
    Ok(time)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|why| format!("{}: {why}", path.display()))
}

const MAINTAINER: &str = "linerate maintainers <maintainers@linerate.invalid>";
const LICENSE: &str = "MIT OR Apache-2.0";
const SUMMARY: &str = "measure a network link and explain what limits it";
const DESCRIPTION: &str = "\
linerate measures TCP and UDP in both directions, every lost, duplicated and
reordered datagram, latency under load, and the highest rate without loss.
It shows where each lost packet died and proposes a change. It is one static
binary and speaks the protocol of iperf3.";
