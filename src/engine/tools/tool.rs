//! Defines a tool: its parameters as a type, its name, purpose and access, the subject of a call, its run.

use std::fmt;

use async_trait::async_trait;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::events::task_events::TaskEvents;
use crate::plan::StepKind;
use crate::state::approvals::Approvals;
use crate::state::call_summary::{Called, Subject};
use crate::state::edit_service::EditService;
use crate::state::task::{OfferReports, TaskWork};
use crate::state::workspace::Workspace;
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_model::step::Model;
use sextant_model::tools::{Access, HIDDEN, INFERRED, ToolSpec};

/// The parameters of one tool; a value of the type is a call of it.
#[async_trait]
pub(crate) trait Tool: fmt::Debug + Send + Sync {
    /// The subject of the call.
    fn subject(&self) -> Subject;

    /// True if its answer depends on more than the file that it names.
    fn spans_files(&self) -> bool {
        false
    }

    /// Checks the conditions of this call besides its scope; may ask the user. Nothing has run then.
    async fn permit(
        &self,
        _workspace: &Workspace,
        _approvals: &Approvals,
        _task_events: &TaskEvents,
        _offers: &OfferReports,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// Runs a call that was let through. A refusal is a failure; nothing was changed then.
    async fn run(&self, edits: &EditService, model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure>;
}

/// A tool before it is called.
#[derive(Clone, Copy)]
pub struct ToolDefinition {
    pub(crate) name: &'static str,
    purpose: &'static str,
    access: Access,
    steps: &'static [StepKind],
    /// The description for a client outside; `None` where the tool is not offered to any.
    outside: Option<&'static str>,
    schema: fn() -> Value,
    read: fn(Value) -> Result<Box<dyn Tool>, serde_json::Error>,
}

impl ToolDefinition {
    /// A tool with these parameters. The purpose adds in a few words the facts that its name leaves open.
    pub(crate) const fn of<P>(name: &'static str, purpose: &'static str, access: Access) -> Self
    where
        P: Tool + DeserializeOwned + JsonSchema + 'static,
    {
        Self { name, purpose, access, steps: &[], outside: None, schema: schema::<P>, read: read::<P> }
    }

    /// The kinds of a plan's steps that are carried out with it.
    pub(crate) const fn serves(self, steps: &'static [StepKind]) -> Self {
        Self { steps, ..self }
    }

    /// Offers it to clients outside with this description: each token of it is paid for in every session.
    pub(crate) const fn outside(self, description: &'static str) -> Self {
        Self { outside: Some(description), ..self }
    }

    /// The specification for a client outside. It omits the parameters that models do not see, and the limits that only
    /// this program checks.
    pub fn outside_spec(&self) -> Option<OutsideTool> {
        let mut schema = (self.schema)();
        strip(&mut schema);
        Some(OutsideTool {
            name: self.name.to_owned(),
            description: self.outside?.to_owned(),
            edits: self.access == Access::Edit,
            schema,
        })
    }

    /// The same as data: for a model, and for other agents.
    pub(crate) fn spec(&self) -> ToolSpec {
        let steps = self.steps.iter().map(|kind| kind.name()).collect();
        ToolSpec::new(self.name, self.purpose, self.access, steps, (self.schema)())
    }

    /// The call with these parameters.
    pub(crate) fn call(&'static self, given: Value) -> Result<ToolCall, serde_json::Error> {
        Ok(ToolCall { tool: self, given: (self.read)(given)? })
    }
}

/// The schema of parameters, without references.
pub(crate) fn schema<P: JsonSchema>() -> Value {
    let inline = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = inline.into_generator().into_root_schema_for::<P>();
    for name in ["$schema", "title"] {
        schema.remove(name);
    }
    schema.to_value()
}

fn read<P: Tool + DeserializeOwned + 'static>(given: Value) -> Result<Box<dyn Tool>, serde_json::Error> {
    Ok(Box::new(serde_json::from_value::<P>(given)?))
}

/// A tool as clients outside see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideTool {
    pub name: String,
    pub description: String,
    /// True if a call of it changes files.
    pub edits: bool,
    /// JSON schema of its parameters.
    pub schema: Value,
}

/// Removes the keys of a schema that cost tokens and inform no reader.
fn strip(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    for key in ["additionalProperties", "format", "minimum", "default", INFERRED] {
        object.remove(key);
    }
    // An optional parameter may be left out; no caller has to write a null.
    if let Some(kind) = object.get_mut("type")
        && let Some(first) = kind.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null")).cloned()
    {
        *kind = first;
    }
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|_, property| property.get(HIDDEN).is_none());
        properties.values_mut().for_each(strip);
    }
    object.get_mut("items").into_iter().for_each(strip);
}

/// Hides a parameter from models.
pub(crate) fn hidden(schema: &mut Schema) {
    schema.insert(HIDDEN.to_owned(), Value::Bool(true));
}

/// Marks a required parameter whose tool reads a call without it too.
pub(crate) fn inferred(schema: &mut Schema) {
    schema.insert(INFERRED.to_owned(), Value::Bool(true));
}

/// One typed call of one tool.
#[derive(Debug)]
pub(crate) struct ToolCall {
    tool: &'static ToolDefinition,
    given: Box<dyn Tool>,
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ToolCall {
    pub(crate) fn new(tool: &'static ToolDefinition, given: impl Tool + 'static) -> Self {
        Self { tool, given: Box::new(given) }
    }

    pub(crate) fn access(&self) -> Access {
        self.tool.access
    }

    pub(crate) fn subject(&self) -> Subject {
        self.given.subject()
    }

    pub(crate) fn called(&self) -> Called {
        Called { tool: self.tool.name.to_owned(), access: Some(self.tool.access), subject: self.subject() }
    }

    /// The same for two calls of the same tool with the same parameters.
    pub(crate) fn key(&self) -> String {
        format!("{} {:?}", self.tool.name, self.given)
    }

    /// The one file that its answer depends on; `None` where it may be any.
    pub(crate) fn only_file(&self) -> Option<String> {
        self.subject().one_file().filter(|_| !self.given.spans_files())
    }

    pub(crate) async fn permit(
        &self,
        workspace: &Workspace,
        approvals: &Approvals,
        task_events: &TaskEvents,
        offers: &OfferReports,
    ) -> Result<(), Failure> {
        self.given.permit(workspace, approvals, task_events, offers).await
    }

    pub(crate) async fn run(
        &self,
        edits: &EditService,
        model: &dyn Model,
        work: &mut TaskWork,
    ) -> Result<ToolAnswer, Failure> {
        self.given.run(edits, model, work).await
    }
}
