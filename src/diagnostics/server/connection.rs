//! One server process and the pipes to it, or the socket of a running one: the writer, the reader, and the notice of
//! its death.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lsp_types::{CancelNotification, CancelParams, Id, LspAny, Notification, Request};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr};
use tokio::sync::{mpsc, watch};
use tracing::Instrument;

use crate::environment;
use crate::program::{self, ProcessGroup};
use crate::server::content_length::{self, Frame};
use crate::server::documents::DocumentNotice;
use crate::server::json_rpc::{self, Message, PendingRequests, Reply, RequestError};
use sextant_base::lock::lock;

/// Messages that may wait for the writer. A server that lets more pile up has stopped reading.
const QUEUE: usize = 1024;

/// A message of more bytes is read on a thread that may be busy.
const LARGE: usize = 64 * 1024;

/// Messages that the server sends of its own accord. The reader task calls both methods, so they must not wait.
pub(crate) trait Handler: Send + Sync + 'static {
    /// A message of any kind came.
    fn heard(&self);
    fn notification(&self, method: &str, params: LspAny);
    fn request(&self, method: &str, params: &LspAny) -> Reply;
}

/// A running server. Dropping it kills the process and all its children.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The server's name in the log.
    server: String,
    outgoing: mpsc::Sender<Vec<u8>>,
    pending: Arc<PendingRequests>,
    /// The reason why the server is gone, once it is.
    gone: watch::Receiver<Option<String>>,
    stop: mpsc::Sender<String>,
    /// The process id, for inspection.
    pub process: Option<u32>,
}

impl Connection {
    /// Starts the command in the folder. Errors are the operating system's (no such program, no right).
    pub(crate) fn spawn(
        server: &str,
        command: &[String],
        folder: &Path,
        handler: Arc<dyn Handler>,
    ) -> std::io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| std::io::Error::other("the command is empty"))?;
        // A group of its own: servers are often wrappers (a script that starts node), and both must end.
        let mut command = program::command(Path::new(program))?;
        environment::without_secrets(&mut command);
        let mut child = command
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("no pipes to the server"));
        };
        let process = child.id();
        let last_words = Arc::new(Mutex::new(String::new()));
        let logging = tokio::spawn(log(stderr, program.clone(), Arc::clone(&last_words)));
        let ended = |stopped| async move {
            let reason = end(child, stopped).await;
            logging.abort();
            let words = lock(&last_words).clone();
            if words.is_empty() { reason } else { format!("{reason}: {words}") }
        };
        Ok(Self::over(server, stdout, stdin, handler, process, ended))
    }

    /// Connects to a server that listens on a socket of this user.
    pub(crate) async fn connect(server: &str, socket: &Path, handler: Arc<dyn Handler>) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket).await?;
        if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "it is of another user"));
        }
        let ended = |mut stopped: mpsc::Receiver<String>| async move {
            stopped.recv().await.unwrap_or_else(|| "it is no longer needed".to_owned())
        };
        let (output, input) = stream.into_split();
        Ok(Self::over(server, output, input, handler, None, ended))
    }

    /// `ended` waits for the end, or causes it on a reason to stop, and returns the reason.
    fn over<E: Future<Output = String> + Send + 'static>(
        server: &str,
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
        handler: Arc<dyn Handler>,
        process: Option<u32>,
        ended: impl FnOnce(mpsc::Receiver<String>) -> E,
    ) -> Self {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (stop, stopped) = mpsc::channel(4);
        let (gone_sender, gone) = watch::channel(None);
        let pending = Arc::new(PendingRequests::new());
        let tasks = [
            tokio::spawn(write(input, queue)),
            tokio::spawn(listen(output, handler, Arc::clone(&pending), outgoing.clone(), stop.clone())),
        ];
        let waiting = Arc::clone(&pending);
        let ended = ended(stopped);
        tokio::spawn(async move {
            let reason = ended.await;
            tasks.iter().for_each(tokio::task::JoinHandle::abort);
            gone_sender.send_replace(Some(reason));
            waiting.close();
        });
        Self { server: server.to_owned(), outgoing, pending, gone, stop, process }
    }

    pub(crate) fn notify<N: Notification>(&self, params: &N::Params) {
        self.send(&json_rpc::notification(N::METHOD.as_str(), params));
    }

    /// Sends a notification that was prepared before there was a process.
    pub(super) fn send_notice(&self, notice: &DocumentNotice) {
        self.send(&json_rpc::notification(notice.method, &notice.params));
    }

    /// Sends a request and waits for at most `limit`. Past it, and if the caller goes away, the server gets
    /// `$/cancelRequest`, and its late answer is ignored. The answer is passed on unchanged, for
    /// [`received`](super::received) to read; the parameters may hold parts of a server's message, unchanged.
    pub(crate) async fn request<R: Request>(
        &self,
        params: &impl Serialize,
        limit: Duration,
    ) -> Result<LspAny, RequestError> {
        let Some((id, answer)) = self.pending.add() else { return Err(RequestError::Closed(self.reason().await)) };
        let asking = async {
            let guard = Cancel { id, connection: self };
            self.send(&json_rpc::request(id, &R::METHOD, params));
            let outcome = tokio::time::timeout(limit, answer).await;
            drop(guard);
            let answer = match outcome {
                Ok(Ok(reply)) => reply.map_err(RequestError::from),
                Ok(Err(_)) => Err(RequestError::Closed(self.reason().await)),
                Err(_) => Err(RequestError::TimedOut),
            };
            match &answer {
                Ok(_) => tracing::debug!("answered"),
                Err(error) => tracing::debug!(%error, "not answered"),
            }
            answer
        };
        asking
            .instrument(tracing::error_span!("lsp_request", server = self.server, method = R::METHOD.as_str(), id))
            .await
    }

    /// Waits until the server is gone and returns the reason.
    pub(crate) async fn reason(&self) -> String {
        let mut gone = self.gone.clone();
        match gone.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the server is gone".to_owned(),
        }
    }

    /// Kills the server and its children.
    pub(crate) fn kill(&self, reason: &str) {
        // A full channel means that it is being killed already.
        let _ = self.stop.try_send(reason.to_owned());
    }

    fn send(&self, message: &[u8]) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.outgoing.try_send(content_length::encode(message)) {
            self.kill("it stopped reading its input");
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.kill("it is no longer needed");
    }
}

