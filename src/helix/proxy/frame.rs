//! Finds the end of each message, and keeps every byte: unknown headers, and a program's output between messages.

use std::io::{self, BufRead, Read};

/// The largest body that is kept and looked at, in bytes. A larger one goes through in parts.
const LIMIT: u64 = 64 * 1024 * 1024;
/// The longest header line, in bytes, and the most bytes before a header until they go through by themselves.
const LINE: u64 = 8 * 1024;
/// Bytes of one part.
const PART: u64 = 256 * 1024;

/// The longest body of an editor, in bytes: it sends texts of any size whole.
pub(super) const FROM_EDITOR: u64 = 1 << 30;
/// The longest body of a server, in bytes. Bytes behind a false length are taken for its body, and while a body goes
/// through in parts nothing else reaches the editor: a length that needs parts ends the server.
pub(super) const FROM_SERVER: u64 = LIMIT;
/// Bytes of all headers of one message.
const HEAD: usize = 64 * 1024;
/// The most bytes between two messages that are sent on as a program's output.
const NOISE: u64 = 16 * 1024 * 1024;

const LENGTH: &[u8] = b"content-length:";

/// A message as it came, with any bytes before its header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawMessage {
    pub(super) bytes: Vec<u8>,
    /// The offset of its body.
    pub(super) body: usize,
}

