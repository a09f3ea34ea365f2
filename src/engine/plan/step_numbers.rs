//! Follows the steps of a plan into its rewritten text. A number that a step had before means the step that it meant
//! then. A number that the user has written means the step that stands there in the text.

use crate::plan::inputs::Value;
use crate::plan::{Plan, Step, StepResult, StepState, document};

/// The steps of the text that are steps of the plan.
#[derive(Debug)]
pub(crate) struct Followed {
    /// For each step of the text, the index of the step of the plan with its title.
    pub same: Vec<Option<usize>>,
    /// For each step of the plan, its number in the text. `None` where it is gone.
    now: Vec<Option<usize>>,
    /// The titles of the steps of the plan, and of those of the text.
    titles: Vec<String>,
    new_titles: Vec<String>,
    /// For each step of the plan, the numbers of the steps that it refers to.
    needs: Vec<Vec<usize>>,
}

/// The reason why a step cannot be one of the plan, and the detail that has it; empty for the step itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepFault {
    pub(crate) detail: &'static str,
    pub(crate) message: String,
}

impl StepFault {
    pub(crate) fn of(detail: &'static str, message: impl Into<String>) -> Self {
        Self { detail, message: message.into() }
    }
}

/// Finds the steps of a plan in its rewritten text: by title, and among equal titles by content. A step that stands
/// where the plan had a step that is gone has been retitled: references to that step are references to it.
pub(crate) fn follow(plan: &[Step], text: &[Step]) -> Followed {
    let mut same = vec![None; text.len()];
    let mut now = vec![None; plan.len()];
    let was: Vec<String> = plan.iter().map(content).collect();
    let titles: Vec<String> = plan.iter().map(|step| document::line(&step.title)).collect();
    let is: Vec<String> = text.iter().map(content).collect();
    for whole in [true, false] {
        for (at, step) in text.iter().enumerate().filter(|(at, _)| same[*at].is_none()).collect::<Vec<_>>() {
            let alike = |from: &usize| if whole { was[*from] == is[at] } else { titles[*from] == step.title };
            if let Some(from) = (0..plan.len()).find(|from| now[*from].is_none() && alike(from)) {
                (same[at], now[from]) = (Some(from), Some(at + 1));
            }
        }
    }
    let mut next = Some(0);
    for (at, known) in same.iter().enumerate() {
        let stands_for = known.or_else(|| next.filter(|from| now.get(*from) == Some(&None)));
        if let Some(from) = stands_for {
            now[from] = Some(at + 1);
        }
        next = stands_for.map(|from| from + 1);
    }
    let new_titles = text.iter().map(|step| document::line(&step.title)).collect();
    Followed { same, now, titles, new_titles, needs: plan.iter().map(needs_of).collect() }
}

fn needs_of(step: &Step) -> Vec<usize> {
    let inputs = step.inputs.iter().filter_map(|input| input.value.step());
    step.after.iter().copied().chain(inputs).collect()
}

/// A step as its text, without what its run has made of it.
fn content(step: &Step) -> String {
    let step = Step { state: StepState::Open, result: StepResult::default(), ..step.clone() };
    document::write(&Plan { steps: vec![step], ..Plan::default() })
}

impl Followed {
    /// Gives the references of a step their numbers in the text. `own` is the number of the step there.
    ///
    /// # Errors
    /// A reference to a step that is gone, or that does not stand before this one.
    pub(crate) fn renumber(&self, own: usize, step: &mut Step) -> Result<(), StepFault> {
        // Only the text of an open step is read: another one cannot lose a reference there.
        let is_open = step.state == StepState::Open;
        let moved = |number: usize| self.moved(own, number, is_open);
        let after: Result<Vec<_>, _> = step.after.iter().map(|number| moved(*number)).collect();
        step.after = after.map_err(|message| StepFault::of("after", message))?.into_iter().flatten().collect();
        let mut inputs = Vec::new();
        for mut input in step.inputs.clone() {
            if let Value::Step(number, _) = &mut input.value {
                let now = moved(*number).map_err(|message| StepFault::of("with", message))?;
                let Some(now) = now else { continue };
                *number = now;
            }
            inputs.push(input);
        }
        step.inputs = inputs;
        if step.state == StepState::Skipped {
            step.result.outcome = self.reworded(&step.result.outcome);
        }
        Ok(())
    }

