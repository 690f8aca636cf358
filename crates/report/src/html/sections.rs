// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run on the page: the answer, what to fix, the pictures; everything else is folded.

use linerate_model::output::{Output, Role};
use linerate_model::series::Series;
use linerate_model::setting::Setting;

use super::writer::Html;
use super::{blocks, heat, path, plot, strip};
use crate::subject::Subject;
use crate::view::comparison::tone;
use crate::view::{Block, Line, Parts, Tone, charts, effect_plot, forward, path as way};

/// Of the page and of the run.
pub(super) fn title(subject: &Subject) -> String {
    let output = &subject.output;
    let peer = host(output, Role::Remote).or_else(|| host(output, Role::Local));
    match peer {
        Some(peer) => format!("linerate {}: {peer}", output.kind),
        None => format!("linerate {}", output.kind),
    }
}

fn host(output: &Output, role: Role) -> Option<&str> {
    let host = output.hosts.iter().find(|host| host.role == role)?;
    host.hostname.as_deref()
}

/// Everything of a run; `labelled` where there are several.
pub(super) fn push(html: &mut Html, number: usize, subject: &Subject, labelled: bool) {
    let parts = Parts::of(&subject.output);
    html.element("header", &[], |html| {
        html.words("h1", &[], &title(subject));
        if labelled {
            html.words("p", &[("id", &format!("run-{number}"))], &subject.label);
        }
        for block in &parts.ends {
            ends(html, block);
        }
    });
    let page = Page {
        number,
        subject,
        labelled,
    };
    let headlines = headlines(&subject.output, &parts);
    page.answer(html, &parts, &headlines);
    let fix = parts.fix.iter().filter(|block| !is_said(block, &headlines));
    let fix: Vec<Line> = fix.flat_map(lines).cloned().collect();
    page.fix(html, &fix);
    page.pictures(html);
    page.details(html, &parts);
}

/// What and when, and a line an end.
fn ends(html: &mut Html, block: &Block) {
    if let Block::Lines { heading, lines } = block {
        html.words("p", &[], heading);
        for line in lines {
            let class = format!("ends {}", blocks::tone(line.tone));
            html.words("p", &[("class", class.trim_end())], &line.text);
        }
    }
}

struct Page<'s> {
    number: usize,
    subject: &'s Subject,
    labelled: bool,
}

