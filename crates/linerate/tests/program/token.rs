// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--token-file` at both ends, over the loopback: who knows the token gets all, everybody else only what a
//! test needs, and whatever comes of it the test runs. Nothing here is timed.

mod file;
mod hostile;
mod rogue;

use crate::support::Server;
use linerate_diagnose::dut;
use linerate_endpoint::token;
use linerate_forward::Device;
use linerate_linux::signal::Interrupt;
use linerate_model::output::Withheld;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SECRET: &str = "this line is what both ends know";
const OTHER: &str = "this line is what nobody else knows";

/// A file of one line that only its owner can read.
fn file(name: &str, line: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("token-{name}"));
    std::fs::write(&path, format!("{line}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn serving(token: Option<&Path>) -> Server {
    let flag = token.map(|path| format!("--token-file {}", path.display()));
    Server::ours(&flag.unwrap_or_default())
}

/// One short test against it.
fn measured(server: &Server, more: &[&str]) -> Output {
    let port = server.port.to_string();
    Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["tcp", "127.0.0.1", "-n", "100K", "-p", &port])
        .args(more)
        .env_remove(linerate_wire::linerate::token::FILE_VARIABLE)
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap()
}

fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn warns(document: &Value) -> bool {
    let warnings = document["tests"][0]["warnings"].as_array().unwrap();
    warnings
        .iter()
        .any(|warning| warning["id"] == "token-not-shared")
}

/// Sources of the far end's settings in a stored run.
fn sources(run: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(run.join("run.json")).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    let settings = run["settings"].as_array().unwrap();
    let remote = settings.iter().filter(|one| one["host"] == "remote");
    remote
        .map(|one| one["source"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn only_a_client_with_the_token_sees_everything() {
    let (right, wrong) = (file("reported", SECRET), file("reported-other", OTHER));
    let with = serving(Some(&right));
    let without = serving(None);
    let (right, wrong) = (Some(right.as_path()), Some(wrong.as_path()));
    for (number, (server, given, withheld)) in [
        (&with, right, None),
        (&with, None, Some("needs-token")),
        (&with, wrong, Some("other-token")),
        (&without, None, Some("has-no-token")),
        (&without, right, Some("has-no-token")),
    ]
    .into_iter()
    .enumerate()
    {
        let run = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("token-run-{number}"));
        let _ = std::fs::remove_dir_all(&run);
        let (run_text, given_text) = (
            run.display().to_string(),
            given.map(|path| path.display().to_string()),
        );
        let mut more = vec!["--json", "-o", &run_text];
        if let Some(path) = &given_text {
            more.extend(["--token-file", path]);
        }
        let output = measured(server, &more);
        let document = document(&output);
        let remote = &document["hosts"][1];
        assert_eq!(remote["withheld"].as_str(), withheld, "{number}");
        assert_eq!(remote["agent"], true);
        let all = withheld.is_none();
        for name in ["hostname", "kernel", "arch"] {
            assert_eq!(remote[name].is_string(), all, "{number} {name}");
        }
        assert_eq!(warns(&document), given.is_some() && !all, "{number}");
        // What the accounts need is sent anyway.
        assert_eq!(document["tests"][0]["valid"], true);
        assert_eq!(remote["interfaces"][0]["name"], "lo");
        let reported = sources(&run);
        assert_eq!(reported.iter().any(|source| source == "/proc/version"), all);
        assert!(
            all || reported.iter().all(|source| source == "skb:kfree_skb"),
            "{reported:?}"
        );
        assert_eq!(
            counts(&run, "/proc/interrupts"),
            all,
            "lo has none, these are the host's"
        );
        assert!(
            counts(&run, "/proc/stat")
                && counts(&run, "/proc/net/snmp")
                && counts(&run, "rtnl_link_stats64")
        );
        assert_no_secret_in(&run, &output);
    }
    with.await_line("its token is wrong");
    assert!(
        !command_lines().contains(SECRET),
        "`ps` shows it to everybody"
    );
}

/// Those of all processes.
fn command_lines() -> String {
    let processes = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let line = |path: PathBuf| std::fs::read(path.join("cmdline")).ok();
    let all: Vec<u8> = processes
        .filter_map(|process| line(process.path()))
        .flatten()
        .collect();
    let text = String::from_utf8_lossy(&all).into_owned();
    assert!(text.contains("--token-file"), "the server's is among them");
    text
}

/// Whether the far end sent counters of that source.
fn counts(run: &Path, source: &str) -> bool {
    let text = std::fs::read_to_string(run.join("samples.jsonl")).unwrap();
    let mut samples = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    samples.any(|one| one["host"] == "remote" && one["source"] == source)
}

fn assert_no_secret_in(run: &Path, output: &Output) {
    let files = std::fs::read_dir(run).unwrap();
    let texts = files.map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    for bytes in texts.chain([output.stdout.clone(), output.stderr.clone()]) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET) && !text.contains(OTHER));
    }
}

#[test]
fn the_text_says_how_more_is_to_be_had() {
    let (right, wrong) = (file("text", SECRET), file("text-other", OTHER));
    let (right_text, wrong_text) = (right.display().to_string(), wrong.display().to_string());
    let server = serving(Some(&right));
    let said = |more: &[&str]| {
        let output = measured(&server, more);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let without_token = said(&["--ascii"]);
    let hint = "with --token-file FILE it reports more";
    assert!(
        without_token.contains(hint) && !without_token.contains("token-not-shared"),
        "{without_token}"
    );
    let other = said(&["--ascii", "--token-file", &wrong_text]);
    assert!(other.contains("its server has another token"), "{other}");
    let known = said(&["--ascii", "--token-file", &right_text]);
    assert!(
        !known.contains("reported only") && !known.contains(hint),
        "{known}"
    );
}

/// A device in the middle is asked the same way.
#[test]
fn a_device_follows_the_same_rule() {
    let right = file("device", SECRET);
    let server = serving(Some(&right));
    let ask = |token: Option<&str>| {
        let token = token.map(|line| token::read(&file("device-asks", line)).unwrap());
        Device::served(
            "127.0.0.1",
            server.port,
            token.as_ref(),
            dut::moved,
            &Interrupt::default(),
        )
        .unwrap()
    };
    let known = ask(Some(SECRET));
    assert_eq!((known.host().withheld, known.take_warning()), (None, None));
    assert!(known.host().hostname.is_some() && known.host().kernel.is_some());
    assert!(
        known
            .settings()
            .iter()
            .any(|one| one.source == "/proc/version")
    );
    let without_token = ask(None);
    assert_eq!(without_token.host().withheld, Some(Withheld::NeedsToken));
    assert_eq!(without_token.take_warning(), None);
    assert_eq!(
        (without_token.host().hostname, without_token.host().kernel),
        (None, None)
    );
    assert_eq!(without_token.settings(), []);
    let other = ask(Some(OTHER));
    assert_eq!(other.host().withheld, Some(Withheld::OtherToken));
    assert!(other.take_warning().is_some());
    assert_eq!(other.settings(), []);
}
