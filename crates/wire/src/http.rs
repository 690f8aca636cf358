// SPDX-License-Identifier: MIT OR Apache-2.0
//! HTTP/1.1 (RFC 9112) of a server that has one page to read: the head of a request, and answers that close the connection.
//!
//! ```
//! use linerate_wire::http::{Method, Status, request};
//! let bytes = b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: text/plain;q=0.5, */*;q=0.1\r\n\r\n";
//! let request = request(bytes).unwrap().unwrap();
//! assert_eq!((request.method, request.path), (Method::Get, "/metrics"));
//! assert!(request.quality("text/plain") > request.quality("text/html"));
//! assert_eq!(linerate_wire::http::request(b"GET /metrics\r\n\r\n"), Err(Status::BadRequest));
//! ```

/// What a request wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The page.
    Get,
    /// The head of the answer to `Get`.
    Head,
    /// Anything else.
    Other,
}

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// What it wants done.
    pub method: Method,
    /// The target's path, without the query; as it was sent, percent signs included.
    pub path: &'a str,
    /// Content follows the head.
    pub has_content: bool,
    /// The values of `Accept`.
    accept: Vec<&'a str>,
}

/// The status codes that a server of one page needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 200.
    Ok,
    /// 400.
    BadRequest,
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 408.
    RequestTimeout,
    /// 431.
    TooLarge,
    /// 505.
    Version,
}

/// Reads the head of a request; `None`: its end has not arrived.
///
/// # Errors
/// The status to answer with.
pub fn request(bytes: &[u8]) -> Result<Option<Request<'_>>, Status> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let head = &bytes[..end.map_or(bytes.len(), |end| end + 2)];
    if end.map_or(bytes.len() + 1, |end| end + 4) > MOST_BYTES {
        return Err(Status::TooLarge);
    }
    if !is_text(head) {
        return Err(Status::BadRequest);
    }
    let head = std::str::from_utf8(head).map_err(|_| Status::BadRequest)?;
    end.map(|_| parsed(head)).transpose()
}

/// Text of ASCII whose lines end in CR LF.
fn is_text(head: &[u8]) -> bool {
    let mut before = 0;
    head.iter().all(|&byte| {
        let fits = match byte {
            b'\n' => before == b'\r',
            _ => before != b'\r' && matches!(byte, b'\r' | b'\t' | b' '..=b'~'),
        };
        before = byte;
        fits
    })
}

fn parsed(head: &str) -> Result<Request<'_>, Status> {
    let mut lines = head.split_terminator("\r\n");
    let words: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
    let &[method, target, version] = words.as_slice() else {
        return Err(Status::BadRequest);
    };
    let minor = minor(version)?;
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ if is_token(method) => Method::Other,
        _ => return Err(Status::BadRequest),
    };
    let mut request = Request {
        method,
        path: path(method, target)?,
        has_content: false,
        accept: Vec::new(),
    };
    let mut hosts = 0;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(Status::BadRequest)?;
        if !is_token(name) {
            return Err(Status::BadRequest);
        }
        hosts += u32::from(name.eq_ignore_ascii_case("host"));
        request.note(name, value.trim_matches([' ', '\t']));
    }
    // RFC 9112 §3.2.
    let fits = hosts == 1 || (hosts == 0 && minor == b'0');
    fits.then_some(request).ok_or(Status::BadRequest)
}

/// The digit after `HTTP/1.`.
fn minor(version: &str) -> Result<u8, Status> {
    match version.as_bytes() {
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor @ b'0'..=b'9',
        ] => Ok(*minor),
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => Err(Status::Version),
        _ => Err(Status::BadRequest),
    }
}

/// The path of a target in origin or absolute form (RFC 9112 §3.2); other methods may have other forms.
fn path(method: Method, target: &str) -> Result<&str, Status> {
    const SCHEME: &str = "http://";
    let absolute = target
        .get(..SCHEME.len())
        .filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let target = absolute.map_or(target, |_| after_authority(&target[SCHEME.len()..]));
    if !target.starts_with('/') && method != Method::Other {
        return Err(Status::BadRequest);
    }
    Ok(target.split('?').next().unwrap_or_default())
}

fn after_authority(rest: &str) -> &str {
    let begin = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
    if begin.starts_with('/') { begin } else { "/" }
}