impl Page<'_> {
    fn id(&self, name: &str) -> String {
        format!("{name}-{}", self.number)
    }

    fn framed(&self, html: &mut Html, name: &str, title: &str, inner: impl FnOnce(&mut Html)) {
        let id = self.id(name);
        // Each of several runs has an answer, labelled by its run.
        let whose = match self.labelled {
            true => format!(" run-{}", self.number),
            false => String::new(),
        };
        let labels = format!("{id}{whose}");
        html.element(
            "section",
            &[("aria-labelledby", &labels), ("class", name)],
            |html| {
                html.words("h2", &[("id", &id)], title);
                inner(html);
            },
        );
    }

    fn answer(&self, html: &mut Html, parts: &Parts, headlines: &[Line]) {
        self.framed(html, "answer", "The answer", |html| {
            for line in headlines {
                let class = format!("headline {}", blocks::tone(line.tone));
                html.words("p", &[("class", class.trim_end())], &line.text);
            }
            self.effects(html);
            let others = parts
                .answer
                .iter()
                .filter(|block| !is_said(block, headlines));
            others.for_each(|block| blocks::push(html, "h3", block));
        });
    }

    /// The first causes at length, the others folded.
    fn fix(&self, html: &mut Html, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        self.framed(html, "fix", "What to fix", |html| {
            let causes = lines.chunk_by(|_, next| next.indent > 2);
            for (at, cause) in causes.enumerate() {
                if at < OPEN || cause.len() == 1 {
                    blocks::lines(html, cause);
                } else {
                    folded(html, &cause[0].text, |html| {
                        blocks::lines(html, &cause[1..])
                    });
                }
            }
        });
    }

    /// The effect plots, the primary figure first.
    fn effects(&self, html: &mut Html) {
        let all = effect_plot::of(&self.subject.output.comparison);
        if !all.is_empty() {
            html.element("div", &[("class", "plots")], |html| {
                for (at, one) in all.iter().enumerate() {
                    super::effect_plot::push(html, &self.id(&format!("effect{at}")), one);
                }
            });
        }
    }

    fn pictures(&self, html: &mut Html) {
        let ways = way::ways(&self.subject.output);
        let charts = charts::of(self.subject);
        let hosts = self.by_host(&self.subject.processors);
        let interrupts = self.by_host(&self.subject.interrupts);
        if ways.is_empty() && charts.is_empty() && hosts.is_empty() && interrupts.is_empty() {
            return;
        }
        self.framed(html, "pictures", "Pictures", |html| {
            if !ways.is_empty() {
                html.words("h3", &[], "Where each lost packet died");
            }
            side_by_side(html, &ways, |html, at, way| {
                path::push(html, &self.id(&format!("way{at}")), way);
            });
            side_by_side(html, &charts, |html, at, chart| {
                plot::push(html, &self.id(&format!("plot{at}")), chart);
            });
            side_by_side(html, &hosts, |html, at, (name, rows)| {
                let title = format!("Processors of the {name}");
                strip::push(html, &self.id(&format!("strip{at}")), &title, rows);
            });
            side_by_side(html, &interrupts, |html, _, (name, rows)| {
                heat::push(html, &format!("Interrupts of the {name}"), rows);
            });
        });
    }

    /// The rows of each host that has any.
    fn by_host(&self, all: &[Series]) -> Vec<(&'static str, Vec<Series>)> {
        let host = |(role, name): &(Role, &'static str)| {
            let rows = all.iter().filter(|row| row.host == *role);
            (*name, rows.cloned().collect())
        };
        let hosts = HOSTS.iter().map(host);
        hosts
            .filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
            .collect()
    }

    /// Everything else, folded; on paper it stays so.
    fn details(&self, html: &mut Html, parts: &Parts) {
        let environment: Vec<Block> = parts
            .title
            .iter()
            .filter(|block| says(block))
            .cloned()
            .collect();
        let cautions = format!("How these numbers can mislead ({})", heads(&parts.cautions));
        let groups = [
            (cautions.as_str(), &parts.cautions),
            ("The numbers", &parts.measured),
            ("Where each lost packet died, in words", &parts.losses),
            ("Environment", &environment),
        ];
        let is_empty = groups.iter().all(|(_, all)| all.is_empty());
        if is_empty && parts.evidence.is_empty() && self.subject.settings.is_empty() {
            return;
        }
        self.framed(html, "details", "Details", |html| {
            for (title, all) in groups.iter().filter(|(_, all)| !all.is_empty()) {
                folded(html, title, |html| {
                    all.iter().for_each(|block| blocks::push(html, "h3", block));
                });
            }
            for block in &parts.evidence {
                let mut inner = block.clone();
                let heading = match &mut inner {
                    Block::Lines { heading, .. } => std::mem::take(heading),
                    Block::Drawing { heading, .. } => heading.clone(),
                    Block::Table(table) => table.heading.clone(),
                };
                folded(html, &heading, |html| blocks::push(html, "h3", &inner));
            }
            for (name, settings) in by_place(&self.subject.settings) {
                let name = format!("Settings: {name}");
                folded(html, &name, |html| table(html, &name, &settings));
            }
        });
    }
}

/// As many in a row as there is room for; nothing of none.
fn side_by_side<T>(html: &mut Html, all: &[T], push: impl Fn(&mut Html, usize, &T)) {
    if !all.is_empty() {
        html.element("div", &[("class", "plots")], |html| {
            let all = all.iter().enumerate();
            all.for_each(|(at, one)| push(html, at, one));
        });
    }
}

