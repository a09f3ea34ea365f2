//! What becomes of a task that ends and has not done what it is for: new errors, or nothing at all.

use crate::agent::edit::rollback;
use crate::agent::run::{finish, unfinished};
use crate::agent::state::comparison::Verdict;
use crate::agent::state::config::NewErrors;
use crate::agent::state::language::Say;
use crate::agent::state::outcome::Outcome;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::base::message::headline;
use crate::base::plural::counted;
use crate::diagnostics::model::Severity;
use crate::diagnostics::policy::{Effect, Trace};
use crate::diagnostics::syntax;
use crate::editor::event::Event;

/// Takes back what a task leaves behind that is worse than nothing, as far as the user's option says so. The reason
/// where it was done; `None` where everything stays.
pub(crate) async fn take_back(session: &Session, task: &mut Task) -> Option<String> {
    let rule = session.config.diagnostics.new_errors;
    if task.journal.is_empty() || rule == NewErrors::Keep {
        return None;
    }
    let files: Vec<String> = task.journal.net().into_iter().map(|change| change.path).collect();
    let verdict = finish::known_verdict(session, task).await;
    let reason = why(&verdict, rule, Say::to(&task.journal.request))?;
    match rollback::roll_back_to(session, task, 0, false).await {
        Ok(_) => {
            let about = format!("the changes of {}", files.join(", "));
            task.events.trace(task.counts.step.max(1), Trace::new(Effect::Refused, about, "new_errors", &reason));
            Some(reason)
        }
        Err(failure) => {
            session.emit(Event::Progress { text: format!("what was changed stays: {}", failure.one_line()) });
            None
        }
    }
}

/// Why the changes do not stay.
fn why(verdict: &Verdict, rule: NewErrors, say: Say) -> Option<String> {
    let errors: Vec<_> = verdict.new_from(Severity::Error).collect();
    let first = match rule {
        NewErrors::Keep => None,
        NewErrors::UndoSyntax => errors.iter().find(|found| found.diagnostic.source == syntax::NAME),
        NewErrors::Undo => errors.first(),
    }?;
    let (path, message) = (&first.symbol.file, headline(&first.diagnostic.message));
    Some(match rule {
        NewErrors::UndoSyntax => say.of(
            format!("the changes were taken back, since {path} did not parse any more: {message}"),
            format!("los cambios se han deshecho porque {path} ya no se podía analizar: {message}"),
        ),
        _ => say.of(
            format!("the changes were taken back, since they left {}: {message}", counted(errors.len(), "new error")),
            format!(
                "los cambios se han deshecho porque dejaban {}: {message}",
                say.counted(errors.len(), "new error", "error nuevo", "errores nuevos")
            ),
        ),
    })
}

/// Says of a task that came to its own end whether it has done what it is for.
pub(crate) fn judge(task: &Task, outcome: &mut Outcome, taken_back: bool) {
    let say = Say::to(&task.journal.request);
    let errors = outcome.new_diagnostics.iter().filter(|line| line.severity == Severity::Error.to_string()).count();
    let why = if taken_back {
        outcome.ok = false;
        return;
    } else if errors > 0 {
        let count = say.counted(errors, "new error", "error nuevo", "errores nuevos");
        let stay = if errors == 1 { "stays" } else { "stay" };
        say.of(format!("Not done: {count} {stay}"), format!("Sin terminar: queda {count}"))
    } else if outcome.files.is_empty() && unfinished::asks_for_change(task) {
        say.of("Not done: the request asks for a change", "Sin terminar: la petición pide un cambio")
    } else {
        return;
    };
    outcome.ok = false;
    // Behind the first line: the themes of what is new follow it.
    let (first, rest) = outcome.summary.split_at(outcome.summary.find('\n').unwrap_or(outcome.summary.len()));
    outcome.summary = format!("{first} {why}.{rest}");
}
