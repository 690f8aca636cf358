// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --offloads [--toggle] [--kept] [--binary PATH]... [NIC...]`: `nic-check` in the guest, on its real driver, against an agent
//! of this host that is reached over the link itself. `--toggle` is the larger run: each offload is switched over, too. `--short` is the
//! one driver of CI.
//! What is called wrong must be known of the emulator's model of the card ([`KNOWN`]).

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::guest::Hardware;
use super::network::HOST;
use super::nic::{Board, Nic};
use super::results::Results;
use super::session::Session;
use super::steps::At;
use super::table::rows;
use super::{Options, boot, bootable, missing, missing_for, parts, place};
use crate::Outcome;
use crate::tally::Tally;

/// Checks each NIC, and prints the table of all. Whether nothing was called wrong but what is known.
pub(super) fn run(words: &[&str]) -> Outcome {
    let mode = match words.contains(&TOGGLE) {
        true => "--inside-offloads=toggle",
        false => INSIDE,
    };
    let rest: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != TOGGLE)
        .collect();
    let mut options = Options::parse(&rest)?;
    // A board needs a cross compiler: only if it is named.
    options
        .nics
        .retain(|nic| options.named || nic.board == Board::Pc);
    if let Some(why) = missing() {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let mut tally = Tally::default();
    if options.short {
        short(&options, &mut tally)?;
        return Ok(tally.close());
    }
    let mut judged = Vec::new();
    for nic in &options.nics {
        let directory = place().join(nic.directory()).join(PLACE);
        if !options.kept && !booted(nic, &options, &directory, mode, &mut tally)? {
            continue;
        }
        let document = Results::of(nic, &directory).document(STEP);
        let verdict = document
            .clone()
            .and_then(|document| verdict(nic, &document));
        tally.check(&format!("{}: offloads", nic.name), verdict);
        judged.extend(document.ok().map(|document| (*nic, document)));
    }
    println!("\n{}", markdown(&judged));
    Ok(tally.close())
}

/// One driver for CI, whose own fault must be found. Once more, if the load of the moment may have a share in what is wrong.
pub(super) fn short(
    options: &Options,
    tally: &mut Tally,
) -> Result<(), Box<dyn std::error::Error>> {
    let nic = Nic::named(SHORT.0).ok_or("no such NIC")?;
    let directory = place().join(nic.directory()).join(PLACE);
    let judged = || {
        let document = Results::of(nic, &directory).document(STEP)?;
        let said = verdict(nic, &document)?;
        match named(&document, "wrong").iter().any(|id| id == SHORT.1) {
            true => Ok(said),
            false => Err(format!("{} is not called wrong", SHORT.1)),
        }
    };
    for is_last in [false, true] {
        if !booted(nic, options, &directory, INSIDE, tally)? {
            break;
        }
        let result = judged();
        if result.is_ok() || is_last {
            tally.check(&format!("{}: offloads", nic.name), result);
            break;
        }
    }
    Ok(())
}

fn booted(
    nic: &'static Nic,
    options: &Options,
    directory: &Path,
    mode: &str,
    tally: &mut Tally,
) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(why) = missing_for(nic.board) {
        tally.skip(nic.name, why);
        return Ok(false);
    }
    let (ours, image) = bootable(nic, options)?;
    let booted = boot(nic, &image, &ours, directory, mode);
    let is_right = booted.is_ok();
    tally.check(nic.name, booted);
    Ok(is_right)
}

/// All of one machine, in the namespaces that were made for it.
pub(super) fn inside(toggle: bool, words: &[&str]) -> Outcome {
    let (nic, image, linerate, directory) = parts(words)?;
    let dump = directory.join("frames.pcap");
    let hardware = Hardware {
        // A virtio card without a host that finishes frames has no offloads.
        is_a_wire: nic.driver != "virtio_net",
        // An emulator that gets little of the processor fails the test of the timer.
        kernel_words: "no_timer_check".to_owned(),
        emulator_words: match nic.board {
            Board::Pc => [
                "-object".to_owned(),
                format!("filter-dump,id=dump0,netdev=n0,file={}", dump.display()),
            ]
            .into(),
            _ => Vec::new(),
        },
        ..Hardware::default()
    };
    let mut session = Session::boot(nic, &image, &hardware, &linerate, &directory)?;
    answer(&linerate)?;
    session.shell(At::Guest, "settle", SETTLED)?;
    session.shell(At::Guest, "ethtool-k", "ethtool -k eth0")?;
    let also = if toggle { TOGGLE } else { "" };
    let checked = format!(
        "linerate nic-check eth0 {HOST} {also} --json -o $OUT/{STEP}.run --remote-command 'nc {HOST} {PORT}'"
    );
    let status = session.long(STEP, &checked, LIMIT)?;
    println!("  {STEP} {status}");
    session.fetch()?;
    Ok(true)
}

