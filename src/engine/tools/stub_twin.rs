//! The second declaration of a name in a stub, or beside one. A language server takes the two for different names.

use crate::state::workspace::Workspace;
use crate::target::{self, SymbolPlace};
use crate::tools::symbol_lookup::PlaceAnswer;
use sextant_base::failure::{Failure, tool_failure};
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The place of such a declaration, for a question about all uses of a name.
///
/// # Errors
/// A rename, which would leave the other declaration or its users.
pub(super) async fn of(
    workspace: &Workspace,
    place: &SymbolPlace,
    question: &NameQuestion,
) -> Result<Option<SymbolPlace>, Failure> {
    let Some(path) = beside(place).filter(|_| question.spans_project()) else { return Ok(None) };
    let twin = SymbolPath::new(path, place.outline.path_of(place.symbol)).to_string();
    let Ok(found) = target::place(workspace, &twin).await else { return Ok(None) };
    match question {
        NameQuestion::Rename { .. } => Err(tool_failure(
            format!("{twin} declares the same name, and a rename of one leaves the other; nothing was changed"),
            "find_references lists the uses of both, and edit_file changes them",
        )),
        _ => Ok(Some(found)),
    }
}

/// Adds the uses of the other declaration to an answer, or a note that they are missing.
pub(super) fn add(answer: &mut PlaceAnswer, twin: &str, other: Result<PlaceAnswer, Failure>) {
    let more = other.ok().filter(|other| other.said.encoding == answer.said.encoding);
    let lists = more.map(|other| (answer.said.value.as_array_mut(), other));
    let Some((Some(list), other)) = lists else {
        return answer.notes.push(format!("{twin} declares the same name, and its uses are missing here"));
    };
    for one in other.said.value.as_array().into_iter().flatten() {
        if !list.contains(one) {
            list.push(one.clone());
        }
    }
    answer.notes.extend(other.notes);
    answer.notes.push(format!("with the uses of {twin}, which declares the same name"));
}

/// The path of the stub of a file, or of the file of a stub.
fn beside(place: &SymbolPlace) -> Option<String> {
    let stub = place.language.stub_extension?;
    let (stem, extension) = place.document.path.rsplit_once('.')?;
    let other = if extension == stub { place.language.extensions.first()? } else { &stub };
    Some(format!("{stem}.{other}"))
}
