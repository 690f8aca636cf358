// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host's network on one screen of 24 lines: the host, its interfaces, the limits that matter, then what looks wrong.

use linerate_model::output::{Host, Output};
use linerate_model::units::Bytes;
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::{Block, Line, Tone, title};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let heading = Block::Lines {
        heading: title::heading(output),
        lines: output.hosts.iter().map(|one| host(output, one)).collect(),
    };
    let blocks = [
        Some(heading),
        Block::lines("", interfaces(output)),
        Block::lines("", limits(output)),
        Block::lines("what looks wrong, by counters since boot", wrong(output)),
        Block::lines("", [Line::new(0, MORE)]),
    ];
    blocks.into_iter().flatten().collect()
}

/// Each cause with what to try, how to go back, and how to verify it.
fn wrong(output: &Output) -> Vec<Line> {
    let causes = output.findings.iter().filter(|one| !one.informational);
    let mut lines: Vec<Line> = Vec::new();
    for (number, finding) in (1..).zip(causes) {
        let head = format!("{number}. {}", finding.title);
        lines.push(Line::new(INDENT, head).hang(3).tone(Tone::Warn));
        let mut add = |label: &str, commands: &[String]| {
            let labels = std::iter::once(label).chain(std::iter::repeat(""));
            let command = |(label, text): (&str, &String)| {
                Line::command(INDENT + 3, format!("{label:<7}{text}"))
            };
            lines.extend(labels.zip(commands).map(command));
        };
        if let Some(change) = &finding.change {
            add("try", &change.commands);
            add("undo", &change.undo);
        }
        let verify = format!("verify {}", finding.verify);
        lines.push(Line::new(INDENT + 3, verify).hang(7));
    }
    if lines.is_empty() {
        lines.push(Line::new(INDENT, "nothing looks wrong").tone(Tone::Good));
    }
    lines
}

