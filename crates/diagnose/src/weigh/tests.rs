// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use linerate_model::output::Passage;

/// The causes that are named for a text, with their degrees.
fn named(text: &str) -> Vec<(&'static str, Degree)> {
    observing(text, |observed| {
        let named = name(observed).into_iter();
        named
            .map(|one| (one.cause.id.as_str(), one.degree))
            .collect()
    })
}

/// What follows from what a text shows.
fn observing<T>(text: &str, follows: impl Fn(&Observed<'_>) -> T) -> T {
    let pasted = linerate_paste::read(text);
    let cleaned = linerate_paste::clean(text);
    let lines = cleaned.lines.iter().map(|line| Line {
        number: line.number,
        text: &line.text,
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let is_prose = |passage: &&Passage| passage.what == "prose";
    let prose: Vec<Passage> = pasted.ignored.iter().filter(is_prose).cloned().collect();
    let observed = Observed::of(&Text {
        records: &pasted.records,
        lines: &lines,
        prose: &prose,
        read: &pasted.understood,
        ..Text::default()
    });
    follows(&observed)
}

#[test]
fn a_message_that_names_the_mechanism_proves_it() {
    let text = "[ 1234.5] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n";
    assert_eq!(named(text).first(), Some(&("tx-timeout", Degree::Proven)));
}

#[test]
fn a_setting_speaks_without_any_counter() {
    let text = "Settings for eth0:\n\tSpeed: 100Mb/s\n\tDuplex: Half\n\tAuto-negotiation: on\n\tLink detected: yes\n";
    let first = named(text).first().copied();
    assert_eq!(first.map(|(id, _)| id), Some("half-duplex"));
}

#[test]
fn a_loop_over_files_speaks_by_its_lines() {
    let text = "$ for f in speed duplex operstate; do echo $f: $(cat /sys/class/net/eth0/$f); done\nspeed: 10\nduplex: half\noperstate: up\n";
    let first = named(text).first().copied();
    assert_eq!(first.map(|(id, _)| id), Some("half-duplex"));
    let line = |title: &str| {
        observing(text, |observed| {
            let mut fields = observed.fields.iter();
            fields
                .find(|one| one.title == title)
                .and_then(|one| one.line)
        })
    };
    let lines = ["ethtool Speed", "ethtool Duplex", "ip link state"].map(line);
    assert_eq!(lines, [Some(2), Some(3), Some(4)]);
}

#[test]
fn a_drop_reason_by_number_is_not_named() {
    let text = "What does it drop?\n\n@drops[2]: 145\n@drops[6]: 4112\n";
    let odd = observing(text, |observed| odd::odd(observed, &[]));
    let hint = odd.iter().find(|one| one.what.contains("perf script"));
    let hint = hint.map(|one| (one.first_line, one.what.ends_with("drop reason 6")));
    assert_eq!(hint, Some((4, true)), "{odd:?}");
    let counted = odd.iter().find(|one| one.what == "drop reason 2 = 145");
    assert_eq!(counted.map(|one| one.first_line), Some(3), "{odd:?}");
}

#[test]
fn a_healthy_text_blames_nobody() {
    let healthy = "Settings for eth0:\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: yes\n\n\
        e1000e 0000:00:1f.6 eth0: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: Rx/Tx\n";
    assert_eq!(named(healthy), []);
    assert_eq!(named("The cat sat on the mat.\n"), []);
}

/// Bars are not those of a Markdown table, and the rows are no prose.
#[test]
fn tables_of_windows_speak_as_those_of_linux() {
    let has = |text: &str, id: &str| named(text).iter().any(|(one, _)| *one == id);
    let row = |name: &str, loss: u32| {
        let received = 100 - loss;
        format!("|{name:>40} - {loss:4} |  100 | {received:4} |    8 |   10 |   41 |    9 |\n")
    };
    let hops = |loss| row("192.0.2.1", 0) + &row("203.0.113.9", loss) + &row("203.0.113.20", loss);
    assert!(has(&hops(12), "loss-on-the-path"));
    assert!(!has(&hops(0), "loss-on-the-path"));
    let routes = "Active Routes:\nNetwork Destination        Netmask          Gateway       Interface  Metric\n\
        0.0.0.0          0.0.0.0     198.51.100.1        192.0.2.7     25\n\
        192.0.2.0    255.255.255.0         On-link         192.0.2.7    281\n";
    assert!(has(routes, "netmask-wrong"));
    assert!(!has(
        &routes.replace("198.51.100.1", "192.0.2.1"),
        "netmask-wrong"
    ));
}

/// What one cause explains does not speak for a second one.
#[test]
fn one_line_has_one_cause() {
    let text = "nf_conntrack: nf_conntrack: table full, dropping packet\n";
    let named = named(text);
    assert_eq!(named.len(), 1, "{named:?}");
    assert_eq!(named[0].0, "connection-tracking-full");
}

/// Guesses do not follow a proof, and nothing is well where something is wrong.
#[test]
fn what_is_proven_is_the_answer() {
    let said = "Some web sites hang through WireGuard, the MTU is 1500; else everything works fine. Is this normal?\n";
    let guessed = named(said);
    assert!(
        guessed
            .iter()
            .any(|(id, _)| *id == "mtu-too-large-for-tunnel"),
        "{guessed:?}"
    );
    let proof = "\n[ 1234.5] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n";
    let both = named(&format!("{said}{proof}"));
    assert_eq!(both.first(), Some(&("tx-timeout", Degree::Proven)));
    assert!(
        !both.iter().any(|(id, _)| *id == "nothing-wrong"),
        "{both:?}"
    );
    assert!(both.len() < guessed.len() + 1, "{both:?} {guessed:?}");
}

#[test]
fn two_findings_do_not_deny_each_other() {
    let text = "netdata alarms me: netdev budget ran out 101 times, time_squeeze in softnet_stat grows. No loss that I see.\n";
    let named = named(text);
    let of_budget = named.iter().filter(|(id, _)| id.starts_with("napi-budget"));
    assert_eq!(of_budget.count(), 1, "{named:?}");
}

/// Outputs of tools on hosts where nothing is wrong blame nobody.
#[test]
fn healthy_outputs_blame_nobody() {
    let blamed = HEALTHY.iter().map(|(file, text)| (file, named(text)));
    let blames = |named: &[(&str, Degree)]| named.iter().any(|(id, _)| !ALL_IS_WELL.contains(id));
    let accused: Vec<_> = blamed.filter(|(_, named)| blames(named)).collect();
    assert!(accused.is_empty(), "{accused:#?}");
}

/// Causes that blame nobody.
const ALL_IS_WELL: [&str; 2] = ["link-rate-reached", "nothing-wrong"];

macro_rules! healthy {
    ($($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../tests/healthy/", $file)))),+]
    };
}

const HEALTHY: &[(&str, &str)] = healthy![
    "e1000e-statistics.txt",
    "features.txt",
    "fibre-10g.txt",
    "gigabit-and-boot-log.txt",
    "ip-link.txt",
    "iperf3-gigabit.txt",
    "module.txt",
    "nstat.txt",
    "ping.txt",
    "proc-net-dev.txt",
    "socket.txt",
    "softnet.txt",
    "tc-qdisc.txt",
    "veth.txt",
];
