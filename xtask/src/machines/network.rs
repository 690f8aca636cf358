// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's side: a network namespace with one tap. The namespace has no name, and the processes in it are of one
//! process namespace: both end with the process that made them, however it ends.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::{self, last_line};

/// The host's address on the tap, and the guest's: of RFC 2544's network for benchmarks.
pub(crate) const HOST: &str = "198.18.77.1";
pub(crate) const GUEST: &str = "198.18.77.2";
pub(crate) const TAP: &str = "tap0";

/// This program again with `words`, in namespaces of its own. It is killed when this process ends.
pub(crate) fn in_namespaces(program: &Path, words: &[String]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "unshare"])
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
        .arg("--mount-proc")
        .arg(program)
        .args(words);
    command
}

/// Why this host does not allow such namespaces with a tap, as in a container without the capabilities.
pub(super) fn forbidden() -> Option<String> {
    let attempt = format!("mount -t sysfs sysfs /sys && ip tuntap add {TAP} mode tap");
    let mut command = in_namespaces(Path::new("sh"), &["-c".to_owned(), attempt]);
    match process::run(&mut command, Duration::from_secs(60)) {
        Ok(ended) if ended.status.success() => None,
        Ok(ended) => Some(last_line(&ended.stderr).to_owned()),
        Err(why) => Some(why),
    }
}

/// Makes the tap in this namespace, and shows its interfaces below `/sys`.
pub(crate) fn open() -> Result<(), String> {
    open_with(1)
}

/// The same with as many queues.
pub(crate) fn open_with(queues: u32) -> Result<(), String> {
    let address = format!("{HOST}/24");
    let mut tap = vec!["ip", "tuntap", "add", TAP, "mode", "tap"];
    tap.extend((queues > 1).then_some("multi_queue"));
    for words in [
        vec!["mount", "-t", "sysfs", "sysfs", "/sys"],
        vec!["ip", "link", "set", "lo", "up"],
        tap,
        vec!["ip", "address", "add", &address, "dev", TAP],
        vec!["ip", "link", "set", TAP, "up"],
    ] {
        let (program, words) = words.split_first().unwrap_or((&"true", &[]));
        let ended = process::run(Command::new(program).args(words), Duration::from_secs(10))?;
        if !ended.status.success() {
            let what = words.join(" ");
            return Err(format!("{program} {what}: {}", last_line(&ended.stderr)));
        }
    }
    Ok(())
}