fn host(output: &Output, host: &Host) -> Line {
    let linux = [host.kernel.as_deref(), host.arch.as_deref()];
    let linux: Vec<&str> = linux.into_iter().flatten().collect();
    let memory = value(output, None, "/proc/meminfo", "MemTotal");
    let memory = memory.and_then(|kib| kib.parse::<u64>().ok());
    let facts = [
        Some(format!("Linux {}", linux.join(" "))),
        memory.map(|kib| format!("{} of memory", Bytes(kib * 1024))),
        host.cpus.map(|cpus| match &host.cpu_model {
            Some(model) => format!("{cpus} × {model}"),
            None => format!("{cpus} CPUs"),
        }),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let name = host.hostname.as_deref().unwrap_or("this host");
    line(2, &format!("{name}: {}", facts.join(", ")))
}

/// Up to four lines of each; of many interfaces fewer lines, and at last only their names.
fn interfaces(output: &Output) -> Vec<Line> {
    let hosts = output.hosts.iter();
    let names: Vec<&str> = hosts
        .flat_map(|host| &host.interfaces)
        .map(|link| link.name.as_str())
        .collect();
    let each = match names.len() {
        0..=2 => 4,
        3..=4 => 3,
        5..=6 => 2,
        _ => 1,
    };
    let shown = names.iter().take(MOST_INTERFACES);
    let mut lines: Vec<Line> = shown
        .flat_map(|name| interface(output, name).into_iter().take(each))
        .collect();
    if let Some(rest) = names.get(MOST_INTERFACES..).filter(|rest| !rest.is_empty()) {
        let text = format!("and {} more: {}", rest.len(), rest.join(" "));
        lines.push(line(2, &text));
    }
    lines
}

/// What it is; its addresses; how it is set; what its PHY and its module report.
fn interface(output: &Output, name: &str) -> Vec<Line> {
    let get = |source: &str, key: &str| value(output, Some(name), source, key);
    let facts = [
        get("ip link", "state").map(str::to_owned),
        get("ethtool -i", "driver").map(str::to_owned),
        Some(speed(output, name)),
        get("ip link", "mtu").map(|mtu| format!("MTU {mtu}")),
        get("ip address", "link/ether").map(str::to_owned),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let ip = ["inet", "inet6"].map(|family| get("ip address", family));
    let ip: Vec<&str> = ip
        .into_iter()
        .flatten()
        .flat_map(|all| all.split(' '))
        .collect();
    let ip = match ip.is_empty() {
        true => "no address".to_owned(),
        false => ip.join(", "),
    };
    let indent = INDENT + 6;
    let mut lines = vec![
        line(2, &format!("{name:<5} {}", facts.join(", "))),
        line(indent, &ip),
    ];
    let settings = settings(output, name);
    if !settings.is_empty() {
        lines.push(line(indent, &settings.join(", ")));
    }
    let physical = physical(output, name);
    if !physical.is_empty() {
        lines.push(line(indent, &physical.join(", ")));
    }
    lines
}

/// The module with its light, the code that corrects errors, the quality of the signal.
fn physical(output: &Output, name: &str) -> Vec<String> {
    let get = |source: &str, key: &str| value(output, Some(name), source, key);
    let module = |key: &str| get("ethtool -m", key);
    let identity: Vec<&str> = ["Vendor name", "Vendor PN"]
        .into_iter()
        .filter_map(module)
        .collect();
    let light = |names: &[&str]| names.iter().find_map(|name| module(name));
    let quality = get("ethtool", "SQI").map(|index| index.replace('/', " of "));
    let code = get("ethtool --show-fec", "Active FEC encoding");
    let parts = [
        (!identity.is_empty()).then(|| format!("module {}", identity.join(" "))),
        unread_module(output, name),
        reflection(output, name),
        module("Module temperature").map(|text| text.replace("degrees ", "")),
        light(&RECEIVED).map(|power| format!("rx {power}")),
        light(&SENT).map(|power| format!("tx {power}")),
        code.map(|code| format!("FEC {code}")),
        quality.map(|index| format!("SQI {index}")),
    ];
    parts.into_iter().flatten().collect()
}

/// The largest one of all pairs, after a cable test that measured them.
fn reflection(output: &Output, name: &str) -> Option<String> {
    let of_pair = |pair: char| {
        let key = format!("Pair {pair}, largest reflection");
        let text = value(output, Some(name), "ethtool --cable-test-tdr", &key)?;
        let millivolts: i32 = text.split(' ').next()?.parse().ok()?;
        Some((
            millivolts.abs(),
            format!("largest reflection: pair {pair} {text}"),
        ))
    };
    let all = ('A'..='D').filter_map(of_pair);
    let largest = all.max_by_key(|(size, _)| *size);
    largest.map(|(_, text)| text)
}

/// Why the module is not shown. A port for twisted pairs has none.
fn unread_module(output: &Output, name: &str) -> Option<String> {
    let why = value(output, Some(name), "ethtool -m", "Module")?;
    let port = value(output, Some(name), "ethtool", "Port");
    (port != Some("Twisted Pair")).then(|| format!("module: {why}"))
}

/// The speed and the duplex mode of a link with a wire.
fn speed(output: &Output, name: &str) -> String {
    let mut links = output.hosts.iter().flat_map(|host| &host.interfaces);
    let link = links.find(|link| link.name == name);
    let rate = link.and_then(|link| link.link_bits_per_second);
    let duplex = value(output, Some(name), "ethtool", "Duplex");
    match (rate, duplex.map(str::to_lowercase)) {
        (Some(rate), Some(duplex)) if duplex == "full" || duplex == "half" => {
            format!("{} {duplex} duplex", with_unit(rate as f64, BIT_RATES))
        }
        (Some(rate), _) => with_unit(rate as f64, BIT_RATES),
        (None, _) => "speed unknown".to_owned(),
    }
}

/// Rings, queues, the queueing discipline, and offloads that are off.
fn settings(output: &Output, name: &str) -> Vec<String> {
    let get = |source: &str, key: &str| value(output, Some(name), source, key);
    let ring = |side: &str| {
        let of = |what: &str| get("ethtool -g", &format!("{side}.{what}"));
        let text = format!(
            "{} {} of {}",
            side.to_lowercase(),
            of("current")?,
            of("max")?
        );
        Some(text)
    };
    let rings: Vec<String> = ["RX", "TX"].into_iter().filter_map(ring).collect();
    let queues = get("ethtool -l", "Combined.current").map(|queues| match queues {
        "1" => "1 queue".to_owned(),
        more => format!("{more} queues"),
    });
    let is_off =
        |(_, key): &&(&str, &str)| get("ethtool -k", key).is_some_and(|set| set.starts_with("off"));
    let off: Vec<&str> = OFFLOADS
        .iter()
        .filter(is_off)
        .map(|(name, _)| *name)
        .collect();
    let parts = [
        (!rings.is_empty()).then(|| format!("rings {}", rings.join(" "))),
        queues,
        get("ip link", "qdisc").map(|qdisc| format!("qdisc {qdisc}")),
        (!off.is_empty()).then(|| format!("{} off", off.join(" "))),
    ];
    parts.into_iter().flatten().collect()
}

/// The limits of socket buffers.
fn limits(output: &Output) -> Vec<Line> {
    let of = |label: &str, keys: &[(&str, &str)]| {
        let known = keys.iter().filter_map(|(name, key)| {
            let value = value(output, None, "sysctl", key)?;
            Some(format!("{name}{value}"))
        });
        let known: Vec<String> = known.collect();
        (!known.is_empty()).then(|| line(2, &format!("{label:<8}{}", known.join("; "))))
    };
    [of("TCP", TCP), of("sockets", SOCKETS), programs(output)]
        .into_iter()
        .flatten()
        .collect()
}

/// Which programs change settings by themselves.
fn programs(output: &Output) -> Option<Line> {
    let of_host = output.settings.iter().filter(|one| one.source == PROGRAMS);
    let names: Vec<&str> = of_host
        .flat_map(|one| one.values.keys())
        .map(String::as_str)
        .collect();
    let text = format!("change settings by themselves: {}", names.join(", "));
    (!names.is_empty()).then(|| line(2, &text))
}

/// The value of a setting.
fn value<'o>(
    output: &'o Output,
    interface: Option<&str>,
    source: &str,
    key: &str,
) -> Option<&'o str> {
    let mut of = output
        .settings
        .iter()
        .filter(|setting| setting.source == source && setting.interface.as_deref() == interface);
    of.find_map(|setting| setting.values.get(key))
        .map(String::as_str)
}

