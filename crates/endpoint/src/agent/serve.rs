// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads requests and answers them until the input ends.

use super::Agent;
use crate::bounded_writer::is_pause;
use crate::extension::Message;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use std::io::{self, Read, Write};

/// Sends the hello and answers requests until `input` ends; returns the number of answers. After each answer and each
/// read that timed out, `goes_on` decides, from the number of answers so far, whether to go on.
///
/// # Errors
/// The input is not a request, or broke. The requester is informed if it can be.
pub fn serve(
    agent: &mut Agent,
    input: &mut impl Read,
    output: &mut impl Write,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<u64, String> {
    let mut frames = AgentFrames::new(REQUEST_BYTES);
    let mut answered = 0;
    if send(output, &[agent.hello()]).is_err() {
        return Ok(answered);
    }
    let mut bytes = [0; 4096];
    loop {
        match input.read(&mut bytes) {
            Ok(0) if frames.is_torn() => return Err("its last request is incomplete".to_owned()),
            Ok(0) => return Ok(answered),
            Ok(count) => frames.feed(&bytes[..count]),
            Err(error) if is_pause(&error) && goes_on(answered) => continue,
            Err(error) if is_pause(&error) => return Ok(answered),
            Err(error) => return Err(error.to_string()),
        }
        loop {
            let request = match frames.take() {
                Ok(Some(message)) => Message::read(&message),
                Ok(None) => break,
                Err(refusal) => return Err(refuse(output, refusal.to_string())),
            };
            answered += 1;
            let is_sent = send(output, &agent.answer(request)).is_ok();
            // The requester has disconnected, or the server stops.
            if !is_sent || !goes_on(answered) {
                return Ok(answered);
            }
        }
    }
}

fn refuse(output: &mut impl Write, why: String) -> String {
    // The requester may have disconnected; the log has the reason.
    let _ = send(output, &[Message::Error { why: why.clone() }]);
    why
}

fn send(output: &mut impl Write, messages: &[Message]) -> io::Result<()> {
    for message in messages {
        output.write_all(&agent_frame(message))?;
    }
    output.flush()
}

/// The longest request.
const REQUEST_BYTES: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::Part;
    use crate::token::{Access, TokenStatus};
    use std::time::{Duration, Instant};

    fn answers_to(bytes: &[u8]) -> (Result<u64, String>, Vec<Message>) {
        let mut output = Vec::new();
        let mut agent = Agent::open();
        let ended = serve(&mut agent, &mut &bytes[..], &mut output, |_| true);
        let mut frames = AgentFrames::new(1 << 20);
        frames.feed(&output);
        let mut sent = Vec::new();
        while let Some(value) = frames.take().unwrap() {
            sent.push(Message::read(&value).unwrap());
        }
        (ended, sent)
    }

    fn request(message: &Message) -> Vec<u8> {
        agent_frame(message)
    }

    #[test]
    fn the_hello_comes_first_and_the_end_of_the_input_ends_it() {
        let (ended, sent) = answers_to(b"");
        assert_eq!(ended, Ok(0));
        assert!(matches!(&sent[..], [Message::Hello { .. }]), "{sent:?}");
    }

    #[test]
    fn each_request_is_answered_to_its_end() {
        let mut bytes = request(&Message::Read {
            id: 7,
            part: Part::Load,
        });
        bytes.extend(request(&Message::Setup { id: 8 }));
        bytes.extend(request(&Message::Beat));
        let (ended, sent) = answers_to(&bytes);
        assert_eq!(ended, Ok(3));
        let Message::Samples { samples } = &sent[1] else {
            panic!("{sent:?}");
        };
        let sources: Vec<_> = samples.iter().map(|one| one.source.as_str()).collect();
        let load = ["/proc/stat", "/proc/self/stat", "getrusage"];
        assert_eq!(sources, load, "nothing else during a trial");
        assert_eq!(sent[2], Message::Done { id: 7 });
        assert!(sent.contains(&Message::Done { id: 8 }));
        assert!(matches!(sent.last(), Some(Message::Error { .. })));
    }

    #[test]
    fn queued_requests_end_where_the_server_stops() {
        let mut agent = Agent::open();
        let asked: Vec<u8> = (0..100).flat_map(|_| request(&Message::Beat)).collect();
        let ended = serve(&mut agent, &mut &asked[..], &mut Vec::new(), |answered| {
            answered < 3
        });
        assert_eq!(ended, Ok(3));
    }

    /// The least time is asserted, which no busy machine shortens.
    #[test]
    fn what_an_unauthenticated_peer_asks_has_a_pace_whatever_it_is() {
        let mut agent = Agent::served(Access::unauthenticated(TokenStatus::None), None);
        let asked: Vec<u8> = (0..4).flat_map(|_| request(&Message::Beat)).collect();
        let began = Instant::now();
        let ended = serve(&mut agent, &mut &asked[..], &mut Vec::new(), |_| true);
        assert_eq!(ended, Ok(4));
        assert!(began.elapsed() >= Duration::from_millis(60), "50 a second");
    }

    #[test]
    fn garbage_is_refused_and_ends_it() {
        for hostile in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            &[32, 0x7F, 0xFF, 0xFF, 0xFF],
            &[0; 64],
        ] {
            let (ended, sent) = answers_to(hostile);
            assert!(ended.is_err(), "{hostile:?}");
            assert!(matches!(sent.last(), Some(Message::Error { .. })));
        }
        let whole = request(&Message::Setup { id: 1 });
        let (ended, sent) = answers_to(&whole[..whole.len() - 1]);
        assert!(ended.is_err() && sent.len() == 1, "{sent:?}");
    }
}
