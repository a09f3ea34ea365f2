//! How it is said what a change did to the diagnostics: a count only of what is known, “not known” of the rest.

use crate::agent::state::comparison::{Status, Verdict};
use crate::agent::state::language::Say;
use crate::agent::state::render::Line;

/// What is known of the diagnostics after a task.
pub(crate) fn of_task(say: Say, verdict: &Verdict, new: usize, (fixed, all): (usize, usize)) -> String {
    let pending = verdict.pending.join(", ");
    let count = say.counted(new, "new diagnostic", "diagnóstico nuevo", "diagnósticos nuevos");
    match verdict.status {
        Status::Complete => say.of(
            format!("{count}, {fixed} fixed, {all} unchanged"),
            format!("{count}, {}, {all} sin cambios", say.counted(fixed, "fixed", "arreglado", "arreglados")),
        ),
        Status::Partial if new == 0 => say.of(
            format!("whether anything is new is not known yet: {pending}"),
            format!("aún no se sabe si hay algo nuevo: {pending}"),
        ),
        Status::Partial => say.of(
            format!("{count} so far, not known yet: {pending}"),
            format!("{count} hasta ahora, aún no se sabe: {pending}"),
        ),
        status => {
            let who = if pending.is_empty() { String::new() } else { format!(": {pending}") };
            say.of(
                format!("diagnostics {}: what the change did is not known{who}", status.name()),
                format!("diagnósticos {}: no se sabe qué hizo el cambio{who}", status.name()),
            )
        }
    }
}

/// The same of a step of a plan.
pub(crate) fn of_step(verdict: &Verdict, new: usize, fixed: usize) -> String {
    let pending = verdict.pending.join(", ");
    match verdict.status {
        Status::Complete => format!("{fixed} fixed, {new} new"),
        Status::Partial if new == 0 => format!("{fixed} fixed so far, whether anything is new is not known: {pending}"),
        Status::Partial => format!("{fixed} fixed and {new} new so far, not known: {pending}"),
        status => unknown(status).to_owned(),
    }
}

/// The same of one edit, or of several that were settled as one.
pub(crate) fn of_edit(status: Status, (new, fixed): (usize, usize), more: &str) -> String {
    match status {
        Status::Complete => format!("{new} new, {fixed} fixed{more}"),
        Status::Partial if new == 0 => {
            format!("partly known: whether anything is new is not known yet; so far {fixed} fixed{more}")
        }
        Status::Partial => format!("partly known: {new} new so far, {fixed} fixed{more}"),
        status => unknown(status).to_owned(),
    }
}

/// The same of an edit that is not made, before the lines of what is new.
pub(crate) fn of_candidate(say: Say, verdict: &Verdict, new: &[Line]) -> String {
    let pending = verdict.pending.join(", ");
    let errors = new.iter().all(|line| line.severity == "error");
    let count = match errors {
        true => say.counted(new.len(), "error", "error", "errores"),
        false => say.counted(new.len(), "new diagnostic", "diagnóstico nuevo", "diagnósticos nuevos"),
    };
    match verdict.status {
        Status::Complete if new.is_empty() => {
            say.of("It would introduce nothing that is reported.", "No introduciría nada que se señale.")
        }
        Status::Complete => say.of(format!("It would introduce {count}:"), format!("Introduciría {count}:")),
        Status::Partial if new.is_empty() => not_foreseen(say, &pending),
        Status::Partial => say.of(
            format!("It would introduce {count} at least, not known: {pending}:"),
            format!("Introduciría al menos {count}, no se sabe: {pending}:"),
        ),
        Status::Skipped => not_foreseen(say, &say.of("nobody reports on it", "nadie informa de ello")),
        status if pending.is_empty() => not_foreseen(say, status.name()),
        status => not_foreseen(say, &format!("{}, {pending}", status.name())),
    }
}

/// What an edit would introduce cannot be told.
pub(crate) fn not_foreseen(say: Say, why: &str) -> String {
    say.of(format!("What it would introduce is not known: {why}"), format!("No se sabe qué introduciría: {why}"))
}

fn unknown(status: Status) -> &'static str {
    match status {
        Status::Timeout => "no answer in time, so nothing is known yet of the diagnostics",
        Status::Unavailable => "no provider could answer, so nothing is known of the diagnostics",
        Status::Skipped => "no provider covers this file, so nothing is known of its diagnostics",
        Status::Off => "diagnostics are turned off, so nothing is known of them",
        Status::Complete | Status::Partial => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Status; 6] =
        [Status::Complete, Status::Partial, Status::Timeout, Status::Unavailable, Status::Skipped, Status::Off];

    #[test]
    fn nothing_new_is_said_only_where_all_is_known() {
        for status in ALL {
            let verdict = Verdict { pending: vec!["fake (a.py)".into()], ..Verdict::without(status) };
            let words = [
                of_task(Say::default(), &verdict, 0, (2, 0)),
                of_step(&verdict, 0, 2),
                of_edit(status, (0, 2), ", 3 unchanged"),
            ];
            let ahead = of_candidate(Say::default(), &verdict, &[]);
            assert_eq!(ahead.contains("nothing"), status == Status::Complete, "{status:?}: {ahead}");
            assert_eq!(ahead.contains("not known"), status != Status::Complete, "{status:?}: {ahead}");
            for words in words {
                assert_eq!(words.contains("0 new"), status == Status::Complete, "{status:?}: {words}");
                assert_eq!(words.contains("known"), status != Status::Complete, "{status:?}: {words}");
            }
        }
        let verdict = Verdict { pending: vec!["fake (a.py)".into()], ..Verdict::without(Status::Partial) };
        assert_eq!(of_step(&verdict, 1, 0), "0 fixed and 1 new so far, not known: fake (a.py)");
        assert_eq!(of_edit(Status::Partial, (1, 0), ""), "partly known: 1 new so far, 0 fixed");
    }
}
