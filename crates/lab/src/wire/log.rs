// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of the wire: the fate of every UDP datagram, one JSON object per line.
//!
//! It shares nothing with any receiver's accounting: it reads the frames itself and logs the first 16 bytes of each
//! payload, where every protocol has its sequence number. A thread writes the frames in chunks.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use super::{DirectionReport, WireSpec};
use crate::LabError;

/// The log, being written.
#[derive(Debug)]
pub(super) struct Log {
    chunks: Sender<Chunk>,
    writer: JoinHandle<io::Result<BufWriter<File>>>,
}

type Chunk = (&'static str, Vec<Record>);

impl Log {
    pub(super) fn create(path: &Path, spec: &WireSpec) -> Result<Self, LabError> {
        let what = format!("write the wire's log {}", path.display());
        let file = File::create(path).map_err(|why| LabError::measuring(&what, why))?;
        let mut out = BufWriter::new(file);
        writeln!(
            out,
            r#"{{"schema":"linerate.wire-log/1","seed":{}}}"#,
            spec.seed
        )
        .map_err(|why| LabError::measuring(&what, why))?;
        let (chunks, received) = channel();
        let writer = Builder::new()
            .name("wire-log".to_owned())
            .spawn(move || write_all(received, out))
            .map_err(|why| LabError::measuring(&what, why))?;
        Ok(Self { chunks, writer })
    }

    pub(super) fn direction(&self, name: &'static str) -> DirectionLog {
        DirectionLog {
            name,
            chunk: Vec::with_capacity(CHUNK),
            chunks: self.chunks.clone(),
        }
    }

    /// Waits until all is written; the directions must have ended.
    pub(super) fn finish(self, directions: &Vec<DirectionReport>) -> io::Result<()> {
        let Self { chunks, writer } = self;
        drop(chunks);
        let mut out = writer
            .join()
            .map_err(|_| io::Error::other("the writer panicked"))??;
        for direction in directions {
            writeln!(
                out,
                r#"{{"dir":"{}","frames":{},"missed":{},"no_room":{},"refused":{}}}"#,
                direction.name,
                direction.received,
                direction.missed,
                direction.no_room,
                direction.refused,
            )?;
        }
        out.flush()
    }
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// How often it was delivered.
    pub copies: u8,
    /// Which of the frame's bits was flipped: byte, times 8, plus the bit of it from the lowest.
    pub corrupt_bit: Option<u64>,
    /// Why it was not delivered; empty: it was.
    pub why: &'static str,
    pub delay_ns: u64,
}

impl Entry {
    pub(super) fn lost(why: &'static str) -> Self {
        Self {
            copies: 0,
            corrupt_bit: None,
            why,
            delay_ns: 0,
        }
    }
}

/// The log of one direction.
pub(super) struct DirectionLog {
    name: &'static str,
    chunk: Vec<Record>,
    chunks: Sender<Chunk>,
}

impl DirectionLog {
    /// Notes a frame if it holds the start of a UDP datagram.
    pub(super) fn note(&mut self, time_ns: u64, frame: &[u8], entry: Entry) {
        let Some(datagram) = Datagram::find(frame) else {
            return;
        };
        self.chunk.push(Record {
            time_ns,
            datagram,
            entry,
        });
        if self.chunk.len() == CHUNK {
            self.send_chunk(Vec::with_capacity(CHUNK));
        }
    }

    fn send_chunk(&mut self, fresh: Vec<Record>) {
        let full = std::mem::replace(&mut self.chunk, fresh);
        // The writer has ended after an error, which `finish` returns.
        let _writer_gone = self.chunks.send((self.name, full));
    }
}

impl Drop for DirectionLog {
    fn drop(&mut self) {
        self.send_chunk(Vec::new());
    }
}

struct Record {
    time_ns: u64,
    datagram: Datagram,
    entry: Entry,
}

/// A datagram in the log.
#[derive(Debug, PartialEq, Eq)]
struct Datagram {
    source_port: u16,
    destination_port: u16,
    payload_bytes: u16,
    head: [u8; 16],
    head_bytes: u8,
}

impl Datagram {
    /// Untagged Ethernet, IPv4 (first fragments too) or IPv6 without extension headers.
    fn find(frame: &[u8]) -> Option<Self> {
        let udp = match frame.get(12..14)? {
            [0x08, 0x00] => {
                let ip = frame.get(14..)?;
                let first_fragment = u16::from_be_bytes([*ip.get(6)?, *ip.get(7)?]) & 0x1fff == 0;
                let udp = *ip.get(9)? == UDP && first_fragment;
                ip.get(usize::from(ip.first()? & 0xf) * 4..)
                    .filter(|_| udp)?
            }
            [0x86, 0xdd] => {
                let udp = *frame.get(20)? == UDP;
                frame.get(54..).filter(|_| udp)?
            }
            _ => return None,
        };
        let word = |at: usize| Some(u16::from_be_bytes([*udp.get(at)?, *udp.get(at + 1)?]));
        let payload_bytes = word(4)?.checked_sub(8)?;
        let payload = udp.get(8..)?;
        let mut head = [0; 16];
        let length = payload.len().min(head.len()).min(payload_bytes.into());
        head[..length].copy_from_slice(&payload[..length]);
        Some(Self {
            source_port: word(0)?,
            destination_port: word(2)?,
            payload_bytes,
            head,
            head_bytes: length as u8,
        })
    }
}

fn write_all(chunks: Receiver<Chunk>, mut out: BufWriter<File>) -> io::Result<BufWriter<File>> {
    for (direction, records) in chunks {
        records
            .iter()
            .try_for_each(|record| write_one(&mut out, direction, record))?;
    }
    Ok(out)
}

fn write_one(out: &mut impl Write, direction: &str, record: &Record) -> io::Result<()> {
    let Record {
        time_ns,
        datagram,
        entry,
    } = record;
    let (src, dst, bytes) = (
        datagram.source_port,
        datagram.destination_port,
        datagram.payload_bytes,
    );
    write!(
        out,
        r#"{{"t_ns":{time_ns},"dir":"{direction}","src":{src},"dst":{dst},"bytes":{bytes},"head":""#
    )?;
    for byte in &datagram.head[..datagram.head_bytes.into()] {
        write!(out, "{byte:02x}")?;
    }
    write!(
        out,
        r#"","copies":{},"corrupted":{}"#,
        entry.copies,
        entry.corrupt_bit.is_some()
    )?;
    if let Some(bit) = entry.corrupt_bit {
        write!(out, r#","bit":{bit}"#)?;
    }
    match entry.why {
        "" => writeln!(out, r#","delay_ns":{}}}"#, entry.delay_ns),
        why => writeln!(out, r#","lost":"{why}"}}"#),
    }
}

const UDP: u8 = 17;
const CHUNK: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet, IPv4 header of 20 bytes, UDP 1000 to 5201 with 18 bytes.
    fn frame() -> Vec<u8> {
        let mut frame = vec![0; 14 + 20 + 8 + 18];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14] = 0x45;
        frame[23] = UDP;
        frame[34..36].copy_from_slice(&1000u16.to_be_bytes());
        frame[36..38].copy_from_slice(&5201u16.to_be_bytes());
        frame[38..40].copy_from_slice(&26u16.to_be_bytes());
        frame[42..]
            .iter_mut()
            .zip(1..)
            .for_each(|(byte, number)| *byte = number);
        frame
    }

    #[test]
    fn a_datagram_becomes_a_line() -> io::Result<()> {
        let datagram = Datagram::find(&frame()).ok_or(io::ErrorKind::NotFound)?;
        let entry = Entry {
            copies: 1,
            corrupt_bit: None,
            why: "",
            delay_ns: 7,
        };
        let mut line = Vec::new();
        write_one(
            &mut line,
            "a-b",
            &Record {
                time_ns: 5,
                datagram,
                entry,
            },
        )?;
        let expected = concat!(
            r#"{"t_ns":5,"dir":"a-b","src":1000,"dst":5201,"bytes":18,"#,
            r#""head":"0102030405060708090a0b0c0d0e0f10","#,
            r#""copies":1,"corrupted":false,"delay_ns":7}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&line), expected);
        Ok(())
    }

    #[test]
    fn other_frames_are_not_noted() {
        let mut tcp = frame();
        tcp[23] = 6;
        let mut later_fragment = frame();
        later_fragment[21] = 1;
        for other in [
            tcp,
            later_fragment,
            frame()[..40].to_vec(),
            vec![0; 60],
            Vec::new(),
        ] {
            assert_eq!(Datagram::find(&other), None);
        }
    }
}
