// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --recorded [--write] [--binary PATH] [NIC...]`: what linerate concludes from runs on real drivers that were recorded
//! (`xtask/recorded/NIC.tar.lzma`): known causes, checks of untouched machines, machines in the middle. No emulator, no root, no
//! network: each run is explained again and judged by the criteria of the live run. `--write` puts on record (`expected.toml`) what
//! is concluded now.
//!
//! `machines --record [--from PLACE]... [--binary PATH] [NIC...]`: makes the archives from results that were stored by `machines`,
//! `--causes` and `--middle` (`target/machines`, or PLACE). What no place has stays as it was recorded.

mod anonymous;
mod archive;
mod cells;
mod expected;
mod explain;
mod lean;
mod unit;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::nic::{NICS, Nic};
use super::{Options, causes, middle, offloads, page, place, table};
use crate::tally::Tally;
use crate::{Outcome, build};
use archive::Archive;
use causes::Judged;
use cells::{Cell, OfNic};
use expected::Expected;
use middle::Measured;
use unit::{CHECKS, Unit};

/// Judges the recorded runs. Whether all is right and as on record.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    judged(&options, options.write)
}

/// Records what is stored, then judges it and puts that on record.
pub(crate) fn record(words: &[&str]) -> Outcome {
    let (places, rest) = places(words)?;
    let options = Options::parse(&rest)?;
    let mut count = 0;
    for nic in &options.nics {
        count += recorded(nic, &places)?;
    }
    if count == 0 {
        let places: Vec<String> = places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        let places = places.join(", ");
        return Err(format!("nothing is stored in {places}: run `cargo xtask machines`, or name another place by --from").into());
    }
    judged(&options, true)
}

/// Puts what the places have of a NIC into its archive; how many runs.
fn recorded(nic: &Nic, places: &[PathBuf]) -> Result<usize, String> {
    let path = path(nic);
    let mut archive = Archive::read(&path)?;
    let mut count = 0;
    for place in places {
        let names = anonymous::names(&fs::canonicalize(place).unwrap_or_else(|_| place.clone()));
        for unit in Unit::all(nic, place).iter().filter(|unit| unit.is_stored()) {
            unit.record(&mut archive, &names)?;
            count += 1;
        }
    }
    if count > 0 {
        archive.write(&path)?;
        println!("{}: {count} runs recorded", nic.name);
    }
    Ok(count)
}

/// Places of stored results, and the words that remain.
fn places<'w>(words: &[&'w str]) -> Result<(Vec<PathBuf>, Vec<&'w str>), String> {
    let (mut places, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--from" => places.push(words.next().ok_or("--from: no place")?.into()),
            other => rest.push(other),
        }
    }
    if places.is_empty() {
        places.push(place());
    }
    Ok((places, rest))
}

