// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions to an agent that changes nothing, and its answers: a line of text each, one at a time.
//!
//! The agent says [`READY`] first: what a console or a banner printed before is skipped.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use linerate_linux::signal::Interrupt;
use linerate_model::failure::{Failure, printable};

use super::process::Process;
use super::way::Way;
use crate::lines::{Line, lines};

/// The near end. When it is dropped, the agent's input ends, and so does the agent.
pub struct Talk {
    /// Dropped before the process.
    questions: Box<dyn Write + Send>,
    answers: Receiver<Line>,
    process: Option<(Process, Way)>,
    interrupt: Interrupt,
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Talk").finish_non_exhaustive()
    }
}

impl Talk {
    /// Starts the agent of this `flag` on another host.
    ///
    /// # Errors
    /// Why there is none: ssh, the program there, or what came instead.
    pub fn open(way: Way, flag: &str, interrupt: &Interrupt) -> Result<Self, Failure> {
        let what = format!("reach the other host by {way}");
        let failed = |why: io::Error| Failure::measuring(what.clone(), why).hint(way.by_hand());
        let (process, input, output) = Process::start(&way, flag).map_err(failed)?;
        let mut talk = Self::over(input, output, interrupt).map_err(failed)?;
        talk.process = Some((process, way.clone()));
        match talk.wait_until_ready() {
            Ok(()) => Ok(talk),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => Err(Failure::interrupted(what)),
            Err(why) if why.kind() != io::ErrorKind::UnexpectedEof => Err(failed(why)),
            Err(_ended) => {
                let (why, hint) = talk.ended();
                Err(Failure::measuring(what, why).hint(hint))
            }
        }
    }

    /// An agent that runs already, at the other end of these.
    ///
    /// # Errors
    /// Those of starting a thread.
    pub fn over(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        interrupt: &Interrupt,
    ) -> io::Result<Self> {
        Ok(Self {
            questions: Box::new(output),
            answers: lines(input, "answers")?,
            process: None,
            interrupt: interrupt.clone(),
        })
    }

    /// The process by which it is reached; its sockets are the way there.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|(process, _)| process.id())
    }

    /// Waits until the agent can be asked.
    ///
    /// # Errors
    /// It ended, was silent, or said something else.
    pub fn wait_until_ready(&mut self) -> io::Result<()> {
        let end = Instant::now() + READY_WITHIN;
        let mut before = String::new();
        while before.len() < BEFORE_BYTES {
            let line = self.answer(end)?;
            if line.ends_with(READY) {
                return Ok(());
            }
            before += &line;
        }
        Err(io::Error::other(format!(
            "unexpected answer: \"{}\"",
            printable(before.get(..60).unwrap_or_default())
        )))
    }

    /// The answer to a line.
    ///
    /// # Errors
    /// There is none within this time, or the agent has ended.
    pub fn ask(&mut self, question: &str, within: Duration) -> io::Result<String> {
        self.questions
            .write_all(format!("{question}\n").as_bytes())?;
        self.questions.flush()?;
        self.answer(Instant::now() + within)
    }

    fn answer(&mut self, end: Instant) -> io::Result<String> {
        loop {
            match self.answers.recv_timeout(STEP) {
                Ok(Ok(line)) => return Ok(line),
                Ok(Err(_)) => return Err(io::Error::other("its answer is too long")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Err(_) if self.interrupt.requested().is_some() => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Err(_) if Instant::now() > end => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
                }
                Err(_) => {}
            }
        }
    }

    fn ended(&mut self) -> (String, String) {
        let ended = |(process, way): &mut (Process, Way)| process.ended(way);
        let known = self.process.as_mut().map(ended);
        known.unwrap_or_else(|| ("it has ended".to_owned(), String::new()))
    }
}

/// The far end: answers each line of `input` until it ends.
///
/// # Errors
/// Those of writing; a line that is too long.
pub fn answered(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut answer: impl FnMut(&str) -> String,
) -> io::Result<()> {
    output.write_all(format!("{READY}\n").as_bytes())?;
    output.flush()?;
    for line in lines(input, "questions")? {
        let line = line.map_err(|_| io::Error::other("a question of more than 64 KiB"))?;
        output.write_all(format!("{}\n", answer(&line)).as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// The agent's first line, or its end.
const READY: &str = "linerate agent: ready";
/// ssh has to connect.
const READY_WITHIN: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(100);
/// What a console may print before.
const BEFORE_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn a_question_has_an_answer_after_whatever_came_first() {
        let (near, far) = UnixStream::pair().unwrap();
        let input = far.try_clone().unwrap();
        let agent = thread::spawn(move || {
            (&far).write_all(b"Welcome\nprompt> ").unwrap();
            answered(input, far, |line| line.to_uppercase())
        });
        let mut talk = Talk::over(near.try_clone().unwrap(), near, &Interrupt::default()).unwrap();
        talk.wait_until_ready().unwrap();
        let answer = talk.ask("abc", Duration::from_secs(60)).unwrap();
        assert_eq!(answer, "ABC");
        drop(talk);
        drop(agent);
    }

    #[test]
    fn another_program_is_no_agent() {
        let noise = "x".repeat(1000) + "\n";
        let mut talk = Talk::over(
            io::Cursor::new(noise.repeat(100).into_bytes()),
            io::sink(),
            &Interrupt::default(),
        )
        .unwrap();
        let why = talk.wait_until_ready().unwrap_err().to_string();
        assert!(why.starts_with("unexpected answer: \"xxx"), "{why}");
        let mut gone = Talk::over(io::empty(), io::sink(), &Interrupt::default()).unwrap();
        let why = gone.wait_until_ready().unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::UnexpectedEof);
    }
}
