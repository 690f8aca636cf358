// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every option of a test against its effect, as the `--json` document tells it: families, MTUs,
//! payloads, streams, limits, modes, marks. Each lab runs a row of commands, one after the other.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::turns::{Turn, side_by_side};

#[test]
fn mtus_and_payloads_in_both_families() {
    let families = [100, 1280, 1500, 9000].map(|mtu| (mtu, 4));
    let both = [1280, 1500, 9000].map(|mtu| (mtu, 6));
    side_by_side(&[&families[..], &both].concat(), |(mtu, family)| {
        payloads(*mtu, *family)
    });
}

/// Below, at and above the MTU, and what is chosen without an option.
fn payloads(mtu: u64, family: u64) {
    let peer = if family == 4 { "{peer}" } else { "{peer6}" };
    let fits = mtu - if family == 4 { 28 } else { 48 };
    let lengths = [fits - 20, fits, fits + 1, 2 * mtu];
    let of = |flags: String| format!("udp {peer} -b 4M -k 10 {flags}");
    let mut lines: Vec<String> = lengths.iter().map(|l| of(format!("-l {l}"))).collect();
    lines.push(of("-R".to_owned()));
    lines.push(of(format!("--dont-fragment -l {fits}")));
    lines.push(of(format!("--dont-fragment -l {}", fits + 1)));
    lines.push(format!("tcp {peer} -k 10 -{family}"));
    let ran = lab(&["--mtu", &mtu.to_string()], &lines);
    let [tcp, too_long, as_long, chosen, lengthy @ ..] = &ran.iter().rev().collect::<Vec<_>>()[..]
    else {
        return;
    };
    for one in lengthy.iter().chain([chosen, as_long, tcp]) {
        assert_eq!(one.only()["af"], family, "{}", one.line);
    }
    let seen: Vec<_> = lengthy
        .iter()
        .rev()
        .map(|one| one.number("payload_bytes"))
        .collect();
    assert_eq!(seen, lengths);
    assert_eq!(as_long.number("payload_bytes"), fits);
    let chosen = chosen.number("payload_bytes");
    assert!(
        chosen <= fits && chosen >= fits * 8 / 10,
        "{mtu}: chose {chosen}"
    );
    assert!(tcp.number("mss_bytes") < mtu - 40, "{}", tcp.line);
    assert_eq!(too_long.code, 4, "{}", too_long.line);
    let reason = too_long.tests()[0]["invalid_reason"].to_string();
    assert!(reason.contains("path MTU"), "{reason}");
}

#[test]
fn streams_from_1_to_128() {
    let mut lines = Vec::new();
    for streams in [1, 2, 16, 128] {
        let blocks = 8 * streams;
        lines.push(format!(
            "udp {{peer}} -P {streams} -b 400K -l 100 -k {blocks}"
        ));
        lines.push(format!(
            "udp {{peer6}} -R -P {streams} -b 400K -l 100 -k {blocks}"
        ));
        lines.push(format!("tcp {{peer}} -P {streams} -b 4M -l 4K -k {blocks}"));
        lines.push(format!(
            "tcp {{peer6}} -R -P {streams} -b 4M -l 4K -k {blocks}"
        ));
    }
    lines.push("udp {peer} -P 4 --bidir -b 2M -k 100".to_owned());
    lines.push("tcp {peer} -P 4 --bidir -k 100".to_owned());
    // Hundreds of threads leave another test's sender no processor for as long as it lasts.
    let _alone = Turn::alone();
    for one in run_in_lab(&[], &lines) {
        let streams = one.after("-P");
        let way = if one.line.contains("--bidir") { 2 } else { 1 };
        assert_eq!(one.code, 0, "{}", one.line);
        assert_eq!(one.tests().len(), way, "{}", one.line);
        let (mut ids, mut ports) = (HashSet::new(), HashSet::new());
        for test in one.sound() {
            assert_eq!(test["streams"].as_u64(), streams, "{}", one.line);
            for flow in test["flows"].as_array().unwrap() {
                ids.insert(flow["id"].as_u64().unwrap());
                ports.insert(flow["local_port"].as_u64().unwrap());
                let rate = flow["delivered_bits_per_second"].as_f64().unwrap();
                assert!(rate >= 0.0, "{}: {flow}", one.line);
            }
        }
        let expected = streams.unwrap() as usize * way;
        assert_eq!(
            (ids.len(), ports.len()),
            (expected, expected),
            "{}",
            one.line
        );
    }
}

