//! A realistic step, for the tests of this crate and of the tools' own.

use sextant_model::input::{MemoryFacts, ModelContext, ReportFacts, RequestFacts, SourceFacts, StepAsk, StepInput};
use sextant_model::plan_contract::{Contract, Deviation, PlanFacts, SupervisedFacts};
use sextant_model::prompt::Prompt;
use sextant_model::question_frame::Framing;
use sextant_model::step::{DiagnosticLine, FixOffer, LastResult};
use sextant_model::tools::ToolSpec;

pub(crate) const SOURCE: &str = r#"    def total(self, currency: str, discount: Optional[Discount] = None) -> Decimal:
        """Return the total of the cart in the given currency, after discounts and taxes.

        Raises CurrencyError when a line item cannot be converted.
        """
        subtotal = Decimal("0.00")
        for item in self.items:
            price = item.price
            if item.currency != currency:
                rate = self.rates.lookup(item.currency, currency)
                if rate is None:
                    raise CurrencyError(item.currency, currency)
                price = price * rate
            subtotal += price * item.quantity

        if discount is not None:
            subtotal = discount.apply(subtotal, self.customer)
        if subtotal < 0:
            logger.warning("negative subtotal for cart %s: %s", self.id, subtotal)
            subtotal = 0

        tax = self.tax_table.rate_for(self.customer.country, on=datetime.date.today())
        total = (subtotal * (1 + tax)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
        self.history.append(total)
        return str(total)
"#;

pub(crate) fn line(severity: &str, code: &str, message: &str) -> DiagnosticLine {
    DiagnosticLine {
        severity: severity.into(),
        symbol: "src/shop/cart.py::Cart::total".into(),
        code: code.into(),
        message: message.into(),
        source: "lsp:basedpyright".into(),
        confidence: String::new(),
        suggested_action: None,
        theme: String::new(),
        also: Vec::new(),
        unanswered: Vec::new(),
    }
}

/// A realistic task: one method, three diagnostics, two fixes, memory and a result so far.
pub(crate) fn task(tools: &'static [ToolSpec]) -> StepInput {
    let symbol = "src/shop/cart.py::Cart::total".to_owned();
    let request = RequestFacts {
        query: "Fix the type errors in Cart::total and keep its behaviour".into(),
        current_file: Some("src/shop/cart.py".into()),
        scope: vec![symbol.clone()],
        ..RequestFacts::default()
    };
    let memory = vec![
        "solution: Import `Decimal` from `decimal` fixed reportUndefinedVariable in src/shop/tax.py::rate".into(),
        "error: edit_file on src/shop/cart.py failed, old_string was not unique".into(),
    ];
    let diagnostics = vec![
        line(
            "error",
            "reportReturnType",
            "Type \"str\" is not assignable to return type \"Decimal\"\n  \"str\" is not assignable to \"Decimal\"",
        ),
        line("error", "reportUndefinedVariable", "\"Optional\" is not defined"),
        line(
            "warning",
            "reportAssignmentType",
            "Type \"Literal[0]\" is not assignable to declared type \"Decimal\"\n  \"Literal[0]\" is not assignable to \"Decimal\"",
        ),
    ];
    let sources = SourceFacts {
        texts: vec![(symbol.clone(), SOURCE.into())],
        workspace: (0..200).map(|i| format!("src/shop/module_{i}.py")).collect(),
    };
    let fixes = vec![
        FixOffer {
            id: "f1".into(),
            title: "Import `Optional` from `typing`".into(),
            symbol,
            diagnostic: Some(1),
            preferred: true,
            changes: Vec::new(),
        },
        FixOffer {
            id: "f2".into(),
            title: "Organize imports".into(),
            symbol: "src/shop/cart.py".into(),
            diagnostic: None,
            preferred: false,
            changes: Vec::new(),
        },
    ];
    let results = vec![
        LastResult { tool: "read_symbol".into(), ok: true, text: SOURCE.into() },
        LastResult {
            tool: "edit_symbol".into(),
            ok: false,
            text: "content does not parse: expected an indented block after the function definition".into(),
        },
    ];
    let context = ModelContext {
        tools,
        request,
        sources,
        reports: ReportFacts { diagnostics, fixes, ..ReportFacts::default() },
        memory: MemoryFacts { lines: memory, tokens: 100, ..MemoryFacts::default() },
        framing: Framing::default(),
        ..ModelContext::default()
    };
    StepInput { context, ask: StepAsk { step: 3, error_count: 1, results, ..StepAsk::default() } }
}

/// More tokens than byte-pair vocabularies make of code: every punctuation mark, every digit pair, every started
/// five letters of a word, every line's indentation and every character beyond ASCII is a token of its own.
pub(crate) fn upper_estimate(text: &str) -> usize {
    let mut count = 0;
    let mut run = 0;
    let mut kind = ' ';
    for c in text.chars() {
        let class = match c {
            'a'..='z' | 'A'..='Z' => 'a',
            '0'..='9' => '0',
            ' ' => ' ',
            '\n' => '\n',
            _ => '.',
        };
        run = if class == kind { run + 1 } else { 1 };
        count += match class {
            'a' => usize::from(run % 5 == 1),
            '0' => run % 2,
            // One blank goes with the word after it; an indentation is one token.
            ' ' => usize::from(run == 2),
            _ => 1,
        };
        kind = class;
    }
    count
}

pub(crate) fn both(prompt: &Prompt) -> String {
    format!("{}\n{}", prompt.system, prompt.user)
}

pub(crate) fn contracts() -> [(Contract, usize); 3] {
    let plan = PlanFacts {
        plan: (1..=6).map(|n| format!("{n}. [ ] Change step {n} (src/shop/cart.py::Cart::total)")).collect(),
        step: 2,
        progress: 1.0 / 6.0,
        deviation: Some(Deviation {
            expected: "no error is left in it".into(),
            actual: "step 1 2 new errors, the first: \"x\" is not defined".into(),
            impacted: vec![3, 4],
        }),
    };
    let supervised = SupervisedFacts {
        plan: plan.clone(),
        adherence: 0.75,
        escalations: vec!["Step 1: two ways. It asks: Which? → do this step again: the first".into()],
    };
    // The most tokens of a step under each contract.
    [(Contract::Simple, 1500), (Contract::Planner(plan), 1850), (Contract::Supervised(supervised), 2000)]
}

/// The task as a step under a contract.
pub(crate) fn under(contract: Contract, tools: &'static [ToolSpec]) -> StepInput {
    let mut input = task(tools);
    input.ask.contract = contract;
    input
}
