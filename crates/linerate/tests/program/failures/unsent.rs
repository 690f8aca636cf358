// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams that never left: the cause is named, and the numbers are not taken for an answer.

use serde_json::Value;

use super::peers::skipped;
use super::process::{Ended, linerate, run, shell};
use super::verdict::document;

/// The test of a command that measured, but nothing valid: 4, and a warning of that name.
fn warned(ended: &Ended, id: &str) -> (Value, String) {
    assert_eq!(ended.code(), Some(4), "{}", ended.stderr);
    let document = document(ended);
    let test = document["tests"][0].clone();
    assert_eq!(test["valid"], false, "{test:#}");
    let warnings = test["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|warning| warning["id"] == id);
    let warning = warning.unwrap_or_else(|| panic!("no {id}: {test:#}"));
    let part = |name: &str| warning[name].as_str().unwrap().to_owned();
    let words = format!("{} / {}", part("text"), part("try"));
    (test, words)
}

#[test]
fn datagrams_longer_than_the_mtu() {
    let ended = run(linerate(
        "udp --lab -l 9000 --dont-fragment -b 5M -t 1s --json",
    ));
    if skipped(&ended.stderr) {
        return;
    }
    let (test, words) = warned(&ended, "stream-failed");
    let reason = test["invalid_reason"].as_str().unwrap();
    assert!(reason.starts_with("no datagram was sent: "), "{reason}");
    assert!(
        reason.contains("EMSGSIZE") && words.contains("-l"),
        "{words}"
    );
}

#[test]
fn a_firewall_of_this_host() {
    if run(shell("nft --version")).code() != Some(0) {
        return eprintln!("skipped: no nft(8)");
    }
    let rule = "nft add table inet t; nft add chain inet t out \"{ type filter hook output priority 0; }\"; nft add rule inet t out udp dport 5201 meta length 200-65535 drop";
    let ended = run(shell(&format!(
        "exec $LINERATE lab -- sh -c '{rule}; exec $LINERATE udp {{peer}} -b 5M -t 1s --json'"
    )));
    if skipped(&ended.stderr) {
        return;
    }
    let (_, words) = warned(&ended, "stream-failed");
    assert!(words.contains("EPERM") && words.contains("nft"), "{words}");
}

/// Nobody can: what was sent in its stead is no measurement at that rate.
#[test]
fn a_rate_that_no_machine_offers() {
    let line = "udp --lab -l 64 -t 500ms --json --expect loss<=100%";
    let ended = run(linerate(&format!("{line} -b 900G")));
    let (test, words) = warned(&ended, "sender-limited");
    assert!(words.contains("behind schedule"), "{words}");
    assert!(test["sent_packets"].as_u64().unwrap() > 0);
    assert_eq!(document(&ended)["expectations"][0]["met"], false);
    let ended = run(linerate(&format!("{line} -b 0")));
    assert_eq!(ended.code(), Some(0), "asks for no rate: {}", ended.stderr);
}
