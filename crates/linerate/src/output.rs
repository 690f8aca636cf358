// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where words go: results to stdout, everything else to stderr.
//!
//! - `--json` prints one document, also on errors; `--json-stream` one object per line, flushed.
//! - Colour and a status line that is drawn over only on a terminal; meaning never by colour alone.
//! - A reader that went away (broken pipe) is a quiet success.
//! - A terminal that is paused does not stop the measurement.

pub(crate) mod log;
mod patient;

use std::env;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use linerate_model::printable::Printable;
use linerate_report::Detail;
use linerate_report::term::Style;
use patient::PatientWriter;
use serde::Serialize;

/// What stdout carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    JsonStream,
}

/// The wish for colour: `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// As the terminal and the environment suggest.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// What the process was started in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// Stdout is a terminal.
    pub(crate) stdout_terminal: bool,
    /// Stderr is a terminal.
    pub(crate) stderr_terminal: bool,
    /// `NO_COLOR` is set and not empty (no-color.org).
    pub(crate) no_color: bool,
    /// `CLICOLOR_FORCE` is set, not empty and not `0` (bixense.com/clicolors).
    pub(crate) force_color: bool,
    /// `TERM` is `dumb`.
    pub(crate) dumb: bool,
    /// The locale's characters are UTF-8.
    pub(crate) utf8: bool,
    /// Columns of the terminal.
    pub(crate) columns: Option<usize>,
}

impl Surroundings {
    /// Reads the environment and asks the terminal.
    pub(crate) fn read() -> Self {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let columns = set("COLUMNS").and_then(|columns| columns.parse().ok());
        Self {
            stdout_terminal: io::stdout().is_terminal(),
            stderr_terminal: io::stderr().is_terminal(),
            no_color: set("NO_COLOR").is_some(),
            force_color: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: set("TERM").is_some_and(|term| term == "dumb"),
            utf8: is_utf8(set("LC_ALL").or(set("LC_CTYPE")).or(set("LANG")).as_deref()),
            columns: columns.or_else(terminal_columns),
        }
    }

    /// How text looks here, given the flags.
    pub(crate) fn look(&self, color: Color, ascii: bool) -> Style {
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if self.no_color => false,
            Color::Auto => self.force_color || (self.stdout_terminal && !self.dumb),
        };
        Style {
            width: self.columns.unwrap_or(WIDTH).clamp(WIDTH_MIN, WIDTH_MAX),
            ascii: ascii || !self.utf8,
            color,
            detail: Detail::Full,
            rates: None,
        }
    }
}

/// The two streams of one command.
#[derive(Debug)]
pub(crate) struct Console {
    /// What stdout carries.
    pub(crate) form: Form,
    /// How text looks.
    pub(crate) look: Style,
    /// Draw the status line over itself.
    redraw: bool,
    /// Break long sentences: only where a person reads, not for a script.
    wrap: bool,
    quiet: bool,
    verbose: u8,
    /// The progress at the bottom, as drawn.
    drawn: Vec<String>,
    /// The format of the time that begins each line of text.
    timestamps: Option<String>,
    stderr: PatientWriter,
}

impl Console {
    /// The streams as the flags and the surroundings have them.
    pub(crate) fn new(
        form: Form,
        look: Style,
        surroundings: &Surroundings,
        quiet: bool,
        verbose: u8,
    ) -> Self {
        Self {
            form,
            look,
            redraw: surroundings.stderr_terminal && !surroundings.dumb,
            wrap: surroundings.stderr_terminal,
            quiet,
            verbose,
            drawn: Vec::new(),
            timestamps: None,
            stderr: match surroundings.stderr_terminal {
                true => PatientWriter::of_terminal(),
                false => PatientWriter::default(),
            },
        }
    }

    /// Each line of text begins with the time, in this format of strftime(3); nothing is drawn over.
    pub(crate) fn stamp_lines(&mut self, format: Option<&str>) {
        self.timestamps = format.map(str::to_owned);
        self.redraw &= format.is_none();
    }

    /// Results, to stdout.
    ///
    /// # Errors
    /// Those of writing, except that the reader went away.
    pub(crate) fn result(&mut self, text: &Printable) -> io::Result<()> {
        self.clear_status();
        self.stderr.finish();
        match self.stamp() {
            Some(stamp) => print(&Printable::coloured(&stamped(text, &stamp))),
            None => print(text),
        }
    }

    /// The one JSON document, to stdout.
    ///
    /// # Errors
    /// As [`Console::result`].
    pub(crate) fn document(&mut self, document: &impl Serialize) -> io::Result<()> {
        self.stderr.finish();
        to_stdout(&mut |stdout| {
            linerate_report::json::write(document, stdout)?;
            stdout.write_all(b"\n")
        })
    }

