//! `read_symbol`: shows the source of one symbol, decorators and leading comments included. A bare name shows all
//! symbols that share it (overloads, the getter and setter of a property).

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::state::task_scope;
use crate::target;
use crate::tools::text_page::{self, Wanted};
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_base::secrets::mask;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::symbols::symbol_path::SymbolPath;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<ReadSymbol>("read_symbol", "", Access::Read)
    .serves(&[StepKind::Edit, StepKind::Examine, StepKind::Search])
    .outside("The source of a symbol: path::Class::method, or its name where that is unique.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadSymbol {
    symbol: String,
    /// Line of the file to begin with.
    offset: Option<usize>,
    #[schemars(transform = tool::hidden)]
    limit: Option<usize>,
    /// Without the lines that it is on: for a user.
    #[serde(default)]
    #[schemars(transform = tool::hidden)]
    plain: bool,
}

#[async_trait]
impl Tool for ReadSymbol {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    async fn run(&self, edits: &EditService, model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let (place, symbols) = target::places_in_scope(&edits.workspace, &work.scope, &self.symbol).await?;
        let mut limits = text_page::limits(model, work.step).await;
        let index = LineIndex::new(&place.document.text);
        let wanted = Wanted { offset: self.offset, limit: self.limit };
        let mut parts: Vec<String> = Vec::new();
        let mut left_out: Vec<String> = Vec::new();
        for symbol in &symbols {
            let path = match symbols.as_slice() {
                [_] => place.path(),
                all => SymbolPath::new(&place.document.path, place.outline.exact_path_of(*symbol, all)).to_string(),
            };
            let end = index.line_of(place.outline.symbols[*symbol].extent.end) + 1;
            let source = task_scope::source(&place.document.text, &place.outline, *symbol);
            let number = index.line_of(place.outline.symbols[*symbol].extent.start) + 1;
            if limits.lines == 0 {
                left_out.push(path);
                continue;
            }
            if symbols.len() > 1 && wanted.offset.is_some_and(|offset| offset > end) {
                continue;
            }
            let part = text_page::page(&mask(source), number, wanted, limits);
            let lines = if self.plain { String::new() } else { format!(", lines {number} to {end}") };
            let mut text = format!("{path}{lines}\n{}", part.text);
            if part.first > number || part.next.is_some() {
                let more = part.next.map(|next| format!("; offset {next} goes on")).unwrap_or_default();
                text.push_str(&format!("\n[lines {} to {}{more}]", part.first, part.last));
            }
            let lines = part.first.saturating_sub(1)..part.last;
            work.seen.lines(&place.document.path, &place.document.text, lines);
            let used = text.lines().count();
            limits.lines = if part.next.is_some() { 0 } else { limits.lines.saturating_sub(used) };
            limits.bytes = limits.bytes.saturating_sub(text.len());
            parts.push(text);
        }
        if !left_out.is_empty() {
            parts.push(format!("[not shown: {}]", left_out.join(", ")));
        }
        Ok(ToolAnswer::text(parts.join("\n")))
    }
}
