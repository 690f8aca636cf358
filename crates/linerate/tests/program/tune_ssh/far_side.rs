// SPDX-License-Identifier: MIT OR Apache-2.0
//! An sshd of the distribution in a private network namespace, which has the settings that the tests change.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use linerate_change::remote::Way;
use linerate_change::{Journal, Trace};

use crate::support::until;

const OURS: &str = env!("CARGO_BIN_EXE_linerate");
const SSHD: &str = "/usr/sbin/sshd";
const PORT: u16 = 2222;

/// A server and its files.
pub(super) struct FarSide {
    place: PathBuf,
    /// The server, or the lab that has it.
    child: Child,
    /// A process in its network namespace.
    inside: u32,
}

impl FarSide {
    /// None, and the reason is printed, where there is no sshd or it may not have a network namespace.
    pub(super) fn start(name: &str) -> Option<Self> {
        let place = prepared(name)?;
        let child = server(&place);
        let inside = child.id();
        let side = Self {
            place,
            child,
            inside,
        };
        until("sshd listens", || side.listens());
        Some(side)
    }

    /// The second host of a lab with this fault, while the first one runs a script: `ssh far` reaches this one, and
    /// `linerate … $LINERATE_PEER $TOKEN` measures to it.
    pub(super) fn in_lab(name: &str, faults: &str, script: &str) -> Option<Self> {
        let place = prepared(name)?;
        let child = lab(&place, faults, script);
        let token = format!("{}/token", place.display());
        let inside = awaited("the server runs in the lab", &["serve", &token]);
        Some(Self {
            place,
            child,
            inside,
        })
    }

    /// Whether the script has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// A process whose command line has these words.
    pub(super) fn process(&self, has: &[&str]) -> u32 {
        awaited("the process runs", has)
    }

    /// A file of this test.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// The way of `ssh HOST COMMAND`, with the right keys.
    pub(super) fn way(&self, command: &str) -> Way {
        self.way_with(command, &self.options("known_hosts", "client_key"))
    }

    /// The same with other options of ssh.
    pub(super) fn way_with(&self, command: &str, options: &str) -> Way {
        let quoted = command.replace('\'', r"'\''");
        let place = self.place.display();
        let inside = self.inside;
        Way::Command {
            line: format!(
                "exec nsenter --net=/proc/{inside}/ns/net ssh -F {place}/client {options} -T -o BatchMode=yes -- far '{quoted}'"
            ),
        }
    }

    /// The keys of hosts and the key of the user by their files.
    pub(super) fn options(&self, hosts: &str, key: &str) -> String {
        let place = self.place.display();
        format!("-o UserKnownHostsFile={place}/{hosts} -i {place}/{key}")
    }

    /// A file as its namespace shows it.
    pub(super) fn value(&self, file: &str) -> String {
        let net = format!("--net=/proc/{}/ns/net", self.inside);
        let read = Command::new("nsenter")
            .args([&net, "cat", file])
            .output()
            .unwrap();
        String::from_utf8_lossy(&read.stdout).trim().to_owned()
    }

    /// The agent's process there.
    pub(super) fn agent(&self) -> u32 {
        let here = format!("LINERATE_TEST_PLACE={}", self.place.display());
        let is_agent = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let mut marks = environment.split(|byte| *byte == 0);
            // The shell that started it has the command in one word.
            words(*id).iter().any(|word| word == "--changes")
                && marks.any(|mark| mark == here.as_bytes())
        };
        processes().find(is_agent).expect("an agent runs")
    }

    /// Takes down the interface of the other host of the lab.
    pub(super) fn cut(&self) {
        let token = format!("{}/token", self.place.display());
        let near = self.process(&["tune", &token]);
        let net = format!("--net=/proc/{near}/ns/net");
        let down = Command::new("nsenter")
            .args([&net, "ip", "link", "set", "dev", "eth0", "down"])
            .status();
        assert!(down.unwrap().success());
    }

    pub(super) fn signal(&self, signal: &str, id: u32) {
        let sent = Command::new("kill")
            .args([signal, &id.to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// A directory with a program called linerate.
    pub(super) fn program(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.folder(name);
        let file = folder.join("linerate");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.place.join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// The journal there has nothing that is not undone.
    pub(super) fn expect_nothing_open(&self) {
        let journal = Journal::at(&self.place.join("state/linerate/journal"), "this boot");
        until("nothing is open in the journal", || {
            journal.open().unwrap().is_empty()
        });
        assert!(
            !journal.contents().unwrap().entries.is_empty(),
            "it was used"
        );
    }

    /// What sshd said.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.place.join("log")).unwrap_or_default()
    }

    fn listens(&self) -> bool {
        let table = self.value("/proc/net/tcp");
        table
            .lines()
            .any(|line| line.contains(&format!(":{PORT:04X} 00000000:0000 0A")))
    }
}

impl Drop for FarSide {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
        let _left = fs::remove_dir_all(&self.place);
    }
}

/// The files of a test; none, and the reason is printed, where it cannot run.
fn prepared(name: &str) -> Option<PathBuf> {
    if !Path::new(SSHD).exists() {
        println!("skipped: no sshd here (Debian: openssh-server)");
        return None;
    }
    if !is_allowed() {
        println!("skipped: no network namespace for sshd: it needs root");
        return None;
    }
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("ssh")
        .join(format!("{name}-{}", std::process::id()));
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("bin")).unwrap();
    keys(&place);
    settings(&place);
    // The name that is looked for in the PATH there.
    symlink(OURS, place.join("bin/linerate")).unwrap();
    Some(place)
}

