//! Keeps servers of the editor's kinds for texts that it does not have: one of a kind, started by its first question.

use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

use crate::link::ProxiedServer;
use sextant_base::lock::lock;
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::server_config::ServerConfig;

/// The servers that some link still needs; the last link that lets go of a server ends it.
#[derive(Debug, Default)]
pub(super) struct SpareServers(Mutex<Vec<(ServerConfig, Weak<LanguageServer>)>>);

impl SpareServers {
    /// Another server of this kind. Two editors of one workspace share it.
    pub(super) fn of(&self, server: &ProxiedServer, root: &Path) -> Arc<LanguageServer> {
        let config = config(server);
        let mut known = lock(&self.0);
        known.retain(|(_, spare)| spare.strong_count() > 0);
        let same = known.iter().find(|(other, _)| *other == config).and_then(|(_, spare)| spare.upgrade());
        same.unwrap_or_else(|| {
            let spare = Arc::new(LanguageServer::new(config.clone(), root).for_no_language());
            known.push((config, Arc::downgrade(&spare)));
            spare
        })
    }
}

/// The configuration of the editor's own server. An editor that has sent no settings yet has the same ones in the
/// options at the start of its servers.
fn config(server: &ProxiedServer) -> ServerConfig {
    let settings = if server.settings.is_null() { &server.initialization_options } else { &server.settings };
    ServerConfig {
        name: server.name.clone(),
        command: server.command.clone(),
        settings: settings.clone(),
        initialization_options: server.initialization_options.clone(),
        ..ServerConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn proxied(command: &str, options: Value) -> ProxiedServer {
        ProxiedServer {
            name: "fake".into(),
            command: vec![command.into()],
            socket: "/nowhere/proxy.sock".into(),
            initialization_options: options,
            settings: Value::Null,
        }
    }

    #[test]
    fn links_to_the_same_server_share_one_and_it_is_gone_with_the_last_of_them() {
        let (spares, root) = (SpareServers::default(), Path::new("/"));
        let first = spares.of(&proxied("/bin/a", Value::Null), root);
        let mut other = proxied("/bin/a", Value::Null);
        other.socket = "/nowhere/other.sock".into();
        assert!(Arc::ptr_eq(&first, &spares.of(&other, root)), "another proxy of the same server");
        assert!(!Arc::ptr_eq(&first, &spares.of(&proxied("/bin/b", Value::Null), root)));
        assert!(!Arc::ptr_eq(&first, &spares.of(&proxied("/bin/a", json!({"strict": true})), root)));
        let gone = Arc::downgrade(&first);
        drop(first);
        assert!(gone.upgrade().is_none());
    }

    #[test]
    fn settings_are_those_that_the_editor_tells_or_starts_it_with() {
        let mut server = proxied("/bin/a", json!({"a": 1}));
        assert_eq!(config(&server).settings, json!({"a": 1}));
        server.settings = json!({"b": 2});
        assert_eq!(
            (config(&server).settings, config(&server).initialization_options),
            (json!({"b": 2}), json!({"a": 1}))
        );
        assert_eq!(config(&server).socket, None);
    }
}
