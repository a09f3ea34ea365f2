//! Splits a request into words that can be compared: politeness, case, accents and closing marks do not count.

use crate::run::request_names;

/// Words before and after a request that change nothing in it.
const POLITE_BEFORE: &[&str] = &[
    "please",
    "can you",
    "could you",
    "would you",
    "hey",
    "ok",
    "now",
    "por favor",
    "puedes",
    "podrias",
    "oye",
    "ahora",
];
const POLITE_AFTER: &[&str] = &["please", "now", "por favor", "ahora", "again"];

/// Words that may stand before a name without being one.
const KINDS: &[&str] = &[
    "the file",
    "the function",
    "the method",
    "the class",
    "the symbol",
    "the source of",
    "the code of",
    "file",
    "function",
    "method",
    "class",
    "symbol",
    "el archivo",
    "el fichero",
    "la funcion",
    "el metodo",
    "la clase",
    "el simbolo",
    "el codigo de",
    "la fuente de",
    "archivo",
    "fichero",
    "funcion",
    "metodo",
    "clase",
    "simbolo",
];

/// Words that stand where a name could, without being one.
const NO_NAMES: &[&str] = &[
    "it",
    "that",
    "this",
    "them",
    "these",
    "those",
    "all",
    "everything",
    "me",
    "more",
    "help",
    "error",
    "errors",
    "warning",
    "warnings",
    "diagnostics",
    "problem",
    "problems",
    "bug",
    "bugs",
    "test",
    "tests",
    "change",
    "changes",
    "diff",
    "plan",
    "trace",
    "memory",
    "docs",
    "documentation",
    "code",
    "file",
    "files",
    "function",
    "functions",
    "class",
    "classes",
    "here",
    "there",
    "what",
    "eso",
    "esto",
    "esta",
    "todo",
    "todos",
    "ello",
    "mas",
    "ayuda",
    "aviso",
    "avisos",
    "errores",
    "problema",
    "problemas",
    "fallo",
    "fallos",
    "prueba",
    "pruebas",
    "cambio",
    "cambios",
    "codigo",
    "archivo",
    "archivos",
    "funcion",
    "funciones",
    "clase",
    "clases",
    "aqui",
    "alli",
    "que",
    "memoria",
];

/// Openings of words that are only Spanish.
const SPANISH: &[&str] = &[
    "lee",
    "leer",
    "leeme",
    "muestra",
    "muestrame",
    "mostrar",
    "ensename",
    "donde",
    "quien",
    "usos",
    "lista",
    "esquema",
    "simbolos",
    "deshaz",
    "deshazlo",
    "deshacer",
    "revierte",
    "reviertelo",
    "rehaz",
    "rehazlo",
    "rehacer",
    "recuperalo",
    "vuelve",
    "olvida",
    "olvidate",
    "olvidalo",
    "borra",
    "recuerda",
    "prefiero",
    "yo",
    "que",
    "cambia",
    "pasa",
    "usa",
    "modo",
    "por",
    "explica",
    "para",
    "parar",
    "detente",
    "alto",
    "cancela",
    "estadisticas",
    "ten",
    "en",
];

pub(crate) struct Phrase {
    /// As they were written.
    words: Vec<String>,
    /// In lower case and without accents.
    folded: Vec<String>,
    pub(crate) question: bool,
}

pub(crate) fn fold(text: &str) -> String {
    let plain = |c: char| match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        'ñ' => 'n',
        '’' => '\'',
        c => c,
    };
    text.to_lowercase().chars().map(plain).collect()
}

