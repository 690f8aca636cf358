// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements, attributes and text. Names of elements and attributes are literals; everything else is escaped.

use linerate_model::printable::is_hidden;

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

/// Name and value.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Literal text of the program: style, script.
    pub(super) fn raw(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// Escaped text.
    pub(super) fn text(&mut self, text: &str) {
        escape(&mut self.0, text);
    }

    /// An element around what `inner` writes.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inner: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        inner(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// An element with only text.
    pub(super) fn words(&mut self, name: &'static str, attributes: Attributes<'_>, words: &str) {
        self.element(name, attributes, |html| html.text(words));
    }

    /// An empty element.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.element(name, attributes, |_| ());
    }

    /// A group that scrolls, and that the keyboard reaches.
    pub(super) fn group(
        &mut self,
        name: &'static str,
        class: &str,
        label: &str,
        inner: impl FnOnce(&mut Self),
    ) {
        let attributes = [
            ("class", class),
            ("role", "group"),
            ("tabindex", "0"),
            ("aria-label", label),
        ];
        self.element(name, &attributes[usize::from(class.is_empty())..], inner);
    }

    /// A start tag alone.
    pub(super) fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(&mut self.0, value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// The page.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Escapes markup, control characters and bidirectional overrides.
fn escape(page: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            '\n' | '\t' => page.push(' '),
            hidden if is_hidden(hidden) => page.push('\u{fffd}'),
            plain => page.push(plain),
        }
    }
}

/// A coordinate: a tenth of a pixel is enough.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_markup_is_text() {
        let mut html = Html::default();
        html.words("a", &[("title", "\" onclick='x'")], "<b>&\u{1b}\u{202e}");
        assert_eq!(
            html.into_text(),
            "<a title=\"&quot; onclick=&#39;x&#39;\">&lt;b&gt;&amp;\u{fffd}\u{fffd}</a>"
        );
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            (px(12.0), px(0.25), px(-3.16)),
            ("12".to_owned(), "0.2".to_owned(), "-3.2".to_owned())
        );
    }
}
