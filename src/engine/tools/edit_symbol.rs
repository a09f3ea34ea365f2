//! `edit_symbol`: replaces, deletes or stands beside a whole symbol.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::editor::Document;
use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target::{self, SymbolPlace};
use crate::tools::edit_checks::{self, Defer, Worked};
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use crate::tools::unnumbered::{self, UNNUMBERED};
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::headline;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::edits::hunks;
use sextant_text::edits::symbol::{self, SymbolAction};
use sextant_text::symbols::language::Language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::overloads;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;

pub(crate) const TOOL: ToolDefinition =
    ToolDefinition::of::<EditSymbol>("edit_symbol", "replace: complete definition", Access::Edit)
        .serves(&[StepKind::Edit])
        .outside("Replace, delete or stand beside a whole definition. Answers like edit_file.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditSymbol {
    symbol: String,
    /// A call without it is read where its content leaves one meaning only.
    #[schemars(required, with = "SymbolAction", transform = tool::inferred)]
    action: Option<SymbolAction>,
    content: String,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[schemars(transform = tool::hidden)]
    diagnostics: Option<Defer>,
}

#[async_trait]
impl Tool for EditSymbol {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let place = self.place(&edits.workspace, &work.scope).await?;
        let names = place.outline.path_of(place.symbol);
        let SymbolPlace { document, language, names: given, .. } = place;
        edit_checks::make(edits, work, document, self.diagnostics.into(), |document| {
            self.worked_out(document, language, [&given, &names])
        })
        .await
    }
}

impl EditSymbol {
    /// The symbol that is meant. Of several with one name, its parameters decide, or those of the new text.
    async fn place(&self, workspace: &Workspace, scope: &Scope) -> Result<SymbolPlace, Failure> {
        let refused = match target::place_in_scope(workspace, scope, &self.symbol).await {
            Ok(place) => return Ok(place),
            Err(refused) => refused,
        };
        let Ok((place, twins)) = target::places_in_scope(workspace, scope, &self.symbol).await else {
            return Err(refused);
        };
        let SymbolPlace { document, language, outline, .. } = place;
        let path = SymbolPath::parse(&self.symbol);
        let given = overloads::of_path(&path.names);
        let named = given.and_then(|given| overloads::by_parameters(&document.text, &outline, &twins, given));
        let is_replaced = matches!(self.action, None | Some(SymbolAction::Replace));
        let by_content = || {
            let content = (self.content.as_str(), &Outline::parse(language, &self.content));
            overloads::by_content(&document.text, &outline, &twins, content).filter(|_| is_replaced)
        };
        let Some(symbol) = named.or_else(by_content) else { return Err(refused) };
        let names = outline.exact_path_of(symbol, &twins);
        Ok(SymbolPlace { document, language, outline, symbol, names })
    }

    fn worked_out(
        &self,
        document: &Document,
        language: &'static Language,
        [given, names]: [&str; 2],
    ) -> Result<Worked, Failure> {
        let text = &document.text;
        let outline = Outline::parse(language, text);
        // In a text that was seen earlier the given name may stand for another symbol.
        let symbol = outline.find(given).ok();
        let symbol = symbol.filter(|symbol| outline.path_of(*symbol) == names);
        let symbol = symbol.ok_or_else(|| tool_failure(format!("no symbol {names}"), "read the file again"))?;
        let plain = unnumbered::without_numbers(&self.content);
        let content = plain.as_deref().unwrap_or(&self.content);
        let mut notes: Vec<String> = plain.iter().map(|_| UNNUMBERED.to_owned()).collect();
        let action = match self.action {
            Some(given) => given,
            None => {
                notes.push(format!("no action was given: replace, since the content defines {names}"));
                inferred(language, names, content)?
            }
        };
        if action == SymbolAction::Replace {
            let kept = symbol::kept_decorators(text, language, &outline, symbol, content);
            notes.extend(kept.map(|kept| format!("{} stays above it: edit_file takes it away", headline(kept))));
        }
        let whole = symbol::edit(text, language, &outline, symbol, action, content).map_err(|error| {
            tool_failure(error, "give the whole symbol as content, or use edit_file for a part of it")
        })?;
        // The common parts of the new and the old text are not touched, so that marks in them stay.
        let after = sextant_text::edits::apply_text::apply(text, &[whole])
            .map_err(|error| tool_failure(error, "read the symbol again"))?;
        let hunks = hunks::hunks(text, &after);
        if hunks.is_empty() {
            return Err(tool_failure("the symbol is like that already", "nothing has to be changed"));
        }
        if action == SymbolAction::Replace {
            let new = Outline::parse(language, &after);
            let is_hidden = new.has_errors && !outline.has_errors && new.find(names).is_err();
            notes.extend(
                is_hidden.then(|| format!("the new text does not parse and hides {names}: edit_file repairs it")),
            );
        }
        Ok(Worked { hunks, notes, of_symbols: true })
    }
}

/// The action of a call that names none: content that defines the symbol replaces it.
fn inferred(language: &'static Language, names: &str, content: &str) -> Result<SymbolAction, Failure> {
    let name = path_spelling::last_name(names);
    let outline = Outline::parse(language, content);
    if (0..outline.symbols.len()).any(|symbol| outline.path_of(symbol) == name) {
        return Ok(SymbolAction::Replace);
    }
    Err(tool_failure(
        format!("edit_symbol needs `action`: the content does not define {name}"),
        "replace, insert_before, insert_after or delete",
    ))
}

#[cfg(test)]
mod tests {
    use sextant_text::symbols::language;

    use super::*;

    #[test]
    fn an_action_is_inferred_where_the_content_defines_the_symbol_alone() {
        let python = language::of_path("a.py").expect("Python");
        let of = |names: &str, content: &str| inferred(python, names, content).map_err(|failure| failure.one_line());
        assert_eq!(of("f", "def f():\n    return 2\n"), Ok(SymbolAction::Replace));
        assert_eq!(of("Cart::total", "def total(self):\n    return 2\n"), Ok(SymbolAction::Replace));
        for content in ["def g():\n    return 2\n", "", "return f()", "class A:\n    def f(self):\n        return 1\n"]
        {
            let why = of("f", content).expect_err("two meanings");
            assert!(why.contains("does not define f (replace, insert_before, insert_after or delete)"), "{why}");
        }
    }
}
