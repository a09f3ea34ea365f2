//! Chooses the language servers: the editor's, through their proxies, and others only for the remaining languages.

use std::sync::Arc;

use crate::engine::links::Links;
use sextant_diagnostics::server::LanguageServer;
use sextant_headless::HeadlessEditor;

/// Sextant's own servers, each started by its first question.
#[derive(Debug, Default)]
pub(super) struct OwnServers(pub(super) Vec<Arc<LanguageServer>>);

impl OwnServers {
    /// Sets the editor's current servers as those that are asked.
    pub(super) fn arrange(&self, editor: &HeadlessEditor, links: &Links) {
        let linked: Vec<Arc<LanguageServer>> = links.all().iter().filter_map(|link| link.server.clone()).collect();
        let covered: Vec<String> = linked.iter().filter_map(|server| server.covered()).flatten().collect();
        let needed = |own: &&Arc<LanguageServer>| {
            own.covered().is_none_or(|languages| !languages.iter().any(|language| covered.contains(language)))
        };
        let own = self.0.iter().filter(needed).cloned();
        let own: Vec<Arc<LanguageServer>> = own.collect();
        let mut trying: Vec<Arc<LanguageServer>> = own.clone();
        for spare in links.all().into_iter().filter_map(|link| link.spare.clone()) {
            if !trying.iter().any(|known| Arc::ptr_eq(known, &spare)) {
                trying.push(spare);
            }
        }
        editor.set_to_try(trying);
        editor.set_servers(linked.into_iter().chain(own).collect());
    }
}