/// A line of at most 80 columns, also in ASCII.
fn line(indent: usize, text: &str) -> Line {
    let room = COLUMNS - indent;
    if text.chars().count() <= room {
        return Line::new(indent, text);
    }
    let start: String = text.chars().take(room - 4).collect();
    Line::new(indent, start + " …")
}

/// Of a module with several lanes, the first one.
const RECEIVED: [&str; 2] = [
    "Receiver signal average optical power",
    "Rcvr signal avg optical power (Channel 1)",
];
const SENT: [&str; 2] = [
    "Laser output power",
    "Transmit avg optical power (Channel 1)",
];
const PROGRAMS: &str = "ps -eo comm";
const COLUMNS: usize = 80;
const MORE: &str = "each setting and the evidence: linerate inspect -v";
const INDENT: usize = 2;
const MOST_INTERFACES: usize = 12;
const OFFLOADS: &[(&str, &str)] = &[
    ("TSO", "tcp-segmentation-offload"),
    ("GSO", "generic-segmentation-offload"),
    ("GRO", "generic-receive-offload"),
    ("RX checksums", "rx-checksumming"),
    ("TX checksums", "tx-checksumming"),
];
const TCP: &[(&str, &str)] = &[
    ("", "net.ipv4.tcp_congestion_control"),
    ("tcp_rmem ", "net.ipv4.tcp_rmem"),
    ("tcp_wmem ", "net.ipv4.tcp_wmem"),
];
const SOCKETS: &[(&str, &str)] = &[
    ("rmem_max ", "net.core.rmem_max"),
    ("wmem_max ", "net.core.wmem_max"),
    ("netdev_max_backlog ", "net.core.netdev_max_backlog"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Change, Finding, Interface, Role};
    use linerate_model::setting::Setting;

    fn setting(source: &str, interface: Option<&str>, values: &[(&str, &str)]) -> Setting {
        let values = values.iter();
        Setting {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            values: values
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..Setting::default()
        }
    }

    /// A host with this many interfaces, each with more addresses than a line holds.
    fn host_of(interfaces: usize) -> Output {
        let names: Vec<String> = (0..interfaces).map(|at| format!("eth{at}")).collect();
        let link = |name: &String| Interface {
            name: name.clone(),
            link_bits_per_second: Some(1_000_000_000),
            ..Interface::default()
        };
        let mut output = Output::new("inspect", "0.1.0");
        output.explained = true;
        output.hosts = vec![Host {
            role: Role::Local,
            hostname: Some("board".to_owned()),
            kernel: Some("6.12.0".to_owned()),
            arch: Some("aarch64".to_owned()),
            cpus: Some(4),
            interfaces: names.iter().map(link).collect(),
            ..Host::default()
        }];
        let host = [
            setting("/proc/meminfo", None, &[("MemTotal", "1048576")]),
            setting("/proc/cmdline", None, &[("cmdline", "quiet root=/dev/nfs")]),
            setting("sysctl", None, &[("net.core.rmem_max", "212992")]),
            setting(
                PROGRAMS,
                None,
                &[("irqbalance", "interrupt affinity"), ("tuned", "sysctls")],
            ),
        ];
        output.settings.extend(host);
        for name in &names {
            let addresses = "2001:db8::1/64 ".repeat(9);
            let of = |source, values: &[(&str, &str)]| setting(source, Some(name), values);
            output.settings.extend([
                of(
                    "ip link",
                    &[("state", "UP"), ("mtu", "1500"), ("qdisc", "mq")],
                ),
                of("ethtool", &[("Duplex", "Full")]),
                of("ethtool -i", &[("driver", "fec")]),
                of("ethtool -k", &[("generic-receive-offload", "off [fixed]")]),
                of(
                    "ip address",
                    &[
                        ("link/ether", "02:00:5e:10:00:01"),
                        ("inet", "192.0.2.7/24"),
                        ("inet6", addresses.trim_end()),
                    ],
                ),
            ]);
        }
        output
    }

    fn text(output: &Output) -> String {
        let style = crate::term::Style {
            detail: crate::Detail::Answer,
            ..Default::default()
        };
        crate::term::render(output, &style).to_string()
    }

    #[test]
    fn an_interface_has_its_driver_speed_mac_and_addresses() {
        let text = text(&host_of(1));
        for line in [
            "  board: Linux 6.12.0 aarch64, 1.000 GiB of memory, 4 CPUs",
            "  eth0  UP, fec, 1.000 Gbit/s full duplex, MTU 1500, 02:00:5e:10:00:01",
            "        192.0.2.7/24, 2001:db8::1/64, ",
            "        qdisc mq, GRO off",
            "  sockets rmem_max 212992",
            "  change settings by themselves: irqbalance, tuned",
            "  nothing looks wrong",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!text.contains("/dev/nfs"), "{text}");
    }

    #[test]
    fn a_module_and_a_phy_have_a_line() {
        let mut output = host_of(1);
        let of = |source, values: &[(&str, &str)]| setting(source, Some("eth0"), values);
        output.settings.extend([
            of(
                "ethtool -m",
                &[
                    ("Vendor name", "EXAMPLE"),
                    ("Vendor PN", "SR-10G"),
                    ("Module temperature", "38.50 degrees C"),
                    ("Receiver signal average optical power", "-22.01 dBm"),
                    ("Laser output power", "-2.45 dBm"),
                ],
            ),
            of("ethtool --show-fec", &[("Active FEC encoding", "RS")]),
        ]);
        let text = text(&output);
        let line = "        module EXAMPLE SR-10G, 38.50 C, rx -22.01 dBm, tx -2.45 dBm, FEC RS\n";
        assert!(text.contains(line), "{text}");
        let mut output = host_of(1);
        output.settings.push(of("ethtool", &[("SQI", "3/7")]));
        assert!(self::text(&output).contains("        SQI 3 of 7\n"));
        output.settings.push(of(
            "ethtool --cable-test-tdr",
            &[
                ("Pair A, largest reflection", "20 mV at 3.00m"),
                ("Pair B, largest reflection", "-480 mV at 12.80m"),
            ],
        ));
        let line = "        largest reflection: pair B -480 mV at 12.80m, SQI 3 of 7\n";
        assert!(self::text(&output).contains(line));
    }

    #[test]
    fn a_module_that_cannot_be_read_has_its_reason() {
        let why = "not readable (needs CAP_NET_ADMIN)";
        let with = |port| {
            let mut output = host_of(1);
            output.settings.extend([
                setting("ethtool -m", Some("eth0"), &[("Module", why)]),
                setting("ethtool", Some("eth0"), &[("Port", port)]),
            ]);
            text(&output)
        };
        let line = format!("        module: {why}\n");
        assert!(with("FIBRE").contains(&line), "{}", with("FIBRE"));
        assert!(!with("Twisted Pair").contains("module"));
    }

    #[test]
    fn any_host_fits_a_screen_and_says_nothing_twice() {
        for interfaces in [0, 1, 4, 5, 7, 40] {
            let text = text(&host_of(interfaces));
            let lines: Vec<&str> = text.lines().collect();
            assert!(
                lines.len() <= 24,
                "{interfaces}: {} lines: {text}",
                lines.len()
            );
            assert!(lines.iter().all(|line| line.len() <= 80), "{text}");
            let last = format!("eth{}", interfaces.max(1) - 1);
            assert!(
                interfaces == 0 || interfaces == 40 || text.contains(&last),
                "{text}"
            );
        }
    }

    #[test]
    fn what_looks_wrong_follows() {
        let mut output = host_of(1);
        output.findings.push(Finding {
            title: "datagrams were dropped".to_owned(),
            change: Some(Change {
                commands: vec!["sysctl -w net.core.rmem_max=26214400".to_owned()],
                undo: vec!["sysctl -w net.core.rmem_max=212992".to_owned()],
                ..Change::default()
            }),
            verify: "UdpRcvbufErrors does not increase".to_owned(),
            ..Finding::default()
        });
        let text = text(&output);
        let said = "what looks wrong, by counters since boot\n\
                    \x20 1. datagrams were dropped\n\
                    \x20    try    sysctl -w net.core.rmem_max=26214400\n\
                    \x20    undo   sysctl -w net.core.rmem_max=212992\n\
                    \x20    verify UdpRcvbufErrors does not increase\n";
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("nothing looks wrong"), "{text}");
    }
}
