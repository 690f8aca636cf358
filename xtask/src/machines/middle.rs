// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --middle [--write] [--kept] [--binary PATH]... [MODE|NIC...]`: linerate measures a whole machine in the middle.
//! A guest with two NICs of a kind forwards as a bridge, a router, with a flowtable or in a VLAN; its agent is asked over
//! ssh, or over a serial line; what is said of it is compared with what the guest itself counts.

mod agent;
mod ground;
mod judge;
mod mode;
mod outcome;
mod session;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::image::Image;
use super::nic::{Board, Nic};
use super::{Options, image, network, page, place};
use crate::Outcome;
use crate::tally::Tally;
pub(super) use judge::checks;
use mode::Line;
pub(super) use mode::{MODES, Mode};
pub(super) use outcome::Measured;
pub(super) use table::markdown;

/// Boots each pair that is asked for, judges it, and prints the table. Whether all was right.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if let Some((&"--inside", rest)) = words.split_first() {
        return inside(rest);
    }
    let (modes, rest) = modes(words);
    let options = Options::parse(&rest)?;
    if let Some(why) =
        super::missing().or_else(|| super::absent(&["ssh", "ssh-keygen", "chrt", "nice"]))
    {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let nics = nics(&options);
    let mut tally = Tally::default();
    let all = measured(&options, &nics, &modes, &mut tally)?;
    println!("\n{}", markdown(&all));
    for one in &all {
        judge::judge(one, &mut tally);
    }
    if options.write {
        page::write_middle(&table::section(&all))?;
    }
    Ok(tally.close())
}

/// The modes that are named, and the other words.
fn modes<'w>(words: &[&'w str]) -> (Vec<&'static Mode>, Vec<&'w str>) {
    let mut named: Vec<&Mode> = words.iter().filter_map(|word| Mode::named(word)).collect();
    if named.is_empty() {
        named = MODES.iter().collect();
    }
    let rest = words.iter().filter(|word| Mode::named(word).is_none());
    (named, rest.copied().collect())
}

/// Those that are named, on a PC; without a name those of the page.
fn nics(options: &Options) -> Vec<&'static Nic> {
    let all = options.nics.iter().copied();
    let in_a_pc = |nic: &&Nic| nic.board == Board::Pc;
    match options.named {
        true => all.filter(in_a_pc).collect(),
        false => all.filter(|nic| USUAL.contains(&nic.name)).collect(),
    }
}

fn measured(
    options: &Options,
    nics: &[&'static Nic],
    modes: &[&'static Mode],
    tally: &mut Tally,
) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let place = place();
    let pairs = nics
        .iter()
        .flat_map(|nic| modes.iter().map(move |mode| (*nic, *mode)))
        .filter(|(nic, mode)| options.named || mode.line == Line::Ssh || nic.name == USUAL[0]);
    if options.kept {
        let all = pairs.map(|(nic, mode)| Measured::of(nic, mode, &place.join(name(nic, mode))));
        return Ok(all.filter(Measured::is_there).collect());
    }
    if let Some(why) = super::missing_for(Board::Pc) {
        tally.skip("middle", why);
        return Ok(Vec::new());
    }
    let linerate = options.binary(Board::Pc)?;
    let image = image::image(Board::Pc, &linerate, &place.join("cache"))?;
    let mut all = Vec::new();
    for (nic, mode) in pairs {
        if let (Line::Serial, Some(why)) = (mode.line, super::absent(&["socat"])) {
            tally.skip(&name(nic, mode), why);
            continue;
        }
        let directory = place.join(name(nic, mode));
        let booted = boot(nic, mode, &image, &linerate, &directory);
        if booted.is_ok() {
            all.push(Measured::of(nic, mode, &directory));
        }
        tally.check(&name(nic, mode), booted);
    }
    Ok(all)
}

/// Where the results of a pair are, below the place of all.
pub(super) fn name(nic: &Nic, mode: &Mode) -> String {
    format!("middle-{}-{}", nic.directory(), mode.name)
}

/// One machine, in namespaces of its own.
fn boot(
    nic: &Nic,
    mode: &Mode,
    image: &Image,
    linerate: &Path,
    directory: &Path,
) -> Result<String, String> {
    let start = Instant::now();
    let _old = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|why| why.to_string())?;
    println!("{} as {} ({})", nic.name, mode.name, nic.driver);
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut words: Vec<String> = ["machines", "--middle", "--inside", nic.name, mode.name]
        .map(str::to_owned)
        .into();
    let paths = [directory, linerate, &image.kernel, &image.initramfs];
    words.extend(paths.map(|path| path.display().to_string()));
    let status = at_once(&network::in_namespaces(&own, &words))
        .status()
        .map_err(|why| format!("nice: {why}"))?;
    match status.success() {
        true => Ok(format!("{:.0} s", start.elapsed().as_secs_f64())),
        false => Err(format!(
            "it did not come to its end; see {}",
            directory.display()
        )),
    }
}

/// The command before other programs of this machine.
fn at_once(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "-10"])
        .arg(command.get_program())
        .args(command.get_args());
    nice
}

/// What runs in the namespaces.
fn inside(words: &[&str]) -> Outcome {
    let [nic, mode, directory, linerate, kernel, initramfs] = words else {
        return Err("machines --middle --inside is not for people".into());
    };
    let nic = Nic::named(nic).ok_or("no such NIC")?;
    let mode = Mode::named(mode).ok_or("no such mode")?;
    let image = Image {
        board: nic.board,
        kernel: PathBuf::from(kernel),
        initramfs: PathBuf::from(initramfs),
        device_tree: None,
    };
    session::run(nic, mode, &image, Path::new(linerate), Path::new(directory))?;
    Ok(true)
}

/// Drivers with many counters, with few and with none of the ring, and two whose models drop what finds no descriptor.
const USUAL: [&str; 5] = ["e1000e", "virtio-net-pci", "i82559er", "vmxnet3", "rtl8139"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_nics_may_be_named_in_any_order() {
        let (named, rest) = modes(&["e1000e", "route", "--kept", "bridge"]);
        let names: Vec<&str> = named.iter().map(|mode| mode.name).collect();
        assert_eq!(names, ["route", "bridge"]);
        assert_eq!(rest, ["e1000e", "--kept"]);
        assert_eq!(modes(&["--kept"]).0.len(), MODES.len());
    }
}
