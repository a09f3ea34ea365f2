//! Tests which phrasings are direct requests, and which only look like one.

use crate::commands::intents::intent::{Direct, ModeWish};
use crate::commands::intents::{is_stop, recognise};
use crate::state::agent_config::PlanMode;
use crate::state::undo_target::Target;

fn read(name: &str) -> Option<Direct> {
    Some(Direct::Read(name.into()))
}

fn at(name: &str) -> Option<Direct> {
    Some(Direct::Where(name.into()))
}

fn uses(name: &str) -> Option<Direct> {
    Some(Direct::Uses(name.into()))
}

fn outline(name: &str) -> Option<Direct> {
    Some(Direct::Outline(name.into()))
}

fn undo(step: Option<usize>, reason: &str) -> Option<Direct> {
    let target = step.map_or(Target::Task, |step| Target::Step(Some(step)));
    Some(Direct::Undo { target, reason: reason.into() })
}

fn undo_symbol(symbol: &str, reason: &str) -> Option<Direct> {
    Some(Direct::Undo { target: Target::Symbol(symbol.into()), reason: reason.into() })
}

fn remember(text: &str) -> Option<Direct> {
    Some(Direct::Remember(text.into()))
}

fn forget(text: &str) -> Option<Direct> {
    Some(Direct::Forget(text.into()))
}

fn recall(text: &str) -> Option<Direct> {
    Some(Direct::Recall(text.into()))
}

fn mode(mode: PlanMode) -> Option<Direct> {
    Some(Direct::Mode(ModeWish::Plan(mode)))
}

#[test]
fn clear_requests_are_recognised_in_both_languages() {
    let planner = || mode(PlanMode::Planner);
    let supervised = || mode(PlanMode::Supervised);
    for (text, wanted) in [
        ("read Cart::total", read("Cart::total")),
        ("Read `total`, please", read("total")),
        ("show me Cart.total", read("Cart::total")),
        ("show the function total", read("total")),
        ("please read the file src/shop/cart.py", read("src/shop/cart.py")),
        ("read total in cart.py", read("cart.py::total")),
        ("can you show me total()?", read("total")),
        ("lee Cart::total", read("Cart::total")),
        ("Lee el archivo cart.py", read("cart.py")),
        ("muéstrame la función total", read("total")),
        ("enséñame total en cart.py", read("cart.py::total")),
        ("where is total", at("total")),
        ("Where is Cart::total defined?", at("Cart::total")),
        ("where's the class Cart?", at("Cart")),
        ("find the definition of LineItem", at("LineItem")),
        ("¿Dónde está total?", at("total")),
        ("donde se define Cart", at("Cart")),
        ("who uses total?", uses("total")),
        ("who calls Cart.total", uses("Cart::total")),
        ("where is total used?", uses("total")),
        ("callers of total", uses("total")),
        ("find usages of LineItem", uses("LineItem")),
        ("¿Quién usa total?", uses("total")),
        ("quién llama a Cart::total", uses("Cart::total")),
        ("dónde se usa total", uses("total")),
        ("list cart.py", outline("cart.py")),
        ("outline of src/cart.py", outline("src/cart.py")),
        ("list the symbols in cart.py", outline("cart.py")),
        ("lista los símbolos de cart.py", outline("cart.py")),
        ("¿Qué símbolos hay en cart.py?", outline("cart.py")),
        ("esquema de cart.py", outline("cart.py")),
        ("undo", undo(None, "")),
        ("Undo that, please", undo(None, "")),
        ("undo that because it broke the tests", undo(None, "it broke the tests")),
        ("revert your changes", undo(None, "")),
        ("undo step 2", undo(Some(2), "")),
        ("undo step 2 since nobody asked for it", undo(Some(2), "nobody asked for it")),
        ("deshaz eso", undo(None, "")),
        ("undo Cart::total because it is slow", undo_symbol("Cart::total", "it is slow")),
        ("deshaz src/cart.py::Cart::total", undo_symbol("src/cart.py::Cart::total", "")),
        ("undo Cart::total and add a test", None),
        ("undo the rename", None),
        ("deshaz eso porque rompió las pruebas", undo(None, "rompió las pruebas")),
        ("deshazlo", undo(None, "")),
        ("deshaz el paso 3", undo(Some(3), "")),
        ("forget about tuples", forget("tuples")),
        ("forget everything about the old parser", forget("the old parser")),
        ("olvida lo que dije sobre las tuplas", forget("las tuplas")),
        ("olvida las pruebas lentas", None),
        ("olvida todo sobre las pruebas lentas", forget("las pruebas lentas")),
        ("remember that the tests live in t/", remember("the tests live in t/")),
        ("recuerda que los precios van en céntimos", remember("los precios van en céntimos")),
        ("I prefer tuples over lists", remember("I prefer tuples over lists")),
        ("prefiero respuestas breves", remember("prefiero respuestas breves")),
        ("what do you know about prices?", recall("prices")),
        ("¿Qué recuerdas de los precios?", recall("los precios")),
        ("What have you learned?", Some(Direct::Learned)),
        ("¿Qué has aprendido?", Some(Direct::Learned)),
        ("switch to supervised", supervised()),
        ("Switch to planner mode", planner()),
        ("use supervised mode", supervised()),
        ("cambia a supervisado", supervised()),
        ("cambia al modo planificador", planner()),
        ("switch to simple", Some(Direct::Mode(ModeWish::Simple))),
        ("why?", Some(Direct::Why)),
        ("Why did you do that?", Some(Direct::Why)),
        ("¿Por qué?", Some(Direct::Why)),
        ("¿por qué hiciste eso?", Some(Direct::Why)),
        ("stop", Some(Direct::Stop)),
        ("detente", Some(Direct::Stop)),
        ("show me the stats", Some(Direct::Stats)),
        ("estadísticas", Some(Direct::Stats)),
    ] {
        assert_eq!(recognise(text), wanted, "{text}");
    }
}

