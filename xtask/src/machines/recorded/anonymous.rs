// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing in a recorded file names the machine that ran the emulator: what a guest is, is that of every such guest.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// A document without what is of the host's machine: its name, its kernel's build, how it was booted, and the path of the program.
pub(super) fn anonymous(mut document: Value) -> Value {
    if let Some(program) = document.pointer_mut("/command/0") {
        *program = json!("linerate");
    }
    let testers: Vec<Value> = list(&mut document, "hosts")
        .filter_map(without_a_name)
        .collect();
    let is_a_testers = |one: &Value| testers.contains(&one["host"]);
    if let Some(settings) = document.get_mut("settings").and_then(Value::as_array_mut) {
        settings.retain(|one| !is_a_testers(one) || one["source"] != "/proc/cmdline");
    }
    let settings = list(&mut document, "settings").filter(|one| is_a_testers(one));
    for version in settings.filter_map(|one| one.pointer_mut("/values/version")) {
        let text = version.as_str().map(without_a_build);
        *version = json!(text);
    }
    document
}

fn list<'d>(document: &'d mut Value, name: &str) -> impl Iterator<Item = &'d mut Value> {
    let list = document.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// Takes the name of a host that has one; its role.
fn without_a_name(host: &mut Value) -> Option<Value> {
    host["hostname"]
        .as_str()
        .filter(|name| *name != OF_A_GUEST)?;
    host["hostname"] = json!("tester");
    host["boot_id"] = json!("00000000-0000-0000-0000-000000000000");
    host["kernel"] = json!(host["kernel"].as_str().map(release));
    Some(host["role"].clone())
}

/// `Linux version 6.1.0-56-amd64 (builder@host) …` as `Linux version 6.1.0`.
fn without_a_build(version: &str) -> String {
    match version.strip_prefix(KERNEL) {
        Some(rest) => format!("{KERNEL}{}", release(rest)),
        None => version.to_owned(),
    }
}

/// The numbers at its beginning.
fn release(kernel: &str) -> &str {
    let end = kernel.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    kernel.split_at(end.unwrap_or(kernel.len())).0
}

/// Words of this machine that no recorded file may contain, if it ran the emulator.
pub(super) fn names(results: &Path) -> Vec<String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
    let host = format!("{:?}", read("/proc/sys/kernel/hostname").trim());
    let mut names = vec![kernel, host, "://".to_owned()];
    let home = std::env::var_os("HOME").unwrap_or_default();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    names.extend(
        [Path::new(&home), results, manifest]
            .iter()
            .filter_map(|path| first(path)),
    );
    names.retain(|name| name != "\"\"" && !name.is_empty());
    names
}

/// `/home/` of `/home/user/linerate`.
fn first(path: &Path) -> Option<String> {
    let name = path.components().nth(1)?.as_os_str().to_str()?;
    path.is_absolute().then(|| format!("/{name}/"))
}

/// The first of `names` that `text` contains.
pub(super) fn named<'n>(text: &str, names: &'n [String]) -> Option<&'n str> {
    let mut names = names.iter().map(String::as_str);
    names.find(|name| text.contains(name))
}

/// A guest has no name.
const OF_A_GUEST: &str = "(none)";
const KERNEL: &str = "Linux version ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tester_has_no_name_and_a_guest_keeps_its_kernel() {
        let document = json!({
            "command": ["/home/user/linerate", "check", "198.18.77.2"],
            "hosts": [
                { "role": "local", "hostname": "desk", "kernel": "6.12.3-custom", "boot_id": "a" },
                { "role": "remote", "hostname": "(none)", "kernel": "6.1.0-56-amd64", "boot_id": "b" },
            ],
            "settings": [
                { "host": "local", "source": "/proc/cmdline", "values": { "cmdline": "root=LABEL=desk" } },
                { "host": "local", "source": "/proc/version", "values": { "version": "Linux version 6.12.3-custom (me@desk)" } },
                { "host": "remote", "source": "/proc/version", "values": { "version": "Linux version 6.1.0-56-amd64 (debian)" } },
            ],
        });
        let text = anonymous(document).to_string();
        let names = ["desk", "custom", "/home/"].map(str::to_owned);
        assert_eq!(named(&text, &names), None, "{text}");
        assert!(
            text.contains("Linux version 6.12.3\"") && text.contains("6.1.0-56-amd64 (debian)"),
            "{text}"
        );
    }

    #[test]
    fn a_name_that_is_left_is_found() {
        let names = names(Path::new("/data/results"));
        assert!(names.contains(&"/data/".to_owned()), "{names:?}");
        assert_eq!(named("see /data/log", &names), Some("/data/"));
        assert_eq!(named("eth0 up", &names), None);
    }
}
