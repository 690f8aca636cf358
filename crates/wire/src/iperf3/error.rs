// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error numbers that follow `SERVER_ERROR`.

/// Total rate above the server's limit.
pub const RATE_LIMIT: i32 = 27;
/// Duration above the server's limit (3.20+).
pub const DURATION_LIMIT: i32 = 37;
/// Parameters could not be received.
pub const PARAMS_RECEIVE: i32 = 114;
/// The server was interrupted.
pub const SERVER_TERMINATED: i32 = 120;
/// The server is busy.
pub const BUSY: i32 = 121;
/// Authorization failed.
pub const AUTHORIZATION: i32 = 142;
/// No data was received.
pub const NO_DATA: i32 = 144;
/// The server's time for the test is over (3.21).
pub const TEST_EXPIRED: i32 = 160;
/// A stream could not be connected.
pub const STREAM_CONNECT: i32 = 203;

/// What an error number means, for a person.
#[must_use]
pub const fn describe(code: i32) -> &'static str {
    match code {
        RATE_LIMIT => "the total rate is above the server's limit",
        DURATION_LIMIT => "the duration is above the server's limit",
        113 => "parameters could not be sent",
        PARAMS_RECEIVE => "the server could not read the parameters",
        118 => "the server failed while waiting for input",
        119 => "the client was terminated",
        SERVER_TERMINATED => "the server was terminated",
        BUSY => "the server is busy with another test",
        AUTHORIZATION => "the server asks for a user name and password",
        NO_DATA => "the server received no data",
        TEST_EXPIRED => "the server's time for the test is over",
        202 => "the server could not listen for streams",
        STREAM_CONNECT => "the server could not connect a stream",
        204 => "the server could not accept a stream",
        205 => "the server could not write to a stream",
        206 => "the server could not read from a stream",
        207 => "the server could not close a stream",
        208 => "the results name a stream that does not exist",
        _ => "the server reported an error",
    }
}
