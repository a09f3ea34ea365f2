//! Joins a workspace whose session runs elsewhere: each call goes to the session that has its file open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::choose_session::{self, placed};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_engine::api::{EditMade, OutsideAnswer, OutsideClient};
use sextant_serve::discovery::{SessionEntry, is_editor};
use sextant_serve::mcp::mcp_workspace::{OpenWorkspace, named};
use sextant_serve::rpc::neighbour_calls;
use sextant_serve::rpc::rpc_client::JoinedSession;
use sextant_store::workspace::root::Root;
use sextant_text::symbols::symbol_path::SymbolPath;

pub(super) struct JoinedWorkspace {
    /// The root as the client names its files.
    root: Root,
    /// The session for files that no editor has open.
    main: Arc<JoinedSession>,
    /// Other sessions that a file was open in, by their sockets.
    others: Mutex<HashMap<PathBuf, Arc<JoinedSession>>>,
}

impl JoinedWorkspace {
    /// Joins the session of a workspace, or of the nearest one around it; `None` if there is no session.
    pub(super) async fn find(root: &Root) -> Option<Self> {
        let entry = choose_session::look(root, None, None).await.ok()?.chosen?;
        match JoinedSession::to(entry).await {
            Ok(main) => Some(Self { root: root.clone(), main: Arc::new(main), others: Mutex::default() }),
            Err(failure) => {
                tracing::warn!("{}", failure.one_line());
                None
            }
        }
    }

    /// The session that a call belongs to.
    async fn session(&self, given: &Value) -> Arc<JoinedSession> {
        let Some(file) = self.file_of(given) else { return Arc::clone(&self.main) };
        let mut entries = choose_session::related(self.root.path()).await.entries;
        // The client's own session goes first, if several have the file.
        entries.sort_by_key(|entry| entry.socket != self.main.entry.socket);
        let chosen = match entries.get(1) {
            Some(_) => neighbour_calls::holder(&entries, &path::real(&file)).await,
            None => None,
        };
        match chosen.filter(|entry| entry.socket != self.main.entry.socket) {
            Some(entry) => self.other(entry).await.unwrap_or_else(|| Arc::clone(&self.main)),
            None => Arc::clone(&self.main),
        }
    }

    /// A file that a call names, from the client's folder on or as the main session's answers name it.
    fn absolute(&self, given: &str) -> PathBuf {
        self.main.entry.root.join(placed(given, self.root.path(), &self.main.entry.root))
    }

    /// The file that a call is about.
    fn file_of(&self, given: &Value) -> Option<PathBuf> {
        // A word to look symbols up by may be the name of a file.
        let asked = || given["query"].as_str().map(|query| self.absolute(query)).filter(|file| file.is_file());
        named(given).map(|file| self.absolute(&file)).or_else(asked)
    }

    /// A call in the terms of a session of this folder.
    fn moved(&self, mut given: Value, there: &Path) -> Value {
        let here = self.root.path();
        // For a third folder, a file goes by its real path, and not by the name of either of the others.
        let file = |text: &str| {
            if there == self.main.entry.root || text.is_empty() {
                placed(text, here, there)
            } else {
                placed(&self.absolute(text).to_string_lossy(), Path::new("/"), there)
            }
        };
        for name in ["path", "query", "symbol"] {
            let Some(text) = given[name].as_str() else { continue };
            let moved = match name {
                "symbol" => moved_symbol(text, file),
                "query" if !self.absolute(text).is_file() => continue,
                _ => file(text),
            };
            given[name] = json!(moved);
        }
        given
    }

    async fn other(&self, entry: SessionEntry) -> Option<Arc<JoinedSession>> {
        let known = lock(&self.others).get(&entry.socket).filter(|known| known.is_connected()).cloned();
        if known.is_some() {
            return known;
        }
        let socket = entry.socket.clone();
        let joined = JoinedSession::to(entry).await.inspect_err(|failure| tracing::warn!("{}", failure.one_line()));
        let joined = Arc::new(joined.ok()?);
        lock(&self.others).insert(socket, Arc::clone(&joined));
        Some(joined)
    }
}

/// A symbol with its file moved.
fn moved_symbol(given: &str, file: impl Fn(&str) -> String) -> String {
    let path = SymbolPath::parse(given);
    SymbolPath::new(file(&path.file), path.names).to_string()
}

#[async_trait]
impl OpenWorkspace for JoinedWorkspace {
    async fn call(
        &self,
        client: &OutsideClient,
        tool: &str,
        given: Value,
        once: &str,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        let session = self.session(&given).await;
        let given = self.moved(given, &session.entry.root);
        let called = session.call(client, tool, given, once);
        tokio::pin!(called);
        tokio::select! {
            answer = &mut called => return answer,
            () = cancel.cancelled() => {}
        }
        // An edit that has begun there is finished, and the answer reports its outcome.
        session.cancel_call(once).await?;
        called.await
    }

    async fn made(&self, once: &str) -> Result<EditMade, Failure> {
        self.main.made(once).await
    }

    async fn client_left(&self, client: &OutsideClient) {
        let others: Vec<_> = lock(&self.others).values().cloned().collect();
        let all = others.iter().chain([&self.main]).filter(|session| session.is_connected());
        for left in join_all(all.map(|session| session.client_left(client))).await {
            if let Err(failure) = left {
                tracing::info!("{}", failure.one_line());
            }
        }
    }

    /// Gives way to an editor that has opened the workspace since: it goes before a session without an editor.
    async fn is_there(&self) -> bool {
        if !self.main.is_connected() {
            return false;
        }
        is_editor(&self.main.entry) || !choose_session::around(self.root.path()).await.entries.iter().any(is_editor)
    }

    async fn close(&self) {}
}