/// Cancels the request at the server when the caller goes away.
struct Cancel<'a> {
    id: i64,
    connection: &'a Connection,
}

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if self.connection.pending.forget(self.id) {
            // Ids count from one; no run has more requests than these.
            let id = Id::Int(i32::try_from(self.id).unwrap_or(i32::MAX));
            self.connection.notify::<CancelNotification>(&CancelParams { id });
        }
    }
}

/// Waits for the process to end, or ends it.
async fn end(mut child: Child, mut stopped: mpsc::Receiver<String>) -> String {
    let group = ProcessGroup::of(&child);
    let reason = tokio::select! {
        status = child.wait() => match status {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it cannot be waited for: {error}"),
        },
        reason = stopped.recv() => reason.unwrap_or_else(|| "it is no longer needed".to_owned()),
    };
    drop(group);
    let _ = child.wait().await;
    reason
}

async fn write(mut stdin: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if stdin.write_all(&message).await.is_err() || stdin.flush().await.is_err() {
            // A server that closed its input is dead or dying, which its exit or its output will show.
            break;
        }
    }
}

async fn listen(
    stdout: impl AsyncRead + Unpin,
    handler: Arc<dyn Handler>,
    pending: Arc<PendingRequests>,
    outgoing: mpsc::Sender<Vec<u8>>,
    stop: mpsc::Sender<String>,
) {
    let mut reader = BufReader::new(stdout);
    let reason = loop {
        let body = match content_length::read(&mut reader, content_length::LIMIT).await {
            Ok(Some(Frame::Body(body))) => body,
            Ok(Some(Frame::TooLarge(size))) => {
                tracing::warn!(size, "a message over the limit was thrown away");
                continue;
            }
            Ok(None) => break "it closed its output".to_owned(),
            Err(error) => break format!("its output cannot be read: {error}"),
        };
        let parsed = if body.len() > LARGE {
            let parsing = tokio::task::spawn_blocking(move || Message::parse(&body)).await;
            parsing.unwrap_or_else(|error| Err(error.to_string()))
        } else {
            Message::parse(&body)
        };
        handler.heard();
        match parsed {
            Ok(Message::Response { id, reply }) => {
                pending.answer(id, reply);
            }
            Ok(Message::Notification { method, params }) => handler.notification(&method, params),
            Ok(Message::Request { id, method, params }) => {
                let reply = json_rpc::response(&id, handler.request(&method, &params));
                if outgoing.try_send(content_length::encode(&reply)).is_err() {
                    break "it stopped reading its input".to_owned();
                }
            }
            Err(problem) => tracing::warn!(problem, "a message that cannot be read"),
        }
    };
    // An exit closes the output a moment before it can be waited for, and its status is more precise.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let _ = stop.send(reason).await;
}

/// The most lines of a stack trace behind an error.
const TRACE: u32 = 60;

/// Recognizes a line that begins with the name of an error: `error: no such file`, `ModuleNotFoundError: …`.
fn names_error(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| !name.contains(' ') && name.to_lowercase().ends_with("error"))
}

async fn log(stderr: ChildStderr, program: String, last_words: Arc<Mutex<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    // The lines that a named error still stands for.
    let mut trace = 0_u32;
    while matches!((&mut reader).take(4096).read_until(b'\n', &mut line).await, Ok(read) if read > 0) {
        let text: String = String::from_utf8_lossy(&line).trim().chars().take(300).collect();
        if !text.is_empty() {
            tracing::debug!(program, text, "stderr");
            trace = if names_error(&text) { TRACE } else { trace.saturating_sub(1) };
            if trace == 0 || trace == TRACE {
                *lock(&last_words) = text;
            }
        }
        line.clear();
    }
}
