// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Python reader of `docs/reporting.md`, where pandas is installed: it finds the figures of a run.

use super::made::{place, printed, store, udp};
use crate::support::python::python;
use std::path::Path;

/// The Python code of the page.
fn code() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reporting.md");
    let page = std::fs::read_to_string(page).unwrap();
    let code = page.split("```python\n").nth(1).unwrap();
    code.split("```").next().unwrap().to_owned()
}

#[test]
fn the_reader_of_the_page_reads() {
    let code = code();
    assert!(code.lines().count() <= 10, "{code}");
    let place = place("pandas");
    let run = store(&place, &udp());
    std::fs::rename(&run, place.join("run")).unwrap();
    let run = place.join("run").display().to_string();
    let csv = printed(&[&run, "-f", "csv", "--table", "tests.intervals"]);
    std::fs::write(place.join("intervals.csv"), csv).unwrap();
    std::fs::write(place.join("run/samples.jsonl"), SAMPLES).unwrap();
    let Some(output) = python("pandas", &place, &code, &[]) else {
        return;
    };
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has = |end: &[&str]| rows.iter().any(|row| row.ends_with(end));
    assert!(
        has(&["rx_packets", "1000"]) || has(&["rx_packets", "1000.0"]),
        "{text}"
    );
    assert!(
        has(&["UdpInErrors", "7"]) || has(&["UdpInErrors", "7.0"]),
        "{text}"
    );
    assert!(!text.contains("rx_errors"), "it did not increase: {text}");
    let intervals = udp().tests[0].intervals.len().to_string();
    assert!(
        rows.iter()
            .any(|row| row.len() > 1 && row[0] == "t1" && row[1] == intervals),
        "{text}"
    );
}

const SAMPLES: &str = r#"{"host":"local","t_ns":1,"wall_ns":null,"source":"rtnl_link_stats64","interface":"eth0","group":"udp","phase":"load","counters":{"rx_packets":9007,"rx_errors":3}}
{"host":"remote","t_ns":1,"wall_ns":null,"source":"/proc/net/snmp","interface":null,"group":"udp","phase":"load","counters":{"UdpInErrors":0}}
{"host":"local","t_ns":2,"wall_ns":null,"source":"rtnl_link_stats64","interface":"eth0","group":"udp","phase":"load","counters":{"rx_packets":10007,"rx_errors":3}}
{"host":"remote","t_ns":2,"wall_ns":null,"source":"/proc/net/snmp","interface":null,"group":"udp","phase":"load","counters":{"UdpInErrors":7}}
"#;