/// An agent for each connection, as a relay would start it.
fn answer(linerate: &Path) -> Result<(), String> {
    let listener = TcpListener::bind((HOST, PORT)).map_err(|why| why.to_string())?;
    let linerate = linerate.to_owned();
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let Ok(input) = stream.try_clone() else {
                continue;
            };
            let agent = Command::new(&linerate)
                .args(["agent", "--stdio", "--frames"])
                .stdin(Stdio::from(OwnedFd::from(input)))
                .stdout(Stdio::from(OwnedFd::from(stream)))
                .spawn();
            if let Ok(mut agent) = agent {
                let _ended = agent.wait();
            }
        }
    };
    thread::Builder::new()
        .spawn(serve)
        .map(drop)
        .map_err(|why| why.to_string())
}

/// Some was judged, and nothing is wrong but what is known.
pub(super) fn verdict(nic: &Nic, document: &Value) -> Result<String, String> {
    let wrong = named(document, "wrong");
    let unknown = wrong.iter().filter(|id| cause(nic, id).is_none());
    let unknown: Vec<&String> = unknown.collect();
    let right = named(document, "right").len();
    let is_broken_off = broken_off(document).is_some() && !STOPS.contains(&nic.name);
    match (right, unknown.as_slice()) {
        (0, _) => Err(format!("nothing is right: {}", document["error"])),
        _ if is_broken_off => Err(format!("broken off: {}", document["error"])),
        (_, []) => Ok(format!("{right} right, {} wrong as known", wrong.len())),
        (_, unknown) => Err(format!("called wrong: {unknown:?}")),
    }
}

/// Why a check did not come to its end.
fn broken_off(document: &Value) -> Option<&str> {
    document.pointer("/error/why")?.as_str()
}

/// What a document says, in a line.
pub(super) fn said(document: &Value) -> String {
    let count = |state| named(document, state).len();
    let right = format!("{} right", count("right"));
    let others = [
        ("wrong", "wrong"),
        ("not-a-wire", "not a wire"),
        ("not-possible", "not possible"),
    ];
    let other = |(state, words)| {
        let names = named(document, state);
        (!names.is_empty()).then(|| format!("; {words}: {}", names.join(", ")))
    };
    right + &others.into_iter().filter_map(other).collect::<String>()
}

/// The checks in a state, each once.
fn named(document: &Value, state: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for check in checks(document, state) {
        let name = text(check, "id");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn checks<'d>(document: &'d Value, state: &'d str) -> impl Iterator<Item = &'d Value> {
    let checks = document["checks"].as_array().into_iter().flatten();
    checks.filter(move |check| check["state"] == state)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The tables of the page: what was said of each NIC, and why some was not possible.
pub(super) fn markdown(all: &[(&Nic, Value)]) -> String {
    let row = |(nic, document): &(&Nic, Value)| {
        let wrong = checks(document, "wrong").map(|check| seen(nic, check));
        let unlike = named(document, "not-a-wire");
        let end = broken_off(document).map_or_else(String::new, |why| format!(", then: {why}"));
        let count = |state| named(document, state).len().to_string();
        [
            nic.name.to_owned(),
            nic.driver.to_owned(),
            count("right") + &end,
            or_none(&wrong.collect::<Vec<_>>(), "; "),
            or_none(&unlike, ", "),
            count("not-possible"),
        ]
    };
    let reasons = reasons(all);
    let why = reasons.iter().map(|((reason, check), nics)| {
        let nics = match nics.len() == all.len() {
            true => "all".to_owned(),
            false => nics.join(", "),
        };
        [check.clone(), nics, reason.clone()]
    });
    let tables = [
        rows(COLUMNS, all.iter().map(row)),
        rows(["not possible", "of", "why"], why),
    ];
    tables.join("\n")
}

/// Why checks were not possible, and of which NICs.
fn reasons<'n>(all: &[(&'n Nic, Value)]) -> BTreeMap<(String, String), Vec<&'n str>> {
    let mut reasons: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for (nic, document) in all {
        for check in checks(document, "not-possible") {
            let why = text(check, "reason").replace(nic.driver, "the driver");
            let nics = reasons.entry((why, text(check, "id"))).or_default();
            if !nics.contains(&nic.name) {
                nics.push(nic.name);
            }
        }
    }
    reasons
}

/// What was seen of a check that is wrong, and whose fault it is.
fn seen(nic: &Nic, check: &Value) -> String {
    let (id, example) = (text(check, "id"), &check["example"]);
    let [what, expected, seen] = ["what", "expected", "seen"].map(|key| text(example, key));
    let cause = cause(nic, &id).unwrap_or("**unknown**");
    format!("`{id}`: {what}: expected {expected}, seen {seen} ({cause})")
}

fn cause(nic: &Nic, id: &str) -> Option<&'static str> {
    let mut known = KNOWN.iter();
    let found = known.find(|(name, ids, _)| *name == nic.name && ids.contains(&id))?;
    Some(found.2)
}

fn or_none(texts: &[String], between: &str) -> String {
    match texts.is_empty() {
        true => "–".to_owned(),
        false => texts.join(between),
    }
}

