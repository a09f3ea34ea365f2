//! A workspace: its root, the editor that holds its files, and the options of its user.

use std::sync::Arc;

use crate::editor::Editor;
use crate::state::agent_config::Config;
use sextant_store::workspace::root::Root;

/// The files of a session, and the options that hold for them.
pub(crate) struct Workspace {
    pub(crate) root: Root,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) config: Arc<Config>,
}
