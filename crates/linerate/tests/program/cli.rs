// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as a shell and a script see it: streams, exit codes, documents, interruption.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

fn linerate(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(line.split_whitespace());
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn run(line: &str) -> Output {
    let output = linerate(line).output();
    output.unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Where namespaces are forbidden a lab is the loopback, and there is one port: one at a time.
fn one_lab() -> MutexGuard<'static, ()> {
    static LAB: Mutex<()> = Mutex::new(());
    LAB.lock().unwrap_or_else(PoisonError::into_inner)
}

fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_command_line_is_2_and_says_what_why_and_try() {
    let output = run("tcp h -P 0");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(
        stderr(&output),
        "error: cannot understand the command line\n  \
         why: invalid value '0' for '--parallel <STREAMS>': 0 is not in 1..=128\n  \
         try: linerate tcp --help\n"
    );
}

#[test]
fn with_json_an_error_is_a_document_too() {
    let output = run("tcp h -P 0 --json");
    let value = document(&output);
    assert_eq!(
        (output.status.code(), &value["exit_code"]),
        (Some(2), &Value::from(2))
    );
    assert_eq!(
        (&value["kind"], &value["schema"]),
        (&Value::from("tcp"), &Value::from("linerate.output/1"))
    );
    assert!(
        value["error"]["why"]
            .as_str()
            .unwrap()
            .contains("--parallel")
    );
    assert!(stderr(&output).starts_with("error: "));
}

#[test]
fn nobody_listens_is_3_in_text_and_in_json() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let output = run(&format!("tcp 127.0.0.1 -p {free} -t 1 --json"));
    let value = document(&output);
    assert_eq!(
        (output.status.code(), &value["exit_code"]),
        (Some(3), &Value::from(3))
    );
    assert!(
        value["error"]["what"]
            .as_str()
            .unwrap()
            .contains("127.0.0.1"),
        "{value}"
    );
    assert_eq!(
        run(&format!("tcp 127.0.0.1 -p {free} -t 1")).status.code(),
        Some(3)
    );
}

