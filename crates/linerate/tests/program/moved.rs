// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that another program changes while one measures: named, with the program, and no block of `ab` counts. All in
//! the first host of a lab, whose settings are its own.

mod balanced;
mod tuned;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A directory of one test, empty.
fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("moved")
        .join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// A script in the first host of a lab; nothing where there are no namespaces. `$L` is the program.
fn in_lab(place: &Path, script: &str) -> Option<Output> {
    let output = linerate(place)
        .args(["lab", "--", "sh", "-euc", script])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.contains("private network namespaces") {
        println!("skipped: no private network namespaces: {said}");
        return None;
    }
    Some(output)
}

fn linerate(place: &Path) -> Command {
    let program = env!("CARGO_BIN_EXE_linerate");
    let mut command = Command::new(program);
    command.current_dir(place).env("XDG_STATE_HOME", place);
    command.env("L", program);
    command
}

fn read(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// `host name` of each setting that changed, in order.
fn moved(document: &Value) -> Vec<String> {
    let all = document["moved"].as_array().unwrap().iter();
    let settings = all.filter(|one| one["kind"] == "setting");
    let word = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    settings
        .map(|one| format!("{} {}", word(one, "host"), word(one, "name")))
        .collect()
}

/// Runs a test and writes to two settings when its load has started.
const DISTURBED: &str = r#"
"$L" tcp "$LINERATE_PEER" -t 2 --json-stream -o run | while read -r line; do
    case "$line" in
    '{"event":"start"'*)
        echo '4096 131072 1000000' >/proc/sys/net/ipv4/tcp_rmem
        ip link set dev eth0 txqueuelen 77 ;;
    '{"event":"end"'*) printf '%s\n' "$line" >end ;;
    esac
done"#;

#[test]
fn settings_that_another_program_writes_during_a_test_are_named() {
    let place = place("named");
    let Some(output) = in_lab(&place, DISTURBED) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = &read(&place.join("end"))["data"];
    let names = ["local txqueuelen", "local net.ipv4.tcp_rmem"];
    assert_eq!(moved(document), names, "{}", document["moved"]);
    let [queue, rmem] = [0, 1].map(|at| &document["moved"][at]);
    assert_eq!(
        (&queue["interface"], &queue["after"]),
        (&"eth0".into(), &"77".into())
    );
    assert_eq!(rmem["after"], "4096 131072 1000000");
    assert_eq!(rmem["owner"], Value::Null, "no program is known to have");
    let commands = document["next_commands"].to_string();
    assert!(
        commands.contains("/proc/sys/net/ipv4/tcp_rmem"),
        "{commands}"
    );
    let stored = read(&place.join("run/run.json"));
    assert_eq!(moved(&stored), names);
    let explained = linerate(&place).args(["explain", "run"]).output().unwrap();
    let text = String::from_utf8_lossy(&explained.stdout).replace("\n    ", " ");
    let rmem = "net.ipv4.tcp_rmem changed from 4096";
    assert!(
        text.contains(rmem) && text.contains("by an unknown program"),
        "{text}"
    );
}

#[test]
fn a_test_that_is_left_alone_has_no_change() {
    let place = place("alone");
    let script = r#""$L" check "$LINERATE_PEER" --quick --json -o run >document"#;
    if in_lab(&place, script).is_some() {
        assert_eq!(moved(&read(&place.join("document"))), [""; 0]);
    }
}

