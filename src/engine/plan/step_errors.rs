//! Decides how each kind of failure of a step is handled: one table, which the evaluation follows.

use serde::Serialize;

use sextant_base::failure::FailureKind;

/// Why a step did not come to its end, or not to the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepError {
    /// An input refers to something that does not exist.
    Unresolved,
    /// A symbol or file of the step does not exist.
    Missing,
    /// The model did not come to an end, or could not be used, and nothing was changed.
    OutOfSteps,
    ErrorsInARow,
    /// It ended without a change or a repair.
    NothingDone,
    /// It introduced errors.
    BrokeSomething,
    /// A check does not hold.
    CheckUnmet,
    /// A step that only looks could not.
    LookFailed,
    /// The model asked for another plan, or for the user.
    ModelObjected,
    /// The model, the editor or the program itself could not go on.
    ModelFailed,
    EditorFailed,
    Internal,
    Cancelled,
}

/// How the loop goes on after a failure, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recovery {
    /// The same step again, where it changed nothing and its tries are not used up.
    pub retry: bool,
    /// The step's fallback, once.
    pub fallback: bool,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Ask the user in supervised mode; else, as far as it left the plan, go on or make a new plan.
    Weigh,
    /// Make a new plan, or ask the user in supervised mode, whatever the deviation.
    Ask,
    /// End the run; what is finished is kept, and an approval goes on from there.
    Stop,
}

/// The table.
pub(crate) const TABLE: [(StepError, Recovery); 13] = {
    use StepError::*;
    use Then::*;
    const fn row(retry: bool, fallback: bool, then: Then) -> Recovery {
        Recovery { retry, fallback, then }
    }
    [
        // The step itself cannot restore a value that another one did not give.
        (Unresolved, row(false, false, Ask)),
        (Missing, row(false, false, Ask)),
        (OutOfSteps, row(true, true, Weigh)),
        (ErrorsInARow, row(true, true, Weigh)),
        (NothingDone, row(false, true, Weigh)),
        (BrokeSomething, row(false, true, Weigh)),
        (CheckUnmet, row(false, true, Weigh)),
        // A look does not depend on luck, and its fallback would need a model.
        (LookFailed, row(false, false, Weigh)),
        (ModelObjected, row(false, false, Ask)),
        // Calls to a model have their own retries behind them.
        (ModelFailed, row(false, false, Stop)),
        (EditorFailed, row(false, false, Stop)),
        (Internal, row(false, false, Stop)),
        (Cancelled, row(false, false, Stop)),
    ]
};

impl StepError {
    pub(crate) fn recovery(self) -> Recovery {
        let row = TABLE.iter().find(|(error, _)| *error == self);
        row.map_or(Recovery { retry: false, fallback: false, then: Then::Stop }, |(_, recovery)| *recovery)
    }

    /// The error of a step whose failure came up through the loop.
    pub(crate) fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::User | FailureKind::Tool => Self::Missing,
            FailureKind::Model => Self::ModelFailed,
            FailureKind::Editor => Self::EditorFailed,
            FailureKind::Config | FailureKind::Internal => Self::Internal,
            FailureKind::Cancelled | FailureKind::Limit | FailureKind::Busy => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_one_row_and_every_recovery_is_used() {
        for (error, recovery) in TABLE {
            assert_eq!(TABLE.iter().filter(|(known, _)| *known == error).count(), 1, "{error:?} twice");
            assert_eq!(error.recovery(), recovery);
            assert!(recovery.then != Then::Stop || !recovery.retry && !recovery.fallback, "{error:?}");
        }
        assert!(TABLE.iter().any(|(_, r)| r.retry) && TABLE.iter().any(|(_, r)| r.fallback && !r.retry));
        for then in [Then::Weigh, Then::Ask, Then::Stop] {
            assert!(TABLE.iter().any(|(_, r)| r.then == then), "{then:?}");
        }
    }

    #[test]
    fn a_failure_of_the_loop_is_a_step_error_and_ends_the_run_unless_it_is_the_step_s_own() {
        for (kind, then) in [
            (FailureKind::Model, Then::Stop),
            (FailureKind::Editor, Then::Stop),
            (FailureKind::Cancelled, Then::Stop),
            (FailureKind::Internal, Then::Stop),
            (FailureKind::Config, Then::Stop),
            (FailureKind::Tool, Then::Ask),
            (FailureKind::User, Then::Ask),
        ] {
            assert_eq!(StepError::of(kind).recovery().then, then, "{kind:?}");
        }
    }
}