fn processes() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn words(id: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The process whose command line has these words, as soon as there is one.
fn awaited(what: &str, has: &[&str]) -> u32 {
    let is_it = |id: &u32| {
        let words = words(*id);
        has.iter().all(|one| words.iter().any(|word| word == one))
    };
    let found = Cell::new(None);
    until(what, || {
        found.set(processes().find(is_it));
        found.get().is_some()
    });
    found.get().unwrap_or_default()
}

fn is_allowed() -> bool {
    let tried = Command::new("unshare").args(["-n", "-m", "true"]).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Keys of the host and of the user; and others, which the other end does not know.
fn keys(place: &Path) {
    for name in ["host_key", "client_key", "other_key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(place.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let public = |name: &str| fs::read_to_string(place.join(format!("{name}.pub"))).unwrap();
    fs::write(place.join("authorized"), public("client_key")).unwrap();
    for (file, key) in [("known_hosts", "host_key"), ("other_hosts", "other_key")] {
        let line = format!("[127.0.0.1]:{PORT} {}", public(key));
        fs::write(place.join(file), line).unwrap();
    }
}

fn settings(place: &Path) {
    let at = place.display();
    let server = format!(
        "Port {PORT}\nHostKey {at}/host_key\nAuthorizedKeysFile {at}/authorized\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin yes\nPidFile none\nPrintMotd no\n\
         SetEnv PATH={at}/bin:/usr/sbin:/usr/bin:/sbin:/bin XDG_STATE_HOME={at}/state LINERATE_TEST_PLACE={at}\n"
    );
    fs::write(place.join("server"), server).unwrap();
    let client = format!(
        "Host far\n  HostName 127.0.0.1\n  Port {PORT}\n  IdentitiesOnly yes\n  IdentityAgent none\n  StrictHostKeyChecking yes\n  GlobalKnownHostsFile none\n"
    );
    fs::write(place.join("client"), client).unwrap();
}

/// In a mount namespace of its own it has the directory that it wants to be empty.
fn server(place: &Path) -> Child {
    let at = place.display();
    let script = format!(
        "ip link set lo up && mount -t tmpfs none /run && mkdir -p /run/sshd && exec {SSHD} -D -e -f {at}/server"
    );
    let log = fs::File::create(place.join("log")).unwrap();
    Command::new("unshare")
        .args(["-n", "-m", "/bin/sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// The other end measures with a token: it shows its settings.
fn lab(place: &Path, faults: &str, script: &str) -> Child {
    let at = place.display();
    let client = format!(
        "#!/bin/sh\nexec /usr/bin/ssh -F {at}/client -o UserKnownHostsFile={at}/known_hosts -i {at}/client_key \
         -o HostName=$LINERATE_PEER -o HostKeyAlias='[127.0.0.1]:{PORT}' \"$@\"\n"
    );
    let far = format!(
        "mount -t tmpfs none /run && mkdir -p /run/sshd || exit\n{OURS} serve -q --token-file {at}/token &\n\
         exec {SSHD} -D -e -f {at}/server -o ClientAliveInterval=2 -o ClientAliveCountMax=5\n"
    );
    let near = format!(
        "export PATH={at}/near:{at}/bin:$PATH XDG_STATE_HOME={at}/near-state TOKEN='--token-file {at}/token'\ncd {at}\n\
         until ssh far true 2>/dev/null; do sleep 0.1; done\n{script}\n"
    );
    fs::create_dir(place.join("near")).unwrap();
    for (name, text) in [
        ("near/ssh", client.as_str()),
        ("far.sh", &far),
        ("near.sh", &near),
        ("token", "a token of this test alone, and of no other one\n"),
    ] {
        let file = place.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let log = fs::File::create(place.join("log")).unwrap();
    let both = log.try_clone().unwrap();
    Command::new(OURS)
        .arg("lab")
        .args(faults.split_whitespace())
        .args(["--peer", &format!("unshare -m sh {at}/far.sh")])
        .args(["--", "sh", &format!("{at}/near.sh")])
        .stdin(Stdio::null())
        .stdout(both)
        .stderr(log)
        .spawn()
        .unwrap()
}