#[test]
fn what_only_looks_like_one_goes_on_to_the_model() {
    for text in [
        "",
        "   ",
        "read the file and fix the bug",
        "read cart.py and tell me what is wrong",
        "read me the errors",
        "show me the errors in total",
        "show me errors",
        "show total with a loop instead",
        "lee el archivo y arregla el error",
        "muéstrame los errores",
        "where is the bug?",
        "where is my code slow?",
        "where should total be defined",
        "¿dónde está el fallo?",
        "who uses this and why",
        "who wrote total",
        "list the errors",
        "list all problems in this file",
        "undo the change of sign in total()",
        "undo the rename of total",
        "undo step two of the algorithm",
        "undo step 0",
        "deshaz el cambio de signo en total()",
        "revert total to the version without tax",
        "forget it",
        "forget the old implementation and write a new one",
        "forget about total and fix the import",
        "olvida eso",
        "remember to close the file",
        "remember that total may be negative and fix it",
        "remember that total is an int? then fix it",
        "I prefer that you rewrite total",
        "I prefer a loop here and rename total",
        "prefiero que uses una tupla aquí",
        "prefer tuples in total",
        "what do you know",
        "switch to a list comprehension",
        "switch to planner and fix the types",
        "use the planner class",
        "cambia a una tupla",
        "why does total fail?",
        "why did you not add a test for total",
        "por qué falla total",
        "stop using tuples in total",
        "para el bucle en total",
        "cancel the order in Cart::cancel",
        "stats of the cart are wrong, fix them",
        "fix the errors in Cart::total",
        "explain Cart::total",
        "rename total to sum",
        "read\nCart::total",
        "Read Cart::total. Then fix it",
    ] {
        assert_eq!(recognise(text), None, "{text}");
    }
    assert!(is_stop("Stop!") && is_stop("por favor detente") && !is_stop("stop the loop in total"));
}

#[test]
fn what_forbids_a_change_is_no_direct_request_that_makes_one() {
    for text in [
        "do not change anything",
        "don't undo",
        "don't undo that",
        "do not undo the last step",
        "undo nothing",
        "never undo",
        "no deshagas nada",
        "no toques nada",
        "forget nothing",
        "don't forget anything",
        "no olvides nada",
        "do not switch to planner",
        "fix nothing",
    ] {
        let made = recognise(text);
        let changes =
            matches!(made, Some(Direct::Undo { .. } | Direct::Forget(_) | Direct::Remember(_) | Direct::Mode(_)));
        assert!(!changes, "{text}: {made:?}");
    }
}
