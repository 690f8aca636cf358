// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page before the programs that read it: curl, promtool, the strict parser of Prometheus' Python client, and
//! Prometheus itself.

use super::Measured;
use crate::report::readers::{installed, promtool_accepts};
use crate::support::python::python;
use crate::support::{PATIENCE, free_port, our_client, until};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What Prometheus 2 sends.
const PROMETHEUS: &str = "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A server after a test, so that every family has a series.
fn measured() -> Measured {
    let measured = Measured::ours("");
    let said = our_client(measured.server.port, "udp", "-t 1 -b 2M --bidir");
    assert!(said.success, "{}", said.text);
    measured.server.await_line(": done: ");
    measured
}

/// `curl` with these words on the page: status, media type, and what it wrote.
fn curl(port: u16, words: &[&str]) -> (String, String) {
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "40"])
        .args(["--write-out", "%{http_code} %{content_type}"])
        .args(words)
        .arg(format!("http://127.0.0.1:{port}/metrics"))
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {reported}");
    let text = String::from_utf8(output.stdout).unwrap();
    let at = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    (text[at..].to_owned(), text[..at].to_owned())
}

#[test]
fn curl_gets_the_format_that_it_accepts() {
    if !installed("curl", "curl") {
        return;
    }
    let measured = Measured::ours("");
    let cases: [(&[&str], &str); 6] = [
        (&[], OPENMETRICS),
        (&["--http1.0"], OPENMETRICS),
        (&["--compressed"], OPENMETRICS),
        (&["-H", PROMETHEUS], OPENMETRICS),
        (&["-H", "Accept: text/plain"], PLAIN),
        (
            &["-H", "Accept: text/plain;version=0.0.4, */*;q=0.1"],
            PLAIN,
        ),
    ];
    for (words, media_type) in cases {
        let (outcome, page) = curl(measured.metrics, words);
        assert_eq!(outcome, format!("200 {media_type}"), "{words:?}");
        let is_open = media_type == OPENMETRICS;
        assert_eq!(page.ends_with("\n# EOF\n"), is_open, "{words:?}: {page}");
    }
    let (outcome, head) = curl(measured.metrics, &["--head"]);
    assert!(
        outcome.starts_with("200 ") && head.contains("Content-Length: "),
        "{head}"
    );
    assert_eq!(curl(measured.metrics, &["-d", "x=1"]).0[..4], *"405 ");
}

#[test]
fn promtool_accepts_the_text() {
    if !installed("promtool", "prometheus") || !installed("curl", "curl") {
        return;
    }
    let (_, page) = curl(measured().metrics, &["-H", "Accept: text/plain"]);
    promtool_accepts(page.as_bytes());
}

#[test]
fn a_strict_parser_accepts_the_openmetrics() {
    const PARSE: &str = "import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(*sorted(sample.name for family in parse(sys.argv[1]) for sample in family.samples))";
    let page = measured().page();
    let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(output) = python("prometheus-client", here, PARSE, &[&page]) else {
        return;
    };
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}\n{page}");
    let names = String::from_utf8(output.stdout).unwrap();
    let samples = page.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(names.split_whitespace().count(), samples, "{page}");
    assert!(names.contains("linerate_build_info"), "{names}");
}

/// Ended with its value.
struct Prometheus(Child);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn prometheus_scrapes_it() {
    if !installed("prometheus", "prometheus") || !installed("curl", "curl") {
        return;
    }
    let measured = measured();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prometheus");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let config = format!(
        "scrape_configs: [{{job_name: linerate, scrape_interval: 1s, static_configs: [{{targets: ['127.0.0.1:{}']}}]}}]\n",
        measured.metrics
    );
    std::fs::write(place.join("prometheus.yml"), config).unwrap();
    let port = free_port();
    let _prometheus = Prometheus(
        Command::new("prometheus")
            .current_dir(&place)
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let ask = || -> Option<f64> {
        let output = Command::new("curl")
            .args(["--silent", "--max-time", "5", "--data-urlencode"])
            .arg("query=linerate_server_received_bytes_total{protocol=\"udp\"}")
            .arg(format!("http://127.0.0.1:{port}/api/v1/query"))
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
        let value = answer["data"]["result"][0]["value"][1].as_str()?;
        value.parse().ok()
    };
    until(&format!("it has a value within {PATIENCE:?}"), || {
        ask().is_some()
    });
    let series = "linerate_server_received_bytes_total{protocol=\"udp\"}";
    assert_eq!(ask(), Some(measured.value(series)));
}
