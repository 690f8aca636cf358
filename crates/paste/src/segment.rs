// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines → items in the order of the text, each with its place.

use std::cell::Cell;
use std::rc::Rc;

use crate::text::{self, Content, Hint, Lines, Settings, read_prose};
use linerate_model::output::Passage;

use super::clean::Line;
use super::context::{Context, Place};
use super::limits::PASSAGES_MAX;
use super::{command, prose, requested};

/// Everything in a text.
#[derive(Debug, Default)]
pub(super) struct Segments {
    pub(super) items: Vec<Item>,
    pub(super) ignored: Vec<Passage>,
    pub(super) peers: Vec<(String, String)>,
    /// The chip that the text is about; further ones are comparisons.
    pub(super) machine: Option<Settings>,
}

/// One thing.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) lines: (u64, u64),
    pub(super) format: &'static str,
    pub(super) place: Rc<Place>,
    pub(super) said: Said,
}

/// What it is.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// A reader's content.
    Content(Content),
    /// A command was typed.
    Command(String),
    /// The requested rate from here on.
    Requested(f64),
    /// A heading: what came before is over.
    Heading,
    /// Prose, which separates readings.
    Prose,
}

/// Splits a text; also returns the number of bytes that the readers looked at.
pub(super) fn segments(lines: &[Line]) -> (Segments, u64) {
    let looked = Cell::new(0);
    let mut segmenter = Segmenter {
        lines,
        texts: lines.iter().map(|line| line.text.as_str()).collect(),
        ends: ends(lines),
        looked: &looked,
        context: Context::default(),
        paragraph: Vec::new(),
        paragraph_place: Place::default(),
        drivers: Vec::new(),
        found: Segments::default(),
    };
    let mut at = 0;
    while at < lines.len() {
        at += segmenter.step(at).max(1);
    }
    segmenter.end_paragraph();
    let mut found = segmenter.found;
    found.peers = segmenter.context.peers;
    (found, looked.get())
}

/// For each line, the next line with a prompt: no reader reads beyond it.
fn ends(lines: &[Line]) -> Vec<usize> {
    let mut ends = vec![lines.len(); lines.len()];
    for at in (1..lines.len()).rev() {
        ends[at - 1] = if lines[at].prompt.is_some() {
            at
        } else {
            ends[at]
        };
    }
    ends
}

struct Segmenter<'a> {
    lines: &'a [Line],
    texts: Vec<&'a str>,
    ends: Vec<usize>,
    looked: &'a Cell<u64>,
    context: Context,
    paragraph: Vec<usize>,
    paragraph_place: Place,
    drivers: Vec<Option<String>>,
    found: Segments,
}

