// SPDX-License-Identifier: MIT OR Apache-2.0
//! What small machines left: what must hold of it, and the tables.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::expected;
use super::super::nic::Board;
use super::super::results::Results;
use super::Machine;
use crate::tally::Tally;

/// The results of one machine, if it came to an end.
#[derive(Debug)]
pub(super) struct Report {
    machine: &'static Machine,
    results: Option<Results>,
    directory: PathBuf,
}

impl Report {
    pub(super) fn of(machine: &'static Machine, place: &Path) -> Self {
        let directory = machine.directory(place);
        let results = machine.nic().map(|nic| Results::of(nic, &directory));
        let results = results.ok().filter(|results| results.steps().is_ok());
        Self {
            machine,
            results,
            directory,
        }
    }

    /// What must hold, beyond that each step came to its end.
    pub(super) fn check(&self, tally: &mut Tally) {
        let Some(results) = &self.results else {
            return tally.skip(self.machine.name, "it left no results".to_owned());
        };
        let mut check =
            |what: &str, result| tally.check(&format!("{}: {what}", self.machine.name), result);
        check("steps", expected::steps(results));
        if self.measured() {
            check("documents", self.documents(&CLIENTS));
            check("memory", self.memory());
        }
        if self
            .machine
            .nic()
            .is_ok_and(|nic| nic.board == Board::Mainframe)
        {
            check("byte order", self.read_in_its_byte_order());
        }
        if self.is_bare() {
            check(
                "documents",
                self.documents(&["check", "udp", "tcp", "udp-to-directory"]),
            );
            check("what it says", self.said_what_it_lacks());
        }
    }

    fn measured(&self) -> bool {
        self.has("serve-memory")
    }

    fn is_bare(&self) -> bool {
        self.has("bare")
    }

    fn has(&self, step: &str) -> bool {
        self.directory.join(format!("{step}.stdout")).exists()
    }

    fn text(&self, step: &str, kind: &str) -> String {
        fs::read_to_string(self.directory.join(format!("{step}.{kind}"))).unwrap_or_default()
    }

    fn document(&self, step: &str) -> Value {
        let results = self.results.as_ref();
        let document = results.map(|results| results.document(step));
        document.and_then(Result::ok).unwrap_or_default()
    }

    /// Each is whole, and something was carried.
    fn documents(&self, steps: &[&str]) -> Result<String, String> {
        for step in steps {
            let document = self.document(step);
            let tests = document["tests"].as_array();
            let rates = tests.into_iter().flatten();
            let carried = rates
                .filter_map(|test| test["delivered_bits_per_second"].as_f64())
                .fold(0.0, f64::max);
            let is_short = document["exit_code"] == 4;
            if !document["error"].is_null() || carried <= 0.0 && !is_short {
                return Err(format!(
                    "{step}: nothing was carried, error {}",
                    document["error"]
                ));
            }
        }
        Ok(format!("{} read", steps.len()))
    }

    /// The server and each client stay within the limit.
    fn memory(&self) -> Result<String, String> {
        let clients = CLIENTS.map(|step| (step, self.peak_kib(step)));
        let all = clients.into_iter().chain([("serve", self.served_kib())]);
        let mut said = Vec::new();
        let mut is_right = true;
        for (what, kib) in all {
            is_right &= kib.is_some_and(|kib| kib <= LIMIT_KIB);
            said.push(format!("{what} {}", shown(kib)));
        }
        let said = said.join(", ");
        match is_right {
            true => Ok(said),
            false => Err(format!("more than {}: {said}", shown(Some(LIMIT_KIB)))),
        }
    }

    /// The most that a step had, by busybox's `time -v`, which prints KiB as if they were pages.
    fn peak_kib(&self, step: &str) -> Option<u64> {
        let text = self.text(step, "stderr");
        let page_kib = number_after(&text, "Page size (bytes):")? / 1024;
        Some(number_after(&text, "Maximum resident set size (kbytes):")? / page_kib.max(1))
    }