impl RawMessage {
    pub(super) fn body(&self) -> &[u8] {
        self.bytes.get(self.body..).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamPiece {
    Message(RawMessage),
    /// A part of bytes that are not a message, or of a message that is too large. Nothing else may be written until the
    /// last one.
    Part {
        bytes: Vec<u8>,
        last: bool,
    },
}

/// Splits a stream into pieces. All pieces together are all of its bytes.
#[derive(Debug)]
pub(super) struct Pieces<R> {
    reader: R,
    /// The longest body that is sent on, in bytes.
    longest: u64,
    /// The remaining bytes of a body that is too large.
    left: u64,
    /// The bytes since the last message that belong to no message.
    noise: u64,
}

impl<R: BufRead> Pieces<R> {
    pub(super) fn new(reader: R, longest: u64) -> Self {
        Self { reader, longest, left: 0, noise: 0 }
    }

    /// The next piece; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream breaks, or is not a stream of messages: the bytes behind it cannot be separated from it.
    pub(super) fn next(&mut self) -> io::Result<Option<StreamPiece>> {
        if self.left > 0 {
            return self.part();
        }
        let mut bytes = Vec::new();
        let (mut length, mut wrong) = (None, None);
        loop {
            let line = bytes.len();
            if (&mut self.reader).take(LINE).read_until(b'\n', &mut bytes)? == 0 {
                return Ok((!bytes.is_empty()).then_some(StreamPiece::Part { bytes, last: true }));
            }
            let text = bytes[line..].trim_ascii();
            if let Some(length) = false_length(text, self.longest) {
                wrong = Some(length);
            }
            if text.is_empty()
                && length.is_none_or(|length| length > self.longest)
                && let Some(wrong) = &wrong
            {
                return Err(broken(&format!("a message of the length {wrong}")));
            }
            if length.is_some() && bytes.len() > HEAD {
                return Err(broken("a head without an end"));
            }
            match (content_length(text), length) {
                (Some(found), _) => length = Some(found),
                (None, Some(length)) if text.is_empty() => return self.body(bytes, length),
                (None, None) if bytes.len() as u64 > LINE => {
                    self.noise += bytes.len() as u64;
                    let ends = self.noise > NOISE;
                    return if ends {
                        Err(broken("no message"))
                    } else {
                        Ok(Some(StreamPiece::Part { bytes, last: true }))
                    };
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, mut bytes: Vec<u8>, length: u64) -> io::Result<Option<StreamPiece>> {
        if length > LIMIT {
            self.left = length;
            return Ok(Some(StreamPiece::Part { bytes, last: false }));
        }
        let body = bytes.len();
        self.noise = 0;
        // Beyond this the buffer grows as the bytes come, so that a false length costs no memory.
        bytes.reserve(length.min(4 * 1024 * 1024) as usize);
        let read = (&mut self.reader).take(length).read_to_end(&mut bytes)?;
        Ok(Some(if read as u64 == length {
            StreamPiece::Message(RawMessage { bytes, body })
        } else {
            StreamPiece::Part { bytes, last: true }
        }))
    }

    fn part(&mut self) -> io::Result<Option<StreamPiece>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(self.left.min(PART)).read_to_end(&mut bytes)?;
        self.left = if read == 0 { 0 } else { self.left - read as u64 };
        Ok(Some(StreamPiece::Part { bytes, last: self.left == 0 }))
    }
}

/// The value of a length header that cannot be a length.
fn false_length(line: &[u8], longest: u64) -> Option<String> {
    let (name, value) = line.split_at_checked(LENGTH.len())?;
    let is_false = name.eq_ignore_ascii_case(LENGTH) && content_length(line).is_none_or(|length| length > longest);
    is_false.then(|| String::from_utf8_lossy(value).trim().to_owned())
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it sends {what}"))
}

/// The number after the last `Content-Length:` of a line: a program's output may stand before it, without a line end.
fn content_length(line: &[u8]) -> Option<u64> {
    let at = line.windows(LENGTH.len()).rposition(|window| window.eq_ignore_ascii_case(LENGTH))?;
    std::str::from_utf8(&line[at + LENGTH.len()..]).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> Vec<StreamPiece> {
        let mut pieces = Pieces::new(BufReader::with_capacity(7, bytes), FROM_EDITOR);
        std::iter::from_fn(|| pieces.next().unwrap()).collect()
    }

    fn joined(pieces: &[StreamPiece]) -> Vec<u8> {
        let bytes = |piece: &StreamPiece| match piece {
            StreamPiece::Message(message) => message.bytes.clone(),
            StreamPiece::Part { bytes, .. } => bytes.clone(),
        };
        pieces.iter().flat_map(bytes).collect()
    }

    fn body(piece: &StreamPiece) -> Option<&[u8]> {
        match piece {
            StreamPiece::Message(message) => Some(message.body()),
            StreamPiece::Part { .. } => None,
        }
    }

    fn bodies(pieces: &[StreamPiece]) -> Vec<&[u8]> {
        pieces.iter().filter_map(body).collect()
    }

    #[test]
    fn headers_and_what_is_printed_are_kept_and_a_message_is_found() {
        let text = b"starting\n\nno endContent-Length: 2\r\nX-Y: z\r\n\r\n{}content-length:3\n\nabcContent-Length: 9\r\n\r\ncut";
        let pieces = all(text);
        assert_eq!(bodies(&pieces), [&b"{}"[..], b"abc"]);
        assert_eq!(joined(&pieces), text);
    }

    #[test]
    fn what_is_too_large_goes_through_in_parts() {
        let size = LIMIT + PART + 5;
        let head = format!("Content-Length: {size}\r\n\r\n");
        let after = b"Content-Length: 2\r\n\r\n{}";
        let stream = head.as_bytes().chain(io::repeat(b'x').take(size)).chain(&after[..]);
        let mut pieces = Pieces::new(BufReader::new(stream), FROM_EDITOR);
        let (mut seen, mut ended) = (0, 0);
        while let Some(StreamPiece::Part { bytes, last }) = pieces.next().unwrap() {
            assert!(bytes.len() as u64 <= PART);
            seen += bytes.len();
            ended += u64::from(last);
            if last {
                break;
            }
        }
        assert_eq!((seen as u64, ended), (size + head.len() as u64, 1));
        assert!(matches!(pieces.next().unwrap(), Some(StreamPiece::Message(message)) if message.body() == b"{}"));
        assert_eq!(pieces.next().unwrap(), None);
    }

    #[test]
    fn a_length_that_is_a_lie_and_a_head_without_an_end_end_the_stream() {
        let fails = |bytes: &mut dyn Read| {
            let mut pieces = Pieces::new(BufReader::new(bytes), FROM_SERVER);
            loop {
                match pieces.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                    Err(error) => return Some(error.to_string()),
                }
            }
        };
        for length in ["18446744073709551615", "100000000000000", "-5", "x", "9999999999999999999999", "67108865"] {
            let text = format!("Content-Length: {length}\r\n\r\n{{}}");
            assert_eq!(fails(&mut text.as_bytes()), Some(format!("it sends a message of the length {length}")));
        }
        let endless = |line: &'static [u8]| {
            let line: Vec<u8> = line.repeat(1000);
            io::Read::chain(&b"Content-Length: 2\r\n"[..], io::Cursor::new(line.repeat(200)))
        };
        assert_eq!(fails(&mut endless(b"X: y\r\n")), Some("it sends a head without an end".to_owned()));
        let mut noise = io::repeat(b'x').take(NOISE + 2 * LINE);
        assert_eq!(fails(&mut noise), Some("it sends no message".to_owned()));
        assert_eq!(fails(&mut &b"the Content-Length: soon\n"[..]), None, "what a program prints is no head");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_or_moved(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert_eq!(joined(&all(&bytes)), bytes);
        }

        #[test]
        fn messages_are_found_in_order(sent in prop::collection::vec("[ -~]{0,40}", 0..8), noise in "[a-z\n]{0,20}") {
            let frame = |body: &String| format!("Content-Length: {}\r\n\r\n{body}", body.len());
            let text = format!("{noise}{}", sent.iter().map(frame).collect::<String>());
            let pieces = all(text.as_bytes());
            prop_assert_eq!(bodies(&pieces), sent.iter().map(String::as_bytes).collect::<Vec<_>>());
            prop_assert_eq!(joined(&pieces), text.into_bytes());
        }
    }
}