#[test]
fn amounts_are_exact() {
    let lines = [
        "udp {peer} -k 101 -l 500 -b 20M",
        "udp {peer} -R -k 101 -l 500 -b 20M -P 2",
        "udp {peer} --bidir -n 50001 -l 500 -b 20M",
        "tcp {peer} -n 1000003",
        "tcp {peer6} -R -n 1000003 -P 3",
        "tcp {peer} -k 17 -l 1000",
    ];
    for one in lab(&[], &lines.map(str::to_owned)) {
        for test in one.sound() {
            if one.line.starts_with("udp") {
                assert_eq!(test["sent_packets"], 101, "{}", one.line);
                continue;
            }
            let rate = test["delivered_bits_per_second"].as_f64().unwrap();
            let bytes = (rate * test["duration_s"].as_f64().unwrap() / 8.0).round();
            let asked = if one.line.contains("-n") {
                1_000_003.0
            } else {
                17_000.0
            };
            assert_eq!(bytes, asked, "{}", one.line);
        }
    }
}

/// The server has written all of it into its socket long before the path has carried it.
#[test]
fn the_amount_of_a_server_that_has_finished_is_awaited() {
    let lines = [
        "tcp {peer} -R -n 300000 -w 1M",
        "tcp {peer} --bidir -n 300000 -w 1M",
    ];
    for one in lab(&["--fault", "delay=40ms"], &lines.map(str::to_owned)) {
        for test in one.sound() {
            let rate = test["delivered_bits_per_second"].as_f64().unwrap();
            let bytes = (rate * test["duration_s"].as_f64().unwrap() / 8.0).round();
            assert_eq!(bytes, 300_000.0, "{}", one.line);
        }
    }
}

/// A path that keeps the ECN field, and one that clears it. On a busy machine a datagram may be lost, but none changes.
#[test]
fn the_ecn_field_arrives_or_is_cleared() {
    let lines = [
        "udp {peer}",
        "udp {peer6}",
        "udp {peer} -R",
        "udp {peer6} -R --mode gso",
    ];
    let lines = lines.map(|line| format!("{line} -S 2 -k 200 -b 20M -l 500"));
    let cleared = ["--fault", "ecn-clear"];
    for (flags, kept) in [(&[][..], true), (&cleared[..], false)] {
        for one in lab(flags, &lines) {
            for test in one.sound() {
                let ecn = &test["ecn"];
                let arrived = |name: &str| ecn["arrived"][name].as_u64().unwrap();
                let (ect, not) = (arrived("ect0_packets"), arrived("not_ect_packets"));
                let all = test["received_packets"].as_u64().unwrap();
                let expected = if kept { (all, 0) } else { (0, all) };
                assert_eq!((ect, not), expected, "{}: {ecn}", one.line);
                assert_eq!(ecn["requested"], "ect0", "{}", one.line);
            }
            let found = one.document()["findings"].to_string();
            assert_eq!(
                found.contains("ecn-bleached"),
                !kept,
                "{}: {found}",
                one.line
            );
        }
    }
}