/// RFC 9110 §5.6.2.
fn is_token(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

impl<'a> Request<'a> {
    fn note(&mut self, name: &str, value: &'a str) {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("accept") {
            self.accept.push(value);
        }
        self.has_content |= is("transfer-encoding") || (is("content-length") && value != "0");
    }

    /// How much the client wants this media type, in thousandths (RFC 9110 §12.5.1): the most specific range decides.
    /// Parameters other than the weight are not compared.
    #[must_use]
    pub fn quality(&self, media_type: &str) -> u16 {
        if self.accept.is_empty() {
            return MOST_QUALITY;
        }
        let all = media_type.split('/').next().unwrap_or_default();
        let ranges = self.accept.iter().flat_map(|value| value.split(','));
        let fitting = ranges.filter_map(|range| {
            let mut parts = range.split(';').map(|part| part.trim_matches([' ', '\t']));
            let range = parts.next()?;
            let specific = match range.split_once('/')? {
                ("*", "*") => 0,
                (group, "*") if group.eq_ignore_ascii_case(all) => 1,
                _ if range.eq_ignore_ascii_case(media_type) => 2,
                _ => return None,
            };
            Some((specific, parts.find_map(weight).unwrap_or(MOST_QUALITY)))
        });
        fitting.max().map_or(0, |(_, quality)| quality)
    }
}

/// The thousandths of `q=0.5`; 0 if it is not a weight.
fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.eq_ignore_ascii_case("q") {
        return None;
    }
    let value = value.parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0);
    // Not a number is 0.
    Some((value * f32::from(MOST_QUALITY)).round() as u16)
}

impl Status {
    /// Its code and phrase.
    #[must_use]
    pub const fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::RequestTimeout => "408 Request Timeout",
            Self::TooLarge => "431 Request Header Fields Too Large",
            Self::Version => "505 HTTP Version Not Supported",
        }
    }
}

/// The whole answer, or its head alone. It says that the connection closes after it.
#[must_use]
pub fn answer(status: Status, media_type: &str, content: &str, head_only: bool) -> String {
    let allow = match status {
        Status::MethodNotAllowed => "Allow: GET, HEAD\r\n",
        _ => "",
    };
    format!(
        "HTTP/1.1 {}\r\n{allow}Content-Type: {media_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{}",
        status.line(),
        content.len(),
        if head_only { "" } else { content }
    )
}

