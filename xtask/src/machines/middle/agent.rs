// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line to the agent in the guest, as a person would have it: ssh, or a shell at a serial port.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::guest::Guest;
use super::super::network::GUEST;
use super::mode;
use crate::process::{self, last_line};

/// Options of `forward`, and what must come first in its PATH.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) options: Vec<String>,
    pub(crate) path: PathBuf,
}

/// Prepares both ends.
///
/// # Errors
/// What could not be prepared.
pub(crate) fn prepare(
    line: mode::Line,
    guest: &mut Guest,
    directory: &Path,
) -> Result<Line, String> {
    let options = match line {
        mode::Line::Ssh => ssh(guest, directory)?,
        mode::Line::Serial => serial(guest)?,
    };
    let path = directory.join("bin");
    Ok(Line { options, path })
}

/// A console of the machine whose other end is a socket.
pub(crate) fn port(directory: &Path) -> [String; 6] {
    let socket = directory.join(SOCKET).display().to_string();
    [
        "-chardev".to_owned(),
        format!("socket,id=agent,path={socket},server=on,wait=off"),
        "-device".to_owned(),
        "virtio-serial-pci".to_owned(),
        "-device".to_owned(),
        "virtconsole,chardev=agent".to_owned(),
    ]
}

/// A shell at the port, with a prompt and an echo; the command is that of `docs/forwarding.md`.
fn serial(guest: &mut Guest) -> Result<Vec<String>, String> {
    let shell = "ln -s /opt/linerate /usr/bin/linerate && until [ -c /dev/hvc0 ]; do sleep 0.1; done && \
                 { setsid sh -i </dev/hvc0 >/dev/hvc0 2>&1 & }";
    in_guest(guest, "shell", shell)?;
    let command = format!(
        "(echo 'stty raw -echo; {PUMP} | linerate agent --stdio | {PUMP}'; cat) | socat - UNIX-CONNECT:{SOCKET}"
    );
    Ok(["--device-command".to_owned(), command].into())
}

/// A key of this run, a server in the guest, and an ssh that reads a configuration of this run.
fn ssh(guest: &mut Guest, directory: &Path) -> Result<Vec<String>, String> {
    let key = directory.join("key");
    let mut keygen = Command::new("ssh-keygen");
    keygen
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "middle", "-f"])
        .arg(&key);
    let ended = process::run(&mut keygen, SOON)?;
    if !ended.status.success() {
        return Err(format!("ssh-keygen: {}", last_line(&ended.stderr)));
    }
    let public = fs::read_to_string(key.with_extension("pub")).map_err(|why| why.to_string())?;
    with_our_configuration(directory, &key).map_err(|why| format!("bin/ssh: {why}"))?;
    let command = format!(
        "mkdir -p /.ssh /etc/dropbear && chmod 700 / /.ssh && echo '{}' >/.ssh/authorized_keys && \
         ln -s /opt/linerate /usr/bin/linerate && dropbear -R -s -E 2>dropbear && \
         until netstat -ltn | grep -q :22; do sleep 0.1; done",
        public.trim()
    );
    in_guest(guest, "ssh-server", &command)?;
    Ok(["--device".to_owned(), format!("ssh:root@{GUEST}")].into())
}

fn with_our_configuration(directory: &Path, key: &Path) -> std::io::Result<()> {
    let (bin, configuration) = (directory.join("bin"), directory.join("ssh_config"));
    let text = format!(
        "IdentityFile {}\nIdentitiesOnly yes\nBatchMode yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n\
         LogLevel ERROR\n",
        key.display()
    );
    fs::write(&configuration, text)?;
    fs::create_dir_all(&bin)?;
    let program = bin.join("ssh");
    let text = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}} exec ssh -F {} \"$@\"\n",
        configuration.display()
    );
    fs::write(&program, text)?;
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755))
}

fn in_guest(guest: &mut Guest, name: &str, command: &str) -> Result<(), String> {
    match guest.run(name, command, SOON)? {
        0 => Ok(()),
        status => Err(format!("{name}: status {status}")),
    }
}

/// The `cat` of busybox does not pass a request on before more follow.
const PUMP: &str = "dd bs=4k 2>/dev/null";
/// In the directory of the run, from which `forward` starts.
const SOCKET: &str = "agent.socket";
const SOON: Duration = Duration::from_secs(60);
