//! Requests as people write them, each with its class.

use crate::request_kind::Ask::{Forbidden, Question, Repair, Unclear, Work};
use crate::request_kind::*;

/// The class of each request.
const TABLE: &[(Ask, &str)] = &[
    (Repair, "fix the errors"),
    (Repair, "fix the errors in Cart::total"),
    (Repair, "Fix all errors in prices.py, please"),
    (Repair, "fix this"),
    (Repair, "fix it"),
    (Repair, "fix"),
    (Repair, "Fix everything"),
    (Repair, "can you fix this?"),
    (Repair, "Could you please fix the type errors in this file?"),
    (Repair, "would you mind fixing the lint errors"),
    (Repair, "please fix what is reported"),
    (Repair, "repair the imports"),
    (Repair, "mend it"),
    (Repair, "mend total"),
    (Repair, "correct the type errors"),
    (Repair, "clean up the imports"),
    (Repair, "clean this file"),
    (Repair, "tidy this up"),
    (Repair, "tidy the imports"),
    (Repair, "resolve the diagnostics"),
    (Repair, "resolve all warnings"),
    (Repair, "solve the type errors"),
    (Repair, "address the lint warnings"),
    (Repair, "organize imports"),
    (Repair, "organise the imports"),
    (Repair, "remove unused imports"),
    (Repair, "remove the unused imports and fix the warnings"),
    (Repair, "delete all unused variables"),
    (Repair, "get rid of the warnings"),
    (Repair, "get rid of all type errors"),
    (Repair, "eliminate the errors"),
    (Repair, "remove all type errors"),
    (Repair, "Add the missing import"),
    (Repair, "add missing imports"),
    (Repair, "make this file type-clean"),
    (Repair, "make it lint-free"),
    (Repair, "make this module free of errors, without warnings"),
    (Repair, "apply the fixes"),
    (Repair, "apply all quick fixes"),
    (Repair, "use the offered fixes"),
    (Repair, "quickfix"),
    (Repair, "fix F401"),
    (Repair, "fix reportReturnType"),
    (Repair, "fix the unused imports"),
    (Repair, "Fix the undefined name"),
    (Repair, "fix every error in the workspace"),
    (Repair, "fix the basedpyright errors"),
    (Repair, "fix the errors that ruff reports"),
    (Repair, "check the file and fix the errors"),
    (Repair, "find and fix all errors"),
    (Repair, "run the tests and fix the errors"),
    (Repair, "hello, fix the errors"),
    (Repair, "I want the errors fixed"),
    (Repair, "I need these warnings fixed"),
    (Repair, "the errors should be fixed please"),
    (Repair, "let's fix the errors"),
    (Repair, "help me fix the errors"),
    (Repair, "try to fix the type errors"),
    (Repair, "go ahead and fix it"),
    (Repair, "what is wrong here? Fix it."),
    (Repair, "fix the error that x is not defined"),
    (Repair, "fix the imports that cannot be resolved"),
    (Repair, "fix until there are no errors left"),
    (Repair, "fix until nothing is reported"),
    (Repair, "fix all errors so that it is no longer red"),
    (Repair, "show me the errors, and fix them"),
    (Repair, "fix teh erors"),
    (Repair, "fix the warnigns"),
    (Repair, "repiar the errors"),
    (Repair, "fix total"),
    (Repair, "fix Cart"),
    (Repair, "arregla los errores"),
    (Repair, "arregla esto"),
    (Repair, "arréglalo"),
    (Repair, "corrige los errores de tipo"),
    (Repair, "corrige los avisos"),
    (Repair, "corrije los erores"),
    (Repair, "¿Puedes arreglar los errores?"),
    (Repair, "por favor, arregla los errores de tipo en Cart::total"),
    (Repair, "quiero que arregles los errores"),
    (Repair, "hay que corregir los avisos"),
    (Repair, "limpia los imports"),
    (Repair, "limpia este archivo"),
    (Repair, "soluciona los problemas"),
    (Repair, "soluciona los errores de este módulo"),
    (Repair, "repara las importaciones"),
    (Repair, "resuelve los errores"),
    (Repair, "resuelve las advertencias"),
    (Repair, "elimina los errores de total"),
    (Repair, "quita los imports sin usar"),
    (Repair, "elimina las importaciones no usadas"),
    (Repair, "añade el import que falta"),
    (Repair, "ordena los imports"),
    (Repair, "aplica las correcciones"),
    (Repair, "deja el archivo sin errores"),
    (Repair, "haz que este archivo quede limpio"),
    (Repair, "revisa y corrige los errores"),
    (Repair, "ayúdame a corregir los avisos"),
    (Repair, "arregal los errores"),
    (Repair, "hola, arregla los errores"),
    (Repair, "corrige todo"),
    (Repair, "behebe die Fehler"),
    (Repair, "behebe alle Fehler in dieser Datei"),
    (Repair, "korrigiere die Warnungen"),
    (Repair, "kannst du die Fehler beheben?"),
    (Repair, "repariere die Importe"),
    (Repair, "The test test_all in tests/test_cart.py fails. Find out why and repair the code."),
    (Question, "explain Cart::total"),
    (Question, "find out why"),
    (Question, "when is this called"),
    (Question, "when does it fail"),
    (
        Unclear,
        "When the format has neither a date nor a time in it, this quietly gives None. It should raise the error.",
    ),
    (
        Work,
        "Add types to keys.py (pyrightconfig.json says how strict; leave that file as it is). No change of behaviour.",
    ),
    (Question, "Why does the fix fail"),
    (Question, "¿Qué hace total?"),
    (Question, "¿Por qué falla?"),
    (Question, "por qué no compila"),
    (Question, "Wie funktioniert das?"),
    (Question, "is total ever negative?"),
    (Question, "please explain total"),
    (Question, "show me the errors in total"),
    (Question, "Are there any errors?"),
    (Question, "what would you fix?"),
    (Question, "what would you fix here"),
    (Question, "how do I fix this?"),
    (Question, "how would you fix the errors?"),
    (Question, "should I fix this?"),
    (Question, "should we fix the warnings?"),
    (Question, "can I fix this by hand?"),
    (Question, "which errors can be fixed?"),
    (Question, "what is wrong here"),
    (Question, "where is the bug"),
    (Question, "does this need fixing?"),
    (Question, "tell me how to fix the errors"),
    (Question, "tell me how to fix and clean the imports"),
    (Question, "list the errors"),
    (Question, "check this file"),
    (Question, "review it"),
    (Question, "look at the errors"),
    (Question, "explain the errors"),
    (Question, "do these errors matter?"),
    (Question, "why is the error not fixed?"),
    (Question, "what errors are there"),
    (Question, "summarize this file"),
    (Question, "think about the errors"),
    (Question, "suggest a fix"),
    (Question, "is it ok to just fix the errors?"),
    (Question, "what happens if I remove the unused imports?"),
    (Question, "explica los errores"),
    (Question, "muestra los errores"),
    (Question, "¿hay errores?"),
    (Question, "¿qué errores hay?"),
    (Question, "qué arreglarías"),
    (Question, "¿cómo arreglo esto?"),
    (Question, "cómo se corrigen los errores"),
    (Question, "¿debo arreglar esto?"),
    (Question, "dime qué está mal"),
    (Question, "revisa este archivo"),
    (Question, "mira los avisos"),
    (Question, "was ist hier falsch?"),
    (Forbidden, "do not change anything"),
    (Forbidden, "don't change anything"),
    (Forbidden, "Do NOT fix anything"),
    (Forbidden, "dont touch anything"),
    (Forbidden, "don't fix the errors"),
    (Forbidden, "do not fix this"),
    (Forbidden, "please don't fix it"),
    (Forbidden, "never fix the errors"),
    (Forbidden, "fix nothing"),
    (Forbidden, "change nothing"),
    (Forbidden, "change nothing, just look"),
    (Forbidden, "explain nothing and change nothing"),
    (Forbidden, "fix the errors without editing"),
    (Forbidden, "fix the errors without changing anything"),
    (Forbidden, "fix the errors but not the warnings"),
    (Forbidden, "fix all errors except the imports"),
    (Forbidden, "fix the errors, but do not touch cart.py"),
    (Forbidden, "fix the errors but leave the warnings"),
    (Forbidden, "don't apply the fixes"),
    (Forbidden, "do not remove unused imports"),
    (Forbidden, "fix no errors at all, change nothing"),
    (Forbidden, "no changes please"),
    (Forbidden, "no edits"),
    (Forbidden, "make no changes"),
    (Forbidden, "leave everything as it is"),
    (Forbidden, "leave it alone"),
    (Forbidden, "read-only please"),
    (Work, "Add a read-only property is_stable to Version and a subcommand that prints it"),
    (Forbidden, "dry run: fix the errors"),
    (Forbidden, "nothing should be changed"),
    (Forbidden, "nothing may be edited"),
    (Forbidden, "you must not change anything"),
    (Forbidden, "you should not edit anything"),
    (Forbidden, "fix the errors, no wait, don't"),
    (Forbidden, "stop, do not fix anything"),
    (Forbidden, "just look, fix nothing"),
    (Forbidden, "no toques nada"),
    (Forbidden, "no cambies nada"),
    (Forbidden, "no arregles nada"),
    (Forbidden, "no arregles los errores"),
    (Forbidden, "no corrijas los avisos"),
    (Forbidden, "sin cambiar nada"),
    (Forbidden, "arregla los errores sin tocar nada"),
    (Forbidden, "no modifiques el archivo"),
    (Forbidden, "no hagas cambios"),
    (Forbidden, "no edites nada, por favor"),
    (Forbidden, "deja todo como está"),
    (Forbidden, "nunca corrijas los errores"),
    (Forbidden, "no toques el código"),
    (Forbidden, "arregla los errores pero no los avisos"),
    (Forbidden, "corrige todo salvo los imports"),
    (Forbidden, "nada de cambios, no toques nada"),
    (Forbidden, "evita cambiar el archivo"),
    (Forbidden, "solo lectura: corrige los errores"),
    (Forbidden, "ändere nichts"),
    (Forbidden, "nicht ändern"),
    (Work, "rename total to sum"),
    (Work, "add a parameter tax"),
    (Work, "escribe una docstring"),
    (Work, "add error handling to total"),
    (Work, "rename fix_total to mend"),
    (Work, "replace the warning with an exception"),
    (Work, "delete the error class"),
    (Work, "remove impl Error from src/error.rs"),
    (Work, "remove the impl Error in src/error.rs"),
    (Work, "remove Error from src/error.rs"),
    (Work, "delete class ErrorHandler"),
    (Work, "delete class Error"),
    (Work, "delete class error"),
    (Work, "delete the enum Warning"),
    (Work, "delete fn warning in a.rs"),
    (Work, "get rid of impl Error"),
    (Work, "elimina la clase Error"),
    (Work, "rename Warning to Notice"),
    (Repair, "fix the errors in a.py"),
    (Repair, "remove the error in a.py"),
    (Repair, "remove the type error in f"),
    (Repair, "remove type errors"),
    (Repair, "remove all errors from src/error.rs"),
    (Repair, "delete the warnings of this class"),
    (Repair, "remove the class errors"),
    (Repair, "quita los errores"),
    (Repair, "quita el error"),
    (Repair, "entferne den Fehler"),
    (Work, "let f in a.ts do nothing"),
    (Work, "let f change nothing"),
    (Work, "make f do nothing"),
    (Work, "make f return nothing"),
    (Work, "haz que f no haga nada"),
    (Work, "remove the functions that do nothing"),
    (Unclear, "f should do nothing"),
    (Unclear, "If the list is empty, do nothing."),
    (Forbidden, "do nothing"),
    (Forbidden, "please do nothing"),
    (Forbidden, "explain f, and do nothing"),
    (Forbidden, "I want you to do nothing"),
    (Forbidden, "you should change nothing"),
    (Forbidden, "if you see an error, change nothing"),
    (Forbidden, "don't change anything, just explain"),
    (Forbidden, "no hagas nada"),
    (Work, "fix the tests"),
    (Work, "fix the bug in total"),
    (Work, "fix the spelling"),
    (Work, "fix the docstring"),
    (Work, "fix the error message"),
    (Work, "clean the database"),
    (Work, "solve the puzzle of the login page"),
    (Work, "resolve the merge conflict"),
    (Work, "delete unused functions"),
    (Work, "write a test that fixes errors"),
    (Work, "silence the warnings"),
    (Work, "run the tests"),
    (Work, "commit the fixes"),
    (Work, "undo the fixes"),
    (Work, "translate the comments"),
    (Work, "refactor this"),
    (Work, "arregla las pruebas"),
    (Work, "corrige la ortografía"),
    (Work, "limpia la base de datos"),
    (Work, "renombra total"),
    (Work, "ejecuta las pruebas"),
    (Work, "traduce los comentarios"),
    (Unclear, ""),
    (Unclear, "   "),
    (Unclear, "hello"),
    (Unclear, "hi there"),
    (Unclear, "hola"),
    (Unclear, "thanks"),
    (Unclear, "ok"),
    (Unclear, "forget everything"),
    (Unclear, "olvida todo"),
    (Unclear, "Cart::total"),
    (Unclear, "a.py"),
    (Unclear, "errors"),
    (Unclear, "the fixes"),
    (Unclear, "break it"),
    (Unclear, "nothing"),
    (Unclear, "asdf qwer"),
    (Work, "clear everything"),
    (Unclear, "goodbye"),
    (Unclear, "gracias"),
    (Unclear, "42"),
    (Unclear, "?!"),
    (Work, "make the error message nicer"),
];

