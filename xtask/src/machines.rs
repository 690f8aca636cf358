// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines [--short] [--write] [--kept] [--binary PATH]... [NIC...]`: linerate on real drivers. Each NIC that QEMU emulates
//! is booted under Debian's kernel, measures against this host in both roles, and shows what it reads: a table of all.
//! `--kept` boots none: the table of the results that are there. `--binary` is a program that is not to be built.
//! Before all other words: `--small` ([`small`]), `--causes`, `--settings` ([`settings`]), `--offloads` ([`offloads`]), `--persist` ([`persist`]), `--middle`, and `--recorded`, which judges recorded runs ([`recorded`]).
//!
//! The host's end is in namespaces without a name that end with this process: nothing is left behind.

mod causes;
mod cpio;
mod debian;
mod expected;
mod guest;
mod host;
mod image;
mod middle;
mod network;
mod nic;
mod offloads;
mod page;
mod persist;
mod recorded;
mod results;
mod session;
mod settings;
mod short;
mod small;
mod steps;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::build::{Place, has_program};
use crate::process::{self, Server};
use crate::tally::Tally;
use crate::{Outcome, dist};
use host::{Budget, Others};
use image::Image;
use nic::{Board, NICS, Nic, SHORT};
use results::Results;

/// The program of this machine, and the image that boots a NIC's board with its own.
fn bootable(nic: &Nic, options: &Options) -> Result<(PathBuf, Image), Box<dyn std::error::Error>> {
    let ours = options.binary(Board::Pc)?;
    let of_guest = match nic.board {
        Board::Pc => ours.clone(),
        board => options.binary(board)?,
    };
    let image = image::image(nic.board, &of_guest, &place().join("cache"))?;
    Ok((ours, image))
}

/// Runs the machines that are asked for, and prints their table. Whether all was right.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if let Some((mode, rest)) = words.split_first() {
        match *mode {
            "--small" => return small::run(rest),
            "--inside-small" => return small::inside(rest),
            "--causes" => return causes::run(rest),
            "--middle" => return middle::run(rest),
            "--settings" => return settings::run(rest),
            "--offloads" => return offloads::run(rest),
            "--inside-offloads" => return offloads::inside(false, rest),
            "--inside-offloads=toggle" => return offloads::inside(true, rest),
            "--persist" => return persist::run(rest),
            "--inside-persist" => return persist::inside(rest),
            "--inside-settings" => return settings::inside(rest),
            "--recorded" => return recorded::run(rest),
            "--record" => return recorded::record(rest),
            _ => {}
        }
        if let Some(names) = mode.strip_prefix("--inside") {
            return inside(names.strip_prefix('='), rest);
        }
    }
    let options = Options::parse(words)?;
    if let Some(why) = missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let place = place();
    let mut tally = Tally::default();
    let all = booted(&options, &place, &mut tally)?;
    println!("\n{}", table::markdown(&all));
    if options.write {
        page::write(&all)?;
    }
    if options.short {
        for results in &all {
            short::check(results, &mut tally);
        }
        // Where the others could be booted, it can be.
        if !all.is_empty() && !options.named && !options.kept {
            offloads::short(&options, &mut tally)?;
        }
    }
    // CI continues where none of it is available.
    let is_skipped = options.short && !tally.has_failed();
    Ok(tally.close() || is_skipped)
}

/// Boots each; what those left that came to the end of their steps.
fn booted(
    options: &Options,
    place: &Path,
    tally: &mut Tally,
) -> Result<Vec<Results>, Box<dyn std::error::Error>> {
    if options.kept {
        return Ok(kept(options, place, tally));
    }
    // First what comes over the network: the programs may be built meanwhile, by another task.
    let lacking = [Board::Pc, Board::SabreLite].map(|board| {
        let is_wanted = options.nics.iter().any(|nic| nic.board == board);
        let lacking = || missing_for(board).or_else(|| options.no_packages(board, place));
        (board, is_wanted.then(lacking).flatten())
    });
    let mut nics = options.nics.clone();
    nics.retain(|nic| {
        let mut lacking = lacking.iter().filter(|(board, _)| *board == nic.board);
        let why = lacking.find_map(|(_, why)| why.as_ref());
        if let Some(why) = why {
            tally.skip(nic.name, why);
        }
        why.is_none()
    });
    let mut all = Vec::new();
    if nics.is_empty() {
        return Ok(all);
    }
    let pc = options.binary(Board::Pc)?;
    for nic in nics.iter().filter(|nic| nic.board != Board::Pc) {
        options.binary(nic.board)?;
    }
    let budget = Budget::of(options.time());
    for nic in nics {
        let directory = place.join(nic.directory());
        let image = image::image(nic.board, &options.binary(nic.board)?, &place.join("cache"))?;
        let boot = || -> Result<Booted, String> {
            let others = Others::since_now();
            let booted = boot_within(&budget, nic, &image, &pc, &directory, "--inside")?;
            short::keep(others.as_ref(), &directory)?;
            Ok(booted)
        };
        match options.judged_twice(nic, &directory, boot) {
            Ok(Booted::Late(why)) => tally.skip(nic.name, why),
            Ok(Booted::Ended(said)) => {
                all.push(Results::of(nic, &directory));
                tally.check(nic.name, Ok(said));
            }
            Err(why) => tally.check(nic.name, Err(why)),
        }
    }
    Ok(all)
}

