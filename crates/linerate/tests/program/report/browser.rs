// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page in headless Chromium, where it is installed: its script runs, nothing complains, nothing
//! is asked of any network.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::made::{forward, place, printed, store, udp};
use super::readers::installed;

/// What became of the page, and what the browser said of it.
fn opened(name: &str, runs: &[&str]) -> (String, String) {
    let place = place(name);
    let page = place.join("page.html");
    let mut words = runs.to_vec();
    words.extend(["-o", page.to_str().unwrap()]);
    printed(&words);
    seen(&place, &page)
}

/// A page as the browser has it, and its log of requests; the former is empty where it opens none here.
pub(crate) fn seen(place: &Path, page: &Path) -> (String, String) {
    let log = place.join("net.json");
    let output = Command::new("timeout")
        .args(["120", "chromium", "--headless=new", "--no-sandbox"])
        .args(["--disable-gpu", "--disable-background-networking"])
        .args(["--disable-component-update", "--no-first-run"])
        // Its own errands (updates, time) end here.
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--no-proxy-server"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            place.join("profile").display()
        ))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = fs::read_to_string(log).unwrap_or_default();
    let console = text(&output.stderr);
    let console = console.lines().filter(|line| line.contains("CONSOLE"));
    let console: Vec<_> = console.map(str::to_owned).collect();
    assert_eq!(console, Vec::<String>::new(), "the console is silent");
    (text(&output.stdout), log)
}

#[test]
fn the_page_works_alone() {
    if !installed("chromium", "chromium") {
        return;
    }
    let runs = place("browser-runs");
    let (udp, forward) = (store(&runs, &udp()), store(&runs, &forward()));
    let (page, requests) = opened("browser", &[&udp, &forward]);
    if page.is_empty() {
        println!("skipped: this chromium opens no page here");
        return;
    }
    assert!(
        page.contains("data-zoom=\"ready\""),
        "the script did not run"
    );
    let pictures = page.matches("class=\"zoom\"").count();
    assert!(pictures >= 4, "{pictures}");
    assert_eq!(page.matches("class=\"tools\"").count(), pictures);
    // A request of a page from a file has the initiator `null`; the browser's own are "not an origin".
    for initiator in ["\"initiator\":\"null\"", "\"initiator\":\"file:"] {
        assert_eq!(requests.matches(initiator).count(), 0, "{initiator}");
    }
}
