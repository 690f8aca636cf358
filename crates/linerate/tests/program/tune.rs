// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune status`, `restore` and `persist`: what was kept, and the files that make it permanent. In namespaces of
//! its own: no setting and no file of the machine is changed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linerate_change::{Change, Hand, Journal, Local, Outcome, Undo};
use serde_json::Value;

/// Network, mount and process namespace, with an interface and a systemd that seems to run.
const PREPARE: &str = "mount -t sysfs none /sys && mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
     for d in /etc/sysctl.d /etc/udev /etc/systemd /usr/lib/sysctl.d; do [ ! -d $d ] || mount -t tmpfs none $d || exit; done &&
     ip link add v0 type veth peer name v1 || exit 77";

#[test]
fn what_was_kept_is_listed_made_permanent_and_undone() {
    inside("the_whole_way");
}

#[test]
fn a_second_program_that_changes_settings_is_named() {
    inside("two_at_once");
}

#[test]
fn files_are_written_below_the_root_of_an_image() {
    inside("an_image");
}

/// Runs a test of this binary in namespaces.
fn inside(name: &str) {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tune-{name}"));
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let this = std::env::current_exe().unwrap();
    let test = format!(
        "exec {} --exact tune::{name} --ignored --nocapture",
        this.display()
    );
    let mut command = Command::new("unshare");
    command.args([
        "-Urnmpf",
        "--mount-proc",
        "sh",
        "-c",
        &format!("{PREPARE}\n{test}"),
    ]);
    let Ok(ended) = command.env(PLACE, &place).output() else {
        eprintln!("skipped: no unshare(1)");
        return;
    };
    let [said, refused] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text));
    if ended.status.code() == Some(77) || refused.starts_with("unshare") {
        eprintln!("skipped: {refused}");
        return;
    }
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{refused}"
    );
}

#[test]
#[ignore = "started in namespaces by a test above"]
fn the_whole_way() {
    let place = place();
    let before = settings();
    assert_eq!(tune(&place, &["status"]), (0, Vec::new()));
    as_another_process("keeps", &place).wait().unwrap();
    let changed = settings();
    assert_ne!(before, changed);
    assert_eq!(tune(&place, &["status"]), (0, states(["kept"; 2])));
    assert_eq!(tune(&place, &["restore"]), (0, Vec::new()));
    assert_eq!(settings(), changed, "it is meant to stay");

    let document = document(&place, &["persist"]);
    assert_eq!(document["exit_code"], 0, "{document:#}");
    let activates = document["next_commands"].as_array().unwrap();
    assert!(activates.contains(&format!("sysctl --load={SYSCTL}").into()));
    let files: Vec<&str> = list(&document)
        .filter_map(|one| one["persisted_file"].as_str())
        .collect();
    assert_eq!(files, [SYSCTL, RULE]);
    let sysctl = fs::read_to_string(SYSCTL).unwrap();
    assert!(
        sysctl.contains("\n# Why: a test: +12 %\n") && sysctl.ends_with("= 4096 65536 131072\n")
    );
    assert!(
        fs::read_to_string(RULE)
            .unwrap()
            .ends_with(", ATTR{tx_queue_len}=\"77\"\n")
    );
    assert_eq!(
        tune(&place, &["persist"]),
        (0, states(["kept"; 2])),
        "they are there already"
    );
    assert_eq!(tune(&place, &["status"]), (0, states(["kept"; 4])));

    fs::write(RULE, "# edited\n").unwrap();
    let edited = ["kept", "kept", "kept", "foreign"];
    assert_eq!(tune(&place, &["status"]), (0, states(edited)));
    let left = ["foreign", "restored", "restored", "restored"];
    assert_eq!(tune(&place, &["restore", "--kept"]), (1, states(left)));
    assert_eq!(fs::read_to_string(RULE).unwrap(), "# edited\n");
    assert_eq!((settings(), Path::new(SYSCTL).exists()), (before, false));
    let forced = ["restore", "--kept", "--force"];
    assert_eq!(tune(&place, &forced), (0, states(["restored"])));
    assert!(!Path::new(RULE).exists());
    assert_eq!(tune(&place, &["status"]), (0, Vec::new()));
    let nothing = self::document(&place, &["persist"]);
    assert_eq!(nothing["exit_code"], 3);
}

