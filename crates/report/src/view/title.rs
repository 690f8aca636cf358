// SPDX-License-Identifier: MIT OR Apache-2.0
//! The context of a result: version, hosts, kernels, links, buffers, modes.

use linerate_model::output::{
    Host, Interface, IoMode, Output, Protocol, ReceiveBuffer, Role, Test,
};
use linerate_model::units::Bytes;
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::{Block, Line, Tone, is_measured, role};

pub(super) fn block(output: &Output) -> Block {
    let mut lines = Vec::new();
    if !output.command.is_empty() {
        lines.push(Line::new(
            2,
            format!("command: {}", output.command.join(" ")),
        ));
    }
    lines.extend(hosts(output));
    lines.extend(one_machine(output));
    lines.extend(modes(output).into_iter().map(|mode| Line::new(2, mode)));
    lines.extend(partial(output));
    Block::Lines {
        heading: heading(output),
        lines,
    }
}

pub(super) fn heading(output: &Output) -> String {
    let clock = if output.clock_trusted {
        output.started.clone()
    } else {
        format!("{} (clock not set)", output.started)
    };
    let parts = [
        format!("linerate {} {}", output.tool.version, output.kind),
        clock,
        match output.duration_s {
            0.0 => String::new(),
            took => format!("took {took:.1} s"),
        },
    ];
    let known: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(", ")
}

pub(super) fn partial(output: &Output) -> Option<Line> {
    let why = output
        .error
        .as_ref()
        .map(|error| format!(": {}", error.what));
    let text = match output.exit_code {
        INTERRUPTED => "PARTIAL: interrupted before its end".to_owned(),
        _ => format!("PARTIAL: not all was measured{}", why.unwrap_or_default()),
    };
    output.partial.then(|| Line::new(2, text).tone(Tone::Warn))
}

/// Each host once: pasted text may show one in several states, or only its name.
fn hosts(output: &Output) -> Vec<Line> {
    let measured = is_measured(output);
    let mut shown: Vec<Vec<Line>> = Vec::new();
    for host in &output.hosts {
        let lines = self::host(host, measured);
        let says_nothing = !measured && lines.len() == 1 && lines[0].text.ends_with(": ");
        if !says_nothing && !shown.contains(&lines) {
            shown.push(lines);
        }
    }
    shown.concat()
}

fn host(host: &Host, measured: bool) -> Vec<Line> {
    let kernel = match (&host.kernel, &host.arch) {
        (Some(kernel), Some(arch)) => Some(format!("Linux {kernel} {arch}")),
        (Some(kernel), None) => Some(format!("Linux {kernel}")),
        (None, _) => None,
    };
    let processors = match (host.cpus, &host.cpu_model) {
        (Some(cpus), Some(model)) => Some(format!("{cpus} × {model}")),
        (Some(cpus), None) => Some(format!("{cpus} CPUs")),
        (None, model) => model.clone(),
    };
    let program = match (host.role, host.agent) {
        (Role::Remote, true) => Some("linerate".to_owned()),
        (Role::Remote, false) if measured => {
            Some("stock peer: its counters cannot be read".to_owned())
        }
        _ => None,
    };
    let facts = [host.hostname.clone(), kernel, processors, program];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    let mut lines = vec![Line::new(
        2,
        format!("{}: {}", role(host.role), facts.join(", ")),
    )];
    lines.extend(host.withheld.map(|withheld| Line::new(4, withheld.text())));
    lines.extend(
        host.interfaces
            .iter()
            .map(|link| Line::new(4, interface(link))),
    );
    lines
}

fn interface(link: &Interface) -> String {
    let facts = [
        link.link_kind.map(|kind| kind.label().to_owned()),
        link.link_bits_per_second
            .map(|rate| with_unit(rate as f64, BIT_RATES)),
        link.driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
        link.mtu.map(|mtu| format!("MTU {mtu}")),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    if facts.is_empty() {
        return link.name.clone();
    }
    format!("{}: {}", link.name, facts.join(", "))
}

fn one_machine(output: &Output) -> Option<Line> {
    let text = "both ends are one machine and share its processors";
    output.one_machine().then(|| Line::new(2, text))
}

/// Each distinct mode, in order of appearance; tests that differ only in their burst share a line.
fn modes(output: &Output) -> Vec<String> {
    let mut modes: Vec<(String, Vec<u32>)> = Vec::new();
    for test in &output.tests {
        let words = mode(test);
        match modes.iter_mut().find(|(known, _)| *known == words) {
            Some((_, bursts)) => bursts.extend(test.mode.burst),
            None => modes.push((words, test.mode.burst.into_iter().collect())),
        }
    }
    modes
        .into_iter()
        .map(|(words, bursts)| words + &burst_range(&bursts))
        .collect()
}

fn burst_range(bursts: &[u32]) -> String {
    match (bursts.iter().min(), bursts.iter().max()) {
        (Some(least), Some(most)) if least == most => format!(", burst {least}"),
        (Some(least), Some(most)) => format!(", burst {least} to {most}"),
        _ => String::new(),
    }
}

/// How a test moved its bytes, as far as it is known.
fn mode(test: &Test) -> String {
    let protocol = match test.protocol {
        Protocol::Tcp => "TCP",
        Protocol::Udp => "UDP",
    };
    let sizes = match test.protocol {
        Protocol::Tcp => format!("writes of {} bytes", test.payload_bytes),
        Protocol::Udp => format!("payload {} bytes", test.payload_bytes),
    };
    let known = |mode: Option<IoMode>| mode.map_or("n/a", IoMode::name);
    let (tx, rx) = (test.mode.tx, test.mode.rx);
    let facts = [
        Some(format!("{protocol} over IPv{}", test.af)),
        (test.payload_bytes > 0).then_some(sizes),
        tx.or(rx)
            .map(|_| format!("mode {} to {}", known(tx), known(rx))),
        test.receive_buffer_bytes.map(buffer),
        test.congestion.clone(),
        test.mss_bytes.map(|mss| format!("MSS {mss}")),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    facts.join(", ")
}

fn buffer(buffer: ReceiveBuffer) -> String {
    let size = |bytes: Option<u64>| {
        bytes.map_or_else(|| "n/a".to_owned(), |bytes| Bytes(bytes).to_string())
    };
    match (buffer.asked, buffer.granted) {
        (None, granted) => format!("receive buffer {}", size(granted)),
        (asked, granted) => format!(
            "receive buffer {} granted of {} requested",
            size(granted),
            size(asked)
        ),
    }
}

/// The exit code of a run that the user ended.
const INTERRUPTED: u8 = 130;
