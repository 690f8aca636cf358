// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command line in words, as a shell splits it.

/// The words of one command without its comment; `>` is a word of its own. Nothing where a shell would do more than to split
/// it: another command, a pipe, a variable, a pattern. A placeholder (`<mask>`, `{interface}`) is none either.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => all.extend(word.take()),
            '#' if word.is_none() => break,
            '>' if word.is_none() => all.push(">".to_owned()),
            '\'' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut letters)?),
            _ if is_special(letter) => return None,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    all.extend(word);
    Some(all)
}

/// Up to the next quote.
fn quoted(letters: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    for letter in letters {
        match letter {
            '\'' => return Some(text),
            '<' | '{' => return None,
            _ => text.push(letter),
        }
    }
    None
}

fn is_special(letter: char) -> bool {
    letter.is_ascii_control() || "|&;<>(){}[]$`\"\\*?!~".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn one_command_is_split_and_its_comment_dropped() {
        let of = |text: &str| words(text).map(|words| words.join("|"));
        assert_eq!(of("a -w b='1 2'   # c").as_deref(), Some("a|-w|b=1 2"));
        assert_eq!(of("echo 1 > /x#y").as_deref(), Some("echo|1|>|/x#y"));
        assert_eq!(of("# only a comment").as_deref(), Some(""));
        for none in [
            "a | b", "a; b", "a $b", "a <b>", "a {b}", "a '<b>'", "a 'b", "a 2>b", "a *",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
