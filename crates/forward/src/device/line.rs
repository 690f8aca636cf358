// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line to an agent: a request, and its answer within a time and a size. Whatever carries the bytes,
//! a thread reads them.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::signal::Interrupt;
use linerate_model::output::{Host, Role};
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::iperf3::client::AGENT_BYTES;

use linerate_endpoint::extension::{Message, Part};
use linerate_endpoint::token::{ClientAuth, known};

/// What carries the line, to be closed with it.
#[derive(Debug)]
pub(super) enum Carrier {
    Process(Child),
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// An agent, as far as bytes go.
pub(super) struct Line {
    carrier: Carrier,
    output: Option<Box<dyn Write + Send>>,
    pieces: Receiver<Vec<u8>>,
    frames: AgentFrames,
    asked: u64,
    interrupt: Interrupt,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("carrier", &self.carrier)
            .finish_non_exhaustive()
    }
}

impl Line {
    /// Takes what carries it, and its two ends.
    ///
    /// # Errors
    /// Those of starting a thread.
    pub(super) fn new(
        carrier: Carrier,
        mut input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        interrupt: &Interrupt,
    ) -> Result<Self, String> {
        let (sender, pieces) = sync_channel(PIECES);
        thread::Builder::new()
            .name("device".to_owned())
            .spawn(move || {
                let mut bytes = vec![0; PIECE_BYTES];
                loop {
                    match input.read(&mut bytes) {
                        Ok(0) => return,
                        Ok(count) if sender.send(bytes[..count].to_vec()).is_err() => return,
                        Err(error) if error.kind() != ErrorKind::Interrupted => return,
                        Ok(_) | Err(_) => {}
                    }
                }
            })
            .map_err(|error| error.to_string())?;
        Ok(Self {
            carrier,
            output: Some(Box::new(output)),
            pieces,
            frames: AgentFrames::new(AGENT_BYTES),
            asked: 0,
            interrupt: interrupt.clone(),
        })
    }

    /// Whether it ended because of the user.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.requested().is_some()
    }

    /// The first that an agent says. A server may ask for a proof before.
    pub(super) fn hello(&mut self, mut auth: ClientAuth, within: Duration) -> Result<Host, String> {
        let end = Instant::now() + within;
        let mut message = self.hear(end)?.0;
        if let Message::Challenge { nonce } = &message {
            let answer = auth.answer(nonce);
            self.say(&answer.ok_or("it asks for a proof of nothing")?)?;
            message = self.hear(end)?.0;
        }
        match message {
            Message::Hello {
                host, token, proof, ..
            } => {
                let withheld = auth.judge(token, proof.as_deref());
                Ok(known(*host, withheld))
            }
            Message::Error { why } => Err(printable(&why)),
            _ => Err("it does not begin as an agent does".to_owned()),
        }
    }

    /// What it reads now, as the device's.
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

    /// How it is set up, as the device's.
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
        self.asked += 1;
        let id = self.asked;
        self.say(&request(id))?;
        let mut room_bytes = ANSWER_BYTES;
        loop {
            match self.hear(end)? {
                (Message::Done { id: of }, _) if of == id => return Ok(()),
                (Message::Error { why }, _) => return Err(printable(&why)),
                (message, bytes) => {
                    room_bytes = room_bytes
                        .checked_sub(bytes)
                        .ok_or("its answer has no end")?;
                    take(message);
                }
            }
        }
    }

    fn say(&mut self, message: &Message) -> Result<(), String> {
        let output = self.output.as_mut().ok_or("the line is closed")?;
        let sent = output.write_all(&agent_frame(message));
        sent.and_then(|()| output.flush())
            .map_err(|error| format!("it has gone ({error})"))
    }

    /// The next message that this version knows, and how many bytes came for it.
    fn hear(&mut self, end: Instant) -> Result<(Message, usize), String> {
        let mut came_bytes = 0;
        loop {
            let refused = |refusal| format!("what it says is no agent's answer: {refusal}");
            if let Some(value) = self.frames.take().map_err(refused)? {
                match Message::read(&value) {
                    Some(message) => return Ok((message, came_bytes)),
                    None => continue,
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("no answer in time".to_owned());
            }
            match self.pieces.recv_timeout(left.min(STEP)) {
                Ok(piece) => {
                    came_bytes += piece.len();
                    self.frames.feed(&piece);
                }
                Err(RecvTimeoutError::Timeout) if self.interrupt.requested().is_some() => {
                    return Err("interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.epitaph()),
            }
        }
    }

    /// Why nothing more comes.
    fn epitaph(&mut self) -> String {
        let status = match &mut self.carrier {
            Carrier::Process(child) => child.wait().ok(),
            Carrier::Tcp(_) | Carrier::Unix(_) => None,
        };
        match status {
            Some(status) => format!("its command has ended ({status})"),
            None => "it closed the connection".to_owned(),
        }
    }
}

impl Drop for Line {
    /// An agent ends when its input does; one that does not is ended.
    fn drop(&mut self) {
        self.output = None;
        match &mut self.carrier {
            Carrier::Process(child) => part(child),
            // It may be closed already.
            Carrier::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            Carrier::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }
}

fn part(child: &mut Child) {
    let end = Instant::now() + GOODBYE;
    while Instant::now() < end {
        if let Ok(Some(_)) | Err(_) = child.try_wait() {
            return;
        }
        thread::sleep(STEP / 10);
    }
    // It may have ended just now.
    let _ = child.kill();
    let _ = child.wait();
}

/// What a stranger says is shown without its control characters, and not at any length.
fn printable(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(SHOWN_CHARACTERS).collect()
}

const PIECES: usize = 16;
const PIECE_BYTES: usize = 64 * 1024;
/// More than the counters of a machine with hundreds of queues.
const ANSWER_BYTES: usize = 16 << 20;
const STEP: Duration = Duration::from_millis(100);
const GOODBYE: Duration = Duration::from_millis(1000);
const SHOWN_CHARACTERS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::JoinHandle;

    /// A line to a peer that says this, and then waits for the end.
    fn peer(says: Vec<u8>) -> (Line, JoinHandle<()>) {
        let (own, mut theirs) = UnixStream::pair().unwrap();
        let input = own.try_clone().unwrap();
        let output = own.try_clone().unwrap();
        let line = Line::new(Carrier::Unix(own), input, output, &Interrupt::default()).unwrap();
        let talk = thread::spawn(move || {
            // The line may have been closed for what was said.
            let _ = theirs.write_all(&says);
            let _ = std::io::copy(&mut theirs, &mut std::io::sink());
        });
        (line, talk)
    }

    fn said(messages: &[Message]) -> Vec<u8> {
        let frames = messages.iter().map(|one| agent_frame(one));
        frames.flatten().collect()
    }

    fn read(says: Vec<u8>, within: Duration) -> Result<Vec<Sample>, String> {
        let (mut line, talk) = peer(says);
        let read = line.samples(Part::Load, within);
        drop(line);
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
            (b"Last login: never\n".to_vec(), LONG, "no agent's answer"),
            (vec![32, 0x7F, 0xFF, 0xFF, 0xFF], LONG, "no agent's answer"),
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
        assert_eq!(error, "its answer has no end");
    }

    #[test]
    fn who_says_something_else_first_is_no_agent() {
        let (mut line, talk) = peer(said(&[Message::Beat]));
        assert!(line.hello(ClientAuth::default(), LONG).is_err());
        drop(line);
        talk.join().unwrap();
    }
}
