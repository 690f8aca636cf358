// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection to an agent: requests, and answers of limited time and size. A thread reads the bytes from a process,
//! a TCP stream or a socket pair.

use std::fmt;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use linerate_endpoint::extension::{Message, Part};
use linerate_endpoint::token::{ClientAuth, known};
use linerate_linux::piped;
use linerate_linux::signal::Interrupt;
use linerate_model::failure::printable;
use linerate_model::output::{Host, Role};
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame, first_frame};
use linerate_wire::iperf3::client::AGENT_BYTES;

/// The transport, which is closed with the connection.
#[derive(Debug)]
pub(super) enum Transport {
    Process(Child),
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection to an agent.
pub(super) struct Connection {
    transport: Transport,
    output: Option<Box<dyn Write + Send>>,
    pieces: Receiver<Vec<u8>>,
    frames: AgentFrames,
    /// What came before the first frame of a process: a console echoes and prompts. `None` once it has come.
    preamble: Option<Vec<u8>>,
    requests: u64,
    interrupt: Interrupt,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Reads `input` on a thread, and writes requests to `output`.
    ///
    /// # Errors
    /// Those of starting a thread.
    pub(super) fn new(
        transport: Transport,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        interrupt: &Interrupt,
    ) -> Result<Self, String> {
        let pieces = piped::pieces(input, "device").map_err(|error| error.to_string())?;
        let preamble = matches!(transport, Transport::Process(_)).then(Vec::new);
        Ok(Self {
            transport,
            preamble,
            output: Some(Box::new(output)),
            pieces,
            frames: AgentFrames::new(AGENT_BYTES),
            requests: 0,
            interrupt: interrupt.clone(),
        })
    }

    /// Whether the user interrupted it.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.requested().is_some()
    }

    /// Reads the agent's first message, after a server's challenge if there is one.
    pub(super) fn hello(&mut self, mut auth: ClientAuth, within: Duration) -> Result<Host, String> {
        let end = Instant::now() + within;
        let mut message = self.receive(end)?.0;
        if let Message::Challenge { nonce } = &message {
            let answer = auth.answer(nonce);
            self.send(&answer.ok_or("it sent an empty challenge")?)?;
            message = self.receive(end)?.0;
        }
        match message {
            Message::Hello {
                host, token, proof, ..
            } => {
                let withheld = auth.judge(token, proof.as_deref());
                Ok(known(*host, withheld))
            }
            Message::Error { why } => Err(printable(&why)),
            _ => Err("its first bytes are not an agent's".to_owned()),
        }
    }

    /// Reads the device's samples.
    pub(super) fn samples(&mut self, part: Part, within: Duration) -> Result<Vec<Sample>, String> {
        let mut all = Vec::new();
        self.request(|id| Message::Read { id, part }, within, &mut |message| {
            if let Message::Samples { samples } = message {
                all.extend(samples);
            }
        })?;
        for sample in &mut all {
            sample.host = Role::Device;
            sample.phase = Some(Phase::Load);
        }
        Ok(all)
    }

    /// Reads the device's settings.
    pub(super) fn settings(&mut self, within: Duration) -> Result<Vec<Setting>, String> {
        let mut all = Vec::new();
        self.request(|id| Message::Setup { id }, within, &mut |message| {
            if let Message::Settings { settings } = message {
                all.extend(settings);
            }
        })?;
        for setting in &mut all {
            setting.host = Role::Device;
        }
        Ok(all)
    }

    fn request(
        &mut self,
        request: impl FnOnce(u64) -> Message,
        within: Duration,
        take: &mut dyn FnMut(Message),
    ) -> Result<(), String> {
        let end = Instant::now() + within;
        self.requests += 1;
        let id = self.requests;
        self.send(&request(id))?;
        let mut room_bytes = ANSWER_BYTES;
        loop {
            match self.receive(end)? {
                (Message::Done { id: of }, _) if of == id => return Ok(()),
                (Message::Error { why }, _) => return Err(printable(&why)),
                (message, bytes) => {
                    room_bytes = room_bytes
                        .checked_sub(bytes)
                        .ok_or("its answer is too long")?;
                    take(message);
                }
            }
        }
    }

    fn send(&mut self, message: &Message) -> Result<(), String> {
        let output = self.output.as_mut().ok_or("the connection is closed")?;
        let sent = output.write_all(&agent_frame(message));
        sent.and_then(|()| output.flush())
            .map_err(|error| format!("the connection is lost ({error})"))
    }