/// TCP negotiates ECN where a fault concerns it, in both families and directions. On a path that marks nothing and clears nothing
/// no rule about it fires.
#[test]
fn tcp_sees_marks_and_a_cleared_field() {
    let lines = ["tcp {peer}", "tcp {peer} -R", "tcp {peer6}"];
    let lines = lines.map(|line| format!("{line} -n 16M"));
    for (fault, marks, keeps, found) in [
        ("ecn-clear", false, false, Some("ecn-bleached")),
        ("ecn-mark=500", true, true, Some("congestion-marked")),
        ("ecn-mark=4000000000", false, true, None),
    ] {
        for one in lab(&["--fault", fault], &lines) {
            let of = format!("{fault}, {}", one.line);
            let ecn = &one.sound()[0]["ecn"];
            assert_eq!(ecn["negotiated"], true, "{of}: {ecn}");
            assert_eq!(ecn["ect_seen"], keeps, "{of}: {ecn}");
            let marked = ecn["delivered_ce_segments"].as_u64();
            assert_eq!(marked.unwrap() > 0, marks, "{of}: {ecn}");
            let said = one.document()["findings"].to_string();
            for cause in ["ecn-bleached", "congestion-marked"] {
                assert_eq!(said.contains(cause), found == Some(cause), "{of}: {said}");
            }
        }
    }
}

#[test]
fn marks_of_a_queue_are_counted() {
    let line = "udp {peer} -S 2 -k 200 -b 20M -l 500".to_owned();
    for one in lab(&["--fault", "ecn-mark=10"], &[line]) {
        let test = &one.sound()[0];
        let marked = test["ecn"]["arrived"]["ce_packets"].as_u64();
        assert!((10..=40).contains(&marked.unwrap()), "{}", test["ecn"]);
        let found = one.document()["findings"].to_string();
        assert!(found.contains("congestion-marked"), "{found}");
    }
}

/// Both ends' kernels, as far as their structure goes.
#[test]
fn tcp_info_is_whole() {
    for one in lab(&[], &["tcp {peer} -n 1000003 -P 2".to_owned()]) {
        for flow in one.sound()[0]["flows"].as_array().unwrap() {
            let of = |side: &str, name: &str| flow[side][name].as_u64();
            let (sender, receiver) = ("sender_tcp_info", "receiver_tcp_info");
            let sent = of(sender, "tcpi_bytes_acked").unwrap();
            assert!(sent > 0 && of(sender, "tcpi_snd_mss") > Some(0), "{flow}");
            assert!(
                of(receiver, "tcpi_bytes_received") >= Some(sent / 2),
                "{flow}"
            );
            // Linux 2.6 has it, and no test retransmits as much.
            assert!(of(sender, "tcpi_total_retrans").unwrap() < 10_000, "{flow}");
        }
    }
}

#[test]
fn marks_ports_and_places() {
    let lines = [
        "udp {peer} --dscp ef",
        "udp {peer6} --dscp ef -R",
        "udp {peer} -S 184 --bidir",
        "tcp {peer} --dscp ef",
        "tcp {peer6} -S 184 --bidir",
        "udp {peer} --cport 40000 -P 3 -4",
        "tcp {peer6} --cport 41000 -P 3 -6",
        "udp {peer} --bind-dev eth0",
        "tcp {peer} -B 198.18.0.1",
        "udp {peer} -B 198.18.0.1%eth0 -R",
        "tcp {peer} -A 0,0",
        "udp {peer} -A 0,4000",
    ];
    let lines = lines.map(|line| format!("{line} -k 40"));
    for one in lab(&[], &lines) {
        for test in one.sound() {
            let marked = one.line.contains("ef") || one.line.contains("184");
            if marked {
                assert_eq!(test["dscp"]["requested"], 46, "{}", one.line);
                // The end that connected does not learn how a stream arrives.
                let reported = test["protocol"] == "udp" || test["direction"] == "up";
                let seen = reported.then_some(46);
                assert_eq!(test["dscp"]["seen"].as_u64(), seen, "{}", one.line);
            }
            if let Some(port) = one.after("--cport") {
                let flows = test["flows"].as_array().unwrap().iter();
                let ports: Vec<_> = flows.map(|flow| flow["local_port"].as_u64()).collect();
                assert_eq!(ports, [Some(port), Some(port + 1), Some(port + 2)]);
            }
            assert_eq!(test["local_interface"], "eth0", "{}", one.line);
            let warned = warnings(&test).contains(&"not-pinned");
            assert_eq!(warned, one.line.contains(",4000"), "{}", one.line);
        }
    }
}

