// SPDX-License-Identifier: MIT OR Apache-2.0
//! A DUT between two ports: the table of highest rates by frame size, and how it was measured.

use linerate_model::output::{Forward, ForwardResult, LinkKind, Output, Quantiles, Role, Trial};
use linerate_model::units::format::{
    BIT_RATES, MICROSECOND, PACKET_RATES, Step, common_step, exact_percent, with_unit,
};

use super::{Block, Column, Line, Table, Tone};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    how(output).into_iter().chain(rates(output)).collect()
}

/// The rates by frame size, a table for each goal, and what their marks mean.
pub(super) fn rates(output: &Output) -> Vec<Block> {
    let Some(forward) = &output.forward else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    let mut goals: Vec<&str> = Vec::new();
    for result in &output.results {
        if !goals.contains(&result.goal.as_str()) {
            goals.push(&result.goal);
        }
    }
    blocks.extend(goals.into_iter().map(|goal| table(output, forward, goal)));
    blocks.extend(marks(output));
    blocks.extend(interrupted(&output.trials));
    blocks
}

/// The tables, what they do not show, and that a virtual link is no wire.
pub(super) fn answer(output: &Output) -> Vec<Block> {
    let mut blocks = blocks(output);
    if let Some(Block::Lines { heading, lines }) = blocks.first_mut() {
        heading.clear();
        *lines = not_a_wire(output).into_iter().collect();
    }
    blocks.retain(|block| !matches!(block, Block::Lines { lines, .. } if lines.is_empty()));
    blocks
}

/// How many trials do not count because the tester's machine interrupted the load.
fn interrupted(trials: &[Trial]) -> Option<Block> {
    let stalled = || trials.iter().filter(|trial| trial.is_interrupted());
    let most = stalled()
        .map(|trial| trial.stalled_ratio)
        .fold(0.0, f64::max);
    let text = format!(
        "not counted: {} of {} trials, in which the tester could not run for up to {:.1} % of the time: stop other load on this machine",
        stalled().count(),
        trials.len(),
        most * 100.0
    );
    (most > 0.0).then(|| Block::lines("", vec![Line::new(2, text).tone(Tone::Warn)]))?
}

/// The answer in a line.
pub(crate) fn headline(output: &Output) -> Option<Line> {
    let rows = &output.results;
    let first = rows.first()?;
    let many = |is: fn(&ForwardResult) -> bool| rows.iter().filter(|row| is(row)).count();
    let rate = first.throughput_fps.map(|fps| with_unit(fps, PACKET_RATES));
    let of = rows.len();
    let (text, tone) = match (
        many(ForwardResult::is_unfinished),
        many(|row| row.tester_limited),
        rate,
    ) {
        (unfinished @ 1.., ..) => {
            let text = format!("not finished: {unfinished} of {of} searches did not end");
            (text, Tone::Warn)
        }
        (0, tester @ 1.., _) => {
            let text = format!(
                "the tester was the limit of {tester} of {of} rates: the device may forward more"
            );
            (text, Tone::Warn)
        }
        (0, 0, Some(rate)) => {
            let (size, direction) = (first.frame_bytes, &first.direction);
            (format!("{rate} of {size} bytes, {direction}"), Tone::Plain)
        }
        (0, 0, None) => (
            format!("no rate of {} bytes met the goal", first.frame_bytes),
            Tone::Warn,
        ),
    };
    Some(Line::new(0, text).tone(tone))
}

pub(super) fn how(output: &Output) -> Option<Block> {
    let forward = output.forward.as_ref()?;
    let tag = forward
        .vlan
        .map_or(String::new(), |id| format!(", VLAN {id}"));
    let flows = match forward.flows {
        1 => "one flow".to_owned(),
        flows => format!("{flows} flows"),
    };
    let mut lines = vec![Line::new(
        2,
        format!(
            "{} path; IPv{}{tag}, {flows}; profile {}; {} trials",
            forward.path,
            forward.af,
            forward.profile,
            output.trials.len()
        ),
    )];
    for port in &forward.ports {
        let (name, send, receive) = (&port.interface, &port.send_backend, &port.receive_backend);
        lines.push(Line::new(
            2,
            format!("{name} sends with {send}, receives with {receive}"),
        ));
    }
    let setup = forward.device.iter().flat_map(|device| &device.setup);
    lines.extend(setup.map(|text| Line::new(2, format!("the device: {text}"))));
    lines.extend(mixes(output));
    lines.extend(not_a_wire(output));
    lines.extend(ceiling(forward));
    let deviations = forward.deviations.iter();
    lines.extend(deviations.map(|text| Line::new(2, format!("deviates: {text}"))));
    Block::lines("Forwarding", lines)
}

