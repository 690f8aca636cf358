// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of JSON between two programs, of limited length, read on a thread.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde::Serialize;

/// The longest line, with its newline.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

/// A line without its newline; `Err` for one that is too long, after which none is read.
pub(crate) type Line = Result<String, TooLong>;

/// A line longer than [`LINE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The lines of `input` as they come; its end closes the channel. A rest without a newline is not a line.
///
/// # Errors
/// Those of starting a thread.
pub(crate) fn lines(input: impl Read + Send + 'static, name: &str) -> io::Result<Receiver<Line>> {
    let (sender, lines) = sync_channel(LINES);
    let read = move || read(BufReader::new(input), &sender);
    thread::Builder::new().name(name.to_owned()).spawn(read)?;
    Ok(lines)
}

fn read(mut input: impl BufRead, sender: &SyncSender<Line>) {
    loop {
        let mut line = Vec::new();
        let limit = LINE_BYTES as u64;
        let ended = input.by_ref().take(limit).read_until(b'\n', &mut line);
        let is_whole = line.pop() == Some(b'\n');
        let line = match (ended, is_whole) {
            (Err(_) | Ok(0), _) => return,
            (Ok(_), true) => Ok(String::from_utf8_lossy(&line).into_owned()),
            (Ok(count), false) if count == LINE_BYTES => Err(TooLong),
            (Ok(_), false) => return,
        };
        let is_last = line.is_err();
        if sender.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Writes a value as a line.
///
/// # Errors
/// Those of writing; or the line would be too long.
pub(crate) fn write(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    output.write_all(text(value)?.as_bytes())?;
    output.flush()
}

/// A value as a line, with its newline.
///
/// # Errors
/// It is too long.
pub(crate) fn text(value: &impl Serialize) -> io::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    match line.len() <= LINE_BYTES {
        true => Ok(line),
        false => Err(io::Error::other("the message is longer than 64 KiB")),
    }
}

/// Lines that wait to be understood.
const LINES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: Vec<u8>) -> Vec<Line> {
        lines(io::Cursor::new(input), "test")
            .unwrap()
            .iter()
            .collect()
    }

    #[test]
    fn lines_are_whole_and_of_limited_length() {
        let longest = "x".repeat(LINE_BYTES - 1);
        let input = format!("a\n{longest}\n\nrest");
        let expected = [Ok("a".to_owned()), Ok(longest), Ok(String::new())];
        assert_eq!(all(input.into_bytes()), expected);
        let endless = vec![b'x'; 3 * LINE_BYTES];
        assert_eq!(all(endless), [Err(TooLong)]);
        assert_eq!(all(b"\xff\n".to_vec()), [Ok("\u{fffd}".to_owned())]);
    }
}
