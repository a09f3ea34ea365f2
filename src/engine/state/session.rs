//! A session: one editor, one workspace, one model, and the knowledge kept from one task to the next.

use std::sync::Arc;

use crate::editor::Editor;
use crate::events::stream::{EventStream, FrontEnd, HeldLimits};
use crate::state::agent_config::Config;
use crate::state::approvals::Approvals;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::in_flight::Making;
use crate::state::outside_clients::OutsideClients;
use crate::state::plan_service::PlanService;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;
use sextant_model::step::Model;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

/// The owners of a session's state. A function takes the one that it needs.
pub(crate) struct Session {
    pub(crate) workspace: Arc<Workspace>,
    /// The events of the session, for every listener.
    pub(crate) events: Arc<EventStream>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) hub: Arc<DiagnosticsHub>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) store: Arc<TaskStore>,
    pub(crate) edits: EditService,
    pub(crate) plans: PlanService,
    /// The callers from outside.
    pub(crate) outside: OutsideClients,
}

impl Session {
    pub(crate) fn new(editor: Arc<dyn Editor>, model: Arc<dyn Model>, root: Root, config: Config) -> Self {
        let root = match &config.memory.state {
            Some(state) => root.without(state),
            None => root,
        };
        let events = Arc::new(EventStream::new(&root.path().display().to_string(), HeldLimits::default()));
        events.observe(Arc::new(FrontEnd(Arc::clone(&editor))));
        let config = Arc::new(config);
        let record = config.memory.state.as_deref().map(|state| Record::of(state, &root));
        let store = Arc::new(TaskStore::new(Arc::clone(&config), Arc::clone(&events), record));
        let plans = PlanService::new(config.mode);
        let workspace = Arc::new(Workspace { root, editor, config });
        let needs_providers = model.needs_providers();
        let hub = Arc::new(DiagnosticsHub::new(Arc::clone(&workspace), Arc::clone(&events), needs_providers));
        let approvals = Arc::new(Approvals::new(Arc::clone(&events)));
        let edits = EditService {
            workspace: Arc::clone(&workspace),
            hub: Arc::clone(&hub),
            approvals: Arc::clone(&approvals),
            store: Arc::clone(&store),
            making: Making::default(),
            history: tokio::sync::Mutex::default(),
        };
        Self { workspace, events, model, hub, approvals, store, edits, plans, outside: OutsideClients::default() }
    }
}