#[test]
fn a_test_in_the_lab_is_one_document_and_its_run_is_stored() {
    let _alone = one_lab();
    let output = run("udp --lab -b 5M -k 200 -i 0 --json");
    let value = document(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let test = &value["tests"][0];
    let count = |name: &str| test[name].as_u64().unwrap();
    assert_eq!(
        count("sent_packets"),
        count("received_packets") + count("lost_packets")
    );
    assert_eq!(
        (&test["id"], &value["error"]),
        (&Value::from("udp-up"), &Value::Null)
    );
    let run_dir = value["run_dir"].as_str().unwrap();
    assert!(
        std::path::Path::new(run_dir).join("run.json").is_file(),
        "{run_dir}"
    );
}

#[test]
fn an_expectation_that_fails_is_1() {
    let _alone = one_lab();
    let output = linerate("udp --lab -b 2M -k 50 --json --expect rate>=1M --expect rate>=900G")
        .output()
        .unwrap();
    let value = document(&output);
    assert_eq!(
        (output.status.code(), &value["exit_code"]),
        (Some(1), &Value::from(1))
    );
    let met: Vec<&Value> = value["expectations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["met"])
        .collect();
    assert_eq!(met, [&Value::from(true), &Value::from(false)]);
}

#[test]
fn the_stream_is_one_object_a_line() {
    let _alone = one_lab();
    let output = run("udp --lab --bidir -b 2M -t 300ms -i 100ms --json-stream");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        (events.first(), events.last()),
        (Some(&"start"), Some(&"end"))
    );
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!((of("test"), of("end")), (2, 1), "{events:?}");
    assert!(of("interval") >= 2, "{events:?}");
    // A busy machine may leave datagrams unsent: what ended is reported as it ended.
    let code = &lines.last().unwrap()["data"]["exit_code"];
    assert_eq!(code.as_i64(), output.status.code().map(i64::from));
    assert!(code == 0 || code == 4, "{code}");
}

#[test]
fn an_interruption_leaves_a_partial_document_and_130() {
    let _alone = one_lab();
    let mut child = linerate("udp --lab -b 5M -t 60 -i 100ms --json-stream")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let running = lines
        .by_ref()
        .any(|line| line.unwrap().contains("\"interval\""));
    assert!(running);
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let last = lines.map(Result::unwrap).last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let end: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(
        (
            &end["event"],
            &end["data"]["partial"],
            &end["data"]["exit_code"]
        ),
        (&Value::from("end"), &Value::from(true), &Value::from(130))
    );
    assert!(
        end["data"]["tests"][0]["sent_packets"].as_u64().unwrap() > 0,
        "what was measured is there"
    );
}

#[test]
fn without_a_home_it_measures_and_says_not_stored() {
    let _alone = one_lab();
    let output = linerate("udp --lab -b 2M -k 50 --json")
        .env_remove("HOME")
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    let value = document(&output);
    assert_eq!(
        (output.status.code(), &value["run_dir"]),
        (Some(0), &Value::Null)
    );
    assert!(
        stderr(&output).contains("not stored: "),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_reader_that_leaves_is_a_quiet_success() {
    let mut child = linerate("man check")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_serial_console_gets_ascii_and_80_columns() {
    let _alone = one_lab();
    for line in ["doctor", "udp --lab -b 2M -k 50"] {
        let output = linerate(line)
            .env("LC_ALL", "C")
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.is_ascii(), "{line}: {text}");
        assert!(!text.contains('\x1b'), "{line}");
        if line != "doctor" {
            // A path or a command line is one word that may be longer.
            let long = text
                .lines()
                .find(|row| row.len() > 80 && !row.contains('/'));
            assert_eq!(long, None, "{line}");
        }
    }
}

#[test]
fn the_doctor_answers_in_json_with_remedies() {
    let value = document(&run("doctor --json"));
    let checks = value["checks"].as_array().unwrap();
    assert!(checks.len() > 10);
    for check in checks {
        assert!(
            check["works"] != false || check["try"].is_string(),
            "{check}"
        );
    }
}

#[test]
fn nothing_of_a_quiet_command_is_on_stderr() {
    let _alone = one_lab();
    let output = run("udp --lab -b 2M -k 50 -q");
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
    assert!(!output.stdout.is_empty());
}

/// Three answers that must not be mixed up: a fault, none shown, and nothing there to judge.
#[test]
fn a_text_without_any_output_is_not_called_healthy() {
    let explained = |text: &str| {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("text-to-explain.txt");
        std::fs::write(&path, text).unwrap();
        let output = linerate("explain").arg(&path).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let prose = explained("hello, my network is slow since tuesday\n");
    assert!(
        prose.contains("no known tool output in this text"),
        "{prose}"
    );
    assert!(!prose.contains("shows a fault"), "{prose}");
    let counters = explained("1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue state UNKNOWN\n");
    assert!(
        counters.contains("nothing in the parsed output shows a fault"),
        "{counters}"
    );
}

/// A stored run says again what was said when it was measured.
#[test]
fn explain_draws_the_same_conclusions_as_the_measuring_command() {
    let _alone = one_lab();
    for line in [
        "check --lab --quick --fault rcvbuf=16K",
        "sweep --lab --from 100M --to 300M --step 100M -t 0.2 --fault rcvbuf=16K",
        "udp --lab -t 1 -b 200M --fault rcvbuf=16K",
    ] {
        let name = line.split(' ').next().unwrap_or_default();
        let place = std::env::temp_dir().join(format!("linerate-{name}-{}", std::process::id()));
        let place = place.display();
        let measured = document(&run(&format!("{line} --json -o {place}")));
        let explained = document(&run(&format!("explain {place} --json")));
        for list in ["verdicts", "knees", "ledger"] {
            assert_eq!(measured[list], explained[list], "{line}: {list}");
        }
        let concluded = |list: &str| !measured[list].as_array().is_none_or(Vec::is_empty);
        assert_eq!(concluded("verdicts"), name == "check", "{line}");
        assert_eq!(concluded("knees"), name != "udp", "{line}");
        let _ = std::fs::remove_dir_all(place.to_string());
    }
}

/// Each option below "Lab:" of each command's help is refused where there is no lab, in place of having no effect.
#[test]
fn an_option_of_the_lab_is_refused_without_a_lab() {
    let mut options = 0;
    for (command, without_lab) in WITHOUT_LAB {
        for option in lab_options(command).iter().filter(|one| *one != "--lab") {
            let value = match (option.as_str(), command) {
                ("--fault", "forward") => Some("loss"),
                ("--fault", "nic-check") => Some("nic-udp-zero"),
                ("--fault", _) => Some("loss"),
                ("--topology", _) => Some("route"),
                ("--mtu", _) => Some("1400"),
                _ => None,
            };
            let words = without_lab.split(' ').filter(|word| !word.is_empty());
            let mut words: Vec<&str> = words.collect();
            let at = words.iter().position(|word| *word == "--");
            let at = at.unwrap_or(words.len());
            words.splice(at..at, [option.as_str()].into_iter().chain(value));
            let ended = Command::new(env!("CARGO_BIN_EXE_linerate"))
                .arg(command)
                .args(&words)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(2), "{command} {words:?}: {said}");
            assert!(
                said.contains(option.as_str()),
                "{command} {words:?}: {said}"
            );
            options += 1;
        }
    }
    assert!(options >= WITHOUT_LAB.len(), "{options} options");
}

/// No command with a lab is missing in the table.
#[test]
fn every_command_with_a_lab_is_in_the_table() {
    let help = help(&[]);
    let names = help.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase());
        (is_name && name != "help").then(|| name.to_owned())
    });
    // Another word is a HOST, whose help is that of `check`.
    let is_command = |name: &str| self::help(&[name]).contains(&format!("Usage: linerate {name} "));
    let has_lab = |name: &str| lab_options(name).contains(&"--lab".to_owned());
    let found = names.filter(|name| is_command(name) && has_lab(name));
    let mut found: Vec<String> = found.collect();
    found.sort();
    found.dedup();
    let mut expected = WITHOUT_LAB.map(|(command, _)| command);
    expected.sort_unstable();
    assert_eq!(found, expected);
}