#[test]
#[ignore = "started in namespaces by a test above"]
fn an_image() {
    let place = place();
    fs::create_dir(place.join("image")).unwrap();
    as_another_process("keeps", &place).wait().unwrap();
    fs::remove_dir("/run/systemd/system").unwrap();
    assert_eq!(document(&place, &["persist"])["exit_code"], 1, "no systemd");
    let below = |root: &str| document(&place, &["persist", "--root", root]);

    let image = fs::canonicalize(place.join("image")).unwrap();
    let files = [SYSCTL, RULE].map(|path| format!("{}{path}", image.display()));
    let persisted = below("image");
    assert_eq!(persisted["exit_code"], 0, "{persisted:#}");
    let named: Vec<&str> = list(&persisted)
        .filter_map(|one| one["persisted_file"].as_str())
        .collect();
    assert_eq!(named, files);
    assert_eq!(persisted["next_commands"], Value::Array(Vec::new()));
    assert_eq!(
        list(&persisted).next().unwrap()["undo"][0],
        format!("rm {}", files[0])
    );
    assert!(!Path::new(SYSCTL).exists() && files.iter().all(|file| Path::new(file).is_file()));
    assert_eq!(tune(&place, &["status"]), (0, states(["kept"; 4])));

    let why = |root: &str| {
        let refused = below(root);
        let why = refused["error"]["why"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        (refused["exit_code"].as_i64().unwrap(), why)
    };
    assert_eq!(why("none"), (2, "No such file or directory".to_owned()));
    assert_eq!(why(&files[0]), (2, "not a directory".to_owned()));
    assert_eq!(below("/")["exit_code"], 1, "as without: no systemd");
    fs::create_dir(place.join("read-only")).unwrap();
    let mount = ["-t", "tmpfs", "-o", "ro", "none", "read-only"];
    let mounted = Command::new("mount")
        .args(mount)
        .current_dir(&place)
        .status();
    assert!(mounted.unwrap().success());
    let refused = below("read-only");
    assert_eq!(refused["exit_code"], 1);
    let reasons = list(&refused).map(|one| one["reason"].as_str().unwrap());
    let reasons: Vec<&str> = reasons.collect();
    assert_eq!(reasons.len(), 2);
    for reason in reasons {
        let is_clear = reason.contains("/read-only/etc/") && reason.contains("Read-only");
        assert!(is_clear, "{reason}");
    }

    let restored = states(["restored"; 4]);
    assert_eq!(tune(&place, &["restore", "--kept"]), (0, restored));
    assert!(files.iter().all(|file| !Path::new(file).exists()));
}

#[test]
#[ignore = "started in namespaces by a test above"]
fn two_at_once() {
    let place = place();
    as_another_process("keeps", &place).wait().unwrap();
    let mut other = as_another_process("holds", &place);
    let said = BufReader::new(other.stdout.take().unwrap());
    let mut lines = said.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("held")));
    let refused = document(&place, &["persist"]);
    let why = refused["error"]["why"].as_str().unwrap();
    let expected = format!(
        "linerate tune (process {}) is changing settings of this host",
        other.id()
    );
    assert_eq!((why, &refused["exit_code"]), (&*expected, &3.into()));
    assert_eq!(tune(&place, &["status"]), (0, states(["kept"; 2])));
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(document(&place, &["persist"])["exit_code"], 0);
}

/// In a process that ends: two changes, which are kept.
#[test]
#[ignore = "started by the tests above"]
fn keeps() {
    let mut hand = Local::here(journal(&place())).unwrap();
    for (knob, interface, new) in [
        ("sysctl net.ipv4.tcp_rmem", None, "4096 65536 131072"),
        ("ip link txqueuelen", Some("v0"), "77"),
    ] {
        let change = Change {
            key: hand.key(knob, interface).unwrap(),
            new: new.to_owned(),
            undo: Undo::Write,
            because: "a test: +12 %".to_owned(),
        };
        match hand.apply(change).unwrap() {
            Outcome::Applied { change, .. } => hand.keep(change).unwrap(),
            other => panic!("{knob}: {other:?}"),
        }
    }
}

/// As a campaign does.
#[test]
#[ignore = "started by a test above, which kills it"]
fn holds() {
    let _alone = journal(&place()).exclusive("linerate tune").unwrap();
    println!("\nheld");
    loop {
        std::thread::park();
    }
}

fn as_another_process(name: &str, place: &Path) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("tune::{name}");
    command.args(["--exact", &name, "--ignored", "--nocapture"]);
    command.env(PLACE, place).stdout(Stdio::piped());
    command.spawn().unwrap()
}

fn place() -> PathBuf {
    PathBuf::from(std::env::var_os(PLACE).expect("started by a test above"))
}

fn journal(place: &Path) -> Journal {
    let boot = linerate_linux::host::boot_id().unwrap();
    Journal::at(&place.join("linerate/journal"), &boot)
}

fn settings() -> [String; 2] {
    [
        "/proc/sys/net/ipv4/tcp_rmem",
        "/sys/class/net/v0/tx_queue_len",
    ]
    .map(|path| fs::read_to_string(path).unwrap())
}

fn states<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn list(document: &Value) -> impl Iterator<Item = &Value> {
    document["changes"].as_array().into_iter().flatten()
}

fn tune(place: &Path, words: &[&str]) -> (i64, Vec<String>) {
    let document = document(place, words);
    let states = list(&document).map(|change| change["state"].as_str().unwrap().to_owned());
    (document["exit_code"].as_i64().unwrap(), states.collect())
}

fn document(place: &Path, words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .arg("tune")
        .args(words)
        .arg("--json")
        .current_dir(place);
    let ended = command.env("XDG_STATE_HOME", place).output().unwrap();
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(document["exit_code"], ended.status.code().unwrap());
    document
}

const PLACE: &str = "LINERATE_TEST_PLACE";
const SYSCTL: &str = "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf";
const RULE: &str = "/etc/udev/rules.d/90-linerate-v0-ip-link-txqueuelen.rules";