/// The longest head of a request.
pub const MOST_BYTES: usize = 8 << 10;
const MOST_QUALITY: u16 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn get(lines: &str) -> String {
        format!("GET /metrics HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
    }

    #[test]
    fn heads() {
        let page = Ok((Method::Get, "/metrics"));
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", page),
            ("GET /metrics?x=/y HTTP/1.1\r\nhOST:a\r\n\r\n", page),
            ("GET http://a:1/metrics?x HTTP/1.1\r\nHost: a\r\n\r\n", page),
            (
                "GET HTTP://a HTTP/1.1\r\nHost: a\r\n\r\n",
                Ok((Method::Get, "/")),
            ),
            ("GET /metrics HTTP/1.0\r\n\r\n", page),
            ("GET /metrics HTTP/1.0\r\n\r\nmore\0", page),
            ("HEAD / HTTP/1.1\r\nHost:\r\n\r\n", Ok((Method::Head, "/"))),
            (
                "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
                Ok((Method::Other, "/")),
            ),
            (
                "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
                Ok((Method::Other, "*")),
            ),
            (
                "get / HTTP/1.1\r\nHost: a\r\n\r\n",
                Ok((Method::Other, "/")),
            ),
            ("GET /metrics HTTP/1.1\r\n\r\n", Err(Status::BadRequest)),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Err(Status::BadRequest),
            ),
            (
                "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
                Err(Status::BadRequest),
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
                Err(Status::BadRequest),
            ),
            ("GET / HTTP/1.1\nHost: a\n\n", Err(Status::BadRequest)),
            (
                "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
                Err(Status::BadRequest),
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n",
                Err(Status::BadRequest),
            ),
            ("GET / HTTP/1.1\r\nHost: ä\r\n\r\n", Err(Status::BadRequest)),
            (
                "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
                Err(Status::BadRequest),
            ),
            (
                "GET metrics HTTP/1.1\r\nHost: a\r\n\r\n",
                Err(Status::BadRequest),
            ),
            ("GET /\r\n\r\n", Err(Status::BadRequest)),
            ("\r\n\r\n", Err(Status::BadRequest)),
            (
                "(GET) / HTTP/1.1\r\nHost: a\r\n\r\n",
                Err(Status::BadRequest),
            ),
            (
                "GET / HTTP/1.12\r\nHost: a\r\n\r\n",
                Err(Status::BadRequest),
            ),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Err(Status::Version)),
            ("\u{16}\u{3}\u{1}", Err(Status::BadRequest)),
        ] {
            let got = request(head.as_bytes()).map(|request| {
                let request = request.unwrap_or_else(|| panic!("no end: {head:?}"));
                (request.method, request.path)
            });
            assert_eq!(got, expected, "{head:?}");
        }
    }

    #[test]
    fn the_end_is_awaited_within_the_limit() {
        let whole = get("");
        for length in 0..whole.len() {
            assert_eq!(request(&whole.as_bytes()[..length]), Ok(None), "{length}");
        }
        let long = |bytes: usize| get(&format!("X: {}\r\n", "x".repeat(bytes)));
        let room = MOST_BYTES - long(0).len();
        let longest = long(room);
        assert!(matches!(request(longest.as_bytes()), Ok(Some(_))));
        for missing in 1..5 {
            let begin = &longest.as_bytes()[..longest.len() - missing];
            assert_eq!(request(begin), Ok(None), "{missing}");
        }
        assert_eq!(request(long(room + 1).as_bytes()), Err(Status::TooLarge));
        assert_eq!(request(&[b'x'; MOST_BYTES]), Err(Status::TooLarge));
    }

    #[test]
    fn content_is_seen() {
        for (lines, has_content) in [
            ("", false),
            ("Content-Length: 0\r\n", false),
            ("content-length: 1\r\n", true),
            ("Content-Length: +0\r\n", true),
            ("Transfer-Encoding: chunked\r\n", true),
        ] {
            let head = get(lines);
            let request = request(head.as_bytes()).unwrap().unwrap();
            assert_eq!(request.has_content, has_content, "{lines}");
        }
    }

    /// What Prometheus 2 and 3, curl, a browser and others send.
    #[test]
    fn the_most_specific_range_decides() {
        const OPEN: &str = "application/openmetrics-text";
        for (lines, open, plain) in [
            ("", 1000, 1000),
            ("Accept: */*\r\n", 1000, 1000),
            (
                "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n",
                1000,
                500,
            ),
            ("Accept: text/html, */*;q=0.8\r\n", 800, 800),
            ("Accept: text/plain\r\n", 0, 1000),
            ("Accept: text/*;q=0.3, */*\r\n", 1000, 300),
            (
                "Accept: TEXT/plain;q=0.2\r\nAccept: application/*; Q=0.7\r\n",
                700,
                200,
            ),
            ("Accept: text/plain;q=x, */*;q=7\r\n", 1000, 0),
            ("Accept: text/plain;q=NaN\r\n", 0, 0),
            ("Accept: ,;,/\r\n", 0, 0),
        ] {
            let head = get(lines);
            let request = request(head.as_bytes()).unwrap().unwrap();
            let got = (request.quality(OPEN), request.quality("text/plain"));
            assert_eq!(got, (open, plain), "{lines}");
        }
    }

    #[test]
    fn answers() {
        let whole = answer(Status::Ok, "text/plain", "ä\n", false);
        let head = answer(Status::Ok, "text/plain", "ä\n", true);
        assert_eq!(whole, head.clone() + "ä\n");
        assert!(
            head.starts_with(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            )
        );
        assert!(head.ends_with("\r\nConnection: close\r\n\r\n"));
        let refused = answer(Status::MethodNotAllowed, "text/plain", "", false);
        assert!(refused.contains("\r\nAllow: GET, HEAD\r\n"));
    }

    proptest! {
        /// No bytes make it panic, and what is refused or understood stays so, whatever follows.
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), more in ".{0,9}") {
            check(&bytes, more.as_bytes());
        }

        /// The same, of text that looks like a request.
        #[test]
        fn any_text(
            text in "(GET|HEAD|PUT|\\PC)? ?(/|http://)?[ -~]{0,9} ?(HTTP/)?[0-2]?.?[0-2]?\r?\n?([A-z-]{0,9}:[ -~]{0,9}\r\n){0,4}(\r\n)?",
            more in ".{0,9}",
        ) {
            check(text.as_bytes(), more.as_bytes());
        }
    }

    fn check(bytes: &[u8], more: &[u8]) {
        let longer = [bytes, more].concat();
        match request(bytes) {
            Ok(None) => {}
            settled => assert_eq!(request(&longer), settled),
        }
        if let Ok(Some(request)) = request(bytes) {
            assert!(request.quality("text/plain") <= MOST_QUALITY);
            assert!(request.method == Method::Other || request.path.starts_with('/'));
        }
    }
}