#[test]
fn what_cannot_be_had_is_said() {
    let table = [
        ("udp {peer} -A 4000", "run on CPU 4000", "-A with one of 0"),
        ("udp {peer} --bind-dev nosuch0", "nosuch0", "`ip link`"),
        ("tcp {peer} -B 192.0.2.1", "192.0.2.1", "`ip addr`"),
        ("udp {peer} -6", "cannot resolve", "omit -4 or -6"),
        ("tcp {peer6} -4", "cannot resolve", "omit -4 or -6"),
        ("udp {peer6} -B 198.18.0.1", "cannot resolve", "--bind"),
        (
            "tcp {peer} -C nosuch",
            "cannot open stream",
            "congestion_control",
        ),
    ];
    let lines = table.map(|(line, ..)| format!("{line} -k 40"));
    for (one, (_, what, hint)) in lab(&[], &lines).iter().zip(table) {
        let error = &one.document()["error"];
        let said = |field: &str| error[field].as_str().unwrap_or("").to_owned();
        assert_eq!(one.code, 3, "{}: {}", one.line, one.stderr);
        assert!(said("what").contains(what), "{}: {error}", one.line);
        assert!(!said("why").is_empty(), "{}: {error}", one.line);
        assert!(said("try").contains(hint), "{}: {error}", one.line);
    }
}

#[test]
fn modes_bursts_and_buffers() {
    let table = [
        ("udp {peer} -b 20M --mode plain/plain", "plain", "plain"),
        ("udp {peer} -b 20M --mode mmsg/mmsg -R", "mmsg", "mmsg"),
        ("udp {peer} -b 20M --mode gso/gro --burst 4", "gso", "gro"),
        (
            "udp {peer6} -b 20M --mode gso/plain --burst 4",
            "gso",
            "plain",
        ),
        ("udp {peer} -b 20M -w 64K", "mmsg", "mmsg"),
        ("udp {peer} -b 20M -w 64K -R", "mmsg", "mmsg"),
        ("tcp {peer} -Z", "sendfile", "copy"),
        ("tcp {peer} --mode zerocopy/trunc -R", "zerocopy", "trunc"),
        ("tcp {peer} -M 500 -C reno", "copy", "copy"),
        ("tcp {peer6} -M 500 -C reno -R -N", "copy", "copy"),
    ];
    let lines = table.map(|(line, ..)| format!("{line} -k 40"));
    for (one, (_, tx, rx)) in lab(&[], &lines).iter().zip(table) {
        let test = one.only();
        assert_eq!(test["mode"]["tx"], tx, "{}", one.line);
        assert_eq!(test["mode"]["rx"], rx, "{}", one.line);
        if let Some(burst) = one.after("--burst") {
            assert_eq!(test["mode"]["burst"], burst, "{}", one.line);
        }
        if one.line.contains("-w") {
            let buffer = &test["receive_buffer_bytes"];
            assert_eq!(buffer["asked"], 65_536, "{}", one.line);
            assert_eq!(buffer["granted"], 65_536, "{}", one.line);
        }
        if one.line.contains("-M") {
            let segment = one.number("mss_bytes");
            assert!((400..=500).contains(&segment), "{}: {segment}", one.line);
            assert_eq!(test["congestion"], "reno", "{}", one.line);
        }
    }
}