impl Phrase {
    /// Splits a text. `None` for a text longer than one line or one sentence: a direct request is short.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains('\n') || text.contains(". ") || text.contains("; ") || text.contains("? ") {
            return None;
        }
        let question = text.ends_with('?');
        let bare = text.trim_matches(|c: char| matches!(c, '¿' | '¡' | '?' | '!' | '.' | ' '));
        let words: Vec<String> = bare.split_whitespace().map(str::to_owned).collect();
        // A comma is not part of a word, but it is part of a text to remember.
        let folded = words.iter().map(|word| fold(word.trim_end_matches(','))).collect();
        let mut phrase = Self { words, folded, question };
        while let Some(rest) = phrase.after(POLITE_BEFORE).filter(|rest| !rest.is_empty()).map(<[String]>::to_vec) {
            phrase = phrase.last(rest.len());
        }
        while let Some(kept) = phrase.before(POLITE_AFTER).filter(|kept| *kept > 0) {
            phrase.words.truncate(kept);
            phrase.folded.truncate(kept);
        }
        (!phrase.words.is_empty()).then_some(phrase)
    }

    fn last(self, count: usize) -> Self {
        let from = self.words.len() - count;
        Self { words: self.words[from..].to_vec(), folded: self.folded[from..].to_vec(), ..self }
    }

    /// True if the word after its verb is `nothing`.
    pub(crate) fn speaks_of_nothing(&self) -> bool {
        self.folded.get(1).is_some_and(|word| word == "nothing" || word == "nada")
    }

    pub(crate) fn spanish(&self) -> bool {
        self.folded.first().is_some_and(|first| SPANISH.contains(&first.as_str()))
    }

    /// The whole phrase, folded.
    pub(crate) fn whole(&self) -> String {
        self.folded.join(" ")
    }

    pub(crate) fn is(&self, any: &[&str]) -> bool {
        let whole = self.whole();
        any.iter().any(|one| *one == whole)
    }

    /// The words behind the longest of the openings, as they were written.
    pub(crate) fn after(&self, openings: &[&str]) -> Option<&[String]> {
        let fits = |opening: &&str| {
            let parts: Vec<&str> = opening.split(' ').collect();
            let fits =
                self.folded.len() >= parts.len() && parts.iter().zip(&self.folded).all(|(part, word)| part == word);
            fits.then_some(parts.len())
        };
        openings.iter().filter_map(fits).max().map(|count| &self.words[count..])
    }

    /// How many words stand before one of the endings.
    fn before(&self, endings: &[&str]) -> Option<usize> {
        endings.iter().find_map(|ending| {
            let parts: Vec<&str> = ending.split(' ').collect();
            let kept = self.folded.len().checked_sub(parts.len())?;
            parts.iter().zip(&self.folded[kept..]).all(|(part, word)| part == word).then_some(kept)
        })
    }

    /// Splits at the first of these words: the text before it, and all behind it (`undo that because …`).
    pub(crate) fn split_at(&self, any: &[&str]) -> Option<(String, String)> {
        let at = self.folded.iter().position(|word| any.contains(&word.as_str()))?;
        Some((self.folded[..at].join(" "), self.words[at + 1..].join(" ")))
    }
}

/// The one name in these words: alone, behind its kind, or `total in cart.py`.
pub(crate) fn name(words: &[String]) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| word.trim_end_matches(',').to_owned()).collect();
    let words = words.as_slice();
    let rest = Phrase { words: words.to_vec(), folded: words.iter().map(|word| fold(word)).collect(), question: false };
    let words = rest.after(KINDS).unwrap_or(words);
    let one = |word: &String| {
        let mention = request_names::mention(word)?;
        let none = !word.contains('`') && NO_NAMES.contains(&fold(&mention.name).as_str());
        (!none).then_some(mention)
    };
    match words {
        [word] => one(word).map(|mention| mention.name),
        [symbol, place, file] if ["in", "of", "from", "en", "de"].contains(&fold(place).as_str()) => {
            let (symbol, file) = (one(symbol)?.name, one(file)?.name);
            (file.contains('.') && !file.contains("::") && !symbol.contains('.')).then(|| format!("{file}::{symbol}"))
        }
        _ => None,
    }
}

/// Verbs of a second request behind an `and`.
const VERBS: &[&str] = &[
    "fix",
    "add",
    "rename",
    "write",
    "implement",
    "create",
    "refactor",
    "move",
    "extract",
    "delete",
    "remove",
    "translate",
    "change",
    "replace",
    "convert",
    "make",
    "update",
    "run",
    "edit",
    "apply",
    "rewrite",
    "do",
    "tell",
    "show",
    "explain",
    "then",
    "arregla",
    "corrige",
    "anade",
    "agrega",
    "renombra",
    "escribe",
    "crea",
    "mueve",
    "borra",
    "elimina",
    "cambia",
    "reemplaza",
    "haz",
    "actualiza",
    "ejecuta",
    "reescribe",
    "luego",
    "explica",
    "dime",
];

/// True if an `and` introduces a second request.
pub(crate) fn two_wishes(words: &[String]) -> bool {
    let folded: Vec<String> = words.iter().map(|word| fold(word.trim_end_matches(','))).collect();
    let joins = |word: &String| ["and", "then", "y", "but", "pero", "luego", "so"].contains(&word.as_str());
    folded.windows(2).any(|pair| joins(&pair[0]) && VERBS.contains(&pair[1].as_str()))
}
