// SPDX-License-Identifier: MIT OR Apache-2.0
//! What forwarded between two interfaces, what passed, and whether all is as before.

use linerate_model::output::{Dataplane, DataplanePort, DataplaneVerdict, Output};

use super::{Block, Column, Line, Table, Tone, changes};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let Some(plane) = &output.dataplane else {
        return Vec::new();
    };
    let verdicts = verdicts(&plane.verdicts);
    let blocks = [
        Block::lines("", head(plane)),
        Some(ports(&plane.ports)),
        verdicts,
        Block::lines("", ended(output)),
    ];
    blocks.into_iter().flatten().collect()
}

fn head(plane: &Dataplane) -> Vec<Line> {
    // Why it is generic, and the notes, were printed when it began.
    let names: Vec<&str> = plane.ports.iter().map(|port| &*port.interface).collect();
    let words = [
        Some(plane.plane.as_str()),
        plane.mode.as_deref(),
        plane.bridge.as_deref(),
        plane.attached.as_deref(),
    ];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    let (names, words) = (names.join(" and "), words.join(" "));
    let head = format!(
        "{words}: forwarded between {names} for {:.1} s",
        plane.held_s
    );
    vec![Line::new(0, head)]
}

fn ports(ports: &[DataplanePort]) -> Block {
    let count = |name: &str, of: fn(&DataplanePort) -> Option<u64>| {
        Column::counts(name, "packets", ports.iter().map(of))
    };
    Block::Table(Table {
        heading: "by the counters of the interfaces".to_owned(),
        keys: 1,
        columns: vec![
            Column::words("interface", ports.iter().map(|port| port.interface.clone())),
            count("received", |port| port.rx_packets),
            count("sent", |port| port.tx_packets),
            count("rx dropped", |port| port.rx_dropped),
            count("tx dropped", |port| port.tx_dropped),
        ],
        ..Table::default()
    })
}

/// Those that occurred.
fn verdicts(all: &[DataplaneVerdict]) -> Option<Block> {
    let seen: Vec<&DataplaneVerdict> = all.iter().filter(|one| one.frames > 0).collect();
    let goes = |one: &&DataplaneVerdict| {
        if one.to_kernel {
            "the kernel"
        } else {
            "the other port"
        }
    };
    (!seen.is_empty()).then(|| {
        Block::Table(Table {
            heading: "by the XDP programs".to_owned(),
            keys: 1,
            columns: vec![
                Column::words("verdict", seen.iter().map(|one| one.verdict.clone())),
                Column::words("to", seen.iter().map(|one| goes(one).to_owned())),
                Column::counts("frames", "", seen.iter().map(|one| Some(one.frames))),
            ],
            ..Table::default()
        })
    })
}

fn ended(output: &Output) -> Vec<Line> {
    let all = output.changes.len();
    let left = output.changes.iter().filter(|one| !one.state.is_closed());
    let left: Vec<Line> = left.flat_map(changes::lines).collect();
    let head = match (all, left.is_empty()) {
        (0, _) => "no setting was changed".to_owned(),
        (_, true) => format!("restored: every setting that was changed ({all})"),
        (_, false) => "not everything is restored:".to_owned(),
    };
    let tone = if left.is_empty() {
        Tone::Good
    } else {
        Tone::Bad
    };
    let next = output.next_commands.iter();
    let next = next.map(|command| Line::command(0, format!("next: {command}")));
    let head = std::iter::once(Line::new(0, head).tone(tone));
    head.chain(left).chain(next).collect()
}
