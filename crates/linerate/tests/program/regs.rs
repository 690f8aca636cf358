// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate regs` as a user runs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn regs(words: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("regs").args(words).env("LC_ALL", "C.UTF-8");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{words:?}: {error}"));
    // A command that refuses its words does not read.
    let _ = child
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(input.as_bytes()));
    printed(
        child
            .wait_with_output()
            .unwrap_or_else(|error| panic!("{words:?}: {error}")),
    )
}

fn printed(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(output.stdout), text(output.stderr))
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

#[test]
fn a_dump_among_prose_is_decoded_from_standard_input_and_from_a_file() {
    let dump = "root@board:~# peek\nENET_RCR:0x02188084 =0x05ee0264\nsome words\n\
                ENET_IEEE_R_MACERR:0x021882d8 =0x00000000\n";
    let (code, from_input, _) = regs(&["-"], dump);
    let path = file("dump.txt", dump);
    let (_, from_file, _) = regs(&[&path.to_string_lossy()], "");
    assert_eq!((code, &from_file), (0, &from_input));
    for line in [
        "RCR                0x05ee0264  receive control",
        "  5      FCE                  1      pause frames are obeyed (flow control)",
        "  29:16  MAX_FL               1518   1518 bytes (longest frame, with the CRC)",
        "IEEE_R_MACERR      0x00000000  lost by a receive FIFO overrun: 0 frames",
    ] {
        assert!(
            from_input.lines().any(|l| l == line),
            "{line}\n{from_input}"
        );
    }
}

#[test]
fn an_address_of_another_register_is_said() {
    let (code, text, _) = regs(&["-"], "ENET_TCR:0x02188084 =0x00000004");
    assert_eq!(code, 0);
    assert!(
        text.contains("note: the address 0x2188084 is that of RCR"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_decoded_says_why_and_what_to_try() {
    let cases: [(&[&str], &str, i32, &str); 8] = [
        (&[], "", 2, "neither an interface nor a value"),
        (&["RCR=1"], "", 2, "try: --map nxp-enet"),
        (
            &["--map", "nxp-enet", "RCRX=1"],
            "",
            2,
            "no register `RCRX`: RCR",
        ),
        (
            &["--map", "nxp-enet", "RCR=0x100000000"],
            "",
            2,
            "which has 32 bits",
        ),
        (
            &["--map", "nxp-enet", "RCR=zebra"],
            "",
            2,
            "it is not NAME=VALUE",
        ),
        (&["--map", "none", "RCR=1"], "", 2, "one of dwmac1000"),
        (&["-"], "no register here\n", 3, "no line has the form"),
        (&["surely-no-if0"], "", 2, "there is no such interface"),
    ];
    for (words, input, expected, sentence) in cases {
        let (code, stdout, stderr) = regs(words, input);
        assert_eq!(
            (code, stdout.as_str()),
            (expected, ""),
            "{words:?}: {stderr}"
        );
        assert!(stderr.contains(sentence), "{words:?}: {stderr}");
    }
}

#[test]
fn an_unknown_name_is_reported_with_the_known_ones() {
    let text = "ENET_IEE_T_FDXFC:0x02188270 =0x00000d6c\nENET_RCR:0x02188084 =0x05ee0244\n";
    let (code, stdout, stderr) = regs(&["-"], text);
    assert_eq!(code, 0);
    assert!(stdout.starts_with("RCR "), "{stdout}");
    assert!(stderr.contains("IEEE_T_FDXFC"), "{stderr}");
}

#[test]
fn the_document_has_every_field() {
    let (code, text, _) = regs(
        &[
            "--map",
            "nxp-enet",
            "OPD=0x1fff0",
            "--speed",
            "1G",
            "--json",
        ],
        "",
    );
    assert_eq!(code, 0);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["kind"], "regs");
    let opd = &document["registers"][0];
    assert_eq!(
        (&opd["name"], &opd["source"]),
        (&"OPD".into(), &"pasted".into())
    );
    let pause = &opd["fields"][1];
    assert_eq!(pause["bits"], "15:0");
    assert_eq!(pause["quantity"]["value"], 33_546_240);
    assert_eq!(pause["quantity"]["unit"], "nanoseconds");
}

#[test]
fn an_interface_without_registers_says_so() {
    let (code, stdout, stderr) = regs(&["lo"], "");
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("cannot read registers of lo"), "{stderr}");
    assert!(stderr.contains("and has no registers"), "{stderr}");
}

#[test]
fn a_veth_is_software() {
    let program = env!("CARGO_BIN_EXE_linerate");
    let mut command = Command::new(program);
    command.args(["lab", "--", program, "regs", "eth0"]);
    let output = command.output().unwrap_or_else(|error| panic!("{error}"));
    let (code, _, stderr) = printed(output);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("it is virtual (veth)"), "{stderr}");
}

#[test]
fn a_text_of_millions_of_values_ends() {
    let known = "ENET_TDAR:0x02188014 =0x01000000\n".repeat(10_001);
    let text = known + &"ENET_XYZ:0x02188014 =0x00000004\n".repeat(300_000);
    let (code, stdout, stderr) = regs(&["-"], &text);
    assert_eq!(code, 0, "{stderr}");
    let shown = stdout.lines().filter(|l| l.starts_with("TDAR "));
    assert_eq!(shown.count(), 10_000);
    assert!(stderr.contains("only its first 10000 values"), "{stderr}");
    let (code, _, stderr) = regs(&["-"], &"x".repeat(17 << 20));
    assert_eq!(code, 3);
    assert!(stderr.contains("longer than 16 MiB"), "{stderr}");
}

#[test]
fn a_wrong_map_is_reported_in_its_own_terms() {
    let text = "map = \"m\"\nhardware = \"h\"\nsource = [\"manual M p\"]\n[[register]]\nname = \"R\"\n\
                offset = 0\n[[register.field]]\nname = \"A\"\nbits = \"5:3\"\n[[register.field]]\n\
                name = \"B\"\nbits = \"32:4\"\n";
    let map = file("wrong.toml", text);
    let (code, _, stderr) = regs(&["--map", &map.to_string_lossy()], "");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("wrong.toml:12: `B` has the bits 32:4 of a register of 32"),
        "{stderr}"
    );
    assert!(stderr.contains("`B` (32:4) overlaps `A` (5:3)"), "{stderr}");
}

/// Every example of the page that shows its output is run, and shows it.
#[test]
fn the_examples_of_the_page_are_true() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/registers.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut shown = 0;
    for block in page.split("```").skip(1).step_by(2) {
        let Some((command, expected)) = block.trim_start().split_once('\n') else {
            continue;
        };
        let Some(words) = command.strip_prefix("$ linerate regs ") else {
            continue;
        };
        let words: Vec<&str> = words.split(' ').collect();
        let (code, stdout, stderr) = regs(&words, "");
        assert_eq!(
            (code, stdout.as_str()),
            (0, expected),
            "{command}: {stderr}"
        );
        shown += 1;
    }
    assert_eq!(shown, 3);
}
