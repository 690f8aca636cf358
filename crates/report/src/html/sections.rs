// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run on the page: the answer, the losses, the charts, the numbers, the evidence.

use linerate_model::output::{Output, Role};
use linerate_model::series::Series;
use linerate_model::setting::Setting;

use super::strip::{self, Strip};
use super::writer::{Html, px};
use super::{blocks, path, plot};
use crate::subject::Subject;
use crate::view::comparison::tone;
use crate::view::figures::{self, Figure};
use crate::view::{Block, Line, Parts, Tone, charts, effect_plot, path as way};

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
        for line in headings(&parts.title) {
            let class = if line.starts_with("PARTIAL") {
                "warn"
            } else {
                ""
            };
            html.words("p", &[("class", class)], &line);
        }
    });
    let page = Page {
        number,
        subject,
        labelled,
    };
    page.answer(html, &parts.answer);
    page.losses(html, &parts.losses);
    page.pictures(html);
    page.section(html, "numbers", "The numbers", &parts.measured);
    page.section(
        html,
        "cautions",
        "How these numbers can mislead",
        &parts.cautions,
    );
    page.evidence(html, &parts.evidence);
    page.environment(html, &parts.title);
}

fn headings(blocks: &[Block]) -> Vec<String> {
    let heading = |block: &Block| match block {
        Block::Lines { heading, lines } => {
            let begins = |start: &str| lines.iter().find(|line| line.text.starts_with(start));
            let [command, partial] =
                ["command: ", "PARTIAL"].map(|start| begins(start).map(|line| line.text.clone()));
            [Some(heading.clone()), command, partial]
        }
        Block::Drawing { heading, .. } => [Some(heading.clone()), None, None],
        Block::Table(table) => [Some(table.heading.clone()), None, None],
    };
    blocks.iter().flat_map(heading).flatten().collect()
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

    fn section(&self, html: &mut Html, name: &str, title: &str, all: &[Block]) {
        if !all.is_empty() {
            self.framed(html, name, title, |html| {
                all.iter().for_each(|block| blocks::push(html, "h3", block));
            });
        }
    }

    fn answer(&self, html: &mut Html, all: &[Block]) {
        self.framed(html, "answer", "The answer", |html| {
            let headline = compared(&self.subject.output).or_else(|| headline(all));
            if let Some(line) = &headline {
                let class = format!("headline {}", blocks::tone(line.tone));
                html.words("p", &[("class", class.trim_end())], &line.text);
            }
            self.effects(html);
            cards(html, &self.subject.output);
            let said = |block: &&Block| match block {
                Block::Lines { heading, lines } => {
                    heading == "answer"
                        && lines.len() == 1
                        && headline
                            .as_ref()
                            .is_some_and(|said| said.text == lines[0].text)
                }
                _ => false,
            };
            let others = all.iter().filter(|block| !said(block));
            others.for_each(|block| blocks::push(html, "h3", block));
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

    fn losses(&self, html: &mut Html, all: &[Block]) {
        let ways = way::ways(&self.subject.output);
        if ways.is_empty() && all.is_empty() {
            return;
        }
        self.framed(html, "losses", "Where each lost packet died", |html| {
            html.element("div", &[("class", "paths")], |html| {
                for (at, way) in ways.iter().enumerate() {
                    path::push(html, &self.id(&format!("way{at}")), way);
                }
            });
            all.iter().for_each(|block| blocks::push(html, "h3", block));
        });
    }

    fn pictures(&self, html: &mut Html) {
        let charts = charts::of(self.subject);
        let strips = self.strips();
        if charts.is_empty() && strips.is_empty() {
            return;
        }
        self.framed(html, "pictures", "Over rate, size and time", |html| {
            html.element("div", &[("class", "plots")], |html| {
                for (at, chart) in charts.iter().enumerate() {
                    plot::push(html, &self.id(&format!("plot{at}")), chart);
                }
            });
            html.element("div", &[("class", "plots")], |html| {
                for (at, strip) in strips.iter().enumerate() {
                    strip::push(html, &self.id(&format!("strip{at}")), strip);
                }
            });
        });
    }

    /// One per host and kind, where the record has samples.
    fn strips(&self) -> Vec<Strip> {
        let kinds = [
            (
                &self.subject.processors,
                "Processors of",
                Some(1.0),
                (100.0, "%"),
            ),
            (&self.subject.interrupts, "Interrupts of", None, (1.0, "/s")),
        ];
        let mut strips = Vec::new();
        for (all, title, full, step) in kinds {
            for (role, name) in HOSTS {
                let of_host = all.iter().filter(|row| row.host == *role);
                let rows: Vec<Series> = of_host.cloned().collect();
                if !rows.is_empty() {
                    strips.push(Strip {
                        title: format!("{title} the {name}"),
                        rows,
                        full,
                        step,
                    });
                }
            }
        }
        strips
    }

    fn evidence(&self, html: &mut Html, all: &[Block]) {
        if all.is_empty() {
            return;
        }
        self.framed(html, "evidence", "Evidence", |html| {
            for block in all {
                let (heading, inner) = match block {
                    Block::Lines { heading, lines } => (
                        heading,
                        Block::Lines {
                            heading: String::new(),
                            lines: lines.clone(),
                        },
                    ),
                    Block::Drawing { heading, .. } => (heading, block.clone()),
                    Block::Table(table) => (&table.heading, block.clone()),
                };
                html.element("details", &[], |html| {
                    html.words("summary", &[], heading);
                    blocks::push(html, "h3", &inner);
                });
            }
        });
    }

    fn environment(&self, html: &mut Html, title: &[Block]) {
        let says_nothing =
            |block: &Block| matches!(block, Block::Lines { lines, .. } if lines.is_empty());
        if self.subject.settings.is_empty() && title.iter().all(says_nothing) {
            return;
        }
        self.framed(html, "environment", "Environment", |html| {
            for block in title {
                blocks::push(html, "h3", block);
            }
            for (name, settings) in by_place(&self.subject.settings) {
                html.element("details", &[], |html| {
                    html.words("summary", &[], &name);
                    table(html, &name, &settings);
                });
            }
        });
    }
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

/// The first sentence of the last block of the answer: the cause, or that there is none.
fn headline(all: &[Block]) -> Option<Line> {
    let bad = all.iter().find_map(|block| match block {
        Block::Lines { lines, .. } => lines.iter().find(|line| line.tone == Tone::Bad),
        Block::Drawing { .. } | Block::Table(_) => None,
    });
    let last = all.iter().rev().find_map(|block| match block {
        Block::Lines { lines, .. } => lines.first(),
        Block::Drawing { .. } | Block::Table(_) => None,
    });
    let mut line = bad.or(last)?.clone();
    if let Some(words) = line.text.strip_prefix("1. ") {
        line.text = words.to_owned();
    }
    Some(line)
}

fn cards(html: &mut Html, output: &Output) {
    let all = figures::of(output);
    let shown: Vec<&Figure> = all
        .iter()
        .filter(|figure| shown(&all, figure))
        .take(MOST_CARDS)
        .collect();
    if shown.is_empty() {
        return;
    }
    html.element("dl", &[("class", "cards")], |html| {
        for figure in shown {
            html.element("div", &[], |html| card(html, output, figure));
        }
    });
}

/// Whether a card shows the figure: verdicts and knees if there are any, else each test.
fn shown(all: &[Figure], figure: &Figure) -> bool {
    let concluded = [
        "achieved_bits_per_second",
        "lossless_bits_per_second",
        "throughput_fps",
    ];
    let any = all.iter().any(|figure| concluded.contains(&figure.metric));
    match figure.metric {
        "lost_packets" => false,
        "rtt_p50_ns" | "rtt_p99_ns" => figure.metric == "rtt_p50_ns",
        metric => !any || concluded.contains(&metric),
    }
}

fn card(html: &mut Html, output: &Output, figure: &Figure) {
    let parts = [
        figure.label(),
        figure.of.as_str(),
        figure.direction.as_str(),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|part| !part.is_empty() && *part != "verdict")
        .collect();
    html.words("dt", &[], &parts.join(", "));
    html.words("dd", &[], &figure.text());
    let verdicts = output
        .verdicts
        .iter()
        .filter(|_| figure.metric == "achieved_bits_per_second");
    let of_line = verdicts.filter(|verdict| Some(verdict.achieved_bits_per_second) == figure.value);
    if let Some(ratio) = of_line
        .filter_map(|verdict| verdict.line_rate_ratio())
        .next()
    {
        html.element("dd", &[("class", "of")], |html| {
            meter(html, ratio);
            html.text(&format!("{:.1} % of the line rate", ratio * 100.0));
        });
    }
}

fn meter(html: &mut Html, ratio: f64) {
    let part = px(100.0 * ratio.clamp(0.0, 1.0));
    html.element(
        "svg",
        &[
            ("class", "meter"),
            ("viewBox", "0 0 100 6"),
            ("preserveAspectRatio", "none"),
            ("aria-hidden", "true"),
        ],
        |html| {
            html.empty(
                "rect",
                &[("class", "bed"), ("width", "100"), ("height", "6")],
            );
            html.empty(
                "rect",
                &[("class", "part"), ("width", &part), ("height", "6")],
            );
        },
    );
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
const MOST_CARDS: usize = 12;