    fn served_kib(&self) -> Option<u64> {
        number_after(&self.text("serve-memory", "stdout"), "VmHWM:")
    }

    /// Settings and counters that the kernel gives in binary form were read, and no count is one with its bytes reversed.
    fn read_in_its_byte_order(&self) -> Result<String, String> {
        let inspect = self.document("inspect");
        let settings = inspect["settings"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for source in ["ethtool -i", "ethtool -g", "ethtool -k"] {
            if !settings.iter().any(|one| one["source"] == source) {
                return Err(format!("inspect shows no {source}"));
            }
        }
        let samples = self.directory.join("check.run/samples.jsonl");
        let samples = fs::read_to_string(samples).map_err(|why| format!("check.run: {why}"))?;
        let mut said = Vec::new();
        for (source, name) in BINARY {
            let count = last_count(&samples, source, name);
            let count = count.ok_or_else(|| format!("no {name} of {source}"))?;
            said.push(format!("{source} {name} {count}"));
            if count == 0 || count >= REVERSED {
                return Err(said.join(", "));
            }
        }
        // Of a BPF program's map; 0 where the guest dropped nothing for want of a buffer.
        let dropped = last_count(&samples, "skb:kfree_skb", "SOCKET_RCVBUFF");
        dropped.ok_or("no drop reasons were counted")?;
        Ok(said.join(", "))
    }

    /// A measurement is printed although it is not stored; no date is given for real.
    fn said_what_it_lacks(&self) -> Result<String, String> {
        let year = self.text("date", "stdout");
        if year.trim() != "1970" {
            return Err(format!("the guest's clock was set: {year}"));
        }
        let wanted = [
            ("doctor-text", "stdout", "no   wall clock"),
            ("doctor-text", "stdout", "no   runs are stored"),
            ("check-text", "stderr", "not stored: "),
            ("check-text", "stdout", "clock not set"),
            (
                "udp-to-directory",
                "stderr",
                "not stored: cannot create /runs/one",
            ),
            ("history", "stderr", "cannot find the stored runs"),
            ("name", "stderr", "no.such.host"),
        ];
        for (step, kind, text) in wanted {
            if !self.text(step, kind).contains(text) {
                return Err(format!("{step} does not say {text:?}"));
            }
        }
        for step in ["check", "udp", "tcp", "udp-to-directory"] {
            let document = self.document(step);
            if !document["run_dir"].is_null() || document["clock_trusted"] != false {
                return Err(format!(
                    "{step}: run_dir {}, clock_trusted {}",
                    document["run_dir"], document["clock_trusted"]
                ));
            }
        }
        Ok(format!("{} sentences", wanted.len()))
    }

    /// Milliseconds of one start.
    fn start_ms(&self, step: &str) -> Option<f64> {
        let text = self.text(step, "stdout");
        let mut times = text.lines().filter_map(|line| line.parse::<f64>().ok());
        let begin = times.next()?;
        Some((times.next_back()? - begin) * 1000.0 / STARTS)
    }

    fn row(&self) -> String {
        let memory = self.text("memory", "stdout");
        let meminfo = |name| shown(number_after(&memory, name));
        let peak = |step| shown(self.peak_kib(step));
        let larger = |one, other| shown(self.peak_kib(one).max(self.peak_kib(other)));
        let cells = [
            self.machine.what.to_owned(),
            self.text("kernel", "stdout").trim().to_owned(),
            meminfo("MemTotal:"),
            meminfo("MemAvailable:"),
            shown(self.served_kib()),
            peak("check"),
            larger("udp-up", "udp-down"),
            larger("tcp-up", "tcp-down"),
            peak("inspect"),
            peak("doctor"),
        ];
        format!("| {} |\n", cells.join(" | "))
    }

    fn start_rows(&self) -> String {
        let bare = self.start_ms("start-true");
        let mut rows = String::new();
        for (step, what) in STARTED {
            let ms = self.start_ms(step);
            let ratio = ms
                .zip(bare)
                .map(|(ms, bare)| format!("{:.1}", ms / bare.max(0.01)));
            let ms = ms.map(|ms| format!("{ms:.0}"));
            let cells = [ms, ratio].map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
            rows += &format!("| {what} | {} |\n", cells.join(" | "));
        }
        rows
    }
}

/// All tables, in Markdown.
pub(super) fn markdown(reports: &[Report]) -> String {
    let measured = reports.iter().filter(|one| one.measured());
    let rows: String = measured.map(Report::row).collect();
    let mut text = format!("{MEMORY_HEAD}{rows}");
    for report in reports.iter().filter(|one| one.has("start-true")) {
        text += &format!("\n{START_HEAD}{}", report.start_rows());
    }
    text
}

const MEMORY_HEAD: &str = "\
| machine | kernel | memory, MiB | free at the start | `serve` | `check --quick` | `udp` | `tcp` | `inspect` | `doctor` |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const START_HEAD: &str = "\
| start of | ms | times that of `busybox true` |
| --- | --- | --- |
";

fn number_after(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The counter's value in the guest's last sample of this source.
fn last_count(samples: &str, source: &str, name: &str) -> Option<u64> {
    let read = |line| serde_json::from_str::<Value>(line).ok();
    let mut of_guest = samples.lines().rev().filter_map(read);
    let last = of_guest.find(|one| one["host"] == "local" && one["source"] == source)?;
    last["counters"][name].as_u64()
}

/// MiB.
fn shown(kib: Option<u64>) -> String {
    kib.map_or_else(
        || "–".to_owned(),
        |kib| format!("{:.1}", kib as f64 / 1024.0),
    )
}

/// Steps whose memory is measured, and must be little.
const CLIENTS: [&str; 5] = ["check", "udp-up", "udp-down", "tcp-up", "tcp-down"];
/// Counters from ethtool's ioctl and from netlink, which a test increases.
const BINARY: [(&str, &str); 3] = [
    ("ethtool -S", "rx_queue_0_packets"),
    ("rtnl_link_stats64", "rx_packets"),
    ("tc -s qdisc", "packets"),
];
/// The least number of 64 bits whose reverse has 24: more packets than a test of seconds has.
const REVERSED: u64 = 1 << 40;
/// 12 MiB.
const LIMIT_KIB: u64 = 12 << 10;
const STARTS: f64 = 10.0;
const STARTED: [(&str, &str); 5] = [
    ("start-true", "`busybox true`"),
    ("start-version", "`linerate --version`"),
    ("start-help", "`linerate --help`"),
    ("start-doctor", "`linerate doctor`, to its end"),
    ("start-serve", "`linerate serve`, until it listens"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_that_of_the_named_line() {
        let text = "VmPeak:\t  9 kB\nVmHWM:\t    8320 kB\n\tPage size (bytes): 4096\n";
        assert_eq!(number_after(text, "VmHWM:"), Some(8320));
        assert_eq!(number_after(text, "Page size (bytes):"), Some(4096));
        assert_eq!(number_after(text, "VmRSS:"), None);
    }

    #[test]
    fn a_count_is_that_of_the_guests_last_sample() {
        let sample = |host, source, count: u64| {
            let counters = serde_json::json!({ "packets": count });
            serde_json::json!({ "host": host, "source": source, "counters": counters }).to_string()
        };
        let (ours, others) = ("tc -s qdisc", "rtnl_link_stats64");
        let samples = [
            sample("local", ours, 7),
            sample("local", ours, 9),
            sample("local", others, 11),
            sample("remote", ours, 13),
        ];
        let samples = samples.join("\n");
        assert_eq!(last_count(&samples, ours, "packets"), Some(9));
        assert_eq!(last_count(&samples, ours, "drops"), None);
        assert_eq!(last_count(&samples, "ethtool -S", "packets"), None);
        // The bytes of a count of 24 bits, reversed.
        assert!(
            [1_u64, 87_630, (1 << 24) - 1]
                .iter()
                .all(|count| count.swap_bytes() >= REVERSED)
        );
    }
}
