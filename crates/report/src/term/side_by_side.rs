// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two texts in two columns, where a terminal is wide enough: what is headed alike is side by side.

use linerate_model::printable::Printable;

/// Columns that each of two has in a terminal of `width`; `None`: one after the other is better read.
#[must_use]
pub fn half(width: usize) -> Option<usize> {
    (width >= 2 * NARROWEST + GAP.len()).then(|| (width - GAP.len()) / 2)
}

/// Lines of at most `width` columns each, paragraph by paragraph.
#[must_use]
pub fn join(left: &Printable, right: &Printable, width: usize) -> Printable {
    let [left, right] = [left, right].map(|text| text.trim_end().split("\n\n").collect::<Vec<_>>());
    let mut text = String::new();
    let (mut one, mut other) = (0, 0);
    while one < left.len() || other < right.len() {
        let pair = pair(&left[one..], &right[other..], one + other == 0);
        rows(&mut text, pair, width);
        one += usize::from(pair[0].is_some());
        other += usize::from(pair[1].is_some());
    }
    Printable::coloured(&text)
}

/// What comes next: both where they are headed alike, else the one that the other has not at all.
fn pair<'t>(left: &[&'t str], right: &[&'t str], first: bool) -> [Option<&'t str>; 2] {
    let (Some(one), Some(other)) = (left.first(), right.first()) else {
        return [left.first().copied(), right.first().copied()];
    };
    let alike = |two: &&&str| head(two) == head(one);
    match right.iter().find(alike) {
        _ if first || head(one) == head(other) => [Some(one), Some(other)],
        Some(_) => [None, Some(other)],
        None => [Some(one), None],
    }
}

fn head(paragraph: &str) -> Option<&str> {
    paragraph.lines().next()
}

fn rows(text: &mut String, [left, right]: [Option<&str>; 2], width: usize) {
    let lines = |side: Option<&'_ str>| {
        side.unwrap_or("")
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (left, right) = (lines(left), lines(right));
    if !text.is_empty() {
        text.push_str(&format!("{:width$}{}\n", "", GAP.trim_end()));
    }
    for row in 0..left.len().max(right.len()) {
        let [one, other] = [&left, &right].map(|lines| lines.get(row).map_or("", String::as_str));
        let room = " ".repeat(width.saturating_sub(columns(one)));
        text.push_str(format!("{one}{room}{GAP}{other}").trim_end());
        text.push('\n');
    }
}

/// A colour takes none.
fn columns(line: &str) -> usize {
    let mut coloured = false;
    let shown = line.chars().filter(|char| {
        coloured |= *char == '\x1b';
        let shown = !coloured;
        coloured &= *char != 'm';
        shown
    });
    shown.count()
}

const GAP: &str = " | ";
const NARROWEST: usize = 78;

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(text: &str) -> Printable {
        Printable::coloured(text)
    }

    #[test]
    fn paragraphs_with_equal_headings_are_side_by_side() {
        let text = join(
            &coloured("run\n1\n\nTCP\na\nb\n\nend\nz\n"),
            &coloured("go\n2\n\nUDP\nc\n\n\x1b[1mTCP\x1b[0m\n\nend\ny\n"),
            6,
        );
        let expected = "\
run    | go
1      | 2
       |
TCP    |
a      |
b      |
       |
       | UDP
       | c
       |
       | \x1b[1mTCP\x1b[0m
       |
end    | end
z      | y
";
        assert_eq!(text, expected);
    }

    #[test]
    fn every_line_of_both_is_there() {
        let (one, other) = ("a\nb\n\nc\n\nd", "c\n\na\n\nx\n\nd\ne");
        let text = join(&coloured(one), &coloured(other), 10);
        let lines_of = |side: usize| {
            let lines = text
                .lines()
                .map(|line| line.split('|').nth(side).unwrap_or("").trim());
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(lines_of(0), ["a", "b", "c", "d"]);
        assert_eq!(lines_of(1), ["c", "a", "x", "d", "e"]);
    }

    #[test]
    fn a_narrow_terminal_has_no_columns() {
        assert_eq!(
            (half(80), half(158), half(159), half(203)),
            (None, None, Some(78), Some(100))
        );
    }
}
