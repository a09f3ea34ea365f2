//! Splits a stream into messages: `Content-Length` framing that survives garbage and oversize.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The largest message that is kept, in bytes. As JSON values it can take thirty times as much. The requested data,
/// diagnostics and fixes of one file, reaches some 2 MB.
pub(crate) const LIMIT: u64 = 8 * 1024 * 1024;

/// Bytes of the longest line that can be a header.
const LINE_LIMIT: u64 = 8 * 1024;

const LENGTH: &str = "content-length:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Body(Vec<u8>),
    /// A message over the limit, in bytes; it was read and thrown away.
    TooLarge(u64),
}

/// The next frame; `None` at the end of the stream, even inside a frame.
///
/// Text between frames that is not a header (a server that prints to its standard output) is skipped.
pub async fn read(reader: &mut (impl AsyncBufRead + Unpin), limit: u64) -> io::Result<Option<Frame>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut *reader).take(LINE_LIMIT).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        let text = line.trim_ascii();
        match (content_length(text), length) {
            (Some(found), _) => length = Some(found),
            (None, Some(length)) if text.is_empty() => return body(reader, length, limit).await,
            _ => {}
        }
    }
}

/// The number after the last `Content-Length:` of a line: garbage without a line end may stand before it.
fn content_length(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?.to_ascii_lowercase();
    line.rfind(LENGTH).and_then(|at| line[at + LENGTH.len()..].trim().parse().ok())
}

async fn body(reader: &mut (impl AsyncBufRead + Unpin), length: u64, limit: u64) -> io::Result<Option<Frame>> {
    let mut part = reader.take(length);
    if length > limit {
        let thrown = tokio::io::copy(&mut part, &mut tokio::io::sink()).await?;
        return Ok((thrown == length).then_some(Frame::TooLarge(length)));
    }
    // Grown as the bytes come, so that a false length costs no memory.
    let mut bytes = Vec::new();
    part.read_to_end(&mut bytes).await?;
    Ok((bytes.len() as u64 == length).then_some(Frame::Body(bytes)))
}

/// A body with its header.
pub fn encode(body: &[u8]) -> Vec<u8> {
    let mut out = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use proptest::prelude::*;
    use tokio::io::{AsyncRead, BufReader, ReadBuf};

    use super::*;

    /// Hands its bytes out in pieces of given sizes.
    struct Pieces(VecDeque<Vec<u8>>);

    impl AsyncRead for Pieces {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            if let Some(piece) = self.0.pop_front() {
                let now = piece.len().min(buf.remaining());
                buf.put_slice(&piece[..now]);
                if now < piece.len() {
                    self.0.push_front(piece[now..].to_vec());
                }
            }
            Poll::Ready(Ok(()))
        }
    }

    fn all(bytes: &[u8], sizes: &[usize], limit: u64) -> Vec<Frame> {
        let mut pieces = VecDeque::new();
        let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            pieces.push_back(now.to_vec());
            rest = later;
        }
        let mut reader = BufReader::new(Pieces(pieces));
        let mut frames = Vec::new();
        while let Some(frame) = futures::executor::block_on(read(&mut reader, limit)).unwrap() {
            frames.push(frame);
        }
        frames
    }

    #[test]
    fn garbage_other_headers_and_oversize_are_passed_over() {
        let mut bytes = b"starting up...\n\nno line end".to_vec();
        bytes.extend(encode(b"{}"));
        bytes.extend(b"Content-Length: many\r\n\r\n{\"lost\":1}\r\n");
        bytes.extend(encode(&[b'x'; 50]));
        bytes.extend(b"content-length:  3\r\nContent-Type: x\r\n\r\nabc");
        bytes.extend(b"Content-Length: 99\r\n\r\ncut off");
        let wanted = vec![Frame::Body(b"{}".to_vec()), Frame::TooLarge(50), Frame::Body(b"abc".to_vec())];
        assert_eq!(all(&bytes, &[7], 40), wanted);
    }

    proptest! {
        #[test]
        fn frames_survive_any_split(
            bodies in prop::collection::vec("[ -~ä\n]{0,40}", 0..6),
            garbage in "[a-z \n]{0,30}",
            sizes in prop::collection::vec(1usize..20, 1..8),
        ) {
            let mut bytes = garbage.into_bytes();
            bodies.iter().for_each(|body| bytes.extend(encode(body.as_bytes())));
            let wanted: Vec<Frame> = bodies.iter().map(|body| Frame::Body(body.clone().into_bytes())).collect();
            prop_assert_eq!(all(&bytes, &sizes, LIMIT), wanted);
        }

        #[test]
        fn any_bytes_end_without_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            all(&bytes, &[5], LIMIT);
        }
    }
}