    /// The number in the text of the step that a number in the step `own` of the text means.
    fn moved(&self, own: usize, number: usize, is_open: bool) -> Result<Option<usize>, String> {
        let from = self.now.iter().position(|now| *now == Some(own));
        let is_kept = from.is_some_and(|from| self.needs[from].contains(&number));
        let titles = if is_kept { &self.titles } else { &self.new_titles };
        let Some((index, title)) = number.checked_sub(1).and_then(|index| Some((index, titles.get(index)?))) else {
            return Ok(Some(number));
        };
        let named = format!("step {number} (“{title}”)");
        let remove = if is_open { format!(", or remove the {number} here") } else { String::new() };
        let now = if is_kept { self.now[index] } else { Some(number) };
        match now {
            None if is_open => Err(format!("{named} is gone from the text: remove the {number} here")),
            Some(now) if now == own => Err(format!("{named} is this step itself: remove the {number} here")),
            Some(now) if now > own => {
                Err(format!("{named} must be done before this step and stands below it: move it up{remove}"))
            }
            now => Ok(now),
        }
    }

    /// The outcome of a step that another one has stopped, with the number of that one.
    fn reworded(&self, outcome: &str) -> String {
        let stopped_by = outcome.strip_prefix("step ").and_then(|rest| rest.split_once(' '));
        let Some((Ok(number), came)) = stopped_by.map(|(number, came)| (number.parse::<usize>(), came)) else {
            return outcome.to_owned();
        };
        match number.checked_sub(1).and_then(|index| self.now.get(index)) {
            Some(Some(now)) => format!("step {now} {came}"),
            Some(None) => format!("a step that is gone {came}"),
            None => outcome.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAN: &str = "# T\n- [ ] one\n- [ ] two\n  - with: target = step1.symbol\n- [ ] three\n  - after: 1, 2\n";

    fn steps(text: &str) -> Vec<Step> {
        document::read(text).0.steps
    }

    /// The steps of a text under their own numbers, or the first fault with the number of its step.
    fn renumbered(plan: &str, text: &str) -> Result<Vec<String>, (usize, String)> {
        let mut read = steps(text);
        let followed = follow(&steps(plan), &read);
        for (index, step) in read.iter_mut().enumerate() {
            followed.renumber(index + 1, step).map_err(|fault| (index + 1, fault.message))?;
        }
        let words = |step: &Step| {
            let inputs = step.inputs.iter().map(ToString::to_string);
            let needs: Vec<String> = step.after.iter().map(ToString::to_string).chain(inputs).collect();
            format!("{}: {}", step.title, needs.join(", "))
        };
        Ok(read.iter().map(words).collect())
    }

    #[test]
    fn references_follow_their_steps_and_a_forward_one_is_a_fault() {
        let same = ["one: ", "two: target = step1.symbol", "three: 1, 2"];
        assert_eq!(renumbered(PLAN, PLAN).unwrap(), same);
        let last = "- [ ] two\n  - with: target = step1.symbol\n- [ ] three\n- [ ] one\n";
        let (step, fault) = renumbered(PLAN, last).unwrap_err();
        assert_eq!(step, 1);
        assert!(fault.contains("step 1 (“one”) must be done before") && fault.contains("remove the 1"), "{fault}");
        let (step, fault) = renumbered(PLAN, "- [ ] two\n- [ ] three\n  - after: 1, 2\n").unwrap_err();
        assert!(step == 2 && fault.contains("step 1 (“one”) is gone"), "{fault}");
        let own = renumbered(PLAN, "- [ ] one\n  - after: 1\n- [ ] two\n- [ ] three\n").unwrap_err();
        assert!(own.0 == 1 && own.1.contains("this step itself"), "{own:?}");
        let swapped =
            "- [ ] new\n- [ ] one\n- [ ] two\n  - with: target = step1.symbol\n- [ ] three\n  - after: 1, 2\n";
        assert_eq!(renumbered(PLAN, swapped).unwrap(), ["new: ", "one: ", "two: target = step2.symbol", "three: 2, 3"]);
    }

    #[test]
    fn a_number_that_the_user_writes_means_the_step_that_stands_there() {
        let moved =
            "- [ ] two\n  - with: target = session.one\n- [ ] one\n  - after: 1\n- [ ] three\n  - after: 1, 2\n";
        let followed = ["two: target = session.one", "one: 1", "three: 2, 1"];
        assert_eq!(renumbered(PLAN, moved).unwrap(), followed, "the old numbers of the third step follow");
        let new = "- [ ] three\n- [ ] one\n- [ ] new\n  - after: 1\n- [ ] two\n";
        assert_eq!(renumbered(PLAN, new).unwrap()[2], "new: 1", "three stands there");
        let below = renumbered(PLAN, "- [ ] new\n  - after: 2\n- [ ] two\n- [ ] one\n").unwrap_err();
        assert!(below.0 == 1 && below.1.contains("step 2 (“two”) must be done before"), "{below:?}");
    }

    #[test]
    fn a_retitled_step_keeps_its_number_and_a_new_one_has_the_next() {
        let text = "- [ ] uno\n- [ ] two\n  - after: 1\n- [ ] three\n- [ ] four\n- [ ] five\n  - after: 4, 3, 9\n";
        assert_eq!(renumbered(PLAN, text).unwrap()[1], "two: 1");
        assert_eq!(renumbered(PLAN, text).unwrap()[4], "five: 4, 3, 9");
        let twins = "- [ ] same\n  - because: a\n- [ ] same\n  - because: b\n- [ ] last\n  - after: 2\n";
        let text = "- [ ] same\n  - because: b\n- [ ] same\n  - because: a\n- [ ] last\n  - after: 2\n";
        assert_eq!(renumbered(twins, text).unwrap()[2], "last: 1", "of two with one title, the one with its content");
    }

    #[test]
    fn a_step_that_another_one_has_stopped_names_it_by_its_new_number() {
        let plan = "- [!] one\n- [ ] two\n- [-] three\n  - after: 1\n  - outcome: step 1 failed\n";
        let text = |first: &str| {
            let mut read = steps(&format!("{first}- [-] three\n  - after: 1\n  - outcome: step 1 failed\n"));
            let followed = follow(&steps(plan), &read);
            followed.renumber(read.len(), read.last_mut().unwrap()).unwrap();
            read.pop().unwrap()
        };
        let moved = text("- [ ] two\n- [!] one\n");
        assert_eq!((moved.after, moved.result.outcome.as_str()), (vec![2], "step 2 failed"));
        let gone = text("- [ ] two\n");
        assert_eq!((gone.after, gone.result.outcome.as_str()), (Vec::new(), "a step that is gone failed"));
    }

    proptest! {
        /// However the text was edited, no two of its steps are one step of the plan, and each step keeps its title.
        #[test]
        fn any_text_can_be_followed(lines in proptest::collection::vec(0..9usize, 0..14), first in 0..12usize) {
            const LINES: [&str; 9] = [
                "- [ ] one", "- [ ] two", "- [ ] two", "- [-] three", "- [ ] new", "  - after: 1, 3, 7, 200",
                "  - with: a = step0.output, b = step2.symbol", "- [x] one", "  - because: it was asked",
            ];
            let text: String = lines.iter().skip(first).chain(&lines).map(|at| format!("{}\n", LINES[*at])).collect();
            let plan = steps(PLAN);
            let mut read = steps(&text);
            let followed = follow(&plan, &read);
            let mut taken: Vec<usize> = followed.same.iter().flatten().copied().collect();
            taken.sort_unstable();
            taken.dedup();
            prop_assert_eq!(taken.len(), followed.same.iter().flatten().count());
            let mut numbers: Vec<usize> = followed.now.iter().flatten().copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert_eq!(numbers.len(), followed.now.iter().flatten().count());
            for (index, step) in read.iter_mut().enumerate() {
                let before = step.clone();
                match followed.renumber(index + 1, step) {
                    Ok(()) => prop_assert!(step.after.iter().all(|number| *number != index + 1 || *number > plan.len())),
                    Err(fault) => prop_assert!(!fault.message.is_empty()),
                }
                prop_assert_eq!(&step.title, &before.title);
                if let Some(at) = followed.same[index] {
                    prop_assert_eq!(&step.title, &plan[at].title);
                }
            }
        }

        /// In any order of the steps, a reference means the same title as before, or is a fault.
        #[test]
        fn in_any_order_a_reference_means_the_step_that_it_meant(
            order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
            kept in 1..=6usize,
            needs in proptest::collection::vec(0..6usize, 6),
        ) {
            let step = |at: usize| match needs[at] % (at + 1) {
                0 => format!("- [ ] s{}\n", at + 1),
                needed => format!("- [ ] s{}\n  - after: {needed}\n", at + 1),
            };
            let plan: String = (0..6).map(step).collect();
            let order = &order[..kept];
            let text: String = order.iter().map(|at| step(*at)).collect();
            let place = |at: usize| order.iter().position(|other| *other == at);
            let fits = order.iter().enumerate().all(|(now, at)| match needs[*at] % (*at + 1) {
                0 => true,
                needed => place(needed - 1).is_some_and(|place| place < now),
            });
            match renumbered(&plan, &text) {
                Err((number, _)) => prop_assert!(!fits && number <= kept),
                Ok(all) => {
                    prop_assert!(fits);
                    for (now, at) in order.iter().enumerate() {
                        let needed = needs[*at] % (*at + 1);
                        let wanted = if needed == 0 { String::new() } else { (place(needed - 1).unwrap() + 1).to_string() };
                        prop_assert_eq!(&all[now], &format!("s{}: {wanted}", at + 1));
                    }
                }
            }
        }
    }
}