fn lab_options(command: &str) -> Vec<String> {
    let help = help(&[command]);
    let (_, lab) = help.split_once("\nLab:\n").unwrap_or_default();
    let section = lab
        .lines()
        .take_while(|line| !line.ends_with(':') || line.starts_with(' '));
    let option = |line: &str| {
        let words = line.trim_start().split([' ', ',', '[']);
        words
            .into_iter()
            .find(|word| word.starts_with("--"))
            .map(str::to_owned)
    };
    section
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(option)
        .collect()
}

fn help(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let ended = command.args(words).arg("--help").output().unwrap();
    String::from_utf8(ended.stdout).unwrap()
}

/// Each with the words that measure something real; where there is a lab none of these is needed.
const WITHOUT_LAB: [(&str, &str); 10] = [
    ("check", "192.0.2.7"),
    ("tcp", "192.0.2.7"),
    ("udp", "192.0.2.7"),
    ("sweep", "192.0.2.7"),
    ("cost", "192.0.2.7"),
    ("tune", "192.0.2.7 --dry-run"),
    ("ab", "--a true --b true -- tcp 192.0.2.7"),
    ("matrix", "--axes size=64 192.0.2.7"),
    ("nic-check", "eth0 192.0.2.7 --remote there"),
    ("forward", "eth0 eth1"),
];
