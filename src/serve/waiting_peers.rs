//! Holds peers at a port until the token is known: for a moment, and never in the place of a peer with the token.
//!
//! Every connection to a port of this machine comes from this machine, so a count by address means nothing. Instead the
//! room before the door has a limited size. When the next peer comes, the one that has waited longest leaves, after a
//! moment. In that moment a request that is sent at once is read, however many silent peers wait.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;

use sextant_base::access_token;
use sextant_base::lock::lock;

/// The most connections that wait at a time.
const MOST: usize = 256;
/// The least time for every peer, however many come: a request that is sent at once is there by then.
const MOMENT: Duration = Duration::from_millis(50);
/// The time limit for the first bytes.
const FIRST: Duration = Duration::from_secs(1);
/// The time limit for the head of a request, and for the answer to a request without the token.
const HEAD: Duration = Duration::from_secs(2);
/// The most bytes of a head.
const LONGEST: usize = 16 * 1024;

/// Connections that the system holds until they are accepted. If that is full, the system makes the next ones wait a
/// second.
const BACKLOG: u32 = 4096;

/// Listens on this machine alone; port 0 means any free port.
///
/// # Errors
/// The port is taken.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(BACKLOG)
}

/// The room before the door.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingRoom(Arc<Mutex<VecDeque<(Instant, CancellationToken)>>>);

/// One place in the room, until this is dropped.
pub(crate) struct WaitingPlace {
    room: WaitingRoom,
    leave: CancellationToken,
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        lock(&self.room.0).retain(|(_, other)| *other != self.leave);
    }
}

impl WaitingRoom {
    /// A place in the room, as soon as one is free: the next peer waits outside until then.
    pub(crate) async fn enter(&self) -> WaitingPlace {
        let leave = CancellationToken::new();
        while let Some(left) = self.take(&leave) {
            tokio::time::sleep(left).await;
        }
        WaitingPlace { room: self.clone(), leave }
    }

    /// The time to wait for a place; `None` if one was taken.
    fn take(&self, leave: &CancellationToken) -> Option<Duration> {
        let mut waiting = lock(&self.0);
        if let Some((since, oldest)) = waiting.front().filter(|_| waiting.len() >= MOST) {
            let left = MOMENT.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Some(left);
            }
            oldest.cancel();
            waiting.pop_front();
        }
        waiting.push_back((Instant::now(), leave.clone()));
        None
    }
}

impl WaitingPlace {
    /// Reads the head of a connection's first request, and lets `serve` answer it: `true` if the head has the token. A
    /// request without the token is answered within its time limit.
    pub(crate) async fn admit<F>(self, mut stream: TcpStream, wanted: &str, serve: impl FnOnce(ReadAhead, bool) -> F)
    where
        F: Future<Output = ()>,
    {
        let left = self.leave.clone();
        let head = tokio::select! {
            biased;
            head = tokio::time::timeout(HEAD, head_of(&mut stream)) => head.ok().flatten(),
            () = left.cancelled() => None,
        };
        let Some(head) = head else { return };
        let known = has_token(&head, wanted);
        let served = serve(ReadAhead { head, at: 0, stream }, known);
        if known {
            drop(self);
            return served.await;
        }
        tokio::select! {
            _ = tokio::time::timeout(HEAD, served) => {}
            () = left.cancelled() => {}
        }
    }
}

/// The bytes up to the end of a head, with those behind it; `None` if the head does not end in time.
async fn head_of(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece);
        let read = if head.is_empty() { tokio::time::timeout(FIRST, read).await.ok()? } else { read.await };
        let count = read.ok().filter(|count| *count > 0)?;
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(piece.get(..count)?);
        if head.get(from..)?.windows(4).any(|end| end == b"\r\n\r\n") {
            return Some(head);
        }
        if head.len() > LONGEST {
            return None;
        }
    }
}

/// True if a head has the token. The service that answers the request checks all of it again, more strictly.
fn has_token(head: &[u8], wanted: &str) -> bool {
    let text = String::from_utf8_lossy(head);
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    let mut given = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let own = name.eq_ignore_ascii_case("authorization");
        own.then(|| value.trim().strip_prefix("Bearer ").unwrap_or_default().trim().to_owned())
    });
    given.next().is_some_and(|given| access_token::same(&given, wanted))
}

/// A connection whose beginning was read already.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    head: Vec<u8>,
    at: usize,
    stream: TcpStream,
}

impl AsyncRead for ReadAhead {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let at = self.at;
        if let Some(left) = self.head.get(at..).filter(|left| !left.is_empty()) {
            let count = left.len().min(into.remaining());
            into.put_slice(&left[..count]);
            self.at += count;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for ReadAhead {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_looked_through_for_the_token_alone() {
        let head = |lines: &str| format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n").into_bytes();
        assert!(has_token(&head("Host: x\r\nauthorization: Bearer abc"), "abc"));
        for without in ["Host: x", "Authorization: abc", "Authorization: Bearer abcd", "X: Authorization: Bearer abc"] {
            assert!(!has_token(&head(without), "abc"), "{without}");
        }
        assert!(!has_token(b"GET / HTTP/1.1\r\n\r\nAuthorization: Bearer abc\r\n\r\n", "abc"), "a body is no head");
    }

    #[tokio::test]
    async fn the_longest_wait_leaves_first_and_not_before_a_moment() {
        let room = WaitingRoom::default();
        let mut places = Vec::new();
        let began = Instant::now();
        for _ in 0..MOST + 3 {
            places.push(room.enter().await);
        }
        assert!(began.elapsed() >= MOMENT, "{:?}", began.elapsed());
        let left = places.iter().filter(|place| place.leave.is_cancelled()).count();
        assert_eq!((left, places[3].leave.is_cancelled(), lock(&room.0).len()), (3, false, MOST));
        drop(places);
        assert!(lock(&room.0).is_empty());
    }
}
