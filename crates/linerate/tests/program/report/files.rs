// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a report goes, and what cannot be reported.

use std::fs;
use std::process::Command;

use linerate_model::printable::is_hidden;
use linerate_model::setting::Setting;
use serde_json::Value;

use super::made::{DELIVERED, forward, place, printed, report, store, udp};

fn error(words: &[&str]) -> String {
    let output = report(words);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_ending_of_the_file_says_the_format() {
    let place = place("endings");
    let run = store(&place, &udp());
    for (name, start) in [
        ("a.md", "## linerate"),
        ("a.csv", "id,name,group"),
        ("a.json", "{\n  \"schema\""),
        ("a.txt", "linerate udp   IPv4"),
    ] {
        let file = place.join(name);
        printed(&[&run, "-o", file.to_str().unwrap()]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(start), "{name}: {text}");
    }
    let names = fs::read_dir(&place).unwrap().count();
    assert_eq!(names, 1 + 4, "nothing is left beside the files");
}

#[test]
fn a_file_that_cannot_be_written_stays_as_it_was() {
    let place = place("unwritable");
    let run = store(&place, &udp());
    let file = place.join("no-such-directory/a.md");
    let output = report(&[&run, "-o", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(
        reported.contains("cannot write") && reported.contains("try:"),
        "{reported}"
    );
}

/// A stored figure that cannot be filled a column of 309 digits, and findings were built on it.
#[test]
fn an_impossible_figure_of_a_stored_run_is_named_and_not_shown() {
    let place = place("impossible");
    let mut run = udp();
    run.tests[0].jitter_ns = Some(1e308);
    let run = store(&place, &run);
    for words in [
        vec![run.as_str()],
        vec![&run, "-f", "csv"],
        vec![&run, "-f", "md"],
    ] {
        let text = String::from_utf8(printed(&words)).unwrap();
        assert!(text.contains("a jitter of 1e308 ns"), "{text}");
        let digits = text
            .split(|c: char| !c.is_ascii_digit())
            .map(str::len)
            .max();
        assert!(digits < Some(20), "{text}");
    }
    let json: Value = serde_json::from_slice(&printed(&[&run, "-f", "json"])).unwrap();
    assert_eq!(json["tests"][0]["valid"], false);
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(0), "{json}");
}

#[test]
fn what_is_no_run_is_named_with_what_to_give() {
    let place = place("no-run");
    let path = |name: &str| place.join(name).display().to_string();
    fs::create_dir(path("empty")).unwrap();
    fs::write(path("text"), "hello").unwrap();
    fs::write(path("foreign.json"), "{\"schema\":\"other/1\"}").unwrap();
    for (name, said) in [
        ("empty", "run.json"),
        ("text", "--json"),
        ("foreign.json", "other/1"),
        ("absent", "No such file"),
    ] {
        let reported = error(&[&path(name)]);
        assert!(reported.contains(said), "{name}: {reported}");
    }
}

#[test]
fn a_table_that_is_not_there_is_answered_with_those_that_are() {
    let place = place("tables");
    let run = store(&place, &udp());
    let reported = error(&[&run, "-f", "csv", "--table", "nonsense"]);
    assert!(reported.contains("tests.intervals"), "{reported}");
    let text = printed(&[&run, "-f", "csv", "--table", "tests.intervals"]);
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("test_id,start_s,end_s"), "{text}");
    assert_eq!(text.matches("\r\n").count(), 3, "{text}");
}

#[test]
fn two_runs_stand_beside_each_other_but_a_document_is_of_one() {
    let place = place("two");
    let (one, other) = (store(&place, &udp()), store(&place, &forward()));
    let text = printed(&[&one, &other, "-f", "md"]);
    let text = String::from_utf8(text).unwrap();
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(at("# udp\n") < at("# forward\n"));
    let reported = error(&[&one, &other, "-f", "json"]);
    assert!(reported.contains("document of one run"), "{reported}");
}

#[test]
fn two_runs_of_one_kind_are_before_and_after() {
    let place = place("before-after");
    let one = store(&place, &udp());
    fs::rename(&one, place.join("old")).unwrap();
    let mut run = udp();
    run.tests[0].delivered_bits_per_second = Some(1.25 * DELIVERED);
    run.hosts[0].kernel = Some("7.0.0-other".to_owned());
    let other = store(&place, &run);
    let old = place.join("old").display().to_string();
    let said = "1 against 1 runs give no estimate of the variance";
    for format in ["term", "md", "html"] {
        let text = String::from_utf8(printed(&[&old, &other, "-f", format])).unwrap();
        for shown in [
            said,
            "+25 %, no interval: too few runs",
            "941.5 Mbit/s, 1 run",
            "also different: ",
            "7.0.0-other",
        ] {
            assert!(text.contains(shown), "{format}: {shown}: {text}");
        }
        assert!(
            text.find(said) < text.find("lab-left"),
            "{format}: the answer first"
        );
    }
    let picture = String::from_utf8(printed(&[&old, &other, "-f", "svg"])).unwrap();
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(
        picture.contains("<title") && picture.contains("udp: 1177 Mbit/s, 1 run"),
        "{picture}"
    );
    let reported = error(&[&old, "-f", "svg"]);
    assert!(reported.contains("svg shows a comparison"), "{reported}");
}

#[test]
fn what_was_expected_is_judged_anew() {
    let run = store(&place("expected"), &udp());
    let value: Value = serde_json::from_slice(&printed(&[&run, "-f", "json"])).unwrap();
    let reported = &value["expectations"];
    assert_eq!(reported[0]["expression"], ">=900M");
    assert_eq!(
        (&reported[0]["met"], &reported[1]["met"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn what_is_given_away_names_nobody() {
    let mut run = udp();
    run.plan
        .insert("host".to_owned(), "board.lab.example".to_owned());
    run.command.push("board.lab.example".to_owned());
    run.tests[0].invalid_reason = Some("lab-left cannot reach 192.0.2.77".to_owned());
    let line = "root=UUID=1b4e28ba-2fa1-11d2-883f-0016d3cca427 systemd.hostname=nightshade \
                ip=192.0.2.9::192.0.2.1:255.255.255.0:nightshade:eth0:off BOOTIF=01-02-00-5e-10-00-07";
    run.settings = vec![Setting {
        source: "/proc/cmdline".to_owned(),
        values: [("cmdline".to_owned(), line.to_owned())].into(),
        ..Setting::default()
    }];
    let run = store(&place("redacted"), &run);
    for format in [
        "term",
        "md",
        "html",
        "csv",
        "xlsx",
        "json",
        "junit",
        "openmetrics",
    ] {
        let bytes = printed(&[&run, "--redact", "-f", format]);
        let text = String::from_utf8_lossy(&bytes);
        let free = ["nightshade", "1b4e28ba", "192.0.2.9", "02-00-5e"];
        let known = ["lab-left", "lab-right", "board", "192.0.2.77", "boot-of"];
        for name in known.iter().chain(&free) {
            assert!(!text.contains(name), "{format}: {name}: {text}");
        }
    }
}

/// A title, a clear screen, a question that the terminal answers, a C1 sequence, a reversed line.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[5n\u{9b}31m\u{202e}txe\u{2028}";

#[test]
fn no_text_format_prints_what_a_terminal_obeys() {
    let place = place("hostile");
    let mut run = udp();
    run.hosts[0].hostname = Some(HOSTILE.to_owned());
    run.hosts[0].interfaces[0].name = HOSTILE.to_owned();
    run.tests[0].name = format!("udp-{HOSTILE}");
    let run = store(&place, &run);
    for format in ["term", "html", "md", "csv", "junit", "openmetrics", "json"] {
        let text = String::from_utf8(printed(&[&run, "-f", format])).unwrap();
        let shown = text.contains("[2J") || format == "openmetrics";
        assert!(shown, "{format}: the name is not shown");
        let obeyed = text
            .chars()
            .find(|letter| is_hidden(*letter) && !"\r\n\t".contains(*letter));
        assert_eq!(obeyed, None, "{format}: {text:?}");
    }
}

#[test]
fn a_terminal_gets_no_binary_file() {
    if Command::new("script").arg("--version").output().is_err() {
        return println!("skipped: no `script` (util-linux) here to make a terminal");
    }
    let place = place("binary");
    let run = store(&place, &udp());
    for command in [format!("report {run} -f xlsx"), "agent --stdio".to_owned()] {
        let line = format!("{} {command} </dev/null", env!("CARGO_BIN_EXE_linerate"));
        let output = Command::new("script")
            .args(["-qfec", &line, "/dev/null"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("terminal"), "{said}");
    }
}
