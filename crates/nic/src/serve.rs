// SPDX-License-Identifier: MIT OR Apache-2.0
//! The far end of a check: answers what the near end asks, until its input ends.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use linerate_change::remote::answered;

use crate::message::{Answer, Ask};
use crate::station::Station;

/// Answers requests of `input`.
///
/// # Errors
/// Those of writing.
pub fn serve(input: impl Read + Send + 'static, output: impl Write) -> io::Result<()> {
    let mut station = Station::default();
    answered(input, output, |line| text(&answer(&mut station, line)))
}

/// The same on a thread of this process, in its network namespace, at one end of a pair of sockets: the other end.
///
/// # Errors
/// Those of sockets and threads.
pub fn serve_stream() -> io::Result<UnixStream> {
    let (near, far) = UnixStream::pair()?;
    let input = far.try_clone()?;
    // Its end is the other end's to notice.
    let work = move || drop(serve(input, far));
    thread::Builder::new()
        .name("station".to_owned())
        .spawn(work)?;
    Ok(near)
}

fn answer(station: &mut Station, line: &str) -> Answer {
    let ask: Result<Ask, _> = serde_json::from_str(line);
    let answer = ask
        .map_err(io::Error::from)
        .and_then(|ask| station.answer(&ask));
    answer.unwrap_or_else(|why| Answer {
        error: Some(why.to_string()),
        ..Answer::default()
    })
}

/// All of it can be written.
fn text(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_answered_with_an_error() {
        let mut station = Station::default();
        for line in [
            "",
            "x",
            "{\"frames\":{\"wait_ms\":0}}",
            "{\"counters\":{\"driver\":false}}",
        ] {
            assert!(answer(&mut station, line).error.is_some(), "{line}");
        }
    }

    #[test]
    fn a_frame_for_another_host_is_refused() {
        let mut station = Station::default();
        let line = "{\"send\":{\"frames\":[\"00\"]}}";
        let why = answer(&mut station, line).error.unwrap_or_default();
        assert_eq!(why, "it was not asked to watch");
    }
}
