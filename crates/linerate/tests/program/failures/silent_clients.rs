// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server that is asked to end does so at once, whoever is connected and says nothing: the reason
//! that is logged tells that nobody's time-out was waited for.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::process::serve;

/// A connection that the server answers with nothing, or with a request for parameters.
fn unauthenticated(port: u16, says: &[u8], answer: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(says).unwrap();
    let mut heard = vec![0; answer.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard, answer);
    stream
}

#[test]
fn silent_clients_do_not_hold_up_the_end() {
    let (server, port) = serve();
    let mut cookie = vec![b'a'; 36];
    cookie.push(0);
    // Connections are met in their order: all are, when the last was answered.
    let silent: Vec<_> = (0..30).map(|_| unauthenticated(port, b"", b"")).collect();
    let slow = unauthenticated(port, &cookie[..5], b"");
    let asked = unauthenticated(port, &cookie, &[9]);
    server.signal("TERM");
    let ended = server.end();
    drop((silent, slow, asked));
    let given_up = ended
        .stderr
        .matches("refused: the server is shutting down")
        .count();
    let reported = ended.stderr.matches("the server is shutting down").count();
    assert!(given_up >= 31 && reported == 32, "{}", ended.stderr);
    for patience in ["no cookie within", "no parameters in time"] {
        assert!(!ended.stderr.contains(patience), "{}", ended.stderr);
    }
}
