// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections that a station accepts: the first byte says what becomes of the others.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use linerate_linux::tcp;

/// Everything is sent back, the first byte too.
pub(crate) const ECHO: u8 = b'e';
/// Everything is read, nothing sent.
pub(crate) const SINK: u8 = b's';

/// Accepts the connections of one peer as long as the process lives; the port.
///
/// # Errors
/// Those of listening and of starting a thread.
pub(crate) fn serve(address: SocketAddr, peer: IpAddr) -> io::Result<u16> {
    let listener = TcpListener::bind(address)?;
    let port = listener.local_addr()?.port();
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let is_peer = stream.peer_addr().is_ok_and(|from| from.ip() == peer);
            if is_peer {
                // One that cannot be served is closed.
                let _ = thread::Builder::new().spawn(move || attend(stream));
            }
        }
    };
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(accept)?;
    Ok(port)
}

/// Ends with the connection, or when it is silent.
fn attend(mut stream: TcpStream) -> io::Result<()> {
    let options = tcp::Options {
        nodelay: true,
        ..tcp::Options::default()
    };
    tcp::adjust(&stream, &options)?;
    stream.set_read_timeout(Some(SILENCE))?;
    let mut bytes = vec![0; 64 * 1024];
    let mut mode = None;
    loop {
        let count = stream.read(&mut bytes)?;
        let read = bytes.get(..count).unwrap_or_default();
        match (*mode.get_or_insert(read.first().copied()), count) {
            (_, 0) => return Ok(()),
            (Some(ECHO), _) => stream.write_all(read)?,
            (Some(SINK), _) => {}
            _ => return Ok(()),
        }
    }
}

const SILENCE: Duration = Duration::from_secs(60);
