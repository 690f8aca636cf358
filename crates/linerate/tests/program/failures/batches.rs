// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel, or a sandbox, without the system calls that move many datagrams at once.

use linerate_linux::seccomp::{Withheld, withhold};
use serde_json::Value;

use super::process::{linerate, run, serving, start};
use super::verdict::{accounted, document};

#[test]
fn without_batches_each_datagram_is_moved_and_counted_alone() {
    let (mut serve, port) = serving();
    withhold(&mut serve, &[Withheld::Batches]);
    let mut server = start(serve);
    server.wait_for("listens on port", 1);
    for direction in ["", "-R"] {
        for mode in ["mmsg", "gso/gro"] {
            let line = format!(
                "udp 127.0.0.1 -p {port} {direction} --mode {mode} -b 20M -l 1000 -k 1000 --json"
            );
            let mut client = linerate(&line);
            withhold(&mut client, &[Withheld::Batches]);
            let ended = run(client);
            let document = document(&ended);
            assert_eq!(ended.code(), Some(0), "{line}: {}", ended.stderr);
            let test = &document["tests"][0];
            accounted(test);
            assert_eq!(test["mode"]["tx"], "plain", "{line}: {test:#}");
            let warnings = test["warnings"].as_array().unwrap();
            let reported = |warning: &Value| warning["id"] == "mode-not-available";
            assert!(warnings.iter().any(reported), "{line}: {test:#}");
        }
    }
}