#[test]
fn each_request_is_taken_for_what_it_is() {
    let wrong: Vec<String> = TABLE
        .iter()
        .filter_map(|(wanted, query)| {
            let got = classify(query);
            (got != *wanted).then(|| format!("{query:?} is taken for {got:?}, and is {wanted:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn what_a_repair_names_is_a_name_and_nothing_else_is_left_undone() {
    let known = ["Cart::total", "Cart", "total", "prices.py", "x", "a.py", "f", "src/error.rs"];
    let mut wrong = Vec::new();
    for (_, query) in TABLE.iter().filter(|(wanted, _)| *wanted == Repair) {
        let wanted = repair_filter(query, "");
        wrong.extend(
            wanted.names().iter().filter(|(name, _)| !known.contains(name)).map(|found| format!("{query}: {found:?}")),
        );
        let undone: &[&str] = if query.starts_with("run the tests") { &["run the tests"] } else { &[] };
        if wanted.undone != undone {
            wrong.push(format!("{query}: {:?}", wanted.undone));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn fixing_is_distinguished_from_asking_and_reports_from_one_bug() {
    for (query, wanted) in [
        ("fix this", (true, false)),
        ("make this file type-clean", (true, true)),
        ("fix all errors", (true, true)),
        ("break it", (false, false)),
        ("rename total", (false, false)),
        ("Cart::total", (false, false)),
    ] {
        assert_eq!((asks_repair(query), asks_report_repair(query)), wanted, "{query}");
    }
    assert!(wants_all("fix everything") && !wants_all("fix this"));
}

#[test]
fn a_wish_for_more_than_fixing_is_never_taken_for_fixing_alone() {
    let named = |word: &str| ["prices", "total", "cart"].contains(&word.to_lowercase().as_str());
    for (query, wanted) in [
        ("fix the type error in total", true),
        ("Fix all errors in prices.py, please", true),
        ("make this file type-clean", true),
        ("arregla los errores de tipo en Cart::total", true),
        ("behebe alle Fehler in dieser Datei", true),
        ("fix this", false),
        ("fix the type error in total and handle negative prices", false),
        ("fix the errors in other", false),
        ("fix the error and rename total", false),
        ("why does the error remain", false),
    ] {
        assert_eq!(asks_only_report_repair(query, named), wanted, "{query}");
    }
}

#[test]
fn a_verb_of_removal_speaks_of_what_follows_it() {
    assert_eq!(removals("Delete `Cart::total` and sum in a.py"), [vec!["Cart", "total", "and", "sum"]]);
    assert_eq!(removals("Remove the unused variable in f"), [vec!["the", "unused", "variable"]]);
    assert_eq!(removals("fix f"), Vec::<Vec<&str>>::new());
    assert!(is_generic(&["the", "dead", "code"]) && !is_generic(&["items", "unused", "import"]));
}

#[test]
fn a_prohibition_of_every_change_is_distinguished_from_one_of_a_part() {
    let mut wrong = Vec::new();
    for query in [
        "explain total, don't change anything",
        "Explain this. Do not edit any files.",
        "look at f but do not touch it",
        "without changing anything, tell me what is wrong",
        "what would you rename? change nothing",
        "just explain",
        "only look at it",
        "rename f, no wait, do not change anything",
        "make no edits",
        "read-only: how does f work",
        "leave the code as it is and explain it",
        "analiza esto sin tocar nada",
        "solo explica f",
        "no modifiques nada",
        "no cambies ningún archivo",
        "explica f, pero no hagas cambios",
        "ändere nichts, erkläre f",
        "dont change a thing",
        "you must not modify the files",
        "don't change anything yet",
    ] {
        if !forbids(query) || matches!(classify(query), Repair | Work) {
            wrong.push(query);
        }
    }
    for query in [
        "",
        "fix the errors",
        "rename f to g, but don't touch the tests",
        "don't change anything else",
        "change nothing but the import",
        "fix total without changing its signature",
        "refactor f without changing behaviour",
        "do not change the signature of f",
        "make f not change anything",
        "add a check that does not modify the list",
        "write a function that changes nothing",
        "make sure it doesn't touch other files",
        "do nothing when the list is empty: add that to f",
        "return nothing from f",
        "remove the code that does nothing",
        "no cambies la firma de f",
        "arregla f sin cambiar la firma",
        "no toques nada más que total",
        "f should not edit anything else",
        "fix the errors but not the warnings",
        "why does it not work?",
        "just fix it",
    ] {
        if forbids(query) {
            wrong.push(query);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(forbids_for_now("plan it, but don't change anything yet") && !forbids_for_now("don't change anything"));
}

#[test]
fn a_step_of_a_plan_is_done_unless_its_title_says_otherwise() {
    let expected = ". Expected after it: error reportX is no longer reported in a.py::f, nothing new is";
    for (title, wanted) in [
        ("Apply “Remove unused import” to a.py", Repair),
        ("Apply “Do not delete”, “Why not” to a.py::f", Repair),
        ("the imports", Repair),
        ("rename f to h", Work),
        ("explain f", Question),
        ("do not change anything", Forbidden),
    ] {
        assert_eq!(classify_step(&format!("{title}{expected}")), wanted, "{title}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic_and_what_forbids_is_no_repair(
        text in r"(do|not|don't|fix|the|errors|nada|no|arregla|change|nothing|¿|\?|,|\.|“|”| |a\.py|é|\PC){0,24}",
    ) {
        let asked = classify(&text);
        proptest::prop_assert!(!(forbids(&text) && asked == Repair));
        let stopped = classify(&format!("{text}. Do not change anything."));
        proptest::prop_assert!(stopped != Repair, "{stopped:?}");
    }
}

#[test]
fn a_long_request_is_read_in_time_that_grows_with_its_length() {
    let began = std::time::Instant::now();
    for words in ["x = 1 ", "leave it as it is ", "delete the ", "nothing ", "do not ", "only fix "] {
        let text = words.repeat((64 << 10) / words.len());
        classify(&text);
        let longest = removals(&text).into_iter().map(|object| object.len()).max();
        assert!(longest.is_none_or(|words| words <= LONGEST), "{longest:?}");
    }
    // 28 s without optimization on an idle core. Reading that grows with the square of the length takes hours.
    assert!(began.elapsed().as_secs() < 1200, "{:?}", began.elapsed());
}