#[test]
fn intervals_warm_up_and_expectations() {
    let lines = [
        "udp {peer} -b 800K -l 500 -t 600ms --interval 0.2",
        "tcp {peer} -b 800K -l 1K -R -t 600ms -i 0.2",
        "udp {peer} -b 800K -l 500 -t 1 -i 0",
        "udp {peer} -b 800K -l 500 -t 0.8 -O 0.2",
        "tcp {peer} -b 800K -l 1K -t 0.8 -O 0.2 -R",
        "udp {peer} -b 8M -k 40 --expect rate>=1K --expect loss<=100%",
        "udp {peer} -b 8M -k 40 --expect rate>=900G",
    ];
    let ran = lab(&[], &lines.map(str::to_owned));
    for one in &ran {
        let test = &one.tests()[0];
        let intervals = test["intervals"].as_array().unwrap();
        match &one.line {
            line if line.contains("-t 600ms") => {
                assert!((3..=4).contains(&intervals.len()), "{line}: {intervals:?}");
                let ends = intervals
                    .windows(2)
                    .all(|two| two[0]["end_s"] == two[1]["start_s"]);
                assert!(ends, "{line}: {intervals:?}");
            }
            line if line.contains("-i 0") => {
                assert_eq!(intervals.len(), 1, "{line}: {intervals:?}");
                let sent = intervals[0]["sent_packets"].as_u64();
                assert_eq!(sent, test["sent_packets"].as_u64(), "{line}");
            }
            line if line.contains("-O") => assert_eq!(test["duration_s"], 0.8, "{line}"),
            _ => {}
        }
        let missed = one.line.contains("900G");
        // A busy machine may leave datagrams unsent.
        let measured = [i32::from(missed), 4 * i32::from(one.line.contains("-t "))];
        assert!(measured.contains(&one.code), "{}: {}", one.line, one.stderr);
        for expectation in one.document()["expectations"].as_array().unwrap() {
            assert_eq!(expectation["met"], !missed, "{}", one.line);
        }
        one.sound();
    }
}

#[test]
fn the_stream_of_events_ends_with_the_document() {
    let lines = ["udp {peer} --bidir -b 2M -t 300ms -i 0.1 --json-stream".to_owned()];
    for one in lab(&[], &lines) {
        let events: Vec<Value> = one
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(events.iter().all(Value::is_object));
        let (first, last) = (events.first().unwrap(), events.last().unwrap());
        assert_eq!(
            (&first["event"], &last["event"]),
            (&"start".into(), &"end".into())
        );
        let directions: HashSet<_> = events
            .iter()
            .filter(|event| event["event"] == "interval")
            .map(|event| event["data"]["direction"].to_string())
            .collect();
        assert_eq!(directions.len(), 2, "{events:?}");
        assert_eq!(last["data"]["schema"], "linerate.output/1");
        assert_eq!(last["data"]["tests"].as_array().unwrap().len(), 2);
    }
}

/// One command that ran in a lab.
#[derive(Debug)]
struct Ran {
    line: String,
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.line, self.stderr))
    }

    fn tests(&self) -> Vec<Value> {
        self.document()["tests"].as_array().unwrap().clone()
    }

    /// All tests, each with its names, valid, and balanced.
    fn sound(&self) -> Vec<Value> {
        let tests = self.tests();
        assert!(!tests.is_empty(), "{}: {}", self.line, self.stderr);
        for test in &tests {
            let line = &self.line;
            for name in NAMES {
                assert!(test.get(name).is_some(), "{line}: no {name}");
            }
            let reason = test["invalid_reason"].as_str();
            let sound = reason.is_none_or(|why| why.contains("were not sent"));
            assert!(sound, "{line}: {reason:?}");
            assert_eq!(test["protocol"], line.split(' ').next().unwrap(), "{line}");
            let flows = test["flows"].as_array().unwrap().len() as u64;
            assert_eq!(test["streams"], flows, "{line}");
            if line.starts_with("udp") {
                let [sent, received, lost] = ["sent_packets", "received_packets", "lost_packets"]
                    .map(|f| test[f].as_u64().unwrap());
                assert_eq!(sent, received + lost, "{line}");
                let joined = test["mode"]["rx"] == "gro";
                assert_eq!(test["socket_drops_at_least"], joined, "{line}");
                let drops = test["socket_drops"].as_u64().unwrap();
                let all = if joined { drops <= lost } else { drops == lost };
                assert!(
                    all && (drops > 0) == (lost > 0),
                    "{line}: {lost} lost, {drops} dropped at the socket"
                );
            } else {
                assert!(
                    test["delivered_bits_per_second"].as_f64().unwrap() > 0.0,
                    "{line}: {test}"
                );
            }
        }
        tests
    }

    /// The one test, sound.
    fn only(&self) -> Value {
        assert_eq!(self.code, 0, "{}: {}", self.line, self.stderr);
        let [test] = <[Value; 1]>::try_from(self.sound()).unwrap();
        test
    }

    fn number(&self, field: &str) -> u64 {
        let value = &self.tests()[0][field];
        value
            .as_u64()
            .unwrap_or_else(|| panic!("{}: {field} is {value}", self.line))
    }

    /// The number that follows a flag.
    fn after(&self, flag: &str) -> Option<u64> {
        let mut words = self.line.split(' ');
        words.find(|word| *word == flag)?;
        words.next()?.parse().ok()
    }
}