    /// One line of the stream, if stdout carries it.
    ///
    /// # Errors
    /// As [`Console::result`].
    pub(crate) fn event(&mut self, event: &str, data: &impl Serialize) -> io::Result<()> {
        if self.form != Form::JsonStream {
            return Ok(());
        }
        print(&linerate_report::json::event(event, data)?)
    }

    /// A sentence for people, to stderr, unless quiet.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.quiet {
            self.alert(text);
        }
    }

    /// A detail: only with `-v`.
    pub(crate) fn detail(&mut self, text: &str) {
        if self.verbose > 0 {
            self.alert(text);
        }
    }

    /// To stderr, even when quiet.
    pub(crate) fn alert(&mut self, text: &str) {
        self.clear_status();
        let text = self.fitted(text);
        self.draw("", &Printable::of(&text), "\n");
    }

    /// What has ended in one line, which stays above the progress that is redrawn.
    pub(crate) fn row(&mut self, text: &str) {
        if self.drawn.is_empty() {
            return self.say(text);
        }
        let text = format!("{}\n{}", self.fitted(text), self.drawn.join("\n"));
        self.draw(&over(self.drawn.len()), &Printable::of(&text), "");
    }

    /// As [`Console::row`], only with `-v`.
    pub(crate) fn detail_row(&mut self, text: &str) {
        if self.verbose > 0 {
            self.row(text);
        }
    }

    fn fitted(&self, text: &str) -> String {
        let text = if self.look.ascii {
            ascii(text)
        } else {
            text.to_owned()
        };
        let text = match self.wrap {
            true => wrapped(&text, self.look.width),
            false => text,
        };
        match self.stamp() {
            Some(stamp) => stamped(&text, &stamp),
            None => text,
        }
    }

    fn stamp(&self) -> Option<String> {
        let now_ns = linerate_linux::clock::wall_ns();
        linerate_linux::calendar::local(self.timestamps.as_deref()?, now_ns)
    }

    /// Progress on several lines: drawn over on a terminal, else nothing.
    pub(crate) fn block(&mut self, lines: &[String]) {
        // The next one shows more than one that had to wait.
        if !self.redraws() || lines.is_empty() || !self.stderr.catches_up() {
            return;
        }
        let width = self.look.width.saturating_sub(1);
        let line = |line: &String| -> String {
            let line = Printable::of(line).to_string();
            let line = if self.look.ascii { ascii(&line) } else { line };
            line.chars().take(width).collect()
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        let before = over(self.drawn.len());
        self.draw(&before, &Printable::of(&lines.join("\n")), "");
        self.drawn = lines;
    }

    /// Whether only results and errors are printed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether progress is drawn over itself.
    pub(crate) fn redraws(&self) -> bool {
        self.redraw && !self.quiet
    }

    fn clear_status(&mut self) {
        let drawn = std::mem::take(&mut self.drawn).len();
        if drawn > 0 {
            self.draw(&over(drawn), &Printable::default(), "");
        }
    }

    /// Writes to stderr what may be shown, between movements of the cursor.
    fn draw(&mut self, before: &str, text: &Printable, after: &str) {
        self.stderr.write(&format!("{before}{text}{after}"));
    }
}

/// Writes a sentence to stderr as it is: no status line is drawn there.
pub(crate) fn note(text: &Printable) {
    PatientWriter::default().write(&format!("{text}\n"));
}

/// Each line with the same start.
fn stamped(text: &str, stamp: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{stamp}{line}")).collect();
    lines.join("\n")
}

/// Moves the cursor up by this many lines and clears what follows (ECMA-48: CUU, ED).
fn over(lines: usize) -> String {
    match lines.saturating_sub(1) {
        0 => "\r\x1b[J".to_owned(),
        up => format!("\r\x1b[{up}A\x1b[J"),
    }
}

/// Writes to stdout, ended by one newline, and flushes. A reader that went away is a quiet success.
///
/// # Errors
/// Those of writing.
pub(crate) fn print(text: &Printable) -> io::Result<()> {
    write(&[text.trim_end_matches('\n').as_bytes(), b"\n"])
}

/// Writes a binary file to stdout, which a program reads, and flushes.
///
/// # Errors
/// As [`print`]; [`ErrorKind::Unsupported`] if stdout is a terminal.
pub(crate) fn pipe(bytes: &[u8]) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => Err(ErrorKind::Unsupported.into()),
        false => write(&[bytes]),
    }
}