    /// Returns the next message that this version knows, and the number of bytes received for it.
    fn receive(&mut self, end: Instant) -> Result<(Message, usize), String> {
        let mut received_bytes = 0;
        loop {
            let refused = |refusal| format!("unexpected answer: {refusal}");
            if let Some(value) = self.frames.take().map_err(refused)? {
                match Message::read(&value) {
                    Some(message) => return Ok((message, received_bytes)),
                    None => continue,
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.instead("no answer in time"));
            }
            match self.pieces.recv_timeout(left.min(STEP)) {
                Ok(piece) => {
                    received_bytes += piece.len();
                    self.take(&piece)?;
                }
                Err(RecvTimeoutError::Timeout) if self.interrupt.requested().is_some() => {
                    return Err("interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.end_reason()),
            }
        }
    }

    /// Takes bytes, from the first frame on.
    fn take(&mut self, piece: &[u8]) -> Result<(), String> {
        let Some(preamble) = &mut self.preamble else {
            self.frames.feed(piece);
            return Ok(());
        };
        preamble.extend(piece);
        if let Some(at) = first_frame(preamble, AGENT_BYTES) {
            self.frames.feed(&preamble[at..]);
            self.preamble = None;
        } else if preamble.len() > PREAMBLE_BYTES {
            return Err(format!("unexpected answer: {}", said(preamble)));
        }
        Ok(())
    }

    /// Why the connection ended.
    fn end_reason(&mut self) -> String {
        let why = self.ended();
        self.instead(&why)
    }

    /// Why there is no agent, with what came instead.
    fn instead(&self, why: &str) -> String {
        match &self.preamble {
            Some(bytes) if !bytes.is_empty() => {
                format!("unexpected answer: {}; {why}", said(bytes))
            }
            _ => why.to_owned(),
        }
    }

    fn ended(&mut self) -> String {
        let status = match &mut self.transport {
            Transport::Process(child) => child.wait().ok(),
            Transport::Tcp(_) | Transport::Unix(_) => None,
        };
        match status {
            Some(status) => format!("its command has ended ({status})"),
            None => "it closed the connection".to_owned(),
        }
    }
}

/// The beginning of output that does not come from an agent.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SAID_BYTES)]);
    format!("\"{}\"", printable(text.trim()))
}

impl Drop for Connection {
    /// An agent ends when its input does; one that does not is killed.
    fn drop(&mut self) {
        self.output = None;
        match &mut self.transport {
            Transport::Process(child) => piped::reap(child, EXIT_WITHIN),
            // It may be closed already.
            Transport::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            Transport::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }
}

/// The longest preamble: a console's messages, a banner, the prompt.
const PREAMBLE_BYTES: usize = 64 * 1024;
const SAID_BYTES: usize = 60;
/// Exceeds the counters of a machine with hundreds of queues.
const ANSWER_BYTES: usize = 16 << 20;
const STEP: Duration = Duration::from_millis(100);
const EXIT_WITHIN: Duration = Duration::from_millis(1000);

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::{self, JoinHandle};

    /// A connection to a peer that sends this, and then waits for the end.
    fn peer(says: Vec<u8>) -> (Connection, JoinHandle<()>) {
        let (own, mut theirs) = UnixStream::pair().unwrap();
        let input = own.try_clone().unwrap();
        let output = own.try_clone().unwrap();
        let connection =
            Connection::new(Transport::Unix(own), input, output, &Interrupt::default()).unwrap();
        let talk = thread::spawn(move || {
            // The connection may have been closed because of the message.
            let _ = theirs.write_all(&says);
            let _ = std::io::copy(&mut theirs, &mut std::io::sink());
        });
        (connection, talk)
    }

    fn said(messages: &[Message]) -> Vec<u8> {
        let frames = messages.iter().map(agent_frame);
        frames.flatten().collect()
    }

    fn read(says: Vec<u8>, within: Duration) -> Result<Vec<Sample>, String> {
        let (mut connection, talk) = peer(says);
        let read = connection.samples(Part::Load, within);
        drop(connection);
        talk.join().unwrap();
        read
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn an_answer_is_the_device_s_and_ends_with_its_number() {
        let sample = Sample {
            source: "/proc/stat".to_owned(),
            ..Sample::default()
        };
        let samples = vec![sample; 2];
        let done = |id| Message::Done { id };
        let answer = said(&[
            done(9),
            Message::Samples { samples },
            Message::Beat,
            done(1),
        ]);
        let read = read(answer, LONG).unwrap();
        assert_eq!(read.len(), 2);
        assert!(read.iter().all(|one| one.host == Role::Device));
    }

    #[test]
    fn garbage_silence_and_complaints_are_errors() {
        let short = Duration::from_millis(1);
        for (says, within, why) in [
            (b"Last login: never\n".to_vec(), LONG, "unexpected answer"),
            (vec![32, 0x7F, 0xFF, 0xFF, 0xFF], LONG, "unexpected answer"),
            (Vec::new(), short, "no answer in time"),
            (said(&[Message::Done { id: 2 }]), short, "no answer in time"),
            (
                said(&[Message::Error {
                    why: "\u{1b}[2Jno\n".to_owned(),
                }]),
                LONG,
                "[2Jno",
            ),
        ] {
            let error = read(says, within).unwrap_err();
            assert!(error.contains(why) && !error.contains('\u{1b}'), "{error}");
        }
    }

    #[test]
    fn an_answer_without_end_is_cut_off() {
        let text = "x".repeat(900_000);
        let many = vec![Message::Error { why: text.clone() }; 1];
        assert!(read(said(&many), LONG).unwrap_err().len() < 1000);
        let samples = vec![Sample {
            source: text,
            ..Sample::default()
        }];
        let endless = vec![Message::Samples { samples }; 20];
        let error = read(said(&endless), LONG).unwrap_err();
        assert_eq!(error, "its answer is too long");
    }

    #[test]
    fn another_first_message_is_not_an_agents() {
        let (mut connection, talk) = peer(said(&[Message::Beat]));
        assert!(connection.hello(ClientAuth::default(), LONG).is_err());
        drop(connection);
        talk.join().unwrap();
    }
}