/// The results of former boots.
fn kept(options: &Options, place: &Path, tally: &mut Tally) -> Vec<Results> {
    let nics = options.nics.iter().copied();
    let all = nics.map(|nic| Results::of(nic, &place.join(nic.directory())));
    let mut all: Vec<Results> = all.collect();
    all.retain(|results| {
        let steps = results.steps();
        tally.check(
            results.nic.name,
            steps.map(|steps| format!("{} steps", steps.len())),
        );
        results.steps().is_ok()
    });
    all
}

#[derive(Debug)]
struct Options {
    nics: Vec<&'static Nic>,
    /// The NICs were named, and are not all there are.
    named: bool,
    short: bool,
    write: bool,
    /// No boot: the results that are there.
    kept: bool,
    /// Programs that are there already.
    binaries: Vec<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            nics: Vec::new(),
            named: true,
            short: false,
            write: false,
            kept: false,
            binaries: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--short" => options.short = true,
                "--write" => options.write = true,
                "--kept" => options.kept = true,
                "--binary" => options.binaries.extend(words.next().map(PathBuf::from)),
                name => options.nics.push(Nic::named(name).ok_or_else(|| {
                    let names: Vec<&str> = NICS.iter().map(|nic| nic.name).collect();
                    format!("machines: no NIC {name} (there are {})", names.join(", "))
                })?),
            }
        }
        if options.nics.is_empty() {
            options.named = false;
            let wanted = |nic: &&Nic| !options.short || SHORT.contains(&nic.name);
            options.nics = NICS.iter().filter(wanted).collect();
        }
        Ok(options)
    }
}

impl Options {
    /// The static program for `board`: one that is there, else it is built quickly.
    fn binary(&self, board: Board) -> Result<PathBuf, String> {
        // CI has built what `dist --check` runs: the native one as it is shipped.
        match self.short && board == Board::Pc {
            true => self.shipped(board),
            false => self.built(board, "dist-check"),
        }
    }

    /// A second boot, if the load of the moment may have a share in what is wrong after the first.
    fn judged_twice(
        &self,
        nic: &'static Nic,
        directory: &Path,
        boot: impl Fn() -> Result<Booted, String>,
    ) -> Result<Booted, String> {
        let booted = boot()?;
        let is_judged = self.short && matches!(booted, Booted::Ended(_));
        let results = || Results::of(nic, directory);
        let Some(why) = is_judged.then(|| short::of_the_load(&results())).flatten() else {
            return Ok(booted);
        };
        println!("again: {}: {why}", nic.name);
        match boot()? {
            Booted::Late(late) => Err(format!("{why}; and no time for a second boot: {late}")),
            booted @ Booted::Ended(_) => Ok(booted),
        }
    }

    /// Debian's packages are not available: CI continues without them.
    fn no_packages(&self, board: Board, place: &Path) -> Option<String> {
        let fetched = || debian::unpacked(board, &place.join("cache"));
        self.short.then(fetched)?.err()
    }

    /// For all machines; a few minutes are usual for those of `--short`.
    fn time(&self) -> Duration {
        Duration::from_secs(if self.short { 900 } else { 3 * 3600 })
    }

    /// The same as it is shipped.
    fn shipped(&self, board: Board) -> Result<PathBuf, String> {
        self.built(board, "dist")
    }

    fn built(&self, board: Board, profile: &str) -> Result<PathBuf, String> {
        let is_there = self.binaries.iter().find(|path| board.runs(path));
        if let Some(path) = is_there {
            return fs::canonicalize(path).map_err(|why| format!("{}: {why}", path.display()));
        }
        let target = dist::target(board.triple()).ok_or("no such target")?;
        let built = target.build(&Place::here(), profile)?;
        Ok(built.path)
    }
}

/// What this machine lacks for any of them.
fn missing() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if std::env::consts::ARCH != "x86_64" {
        return Some("the host's end is an x86-64 binary".into());
    }
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
        return Some("needs root (for a tap and network namespaces)".into());
    }
    let tun = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    if let Err(why) = tun {
        return Some(format!("/dev/net/tun: {why}"));
    }
    absent(&["apt-get", "dpkg", "depmod", "ip", "unshare", "setpriv"])
        .or_else(|| dist::target(Board::Pc.triple())?.missing())
        .or_else(network::forbidden)
}