fn warnings(test: &Value) -> Vec<&str> {
    let all = test["warnings"].as_array().unwrap().iter();
    all.map(|warning| warning["id"].as_str().unwrap()).collect()
}

fn lab(flags: &[&str], lines: &[String]) -> Vec<Ran> {
    let _turn = Turn::together();
    run_in_lab(flags, lines)
}

/// Runs the lines as commands of this program in host A of one lab. None ran, and it is said,
/// where there are no namespaces.
fn run_in_lab(flags: &[&str], lines: &[String]) -> Vec<Ran> {
    static LABS: AtomicUsize = AtomicUsize::new(0);
    let lab = LABS.fetch_add(1, Ordering::Relaxed);
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("matrix-{lab}"));
    fs::create_dir_all(&place).unwrap();
    let command = |(number, line): (usize, &String)| {
        let json = if line.contains("--json") {
            ""
        } else {
            "--json"
        };
        let line = line.replace(">=", "\\>=").replace("<=", "\\<=");
        format!(
            "\"$LINERATE\" {line} {json} >{number}.out 2>{number}.err; echo $? >{number}.code; "
        )
    };
    let script: String = lines.iter().enumerate().map(command).collect();
    let mut lab = Command::new(env!("CARGO_BIN_EXE_linerate"));
    lab.current_dir(&place)
        .env("LINERATE", env!("CARGO_BIN_EXE_linerate"))
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    lab.arg("lab").args(flags).args(["--", "sh", "-c", &script]);
    let output = lab.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("loopback instead of a lab") {
        println!("skipped: no namespaces here");
        return Vec::new();
    }
    assert!(output.status.success(), "{flags:?}: {said}");
    let read = |number: usize, ending: &str| {
        fs::read_to_string(place.join(format!("{number}.{ending}"))).unwrap()
    };
    let ran = |(number, line): (usize, &String)| Ran {
        line: line.clone(),
        code: read(number, "code").trim().parse().unwrap(),
        stdout: read(number, "out"),
        stderr: read(number, "err"),
    };
    lines.iter().enumerate().map(ran).collect()
}

/// The contract's names of a test.
const NAMES: [&str; 38] = [
    "id",
    "name",
    "group",
    "protocol",
    "af",
    "direction",
    "streams",
    "payload_bytes",
    "duration_s",
    "requested_bits_per_second",
    "offered_bits_per_second",
    "delivered_bits_per_second",
    "sent_packets",
    "received_packets",
    "lost_packets",
    "duplicate_packets",
    "reordered_packets",
    "reorder_extent_max",
    "late_packets",
    "corrupt_packets",
    "loss_ratio",
    "loss_ratio_upper95",
    "jitter_ns",
    "retransmits",
    "rtt_ns",
    "delay_ns",
    "delay_error_ns",
    "mode",
    "spacing_ns",
    "receive_buffer_bytes",
    "local_interface",
    "remote_interface",
    "link_kind",
    "cpu",
    "flows",
    "intervals",
    "valid",
    "warnings",
];
