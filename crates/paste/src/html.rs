// SPDX-License-Identifier: MIT OR Apache-2.0
//! Removes HTML tags and entities, also within numbers. Only HTML's names are tags: the flags of an interface
//! (`<UP,LOWER_UP>`) are not.

/// The line without tags; a tag that begins a new line becomes a line break.
pub(super) fn stripped(line: String) -> String {
    if !line.contains(['<', '&']) {
        return line;
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let read = if rest.starts_with('<') {
            tag(rest)
        } else {
            entity(rest)
        };
        let (instead, length) = read.unwrap_or((rest[..1].to_owned(), 1));
        text.push_str(&instead);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text
}

/// The replacement for the tag at the beginning, and its length.
fn tag(text: &str) -> Option<(String, usize)> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|end| (String::new(), end + 3));
    }
    let name = text.get(1..)?.trim_start_matches('/');
    let end = name
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    let lower = name.get(..end.min(12))?.to_ascii_lowercase();
    let known = INLINE.contains(&lower.as_str())
        || BLOCK.contains(&lower.as_str())
        || CELL.contains(&lower.as_str());
    let after = name[end..].chars().next();
    (known && after.is_none_or(|letter| letter == '>' || letter == '/' || letter.is_whitespace()))
        .then_some(())?;
    let length = text.find('>').map_or(text.len(), |end| end + 1);
    let breaks = BLOCK.contains(&lower.as_str());
    let instead = if breaks {
        "\n"
    } else if CELL.contains(&lower.as_str()) {
        " "
    } else {
        ""
    };
    Some((instead.to_owned(), length))
}

const INLINE: &[&str] = &[
    "b", "i", "u", "s", "em", "strong", "span", "font", "tt", "code", "kbd", "samp", "a", "sub",
    "sup", "small", "big", "mark", "del", "ins", "img", "wbr", "thead", "tbody", "html", "body",
    "head", "meta", "link", "label", "abbr", "button", "svg",
];
const BLOCK: &[&str] = &[
    "br",
    "p",
    "div",
    "pre",
    "tr",
    "table",
    "li",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "details",
    "summary",
];
const CELL: &[&str] = &["td", "th"];

/// The character of the entity at the beginning, and its length.
fn entity(text: &str) -> Option<(String, usize)> {
    let end = text.bytes().take(10).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let letter = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "ndash" | "mdash" | "minus" => '-',
        "micro" | "mu" => 'µ',
        _ => numbered(name)?,
    };
    Some((letter.to_string(), end + 1))
}

fn numbered(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code).filter(|letter| !letter.is_control())
}
