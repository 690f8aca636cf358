// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the chip itself allows: which family it is, and whether the port stays at one rate whatever
//! is asked of it.

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use linerate_model::output::{Direction, Protocol, Test};

use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(vantage: &Vantage<'_>, plateaus: &Plateaus, facts: &mut Facts) {
    let Some(test) = vantage.test else {
        return of_the_machine(vantage, facts);
    };
    let together = vantage.evidence.group(&test.group).iter();
    let carried: Option<f64> = together.map(|test| test.delivered_bits_per_second).sum();
    let source = "the tests' accounts";
    vantage.add(facts, "port_bits_per_second", carried, source);
    let plateau = plateaus
        .of(test)
        .filter(|_| vantage.side == Some(Side::Sender));
    vantage.add(facts, "sender_plateau_bits_per_second", plateau, source);
    if let (Some(sent), Some(0)) = (test.sent_packets, test.received_packets) {
        vantage.add(facts, "nothing_received", sent > 0, "the test's account");
    }
}

fn of_the_machine(vantage: &Vantage<'_>, facts: &mut Facts) {
    vantage.add(facts, "enet_mac", is_enet(vantage), "ethtool -i, machine");
    if vantage.interface.is_some() {
        return;
    }
    vantage.add(facts, "soc_family", family(vantage), "machine");
    // Old drivers pass on what a FIFO error made of two frames.
    let broken = |line: &str| BROKEN.iter().any(|word| line.contains(word));
    if vantage.logged(broken) > Some(0) {
        vantage.add(facts, "broken_frames_logged", true, "dmesg");
    }
}

/// By the driver of an interface; of a machine whose interface has no known one, by the chip, or by what that driver alone
/// says in the log.
fn is_enet(vantage: &Vantage<'_>) -> Option<bool> {
    if vantage.interface.is_some() {
        let table = vantage.table().map(|table| table.name.as_str());
        return Some(vantage.driver_name().or(table)? == ENET_DRIVER);
    }
    let logged = || vantage.logged(|line| line.contains(ENET_LOGGED)) > Some(0);
    let is_imx6 = family(vantage).is_some_and(|family| family.starts_with("imx6"));
    (is_imx6 || logged()).then_some(true)
}

/// By what the device tree, the chip or the processor calls itself.
fn family(vantage: &Vantage<'_>) -> Option<&'static str> {
    let host = vantage.record.host(vantage.host);
    let processor = host.and_then(|host| host.cpu_model.as_deref());
    let machine = ["compatible", "soc_id"].map(|key| vantage.host_set_up("machine", key));
    let names: Vec<String> = machine
        .into_iter()
        .flatten()
        .chain(processor)
        .map(str::to_ascii_lowercase)
        .collect();
    let stands_for = |words: &[&str]| {
        let mut all = names.iter();
        all.any(|name| words.iter().any(|word| name.contains(word)))
    };
    let found = FAMILIES.iter().find(|(_, words)| stands_for(words));
    found.map(|(family, _)| *family)
}

/// The rates that two or more tests of one kind reach which were asked for different higher ones.
pub(super) struct Plateaus(Map<Kind, Option<f64>>);

/// Down, UDP, and the payload.
type Kind = (bool, bool, u32);

impl Plateaus {
    pub(super) fn of_record(record: &Record) -> Self {
        let mut short: Map<Kind, Vec<(f64, f64)>> = Map::new();
        for test in record.tests() {
            let rates = test
                .requested_bits_per_second
                .zip(test.offered_bits_per_second);
            let rates = rates.filter(|(asked, offered)| *offered < asked * SHORT);
            short.entry(kind(test)).or_default().extend(rates);
        }
        let plateaus = short
            .into_iter()
            .map(|(kind, rates)| (kind, plateau(&rates)));
        Self(plateaus.gather())
    }

    fn of(&self, test: &Test) -> Option<f64> {
        *self.0.get(&kind(test))?
    }
}

fn kind(test: &Test) -> Kind {
    (
        test.direction == Direction::Down,
        test.protocol == Protocol::Udp,
        test.payload_bytes,
    )
}

/// Of requested and offered rates.
fn plateau(short: &[(f64, f64)]) -> Option<f64> {
    let high = short.iter().map(|(_, offered)| *offered).reduce(f64::max)?;
    let level = short.iter().filter(|(_, offered)| *offered > high * LEVEL);
    let asked = |pick: fn(f64, f64) -> f64| level.clone().map(|(asked, _)| *asked).reduce(pick);
    (asked(f64::max)? > asked(f64::min)? * FURTHER).then_some(high)
}

/// A name and the words, in small letters, that stand for it.
///
/// The later chips of the i.MX6 series have another ENET block: its errata of 470 Mbit/s and of short frames are those of the
/// Quad, Dual and Solo (IMX6DQCE, IMX6SDLCE).
const FAMILIES: &[(&str, &[&str])] = &[
    (
        "imx6-later",
        &[
            "imx6sx",
            "imx6ul",
            "imx6sl",
            "i.mx6sx",
            "i.mx6ul",
            "i.mx6sl",
            "i.mx6 solox",
            "i.mx6 sololite",
            "i.mx6 ultralite",
            "i.mx6 ull",
        ],
    ),
    ("imx6", &["imx6", "i.mx6", "i.mx 6"]),
    ("ls1088", &["ls1088"]),
];
const ENET_DRIVER: &str = "fec";
const ENET_LOGGED: &str = "rcv is not +last";
const BROKEN: &[&str] = &[ENET_LOGGED, "FIFO overrun", "rx frame length", "oversize"];
/// A sender that offers less than this share of what was asked falls short.
const SHORT: f64 = 0.97;
/// Rates of at least this share of the highest are one level.
const LEVEL: f64 = 0.95;
/// Requests this far apart are different ones.
const FURTHER: f64 = 1.08;