const COLUMNS: [&str; 6] = [
    "NIC",
    "driver",
    "right",
    "wrong",
    "not a wire",
    "not possible",
];
/// The NIC that CI boots, and what its driver does wrong.
const SHORT: (&str, &str) = ("e1000", "rx-vlan-tag");
const INSIDE: &str = "--inside-offloads";
const TOGGLE: &str = "--toggle";
/// Below the place of a machine's results.
pub(super) const PLACE: &str = "offloads";
pub(super) const STEP: &str = "nic-check";
const PORT: u16 = 7001;
/// Addresses of IPv6 are looked for at other hosts first.
const SETTLED: &str = "until ip -6 address show dev eth0 | grep -q inet6 && ! ip -6 address show dev eth0 | grep -q tentative; do sleep 0.2; done";
/// For a host of which others take most: a check takes 20 s on an idle one.
const LIMIT: Duration = Duration::from_secs(3600);

/// What is wrong of a NIC, and whose fault it is.
type Known = (&'static str, &'static [&'static str], &'static str);

/// Each was seen in the frames of `frames.pcap`, and read in the source that is named.
const KNOWN: [Known; 9] = [
    (
        "usb-net",
        &["rx-counters"],
        "QEMU: `usb_net_handle_datain` sends an empty packet after a frame of a multiple of 64 bytes; the driver counts it",
    ),
    (
        "i82559er",
        &["tx-udp4-length", "tx-udp6-length"],
        "QEMU: `tx_command` of eepro100 sends a second buffer, too",
    ),
    (
        "e1000",
        &["rx-vlan-tag"],
        "the driver: `e1000_receive_skb` keeps the number alone",
    ),
    ("e1000e", &["tx-tcp4-segments"], FRAGMENTS),
    ("e1000e", &["tx-tcp6-segments"], NO_LENGTH),
    ("vmxnet3", &["tx-tcp4-segments"], FRAGMENTS),
    ("vmxnet3", &["tx-tcp6-segments"], NO_LENGTH),
    (
        "rtl8139",
        &["tx-udp4-zero-sum"],
        "QEMU: `rtl8139_cplus_transmit_one` writes 0 as it is",
    ),
    (
        "rtl8139",
        &["tx-tcp4-segments"],
        "QEMU: `rtl8139_cplus_transmit_one` clears PSH in the header of all segments",
    ),
];
/// The model stops under load.
const STOPS: [&str; 1] = ["ne2k_pci"];
const FRAGMENTS: &str = "QEMU: `net_tx_pkt_do_sw_fragmentation` makes IP fragments of TCP";
const NO_LENGTH: &str = "QEMU: `net_tx_pkt_do_sw_fragmentation` writes no IPv6 length";

#[cfg(test)]
mod tests {
    use super::super::{page, recorded};
    use super::*;
    use serde_json::json;

    fn document(state: &str, id: &str) -> Value {
        json!({ "checks": [
            { "id": "rx-udp4-good", "state": "right" },
            { "id": id, "state": state, "reason": "e1000 has none",
              "example": { "what": "w", "expected": "1", "seen": "2" } },
        ] })
    }

    #[test]
    fn what_is_called_wrong_and_is_not_known_fails() {
        let nic = Nic::named("e1000").unwrap();
        assert!(verdict(nic, &document("right", "x")).is_ok());
        assert!(verdict(nic, &document("wrong", "x")).is_err());
        assert!(verdict(nic, &document("wrong", "rx-vlan-tag")).is_ok());
        assert!(verdict(nic, &json!({})).is_err());
        let mut broken_off = document("right", "x");
        broken_off["error"] = json!({ "why": "no answer in time" });
        assert!(verdict(nic, &broken_off).is_err());
        let stops = Nic::named(STOPS[0]).unwrap();
        assert!(verdict(stops, &broken_off).is_ok());
        assert!(markdown(&[(stops, broken_off)]).contains("| 2, then: no answer in time |"));
        let line = "1 right; wrong: x";
        assert_eq!(said(&document("wrong", "x")), line);
    }

    #[test]
    fn a_reason_is_said_once_of_all() {
        let nics = ["e1000", "e1000e"].map(|name| Nic::named(name).unwrap());
        let all = nics.map(|nic| (nic, document("not-possible", "x")));
        let text = markdown(&all);
        assert!(
            text.contains("| x | e1000 | the driver has none |"),
            "{text}"
        );
        let text = markdown(&all[..1]);
        assert!(text.contains("| x | all | the driver has none |"), "{text}");
        let text = markdown(&[(nics[0], document("wrong", "x"))]);
        assert!(
            text.contains("| 1 | `x`: w: expected 1, seen 2 (**unknown**) | – | 0 |"),
            "{text}"
        );
    }

    #[test]
    fn the_page_has_what_is_recorded() {
        let recorded = markdown(&recorded::of_offloads().unwrap());
        assert_eq!(page::offloads().unwrap(), recorded);
    }
}
