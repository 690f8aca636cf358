// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are no secret are refused, at both ends, with what to do.

use super::{OTHER, SECRET, file, measured, serving};
use linerate_wire::linerate::token::FILE_VARIABLE;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn linerate(words: &[&str], variable: Option<&Path>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(words).env_remove(FILE_VARIABLE);
    if let Some(path) = variable {
        command.env(FILE_VARIABLE, path);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn what_is_no_secret_is_refused_with_what_why_and_try() {
    let short = file("short", "fifteen letters");
    let (lines, open) = (
        file("lines", &format!("{SECRET}\n{SECRET}")),
        file("open", OTHER),
    );
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o640)).unwrap();
    for (path, why) in [
        (short.as_path(), "fewer than 16 bytes"),
        (&lines, "not one line"),
        (&open, "mode is 0640"),
        (Path::new("/nonexistent/token"), "No such file"),
        (Path::new(env!("CARGO_TARGET_TMPDIR")), "mode"),
    ] {
        let shown = path.display().to_string();
        for command in ["serve", "tcp 127.0.0.1", "check 127.0.0.1"] {
            let words: Vec<&str> = command.split(' ').chain(["--token-file", &shown]).collect();
            assert_refused(&linerate(&words, None), &shown, why);
        }
        let by_variable = linerate(&["udp", "127.0.0.1"], Some(path));
        assert_refused(&by_variable, &shown, why);
    }
}

fn assert_refused((code, said): &(Option<i32>, String), path: &str, why: &str) {
    assert_eq!(*code, Some(2), "{said}");
    for part in [
        "error: cannot use the token file",
        "why:",
        "try:",
        path,
        why,
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        !said.contains("letters") && !said.contains("this line is"),
        "{said}"
    );
}

#[test]
fn the_variable_names_the_file_where_no_flag_does() {
    let right = file("variable", SECRET);
    let server = serving(Some(&right));
    let port = server.port.to_string();
    let words = ["tcp", "127.0.0.1", "-n", "10K", "-p", &port, "--ascii"];
    let (code, said) = linerate(&words, Some(&right));
    assert_eq!(code, Some(0), "{said}{}", server.log());
    let output = measured(&server, &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("--token-file"));
    // An empty one is none.
    let (code, said) = linerate(&words, Some(Path::new("")));
    assert_eq!(code, Some(0), "{said}{}", server.log());
}