fn judged(options: &Options, write: bool) -> Outcome {
    let start = Instant::now();
    let linerate = program(options)?;
    let scratch = Scratch::new()?;
    let machines = unpacked(&options.nics, &scratch.0)?;
    let mut tally = Tally::default();
    let errors = explain::all(
        &linerate,
        machines.iter().map(|(_, machine)| machine.as_path()),
    );
    let is_explained = errors.is_empty();
    for why in errors {
        tally.check("explain", Err(why));
    }
    let all = machines
        .iter()
        .map(|(nic, machine)| OfNic::of(nic, machine));
    let mut all: Vec<OfNic> = all.collect();
    let causes: Vec<Judged> = all
        .iter_mut()
        .flat_map(|one| one.causes.drain(..))
        .collect();
    let modes: Vec<Measured> = all.iter_mut().flat_map(|one| one.modes.drain(..)).collect();
    println!("\n{}", causes::markdown(&causes));
    println!("{}\n{}", of_checks(&all), middle::markdown(&modes));
    for of_nic in &all {
        criteria(of_nic, &mut tally);
    }
    // Of all NICs together.
    if !options.named {
        share(causes::named_of(&causes), &mut tally);
    }
    compare(&all, write && is_explained, &mut tally)?;
    if write {
        page::write_offloads(&offloads::markdown(&of_offloads()?))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("explained and judged in {seconds:.1} s");
    Ok(tally.close())
}

/// The program that explains: one that is named, else it is built.
fn program(options: &Options) -> Result<PathBuf, String> {
    match options.binaries.first() {
        Some(path) => fs::canonicalize(path).map_err(|why| format!("{}: {why}", path.display())),
        None => build::program(),
    }
}

/// The NICs that have an archive, each with the directory of its runs.
fn unpacked(nics: &[&'static Nic], scratch: &Path) -> Result<Vec<(&'static Nic, PathBuf)>, String> {
    let mut machines = Vec::new();
    for nic in nics {
        let archive = Archive::read(&path(nic))?;
        if !archive.is_empty() {
            let machine = scratch.join(nic.directory());
            let unpacked = archive.unpack(&machine);
            unpacked.map_err(|why| format!("{}: {why}", machine.display()))?;
            machines.push((*nic, machine));
        }
    }
    Ok(machines)
}

/// Each NIC whose `nic-check` is recorded, with the run.
pub(super) fn of_offloads() -> Result<Vec<(&'static Nic, Value)>, String> {
    let file = format!("{}/{}.run/run.json", offloads::PLACE, offloads::STEP);
    let mut all = Vec::new();
    for nic in &NICS {
        if let Some(text) = Archive::read(&path(nic))?.get(&file) {
            let run = serde_json::from_slice(text).map_err(|why| format!("{}: {why}", nic.name))?;
            all.push((nic, run));
        }
    }
    Ok(all)
}

/// The table of untouched machines.
fn of_checks(all: &[OfNic]) -> String {
    let text = |cells: &[Cell], name: &str| {
        let cell = cells.iter().find(|cell| cell.name == name);
        cell.map_or_else(|| "–".to_owned(), Cell::text)
    };
    let row = |of_nic: &OfNic| {
        let [guest, host] = CHECKS.map(|name| text(&of_nic.cells, name));
        [of_nic.nic.name.to_owned(), guest, host]
    };
    let columns = ["NIC", "check from the guest", "check from the host"];
    table::rows(columns, all.iter().map(row))
}

/// What must hold of any run, whatever is on record.
fn criteria(of_nic: &OfNic, tally: &mut Tally) {
    let what = format!(
        "{}: few findings, of this chip, possible; ledgers",
        of_nic.nic.name
    );
    match of_nic.never.is_empty() {
        true => tally.check(&what, Ok(format!("{} runs", of_nic.runs))),
        false => of_nic
            .never
            .iter()
            .for_each(|why| tally.check(&what, Err(why.clone()))),
    }
}

/// Of all causes that do harm, at least nine of ten come first.
fn share((named, of): (usize, usize), tally: &mut Tally) {
    let said = format!("{named} of {of} come first");
    let result = match 100 * named >= LEAST_PERCENT * of {
        true => Ok(said),
        false => Err(format!("{said}, less than {LEAST_PERCENT} %")),
    };
    tally.check("causes that do harm", result);
}

/// Each cell with what is on record of it.
fn compare(all: &[OfNic], write: bool, tally: &mut Tally) -> Result<(), String> {
    let file = directory().join("expected.toml");
    let mut expected = Expected::read(&file)?;
    for of_nic in all {
        let differences = expected.differences(of_nic.nic.name, &of_nic.cells);
        for one in &differences {
            let what = format!("{}: {}", of_nic.nic.name, one.name);
            match write {
                true => println!("on record: {what}: {}", one.said),
                false if one.is_worse => tally.check(&what, Err(one.said.clone())),
                false => tally.check(
                    &what,
                    Err(format!("{} ({WRITE} puts it on record)", one.said)),
                ),
            }
        }
        if differences.is_empty() {
            tally.check(
                of_nic.nic.name,
                Ok(format!("{} cells as on record", of_nic.cells.len())),
            );
        }
        expected.replace(of_nic.nic.name, &of_nic.cells);
    }
    if write { expected.write(&file) } else { Ok(()) }
}

/// The archive of a NIC.
fn path(nic: &Nic) -> PathBuf {
    directory().join(format!("{}.tar.lzma", nic.directory()))
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded")
}

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("linerate-recorded-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is in the place of temporary files.
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Issue 14, point 2: the first finding names the cause in nine of ten.
const LEAST_PERCENT: usize = 90;

const WRITE: &str = "`cargo xtask machines --recorded --write`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_named_by_an_option() {
        let (from, rest) = places(&["e1000e", "--from", "a", "--from", "b"]).unwrap();
        assert_eq!((from, rest), (vec!["a".into(), "b".into()], vec!["e1000e"]));
        assert!(places(&["--from"]).is_err());
        assert_eq!(places(&[]).unwrap().0, [place()]);
    }

    #[test]
    fn every_archive_is_on_record_and_the_other_way_round() {
        let expected = fs::read_to_string(directory().join("expected.toml")).unwrap();
        for nic in &NICS {
            let is_on_record = expected.contains(&format!("\n[{}]\n", nic.name));
            assert_eq!(is_on_record, path(nic).is_file(), "{}", nic.name);
        }
    }
}
