// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages before axe-core, in both themes and at a phone's width, where Chromium and the npm package are:
//! contrast, names, order of headings, landmarks, keys (WCAG 2.2 A and AA, and good practice).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::made::{forward, place, printed, store, udp};
use super::readers::installed;

/// The tool itself; it is only read here, and is no part of the program.
fn axe() -> Option<String> {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = tests.join("../axe/node_modules/axe-core/axe.min.js");
    let found = fs::read_to_string(file).ok();
    if found.is_none() {
        println!(
            "skipped: no axe-core here (npm install --prefix target/axe --ignore-scripts axe-core@4.10.3)"
        );
    }
    found
}

/// The page as it is but for its policy, which forbids foreign scripts.
fn examined(page: &str, axe: &str) -> String {
    let start = page
        .find("<meta http-equiv=\"Content-Security-Policy\"")
        .unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let open = [&page[..start], &page[end..]].concat();
    assert_eq!(open.matches("</body>").count(), 1);
    let scripts = format!("<script>{axe}</script><script>{EXAMINE}</script></body>");
    open.replace("</body>", &scripts)
}

/// Every page in a wide frame and in a narrow one.
fn frames(place: &Path, axe: &str) -> (PathBuf, usize) {
    let (udp, forward) = (store(place, &udp()), store(place, &forward()));
    let again = place.join("again").display().to_string();
    fs::create_dir(&again).unwrap();
    fs::copy(format!("{udp}/run.json"), format!("{again}/run.json")).unwrap();
    let pages: [&[&str]; 3] = [&[&udp], &[&forward], &[&udp, &again]];
    let mut all = COLLECT.to_owned();
    for (number, runs) in pages.iter().enumerate() {
        let words = [*runs, &["-f", "html"]].concat();
        let page = String::from_utf8(printed(&words)).unwrap();
        let name = format!("page-{number}.html");
        fs::write(place.join(&name), examined(&page, axe)).unwrap();
        for width in [1280, 360] {
            all += &format!("<iframe src=\"{name}\" width=\"{width}\" height=\"900\"></iframe>");
        }
    }
    let file = place.join("all.html");
    fs::write(&file, all).unwrap();
    (file, 2 * pages.len())
}

/// What axe said of each frame; `None`: this Chromium opens none.
fn violations(file: &Path, dark: bool) -> Option<Vec<Value>> {
    let profile = file.with_file_name(format!("profile-{dark}"));
    let output = Command::new("timeout")
        .args(["240", "chromium", "--headless=new", "--no-sandbox"])
        .args([
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
        ])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--no-proxy-server"])
        .args([
            "--window-size=1400,1000",
            "--virtual-time-budget=120000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!(
            "--blink-settings=preferredColorScheme={}",
            u8::from(!dark)
        ))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    let from = page.split("<pre id=\"reported\">").nth(1)?;
    let text = from.split("</pre>").next()?;
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&text).ok()
}

#[test]
fn everybody_can_read_the_pages() {
    let Some(axe) = axe().filter(|_| installed("chromium", "chromium")) else {
        return;
    };
    let place = place("axe");
    let (file, frames) = frames(&place, &axe);
    for dark in [false, true] {
        let Some(reported) = violations(&file, dark).filter(|reported| reported.len() == frames)
        else {
            println!("skipped: this chromium did not finish the pages");
            return;
        };
        for page in reported {
            assert_eq!(page["dark"], dark, "{page}");
            assert!(page["passed"].as_u64() > Some(20), "{page}");
            assert_eq!(page["found"], Value::Array(Vec::new()), "{page}");
        }
    }
}

/// In each frame.
const EXAMINE: &str = r#"
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const said = rule => rule.nodes.map(node => rule.id + " at " + node.target + ": " + node.failureSummary);
const tell = reported => parent.postMessage({
  page: location.pathname.split("/").pop() + " " + innerWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  ...reported,
}, "*");
addEventListener("load", () => axe.run(document, { runOnly: tags }).then(
  all => tell({ passed: all.passes.length, found: all.violations.flatMap(said) }),
  error => tell({ passed: 0, found: [String(error)] })));
"#;
/// Around them.
const COLLECT: &str = r#"<!DOCTYPE html><meta charset="utf-8"><pre id="reported">[]</pre><script>
const all = [], reported = document.getElementById("reported");
addEventListener("message", event => { all.push(event.data); reported.textContent = JSON.stringify(all); });
</script>"#;