fn missing_for(board: Board) -> Option<String> {
    let lacks = match board {
        Board::Pc | Board::Pc32 | Board::Mainframe => absent(&[board.emulator()]),
        Board::SabreLite => absent(&[board.emulator(), "fdtput"]),
    };
    lacks.or_else(|| dist::target(board.triple())?.missing())
}

fn absent(programs: &[&str]) -> Option<String> {
    let absent: Vec<&str> = programs
        .iter()
        .copied()
        .filter(|name| !has_program(name))
        .collect();
    (!absent.is_empty()).then(|| format!("no {} here", absent.join(", ")))
}

/// All of one machine, in namespaces of its own; `mode` says what is done there.
fn boot(
    nic: &Nic,
    image: &Image,
    linerate: &Path,
    directory: &Path,
    mode: &str,
) -> Result<String, String> {
    match boot_within(&Budget::of(FOREVER), nic, image, linerate, directory, mode)? {
        Booted::Ended(said) => Ok(said),
        Booted::Late(why) => Err(why),
    }
}

const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// How a machine ended.
enum Booted {
    /// Its steps came to their end.
    Ended(String),
    /// It was ended: why there was no time left, which is not its fault.
    Late(String),
}

/// The same, as long as the time for all machines lasts.
fn boot_within(
    budget: &Budget,
    nic: &Nic,
    image: &Image,
    linerate: &Path,
    directory: &Path,
    mode: &str,
) -> Result<Booted, String> {
    let start = Instant::now();
    let _old = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|why| why.to_string())?;
    println!("{} ({})", nic.name, nic.driver);
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let path = |path: &Path| path.display().to_string();
    let mut words: Vec<String> = ["machines", mode, nic.name].map(str::to_owned).into();
    words.extend([directory, linerate, &image.kernel, &image.initramfs].map(path));
    words.extend(image.device_tree.as_deref().map(path));
    let child = network::in_namespaces(&own, &words)
        .spawn()
        .map_err(|why| format!("setpriv: {why}"))?;
    let mut child = Server(child);
    let Some(status) = process::end_of(&mut child, budget.rest()) else {
        return budget.spent().map(Booted::Late);
    };
    match status.success() {
        true => Ok(Booted::Ended(format!(
            "{:.0} s",
            start.elapsed().as_secs_f64()
        ))),
        false => Err(format!(
            "its steps did not come to their end; see {}",
            directory.display()
        )),
    }
}

/// What runs in the namespaces.
fn inside(causes: Option<&str>, words: &[&str]) -> Outcome {
    let (nic, image, linerate, directory) = parts(words)?;
    match causes {
        Some(names) => causes::inside(nic, &image, &linerate, &directory, names)?,
        None => session::run(nic, &image, &linerate, &directory)?,
    }
    Ok(true)
}

/// The machine, its image, the host's program and the place of results: as [`boot_within`] hands them on.
fn parts(words: &[&str]) -> Result<(&'static Nic, Image, PathBuf, PathBuf), String> {
    let [name, directory, linerate, kernel, initramfs, tree @ ..] = words else {
        return Err("machines --inside is not for people".to_owned());
    };
    let nic = Nic::named(name).ok_or("no such NIC")?;
    let image = Image {
        board: nic.board,
        kernel: kernel.into(),
        initramfs: initramfs.into(),
        device_tree: tree.first().map(PathBuf::from),
    };
    Ok((nic, image, linerate.into(), directory.into()))
}

/// Where packages and results are.
fn place() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    target.join("machines")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Boots whose results are never right; how often, and whether it ends well.
    fn judged(words: &[&str], last: fn() -> Booted) -> (u32, bool) {
        let options = Options::parse(words).expect("options");
        let boots = Cell::new(0);
        let boot = || {
            boots.set(boots.get() + 1);
            match boots.get() {
                1 => Ok(ended()),
                _ => Ok(last()),
            }
        };
        let nowhere = Path::new("/proc/none");
        let judged = options.judged_twice(&NICS[0], nowhere, boot);
        (boots.get(), judged.is_ok())
    }

    fn ended() -> Booted {
        Booted::Ended("1 s".to_owned())
    }

    #[test]
    fn what_the_load_can_change_is_judged_of_a_second_boot() {
        let late = || Booted::Late("no time".to_owned());
        assert_eq!(judged(&["--short"], ended), (2, true));
        assert_eq!(judged(&["--short"], late), (2, false), "it stays wrong");
        assert_eq!(judged(&[], ended), (1, true), "a person judges");
    }
}