/// Writes these bytes to stdout and flushes. A reader that went away is a quiet success.
fn write(parts: &[&[u8]]) -> io::Result<()> {
    to_stdout(&mut |stdout| parts.iter().try_for_each(|part| stdout.write_all(part)))
}

/// The same of what is not in memory as a whole.
fn to_stdout(write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The nearest text in ASCII.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            'µ' | 'μ' => plain.push('u'),
            '…' => plain.push_str("..."),
            '–' | '—' | '─' => plain.push('-'),
            '×' => plain.push('x'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '✓' => plain.push_str("ok"),
            '✗' => plain.push_str("no"),
            '→' => plain.push_str("->"),
            '·' => plain.push('.'),
            '’' => plain.push('\''),
            other if other.is_ascii() => plain.push(other),
            _ => plain.push('?'),
        }
    }
    plain
}

/// Lines of at most `width` columns, broken at spaces; what follows a break is indented as its
/// line and two more. A longer word stays whole.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| wrap_line(line, width)).collect();
    lines.join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut done = " ".repeat(indent);
    let mut column = indent;
    for (index, word) in line.trim_start().split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width {
            done.push_str(&format!("\n{}", " ".repeat(indent + 2)));
            column = indent + 2;
        } else if index > 0 {
            done.push(' ');
            column += 1;
        }
        done.push_str(word);
        column += length;
    }
    done
}

/// Whether a locale such as `C.UTF-8` or `de_DE.utf8` has UTF-8 characters.
fn is_utf8(locale: Option<&str>) -> bool {
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

fn terminal_columns() -> Option<usize> {
    linerate_linux::terminal::columns()
}

const WIDTH: usize = 80;
const WIDTH_MIN: usize = 40;
const WIDTH_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Surroundings {
        Surroundings {
            stdout_terminal: true,
            stderr_terminal: true,
            utf8: true,
            ..Surroundings::default()
        }
    }

    #[test]
    fn colour_follows_flag_then_environment_then_terminal() {
        let no_color = || Surroundings {
            no_color: true,
            ..terminal()
        };
        let dumb = || Surroundings {
            dumb: true,
            ..terminal()
        };
        let forced = Surroundings {
            force_color: true,
            ..Surroundings::default()
        };
        for (surroundings, wish, colored) in [
            (terminal(), Color::Auto, true),
            (Surroundings::default(), Color::Auto, false),
            (no_color(), Color::Auto, false),
            (no_color(), Color::Always, true),
            (dumb(), Color::Auto, false),
            (forced.clone(), Color::Auto, true),
            (forced, Color::Never, false),
        ] {
            assert_eq!(
                surroundings.look(wish, false).color,
                colored,
                "{surroundings:?} {wish:?}"
            );
        }
    }

    #[test]
    fn a_serial_console_gets_80_columns_of_ascii() {
        let look = Surroundings::default().look(Color::Auto, false);
        assert_eq!((look.width, look.ascii), (80, true));
        assert!(!terminal().look(Color::Auto, false).ascii);
        assert!(terminal().look(Color::Auto, true).ascii);
    }

    #[test]
    fn locales() {
        for (locale, utf8) in [
            ("C.UTF-8", true),
            ("de_DE.utf8", true),
            ("C", false),
            ("POSIX", false),
        ] {
            assert_eq!(is_utf8(Some(locale)), utf8, "{locale}");
        }
        assert!(!is_utf8(None));
    }

    #[test]
    fn long_sentences_are_broken_and_keep_their_words() {
        let text =
            "error: cannot\n  why: one two three four\n  try: /a/path/that/is/longer/than/it";
        assert_eq!(
            wrapped(text, 16),
            "error: cannot\n  why: one two\n    three four\n  try:\n    /a/path/that/is/longer/than/it"
        );
        assert_eq!(wrapped(text, 80), text);
        assert_eq!(wrapped("a  b", 80), "a  b");
    }

    #[test]
    fn every_line_begins_with_the_time() {
        assert_eq!(stamped("a\n\nb\n", "12:00 "), "12:00 a\n12:00 \n12:00 b");
        let mut console = Console::new(
            Form::Text,
            terminal().look(Color::Auto, true),
            &terminal(),
            false,
            0,
        );
        assert!(console.redraws() && console.stamp().is_none());
        console.stamp_lines(Some("%%%Y "));
        let stamp = console.stamp().unwrap();
        assert!(stamp.starts_with("%20") && stamp.ends_with(' '), "{stamp}");
        assert!(!console.redraws());
    }

    #[test]
    fn ascii_keeps_the_meaning() {
        assert_eq!(ascii("12 µs … 3×, ✗ ≥ 1 ü"), "12 us ... 3x, no >= 1 ?");
    }
}
