// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ceiling of one datagram per system call: a loop of `send(2)` against a loop of `recv(2)` that is never woken, and
//! nothing else. No program that makes a system call per datagram sends more through the same kernel.
//!
//! `xtask bare receive PORT` and `xtask bare send HOST PORT PAYLOAD_BYTES SECONDS`, which prints what was sent and received.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::Outcome;

/// Either side.
pub(crate) fn run(words: &[&str]) -> Outcome {
    match words {
        ["receive", port] => receive(port.parse()?)?,
        ["send", host, port, payload_bytes, seconds] => {
            let length = Duration::from_secs(seconds.parse()?);
            let [sent, received] = send((host, port.parse()?), payload_bytes.parse()?, length)?;
            println!("{sent} {received}");
        }
        _ => return Err("bare: expected receive PORT or send HOST PORT BYTES SECONDS".into()),
    }
    Ok(true)
}

fn receive(port: u16) -> io::Result<()> {
    let data = UdpSocket::bind(("0.0.0.0", port))?;
    data.set_nonblocking(true)?;
    // As much as all others are given.
    SockRef::from(&data).set_recv_buffer_size(4 << 20)?;
    // Last: it is what the bench waits for.
    let (mut control, _) = TcpListener::bind(("0.0.0.0", port))?.accept()?;
    let over = AtomicBool::new(false);
    let received = thread::scope(|scope| {
        let counting = scope.spawn(|| count(&data, &over));
        let ended = control.read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
        let count = counting.join().map_err(|_panic| io::ErrorKind::Other)?;
        ended.map(|_bytes| count)
    })?;
    control.write_all(received.to_string().as_bytes())
}

/// Until the sender is done and the socket is empty.
fn count(data: &UdpSocket, over: &AtomicBool) -> u64 {
    let (mut received, mut block) = (0, [0; 2048]);
    loop {
        let was_over = over.load(Ordering::Relaxed);
        match data.recv(&mut block) {
            Ok(_length) => received += 1,
            Err(_empty) if was_over => return received,
            // Not a wake-up, which the sender's processor would pay for; not a spin, which takes the queue's lock from it.
            Err(_empty) => thread::sleep(NAP),
        }
    }
}

/// Datagrams sent, and received there.
fn send(host: (&str, u16), payload_bytes: usize, length: Duration) -> io::Result<[u64; 2]> {
    let mut control = TcpStream::connect(host)?;
    let data = UdpSocket::bind(("0.0.0.0", 0))?;
    data.connect(host)?;
    let (mut sent, block, end) = (0, vec![0; payload_bytes], Instant::now() + length);
    while Instant::now() < end {
        for _ in 0..PER_LOOK_AT_THE_CLOCK {
            sent += u64::from(data.send(&block).is_ok());
        }
    }
    control.shutdown(std::net::Shutdown::Write)?;
    let mut received = String::new();
    control.read_to_string(&mut received)?;
    let received = received.parse().map_err(io::Error::other)?;
    Ok([sent, received])
}

const NAP: Duration = Duration::from_micros(50);
const PER_LOOK_AT_THE_CLOCK: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_counted_by_the_receiver() {
        let port = crate::ports::free().unwrap();
        let server = thread::spawn(move || receive(port));
        let deadline = Instant::now() + Duration::from_secs(60);
        let [sent, received] = loop {
            match send(("127.0.0.1", port), 64, Duration::from_millis(20)) {
                Ok(counts) => break counts,
                Err(why) => assert!(Instant::now() < deadline, "{why}"),
            }
        };
        assert!(sent >= received && received > 0, "{sent} {received}");
        server.join().unwrap().unwrap();
    }
}
