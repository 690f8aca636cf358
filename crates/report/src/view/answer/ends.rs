// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was run, when, and one line an end: address, interface, link, kernel.

use linerate_model::output::{Host, Interface, LinkKind, Output, Role, Test, Withheld};
use linerate_model::units::format::{BIT_RATES, with_unit};

use crate::view::{Block, Line, is_measured, title};

pub(in crate::view) fn block(output: &Output) -> Block {
    let mut lines = hosts(output);
    lines.extend(one_machine(output));
    lines.extend(title::partial(output));
    Block::Lines {
        heading: heading(output),
        lines,
    }
}

fn heading(output: &Output) -> String {
    let time = match output.clock_trusted {
        true => output.started.chars().take(MINUTES).collect::<String>() + "Z",
        false => "clock not set".to_owned(),
    };
    let took = format!("{:.1} s", output.duration_s);
    let parts = [
        families(&output.tests),
        (output.duration_s > 0.0).then_some(took),
        (!output.started.is_empty()).then_some(time),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    // What can be copied is set off.
    format!("{}   {}", command(output), parts.join(", "))
        .trim_end()
        .to_owned()
}

/// As it was typed, without the directory of the program.
fn command(output: &Output) -> String {
    let mut words = output.command.iter();
    let Some(program) = words.next() else {
        return format!("linerate {}", output.kind);
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let words: Vec<&str> = std::iter::once(name)
        .chain(words.map(String::as_str))
        .collect();
    words.join(" ")
}

fn families(tests: &[Test]) -> Option<String> {
    let has = |af: u8| tests.iter().any(|test| test.af == af);
    match (has(4), has(6)) {
        (true, true) => Some("IPv4 and IPv6".to_owned()),
        (true, false) => Some("IPv4".to_owned()),
        (false, true) => Some("IPv6".to_owned()),
        (false, false) => None,
    }
}

/// A line a host, its words under those of the other.
fn hosts(output: &Output) -> Vec<Line> {
    let mut rows: Vec<Vec<String>> = output
        .hosts
        .iter()
        .flat_map(|host| rows(output, host))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    // A host without an interface has only the first two in common.
    let is_in = |row: &[String], at: usize| row.len() == columns || at < 2;
    for at in 0..columns {
        let cells = || {
            rows.iter()
                .filter(|row| is_in(row, at))
                .filter_map(|row| row.get(at))
        };
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        for cell in rows
            .iter_mut()
            .filter(|row| is_in(row, at))
            .filter_map(|row| row.get_mut(at))
        {
            *cell = format!("{cell:<width$}");
        }
    }
    let line = |row: &Vec<String>| {
        let cells: Vec<&str> = row
            .iter()
            .map(String::as_str)
            .filter(|cell| !cell.is_empty())
            .collect();
        Line::new(2, cells.join("  ").trim_end()).hang(7)
    };
    // A server without a token is usual.
    let withheld = output.hosts.iter().filter_map(|host| host.withheld);
    let withheld = withheld.filter(|why| *why != Withheld::HasNoToken);
    let withheld = withheld.map(|withheld| Line::new(9, withheld.text()));
    rows.iter().map(line).chain(withheld).collect()
}

fn rows(output: &Output, host: &Host) -> Vec<Vec<String>> {
    let address = address(output, host.role).or_else(|| host.hostname.clone());
    let kernel = host.kernel.as_ref().map(|kernel| format!("Linux {kernel}"));
    let program = match (host.role, host.agent) {
        (Role::Remote, true) => Some("linerate"),
        (Role::Remote, false) if is_measured(output) => Some("stock peer: no counters"),
        _ => None,
    };
    let system: Vec<String> = kernel
        .into_iter()
        .chain(program.map(str::to_owned))
        .collect();
    let row = |number: usize, link: Option<&Interface>| {
        let first = number == 0;
        let mut row = vec![
            if first { whose(host.role) } else { "" }.to_owned(),
            address.clone().filter(|_| first).unwrap_or_default(),
        ];
        row.extend(link.into_iter().flat_map(interface));
        row.push(if first {
            system.join(", ")
        } else {
            String::new()
        });
        row
    };
    match host.interfaces.as_slice() {
        [] => vec![row(0, None)],
        links => links
            .iter()
            .enumerate()
            .map(|(number, link)| row(number, Some(link)))
            .collect(),
    }
}

/// Name, driver, speed, MTU.
fn interface(link: &Interface) -> [String; 4] {
    let rate = link
        .link_bits_per_second
        .map(|rate| with_unit(rate as f64, BIT_RATES));
    [
        link.name.clone(),
        link.driver.clone().unwrap_or_default(),
        rate.unwrap_or_default(),
        link.mtu
            .map_or_else(String::new, |mtu| format!("MTU {mtu}")),
    ]
}

fn address(output: &Output, role: Role) -> Option<String> {
    let of = |test: &Test| match role {
        Role::Local => test.local_address.clone(),
        Role::Remote => test.remote_address.clone(),
        Role::Device => None,
    };
    output.tests.iter().find_map(of)
}

/// An end in one word.
pub(super) fn whose(role: Role) -> &'static str {
    match role {
        Role::Local => "here",
        Role::Remote => "there",
        Role::Device => "device",
    }
}

fn one_machine(output: &Output) -> Option<Line> {
    let links = || output.hosts.iter().flat_map(|host| &host.interfaces);
    let kind = links()
        .filter_map(|link| link.link_kind)
        .find(|kind| *kind != LinkKind::Wire);
    let text = match (output.one_machine(), kind) {
        (true, _) => "both ends are one machine: its speed, not that of a wire".to_owned(),
        (false, Some(kind)) if output.forward.is_none() => kind.label().to_owned(),
        (false, _) => return None,
    };
    Some(Line::new(2, text))
}

/// `2026-11-21T07:05` of an RFC 3339 time.
const MINUTES: usize = 16;
