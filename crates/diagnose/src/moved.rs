// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was not the same before and after a test: which running program is known to write it, and what to conclude from it:
//! nothing.

use linerate_knowledge::owners_of;
use linerate_model::output::{Moved, MovedKind, Role};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::setting::Setting;

/// All that changed during a run, with the likely owner of each.
#[must_use]
pub fn named(run: &Run) -> Vec<Moved> {
    let local = running(run, Role::Local);
    let remote = running(run, Role::Remote);
    let named = run.moved.iter().map(|moved| {
        let programs = if moved.host == Role::Local {
            &local
        } else {
            &remote
        };
        Moved {
            owner: owner(moved, programs),
            ..moved.clone()
        }
    });
    named.collect()
}

/// `tuned`, or `dhclient or dhcpcd`.
#[must_use]
pub fn owner(moved: &Moved, running: &[&str]) -> Option<String> {
    let value = format!("{} {}", moved.source, moved.name);
    let owners = owners_of(&value, running);
    (!owners.is_empty()).then(|| owners.join(" or "))
}

/// The programs on a host that change settings, as far as they were seen.
#[must_use]
pub fn running(run: &Run, host: Role) -> Vec<&str> {
    let lists = run.settings.iter();
    let lists = lists.filter(|one| one.host == host && one.source == PROGRAMS);
    lists
        .flat_map(|list| list.values.keys().map(String::as_str))
        .collect()
}

/// The record without the settings that changed during its tests: their value at a moment of a test is unknown. Nothing if
/// none did.
pub(crate) fn without(record: &Record) -> Option<Record> {
    if !linerate_model::state::any_setting(&record.run.moved) {
        return None;
    }
    let mut record = record.clone();
    let moved = std::mem::take(&mut record.run.moved);
    for setting in &mut record.run.settings {
        let own = |name: &str| moved.iter().any(|moved| is_of(moved, setting, name));
        let kept = setting.values.iter().filter(|(name, _)| !own(name));
        setting.values = kept
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
    }
    record.run.moved = moved;
    Some(record)
}

fn is_of(moved: &Moved, setting: &Setting, name: &str) -> bool {
    let interface = setting.interface.as_deref();
    moved.kind == MovedKind::Setting && moved.is_of(setting.host, &setting.source, interface, name)
}

/// The commands that print the program that changes a setting, where none is known: one per kind.
pub(crate) fn watch_commands(moved: &[Moved]) -> Vec<String> {
    let unknown = |one: &&Moved| one.kind == MovedKind::Setting && one.owner.is_none();
    let mut commands: Vec<String> = Vec::new();
    for command in moved.iter().filter(unknown).map(watch_command) {
        if commands.len() < MOST_COMMANDS && !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// A file by the program that opens it for writing; else the commands and ioctls that change an interface.
fn watch_command(moved: &Moved) -> String {
    let at = match moved.host {
        Role::Local => "",
        Role::Remote | Role::Device => "; run it at the other end",
    };
    let Some(path) = file(moved) else {
        return format!("{WATCH_COMMANDS}{at}");
    };
    let path: String = path.chars().take(MOST_LETTERS).collect();
    let opened = format!(
        "strncmp(str(args->filename), \"{path}\", {}) == 0",
        path.len()
    );
    let printed = "{ printf(\"%s %d\\n\", comm, pid) }";
    format!(
        "bpftrace -e 'tracepoint:syscalls:sys_enter_openat /(args->flags & 3) != 0 && {opened}/ {printed}'   # prints the program that writes it{at}"
    )
}

/// Where the setting is a file that a program opens by this name.
fn file(moved: &Moved) -> Option<String> {
    let (source, name) = (moved.source.as_str(), moved.name.as_str());
    match source {
        "sysctl" => Some(format!("/proc/sys/{}", name.replace('.', "/"))),
        "/sys/class/net/queues" => {
            let interface = moved.interface.as_deref()?;
            let (queue, file) = name.split_once('.')?;
            Some(format!("/sys/class/net/{interface}/queues/{queue}/{file}"))
        }
        // The file `smp_affinity`, a mask, is written as often as the list.
        _ if source.starts_with("/proc/irq/") => Some(format!("{source}/smp_affinity")),
        _ if source.starts_with('/') => Some(format!("{source}/{name}")),
        _ => None,
    }
}

/// `linux::setup::programs`.
const PROGRAMS: &str = "ps -eo comm";
const MOST_COMMANDS: usize = 3;
/// bpftrace compares the first 64 bytes (BPFTRACE_STRLEN, bpftrace(8)).
const MOST_LETTERS: usize = 63;
/// 0x8946 is SIOCETHTOOL (include/uapi/linux/sockios.h).
const WATCH_COMMANDS: &str = "bpftrace -e 'tracepoint:syscalls:sys_enter_execve { printf(\"%s %d: \", comm, pid); join(args->argv) } tracepoint:syscalls:sys_enter_ioctl /args->cmd == 0x8946/ { printf(\"%s %d: ethtool ioctl\\n\", comm, pid) }'   # prints each command that is started, and by which program";

#[cfg(test)]
mod tests;
