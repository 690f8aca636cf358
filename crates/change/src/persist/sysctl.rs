// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file for `sysctl.d`. Files are read in the order of their names, whatever their directory, and the last one that sets a
//! name wins: sysctl.d(5), sysctl(8).

use super::surroundings::{Config, Surroundings};
use super::{DropIn, Kept, Refusal, header, name};

pub(super) fn file(kept: &Kept, name: &str, around: &Surroundings) -> Result<DropIn, Refusal> {
    if let Some(module) = module(name) {
        return Err(Refusal::new(format!(
            "it does not exist until the module {module} is loaded"
        ))
        .by_hand(format!("/etc/modules-load.d/{module}.conf: {module}"))
        .by_hand(format!(
            "/etc/sysctl.d/90-{module}.conf: {name} = {}",
            kept.value
        )));
    }
    let path = path(kept, name, around)?;
    // With a dot as the first separator, a slash stands for the dot of an interface's name.
    let body = format!("{name} = {}\n", kept.value);
    let mut file = header::alone(kept, path, &body, around);
    file.activates = vec![format!("sysctl --load={}", file.path)];
    Ok(file)
}

/// That of the first number with which it is read after all others that set the name.
fn path(kept: &Kept, name: &str, around: &Surroundings) -> Result<String, Refusal> {
    let own = |number: &str| format!("{number}-linerate-{}.conf", name::name(&kept.key));
    let others = others(name, &NUMBERS.map(&own), around);
    let Some((last, value)) = others.iter().max_by_key(|(file, _)| rank(file)) else {
        return Ok(format!("{}/{}", name::SYSCTL, own(NUMBERS[0])));
    };
    if *value == kept.value {
        return Err(Refusal::new(format!("{} sets it already", last.path)));
    }
    let wins = |number: &&str| {
        others
            .iter()
            .all(|(other, _)| rank(other) < (false, own(number)))
    };
    match NUMBERS.into_iter().find(wins) {
        Some(number) => Ok(format!("{}/{}", name::SYSCTL, own(number))),
        None => Err(Refusal::new(format!(
            "{} sets it to {value}, and is read last",
            last.path
        ))
        .by_hand(format!("{}: {name} = {}", last.path, kept.value))),
    }
}

/// Other files that set this name, and to what.
fn others<'a>(name: &str, own: &[String], around: &'a Surroundings) -> Vec<(&'a Config, String)> {
    let is_own = |file: &&Config| own.iter().any(|own| own == file.name());
    let others = around.sysctls.iter().filter(|file| !is_own(file));
    others
        .filter_map(|file| Some((file, set(&file.text, name)?)))
        .collect()
}

/// `/etc/sysctl.conf` is read last by sysctl(8), wherever its name would be.
fn rank(file: &Config) -> (bool, String) {
    (file.path == "/etc/sysctl.conf", file.name().to_owned())
}

/// The last value that a file gives to this very name. A pattern never wins over a name.
pub(super) fn set(text: &str, name: &str) -> Option<String> {
    let mut assignments = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let (left, right) = line.split_once('=')?;
        let left = left.trim().trim_start_matches('-');
        let is_comment = line.starts_with(['#', ';']);
        (!is_comment && in_proc(left) == in_proc(name)).then_some(right)
    });
    let last = assignments.next_back()?;
    Some(last.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The file below `/proc/sys`: if the first separator is a dot, dots and slashes are interchanged.
fn in_proc(name: &str) -> String {
    let swap = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    match name.find(['.', '/']).map(|at| name.as_bytes()[at]) {
        Some(b'.') => name.chars().map(swap).collect(),
        _ => name.to_owned(),
    }
}

/// The module without which there is no such name; it may be loaded after `systemd-sysctl` has run.
fn module(name: &str) -> Option<&'static str> {
    MODULES
        .into_iter()
        .find_map(|(prefix, module)| name.starts_with(prefix).then_some(module))
}

/// 90 is after the packages' files, which begin with 10 to 60; 99 after most of those of administrators.
const NUMBERS: [&str; 2] = ["90", "99"];
/// sysctl.d(5), "Apply settings available only when a certain module is loaded".
const MODULES: [(&str, &str); 4] = [
    ("net.netfilter.", "nf_conntrack"),
    ("net.nf_conntrack", "nf_conntrack"),
    ("net.bridge.", "br_netfilter"),
    ("net.ipv4.vs.", "ip_vs"),
];
