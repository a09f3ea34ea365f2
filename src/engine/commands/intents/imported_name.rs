//! Answers for a name that the file at the cursor only imports: its place is known to a server, or is the import itself.

use std::ops::Range;

use crate::commands::intents::intent_answer::DirectAnswer;
use crate::editor::Document;
use crate::editor::editor_lookup::places;
use crate::editor::event::Event;
use crate::state::request::Request;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::find_references::{self, ListedUses};
use crate::tools::{find_definition, symbol_lookup};
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_base::path;
use sextant_base::positions::LineIndex;
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_text::symbols::{imports, language};

/// A name in an import statement.
pub(crate) struct ImportedName {
    document: Document,
    /// The bytes of the name.
    range: Range<usize>,
    /// The import statement in one line.
    statement: String,
}

/// The name in the imports of the file at the cursor; `None` where none of them has it.
pub(crate) async fn find(workspace: &Workspace, request: &Request, given: &str) -> Option<ImportedName> {
    let document = target::document(workspace, request.path.as_deref()?).await.ok()?;
    let language = language::of_path(&document.path)?;
    let found = imports::places(language, &document.text).into_iter().find_map(|place| {
        let range = last_word(&document.text, place.clone(), given)?;
        Some((range, clean(&document.text[place])))
    });
    let (range, statement) = found?;
    Some(ImportedName { document, range, statement })
}

/// The last place of a name as a word: what an `as` makes of it is behind the module's name.
fn last_word(text: &str, within: Range<usize>, name: &str) -> Option<Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (statement, start) = (text.get(within.clone())?, within.start);
    let is_whole = |at: usize| !statement[..at].ends_with(word) && !statement[at + name.len()..].starts_with(word);
    let at = statement.match_indices(name).map(|(at, _)| at).filter(|at| is_whole(*at)).last()?;
    Some(start + at..start + at + name.len())
}

impl ImportedName {
    fn name(&self) -> &str {
        &self.document.text[self.range.clone()]
    }

    /// One-based.
    fn line(&self) -> usize {
        LineIndex::new(&self.document.text).line_of(self.range.start) + 1
    }

    /// The place where it is defined, as a server knows it; else the import.
    pub(crate) async fn defined(&self, workspace: &Workspace) -> DirectAnswer {
        let (document, at) = (&self.document, self.range.start);
        let said = symbol_lookup::ask_at(workspace, document, at, self.name(), &NameQuestion::Definition).await;
        let found = said.as_ref().map(|answer| (places(&answer.said.value).into_iter().next(), answer.said.encoding));
        let away = match found {
            Ok((Some(place), encoding)) => match path::relative(workspace.root.path(), &place.file) {
                Some(path) => match target::document(workspace, &path).await {
                    Ok(there) => {
                        let index = LineIndex::new(&there.text);
                        let at = index.offset(&there.text, place.range.start, encoding);
                        let line = index.line_of(at) + 1;
                        let column = at - index.line_start(line - 1);
                        let summary = format!("{}: {path}, line {line}", self.name());
                        return DirectAnswer::new("", summary).showing(Event::Place {
                            path,
                            line,
                            column,
                            pointed: false,
                        });
                    }
                    Err(failure) => failure.message,
                },
                None => {
                    let library = find_definition::library_name(&place.file);
                    format!("it is defined outside of the workspace, in {library}, line {}", place.range.start.line + 1)
                }
            },
            Ok((None, _)) => "its place is not known".to_owned(),
            Err(failure) => failure.message.clone(),
        };
        let (line, path) = (self.line(), document.path.clone());
        let index = LineIndex::new(&document.text);
        let column = at - index.line_start(line - 1);
        let summary = format!("{} is imported in {path}, line {line}: {} ({away})", self.name(), self.statement);
        DirectAnswer::new("", summary).showing(Event::Place { path, line, column, pointed: false })
    }

    /// Its uses in the workspace, as a server knows them.
    ///
    /// # Errors
    /// No server answers; the message has the reason of each.
    pub(crate) async fn uses(&self, workspace: &Workspace) -> Result<ListedUses, Failure> {
        let (document, at) = (&self.document, self.range.start);
        let answer = symbol_lookup::ask_at(workspace, document, at, self.name(), &NameQuestion::References).await?;
        Ok(find_references::listed(workspace, answer).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_the_statement_and_its_last_place_counts() {
        let text = "from total import subtotal, total as total\n";
        assert_eq!(last_word(text, 0..text.len(), "total"), Some(37..42));
        assert_eq!(last_word(text, 0..27, "subtotal"), Some(18..26));
        assert_eq!(last_word(text, 0..27, "tota"), None);
    }
}