fn folded(html: &mut Html, summary: &str, inner: impl FnOnce(&mut Html)) {
    html.element("details", &[], |html| {
        html.words("summary", &[], summary);
        inner(html);
    });
}

fn says(block: &Block) -> bool {
    !matches!(block, Block::Lines { lines, .. } if lines.is_empty())
}

/// The lines that are not part of others.
fn heads(all: &[Block]) -> usize {
    let lines = all.iter().flat_map(lines);
    lines.filter(|line| line.indent <= 2).count()
}

fn lines(block: &Block) -> &[Line] {
    match block {
        Block::Lines { lines, .. } => lines,
        Block::Drawing { .. } | Block::Table(_) => &[],
    }
}

/// Whether the headlines are all that a block has to say.
fn is_said(block: &Block, headlines: &[Line]) -> bool {
    let is_headline = |line: &Line| headlines.iter().any(|said| said.text == line.text);
    !lines(block).is_empty() && lines(block).iter().all(is_headline)
}

/// The sentence of the primary figure.
fn compared(output: &Output) -> Option<Line> {
    let primary = output.comparison.iter().find(|one| one.primary);
    let one = primary.or(output.comparison.first())?;
    Some(Line {
        tone: tone(one.verdict),
        ..Line::new(0, one.sentence.clone())
    })
    .filter(|line| !line.text.is_empty())
}

/// What was compared; else the invalid tests; else the rates of a device, the verdicts, the cause, or that there is none.
fn headlines(output: &Output, parts: &Parts) -> Vec<Line> {
    let answer = || parts.answer.iter().flat_map(lines);
    let bad = || answer().find(|line| line.tone == Tone::Bad).cloned();
    if let Some(line) = compared(output).or_else(bad) {
        return vec![line];
    }
    if output.kind == "check" && !output.verdicts.is_empty() {
        let verdicts = answer().take(output.verdicts.len());
        return verdicts.cloned().collect();
    }
    let said = parts.answer.first().map_or(&[][..], lines);
    if output.kind == "cost" && !said.is_empty() {
        return said.to_vec();
    }
    let first = || {
        let mut line = parts.fix.iter().flat_map(lines).next()?.clone();
        if let Some(words) = line.text.strip_prefix("1. ") {
            line.text = words.to_owned();
        }
        Some(line)
    };
    let line = forward::headline(output).or_else(first);
    line.into_iter().collect()
}

/// The settings by host and interface.
fn by_place(settings: &[Setting]) -> Vec<(String, Vec<&Setting>)> {
    let mut places: Vec<(String, Vec<&Setting>)> = Vec::new();
    for setting in settings {
        let known = HOSTS.iter().find(|(role, _)| *role == setting.host);
        let host = known.map_or("", |(_, name)| name);
        let name = match &setting.interface {
            Some(interface) => format!("{host}, {interface}"),
            None => host.to_owned(),
        };
        match places.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push(setting),
            None => places.push((name, vec![setting])),
        }
    }
    places
}

fn table(html: &mut Html, name: &str, settings: &[&Setting]) {
    html.group("div", "frame settings", name, |html| {
        html.element("table", &[], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for head in ["source", "setting", "value"] {
                        html.words("th", &[("scope", "col")], head);
                    }
                });
            });
            html.element("tbody", &[], |html| {
                for setting in settings {
                    for (key, value) in &setting.values {
                        html.element("tr", &[], |html| {
                            html.words("td", &[], &setting.source);
                            html.words("th", &[("scope", "row")], key);
                            html.words("td", &[], value);
                        });
                    }
                }
            });
        });
    });
}

const HOSTS: &[(Role, &str)] = &[
    (Role::Local, "local host"),
    (Role::Remote, "remote host"),
    (Role::Device, "device"),
];
/// Causes that are not folded.
const OPEN: usize = 3;