/// The mix that a mean size stands for.
fn mixes(output: &Output) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for trial in &output.trials {
        let Some(genome) = &trial.genome else {
            continue;
        };
        let line = Line::new(
            2,
            format!("{} bytes is the mean of {genome}", trial.frame_bytes),
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn not_a_wire(output: &Output) -> Option<Line> {
    let mut links = output.hosts.iter().flat_map(|host| &host.interfaces);
    let virtual_ = links.any(|link| link.link_kind.is_some_and(|kind| kind != LinkKind::Wire));
    let text = "not a wire: virtual links have no line rate, and tester and device share this machine's processors";
    virtual_.then(|| Line::new(2, text).tone(Tone::Warn))
}

fn sends_to_a_tap(output: &Output) -> bool {
    let here = output.hosts.iter().filter(|host| host.role == Role::Local);
    let mut links = here.flat_map(|host| &host.interfaces);
    links.any(|link| link.link_kind == Some(LinkKind::Tap))
}

fn ceiling(forward: &Forward) -> Option<Line> {
    let first = forward.ceilings.first()?;
    let over = match first.over.as_str() {
        "loop" => "over its own cable",
        _ => "through the device",
    };
    Some(Line::new(
        2,
        format!(
            "the tester sends up to {} of {} bytes {over}",
            with_unit(first.send_fps, PACKET_RATES),
            first.frame_bytes
        ),
    ))
}

fn table(output: &Output, forward: &Forward, goal: &str) -> Block {
    let rows: Vec<_> = output
        .results
        .iter()
        .filter(|row| row.goal == goal)
        .collect();
    let values =
        |of: fn(&ForwardResult) -> Option<f64>| rows.iter().map(|row| of(row)).collect::<Vec<_>>();
    let rates = common_step(&values(|row| row.throughput_fps), PACKET_RATES);
    let bits = common_step(&values(|row| row.l1_bits_per_second), BIT_RATES);
    let number = |name: &str, of: fn(&ForwardResult) -> Option<f64>, step: Step| {
        Column::numbers(name, values(of), step)
    };
    let latency = |name: &str, part: fn(Quantiles) -> i64| {
        let value = |row: &&ForwardResult| row.latency_ns.map(|ns| part(ns) as f64);
        Column::numbers(name, rows.iter().map(value), MICROSECOND)
    };
    let mut columns = vec![
        Column::counts(
            "size",
            "bytes",
            rows.iter().map(|row| Some(row.frame_bytes.into())),
        ),
        Column::words("dir", rows.iter().map(|row| row.direction.clone())),
        number("throughput", |row| row.throughput_fps, rates),
        number("L1", |row| row.l1_bits_per_second, bits),
        number("L2", |row| row.l2_bits_per_second, bits),
        number("of line", |row| row.line_rate_ratio, PERCENT),
        number("lower", |row| row.lower_fps, rates),
        number("upper", |row| row.upper_fps, rates),
        latency("latency", |ns| ns.p50),
        latency("p99.9", |ns| ns.p999),
        Column {
            needed: true,
            ..Column::words("limit", rows.iter().map(|row| limit(row).to_owned()))
        },
    ];
    columns.retain(|column| column.name != "of line" || column.is_known());
    Block::Table(Table {
        heading: heading(forward, goal),
        keys: 2,
        tones: rows.iter().map(|row| tone(row)).collect(),
        columns,
    })
}

fn heading(forward: &Forward, goal: &str) -> String {
    let known = forward.goals.iter().find(|known| known.name == goal);
    let what = match known.map_or(0.0, |known| known.loss_ratio) {
        0.0 => "Highest rate without loss".to_owned(),
        loss => format!("Highest rate with at most {} % loss", exact_percent(loss)),
    };
    let forgiven = known.filter(|known| known.exceed_ratio > 0.0);
    let forgiven = forgiven.map_or_else(String::new, |known| {
        let percent = exact_percent(known.exceed_ratio);
        format!("; up to {percent} % of a load's trials may fail")
    });
    format!(
        "{what} ({goal}{forgiven}): each direction's rate; sizes and L2 with FCS; latency at that rate"
    )
}

/// What ended the search.
fn limit(row: &ForwardResult) -> &'static str {
    match (row.tester_limited, row.irregular.is_some()) {
        _ if row.is_unfinished() => "not finished",
        (true, _) => "tester",
        (false, _) if row.held_up => "held up",
        (false, true) => "see below",
        (false, false) => "loss",
    }
}

fn tone(row: &ForwardResult) -> Tone {
    if row.tester_limited || row.irregular.is_some() {
        Tone::Warn
    } else {
        Tone::Plain
    }
}

/// The marks in words.
fn marks(output: &Output) -> Option<Block> {
    let results = &output.results;
    let mut lines: Vec<Line> = Vec::new();
    if results.iter().any(|row| row.tester_limited) {
        let text = "limit tester: the tester reached its maximum, and the device may forward more: use a faster machine, another --backend, or larger frames";
        lines.push(Line::new(2, text).tone(Tone::Warn));
    }
    if results.iter().any(|row| row.held_up && !row.tester_limited) {
        let text = if sends_to_a_tap(output) {
            "limit held up: the program at the other end of the tap, such as an emulator, took no more frames"
        } else {
            "limit held up: nothing was lost; the device forwards on the sender's CPU, which sets the rate"
        };
        lines.push(Line::new(2, text));
    }
    for row in results.iter().filter(|row| !row.tester_limited) {
        let text = row
            .irregular
            .as_ref()
            .map(|why| format!("{} bytes, {}: {why}", row.frame_bytes, row.direction));
        lines.extend(
            text.filter(|text| lines.iter().all(|line| line.text != *text))
                .map(|text| Line::new(2, text)),
        );
    }
    Block::lines("", lines)
}

const PERCENT: Step = (0.01, "%");
