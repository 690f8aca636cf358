// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documents say what the program does: names, warnings, first lines, exit codes. (That each
//! command line in them parses is tested beside the parser, in `src/cli/tests.rs`.)

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(line.split_whitespace());
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
        .output()
        .unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Names of a list in `docs/json.md`, such as `loss_ratio` of `tests[].loss_ratio`.
fn names(list: &str) -> Vec<String> {
    let json = text("docs/json.md");
    let prefix = format!("| `{list}[].");
    let name = |line: &str| Some(line.strip_prefix(&prefix)?.split('`').next()?.to_owned());
    json.lines().filter_map(name).collect()
}

#[test]
fn every_name_of_a_measured_number_is_explained() {
    let measuring = text("docs/measuring.md");
    for list in ["tests", "latency", "verdicts", "knees"] {
        let names = names(list);
        assert!(names.len() >= 4, "{list}: {names:?}");
        for name in names {
            let top = name.split(['.', '[']).next().unwrap_or_default();
            assert!(
                measuring.contains(&format!("`{top}")),
                "docs/measuring.md does not explain {list}[].{name}"
            );
        }
    }
}

/// The real program says which options it has.
#[test]
fn every_option_of_iperf3_is_in_the_table() {
    let Ok(asked) = Command::new("iperf3").arg("--help").output() else {
        return eprintln!("skipped: no iperf3 in PATH");
    };
    let help = String::from_utf8([asked.stdout, asked.stderr].concat()).unwrap();
    let lines = help.lines().filter(|line| line.starts_with("  -"));
    let options: Vec<&str> = lines.flat_map(leading_options).collect();
    assert!(options.len() > 60, "{options:?}");
    let page = text("docs/iperf3.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `-"))
        .collect();
    for option in options {
        let name = format!("`{option}`");
        let first = |row: &&&str| {
            row.split('|')
                .nth(1)
                .is_some_and(|cell| cell.contains(&name))
        };
        assert!(
            rows.iter().any(|row| first(&row)),
            "docs/iperf3.md has no {option}"
        );
    }
}

/// Of `  -p, --port      #         server port` the first two words.
fn leading_options(line: &str) -> Vec<&str> {
    let words = line.split([' ', ',', '=', '<', '[']);
    let words = words.filter(|word| !word.is_empty());
    words.take_while(|word| word.starts_with('-')).collect()
}

#[test]
fn every_warning_is_explained() {
    let of = |room| sources_below(&root().join("crates").join(room).join("src"));
    let source = of("endpoint") + &of("forward");
    let ids: Vec<_> = source
        .split("id: \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(ids.len() >= 11, "{ids:?}");
    let measuring = text("docs/measuring.md");
    for id in ids {
        assert!(
            measuring.contains(&format!("| `{id}` |")),
            "docs/measuring.md does not explain the warning {id}"
        );
    }
}

/// All Rust files of a folder in one text; of tests none.
fn sources_below(folder: &Path) -> String {
    let mut source = String::new();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            source += &sources_below(&path);
        } else if !path.ends_with("tests.rs") {
            source += &text(&path);
        }
    }
    source
}

#[test]
fn every_verdict_of_xdp_is_explained() {
    let page = text("docs/dataplanes.md");
    for verdict in linerate_linux::xdp_forward::Verdict::ALL {
        let name = verdict.name();
        assert!(page.contains(&format!("\n| `{name}` |")), "{name}");
    }
}

#[test]
fn every_fault_is_in_the_lab_page() {
    let faults: Vec<_> = linerate_lab::FAULTS.iter().map(|kind| kind.name).collect();
    assert!(faults.len() >= 18, "{faults:?}");
    let page = text("docs/lab.md");
    for fault in faults {
        assert!(page.contains(&format!("--fault {fault}")), "{fault}");
    }
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let readme = text("README.md");
    let first = readme.split("```").nth(1).unwrap_or_default();
    let commands: Vec<_> = first
        .lines()
        .skip(1)
        .filter_map(|line| line.split("  ").next())
        .collect();
    assert_eq!(
        commands,
        [
            "cargo run --release -- check --lab",
            "cargo test --workspace"
        ]
    );
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let pages = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
        "bench/README.md",
        "docs/dataplanes.md",
        "docs/first-hour.md",
        "docs/installing.md",
        "docs/json.md",
        "docs/lab.md",
        "docs/matrix.md",
        "docs/measuring.md",
        "docs/proving.md",
        "docs/registers.md",
        "docs/run-directory.md",
        "docs/serving.md",
    ];
    for page in pages {
        let folder = Path::new(page).parent().unwrap_or(Path::new(""));
        for link in text(page)
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', '#']).next())
        {
            let is_file = !link.is_empty() && !link.contains("://");
            assert!(
                !is_file || root().join(folder).join(link).exists(),
                "{page}: {link}"
            );
        }
    }
}

#[test]
fn what_runs_anywhere_ends_as_documented() {
    for line in [
        "doctor",
        "completions bash",
        "man check",
        "check --help",
        "lab -- true",
    ] {
        let output = run(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
    }
    assert_eq!(run("lab -- false").status.code(), Some(1));
    assert_eq!(run("check").status.code(), Some(2));

    let output = run("check --lab --quick --json");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(
        output.status.code().map(i64::from),
        document["exit_code"].as_i64()
    );
    assert_eq!(document["error"], serde_json::Value::Null);
    let latency = document["latency"].as_array().map_or(0, Vec::len);
    let knees = document["knees"].as_array().map_or(0, Vec::len);
    assert_eq!(
        (latency, knees),
        (4, 4),
        "idle, up, down, both; two sizes, two directions"
    );
}

/// Each crate's manifest names no other crate than ARCHITECTURE.md allows it, and each crate has its line there.
#[test]
fn the_manifests_are_the_walls() {
    let page = text("ARCHITECTURE.md");
    let mut rooms = 0;
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let room = folder.file_name().unwrap().to_string_lossy().into_owned();
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{room}` |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no line of {room}"));
        let allowed = line.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for used in rooms_used(&text(folder.join("Cargo.toml"))) {
            let fits = allowed == "all" || allowed.contains(&format!("`{used}`"));
            assert!(fits, "{room} uses {used}; ARCHITECTURE.md allows {allowed}");
        }
        rooms += 1;
    }
    assert!(rooms >= 13, "{rooms}");
}

/// What `serve` answers with is in `endpoint`: neither it nor what it uses can change a setting by a journal.
#[test]
fn no_manifest_lets_serve_change_a_host() {
    let mut reached = vec!["endpoint".to_owned()];
    let mut at = 0;
    while let Some(room) = reached.get(at).cloned() {
        let manifest = text(root().join("crates").join(&room).join("Cargo.toml"));
        for used in rooms_used(&manifest) {
            if !reached.contains(&used) {
                reached.push(used);
            }
        }
        at += 1;
    }
    assert!(
        reached.len() > 3 && !reached.contains(&"change".to_owned()),
        "{reached:?}"
    );
    let serve = text("crates/linerate/src/cli/serve.rs");
    assert!(serve.contains("linerate_endpoint") && !serve.contains("linerate_change"));
}

/// The rooms among a manifest's dependencies.
fn rooms_used(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let used = manifest.get("dependencies").and_then(toml::Value::as_table);
    let Some(used) = used else {
        return Vec::new();
    };
    let rooms = used
        .keys()
        .filter_map(|name| name.strip_prefix("linerate-"));
    rooms.map(str::to_owned).collect()
}
