//! Holds the answers about actions that come behind those of the proxy beside this one.

use crate::link::{NamedDocument, ProxySays};
use crate::proxy::proxy_state::{AskedActions, EngineTask, ProxyState, Table};
use sextant_diagnostics::server::content_length;

/// A request that the server gets: a quiet proxy asks for its turn, and the one that offers actions says that it is
/// asked.
pub(super) fn asked(shared: &ProxyState, table: &mut Table, id: &str, asked: &AskedActions) {
    if asked.automatic {
        return;
    }
    let uri = asked.uri.clone();
    if !shared.options.quiet {
        table.task(EngineTask::Report(ProxySays::ActionsAsked(NamedDocument { uri })));
    } else if table.agent.linked {
        table.editor.held.insert(id.to_owned(), None);
        table.task(EngineTask::Turn { id: id.to_owned(), uri });
    }
}

/// A request that this proxy has answered at once.
pub(super) fn alone(shared: &ProxyState, table: &Table, asked: &AskedActions) {
    if !asked.automatic && !shared.options.quiet {
        let uri = asked.uri.clone();
        table.task(EngineTask::Report(ProxySays::ActionsAsked(NamedDocument { uri })));
        answered(shared, table, asked);
    }
}

/// The answer of the proxy that offers actions is on its way, or there will be none.
pub(super) fn answered(shared: &ProxyState, table: &Table, asked: &AskedActions) {
    if !asked.automatic && !shared.options.quiet {
        let uri = asked.uri.clone();
        table.task(EngineTask::Report(ProxySays::ActionsAnswered(NamedDocument { uri })));
    }
}

/// True if the answer of the server waits for its turn.
pub(super) fn holds(table: &mut Table, id: &str, body: &[u8]) -> bool {
    let held = table.editor.held.get_mut(id);
    held.map(|held| *held = Some(content_length::encode(body))).is_some()
}

/// The turn of an answer has come.
pub(super) fn release(table: &mut Table, id: &str) {
    if let Some(Some(answer)) = table.editor.held.remove(id) {
        table.editor.outlet.raw(answer);
    }
}

/// Nobody says whose turn it is.
pub(super) fn release_all(table: &mut Table) {
    let ids: Vec<String> = table.editor.held.keys().cloned().collect();
    ids.iter().for_each(|id| release(table, id));
}