impl Segmenter<'_> {
    /// Consumes lines from `at`; returns their number.
    fn step(&mut self, at: usize) -> usize {
        let line = &self.lines[at];
        self.context.line();
        if line.text.trim().is_empty() && line.prompt.is_none() {
            self.end_paragraph();
            return 1;
        }
        if let Some(prompt) = &line.prompt {
            self.end_paragraph();
            self.context.prompt(prompt.host.as_deref());
            self.context.folder.clone_from(&prompt.folder);
        }
        let typed = command::is_typed(&line.text)
            || (line.prompt.is_some() && command::is_known(&line.text));
        if typed {
            return self.typed(at);
        }
        if let Some(rate) = requested::of_heading(&line.text) {
            self.end_paragraph();
            self.context.understood();
            self.push((at, at), "requested rate", Said::Requested(rate));
            return 1;
        }
        self.block(at).unwrap_or_else(|| self.unknown(at))
    }

    fn typed(&mut self, at: usize) -> usize {
        self.end_paragraph();
        let line = self.lines[at].text.clone();
        self.context.typed(&line);
        self.push((at, at), "command", Said::Command(line));
        1
    }

    /// Consumes what a reader knows, not beyond the next prompt.
    fn block(&mut self, at: usize) -> Option<usize> {
        let end = self.ends[at].min(at + WINDOW);
        let window = Lines::new(&self.texts[at..end], self.looked);
        let block = text::read(
            window,
            Hint {
                command: self.context.command.as_deref(),
            },
        )?;
        self.end_paragraph();
        let last = (at + block.lines.max(1)).min(end) - 1;
        for text in self.texts[at..=last]
            .iter()
            .filter(|text| text.contains("inet "))
        {
            self.context.addressed(text);
        }
        if block.content.is_empty() {
            self.ignore(
                at,
                last,
                &format!("looks like {} but has no network data", block.format),
            );
        }
        for content in block.content {
            self.push((at, last), block.format, Said::Content(content));
        }
        self.context.understood();
        Some(last + 1 - at)
    }

    /// Consumes a line that no reader knows: prose, or a heading.
    fn unknown(&mut self, at: usize) -> usize {
        let line = &self.lines[at];
        if line.prompt.is_some() {
            // An unknown command: what it printed may still be known.
            let line = line.text.clone();
            if !line.is_empty() {
                return self.typed(at);
            }
            return 1;
        }
        let blank = |index: Option<usize>| {
            index
                .and_then(|index| self.texts.get(index))
                .is_none_or(|text| text.trim().is_empty())
        };
        let alone = blank(at.checked_sub(1)) && blank(Some(at + 1));
        if self.context.prose(&line.text, alone) {
            self.end_paragraph();
            self.push((at, at), "heading", Said::Heading);
            return 1;
        }
        self.push((at, at), "prose", Said::Prose);
        if self.paragraph.is_empty() {
            self.paragraph_place = self.context.place();
        }
        self.paragraph.push(at);
        if self.paragraph.len() >= PARAGRAPH_LINES {
            self.end_paragraph();
        }
        1
    }

    /// Ends a paragraph of prose, which may state measured rates.
    fn end_paragraph(&mut self) {
        let (Some(first), Some(last)) = (
            self.paragraph.first().copied(),
            self.paragraph.last().copied(),
        ) else {
            return;
        };
        let lines: Vec<&str> = self.paragraph.drain(..).map(|at| self.texts[at]).collect();
        let text = lines.join(" ");
        let place = std::mem::take(&mut self.paragraph_place);
        let repeats = place.title.as_deref().is_some_and(prose::is_summary);
        let transfers = if repeats {
            Vec::new()
        } else {
            read_prose(&text)
        };
        // A heading refers to what follows it, a sentence to the whole text.
        let alone = text.split_whitespace().count() == 2;
        let driver = prose::driver(&text)
            .filter(|_| !repeats && (alone || !self.drivers.contains(&place.label)));
        if transfers.is_empty() && driver.is_none() {
            self.ignore(
                first,
                last,
                if repeats {
                    "summary of earlier output"
                } else {
                    "prose"
                },
            );
        }
        if let Some(driver) = driver {
            self.drivers.push(place.label.clone());
            self.push_at(
                &place,
                (first, last),
                "driver in a sentence",
                Said::Content(driver),
            );
        }
        let machine = || prose::machine(&text).filter(|_| !repeats);
        self.found.machine = self.found.machine.take().or_else(machine);
        for transfer in transfers {
            self.push_at(
                &place,
                (first, last),
                "rates in a sentence",
                Said::Content(Content::Transfer(transfer)),
            );
        }
    }

    fn push(&mut self, lines: (usize, usize), format: &'static str, said: Said) {
        let place = self.context.place();
        self.push_at(&place, lines, format, said);
    }

    fn push_at(
        &mut self,
        place: &Place,
        (first, last): (usize, usize),
        format: &'static str,
        said: Said,
    ) {
        let shared = self
            .found
            .items
            .last()
            .filter(|item| *item.place == *place)
            .map(|item| Rc::clone(&item.place));
        let place = shared.unwrap_or_else(|| Rc::new(place.clone()));
        let lines = (self.lines[first].number, self.lines[last].number);
        self.found.items.push(Item {
            lines,
            format,
            place,
            said,
        });
    }

    fn ignore(&mut self, first: usize, last: usize, why: &str) {
        let (first_line, last_line) = (self.lines[first].number, self.lines[last].number);
        let room = self.found.ignored.len() < PASSAGES_MAX;
        match self.found.ignored.last_mut() {
            Some(passage) if passage.what == why && passage.last_line + 2 >= first_line => {
                passage.last_line = last_line
            }
            _ if room => self.found.ignored.push(Passage {
                first_line,
                last_line,
                what: why.to_owned(),
            }),
            _ => {}
        }
    }
}

/// Maximum number of lines that a reader sees.
const WINDOW: usize = 20_000;
/// Maximum number of lines of a paragraph.
const PARAGRAPH_LINES: usize = 60;