/// The server reads its own state, and tells it to a client with its token only.
#[test]
fn a_server_reports_what_changed_at_its_end_to_a_client_with_its_token() {
    let place = place("remote");
    let script = r#"
(umask 077; echo of-a-test-0123456789abcdef >token)
"$L" serve --token-file token -p 5299 >/dev/null 2>serve & server=$!
trap 'kill $server' EXIT
for _ in $(seq 300); do grep -q listens serve && break; sleep 0.1; done
disturbed() {
    "$L" tcp 127.0.0.1 -p 5299 -t 1 --json-stream -o "$@" | while read -r line; do
        case "$line" in '{"event":"start"'*) echo "4096 131072 $rmem" >/proc/sys/net/ipv4/tcp_rmem ;; esac
    done
}
rmem=1000000 disturbed with --token-file token
rmem=2000000 disturbed without"#;
    let Some(output) = in_lab(&place, script) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let of = |run: &str| {
        let mut names = moved(&read(&place.join(run).join("run.json")));
        names.sort();
        names
    };
    let rmem = ["local net.ipv4.tcp_rmem", "remote net.ipv4.tcp_rmem"];
    assert_eq!(of("with"), rmem);
    assert_eq!(of("without"), rmem[..1]);
}

fn ab(place: &Path, arms: [&str; 2], more: &[&str]) -> Option<(Output, Value)> {
    let [a, b] = arms;
    let mut command = linerate(place);
    command.args([
        "ab", "--lab", "--json", "-o", "run", "--settle", "0", "--seed", "7",
    ]);
    command.args(["--a", a, "--b", b, "--restore", "true"]);
    let output = command.args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.contains("private network namespaces") {
        println!("skipped: no private network namespaces: {said}");
        return None;
    }
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|error| panic!("{error}: {said}"));
    Some((output, document))
}

fn reasons(document: &Value) -> Vec<String> {
    let runs = document["experiment"]["runs"].as_array().unwrap().iter();
    let reasons = runs.filter_map(|run| run["invalid_reason"].as_str());
    reasons.map(str::to_owned).collect()
}

#[test]
fn a_program_that_writes_all_the_time_ends_the_comparison_with_the_reason() {
    let place = place("restless");
    fs::write(place.join("alive"), "").unwrap();
    // Starts with the first run, and ends with the test.
    let a = r#"[ -e started ] || { touch started; (n=1000000; while [ -e alive ]; do
        n=$((n+1)); echo "4096 131072 $n" >/proc/sys/net/ipv4/tcp_rmem; sleep 0.1; done) >/dev/null 2>&1 & }"#;
    let more = ["--aa", "0", "--", "tcp", "-t", "1"];
    let ended = ab(&place, [a, "true"], &more);
    fs::remove_file(place.join("alive")).unwrap();
    let Some((output, document)) = ended else {
        return;
    };
    assert_eq!(output.status.code(), Some(3), "{}", document["error"]);
    let why = document["error"]["why"].as_str().unwrap();
    assert!(why.contains("net.ipv4.tcp_rmem changed from"), "{why}");
    let reasons = reasons(&document);
    assert!(reasons.len() >= 3, "{reasons:?}");
    for reason in reasons {
        assert!(reason.contains("net.ipv4.tcp_rmem"), "{reason}");
    }
    assert!(moved(&document).len() >= 3, "{}", document["moved"]);
}

#[test]
fn a_change_that_stays_costs_one_block_and_what_a_and_b_set_none() {
    let place = place("stays");
    // The fifth set-up of A, in the second block, is the moment at which another program writes.
    let a = r#"printf A >>log; ip link set dev eth0 gso_max_segs 10
        [ "$(tr -d B <log)" != AAAA ] || ip link set dev eth0 txqueuelen 77
        ethtool -K eth0 tso off 2>/dev/null || true; echo 4096 131072 1000000 >/proc/sys/net/ipv4/tcp_rmem"#;
    let b = "printf B >>log; echo 4096 131072 2000000 >/proc/sys/net/ipv4/tcp_rmem";
    let more = [
        "--aa", "0", "--blocks", "6", "--margin", "100%", "--", "tcp", "-n", "64K",
    ];
    let Some((output, document)) = ab(&place, [a, b], &more) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", document["error"]);
    let reasons = reasons(&document);
    let [reason] = &reasons[..] else {
        panic!("one run: {reasons:?}");
    };
    let when = "between two runs of the same configuration";
    assert!(
        reason.starts_with(when) && reason.contains("txqueuelen"),
        "{reason}"
    );
    assert_eq!(moved(&document), ["local txqueuelen"]);
}
