//! Reads a request: its sentences and clauses, the wish of each, and the prohibitions of the whole.

use crate::request_kind::lexicon::{
    ADDS, APPLIES, BOUNDS, CLEAN, CONDITIONS, DECLARES, DELETES, FILLERS, FIX_VERBS, FOREIGN, GENERIC, GERUNDS,
    HARMLESS, INTERROGATIVES, LOOKS, MAKES, MODALS, NEGATIONS, NO_VERBS, OFFERS, ONE_REPORT, ONLY, OTHERS, PARTICIPLES,
    POLITE, QUESTIONS, REPORTS, SUBJECTS, TIDIES, WISHES, WORKS, YET,
};
use crate::request_kind::prohibition::{forbids, makes_code_do, opens_light};

/// The wish of one clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClauseWish {
    /// To have the reports fixed.
    Repair,
    /// To have something fixed that nobody reports.
    Fix,
    Question,
    Work,
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    /// In lower case, without accents and apostrophes.
    pub(super) folded: String,
    /// True if its form marks it as a name.
    pub(super) name: bool,
    /// As the user wrote it.
    pub(super) raw: String,
}

impl Word {
    pub(super) fn is(&self, list: &str) -> bool {
        // Most words are in no list, and a search for their letters takes a tenth of the time.
        list.contains(&self.folded) && list.split_whitespace().any(|word| word == self.folded)
    }

    pub(super) fn begins(&self, stems: &str) -> bool {
        let word = self.folded.as_str();
        stems.split_whitespace().any(|stem| if stem.len() < 4 { word == stem } else { word.starts_with(stem) })
    }

    /// The same with one letter wrong, too many, missing or swapped, in words long enough to differ clearly.
    pub(super) fn nearly(&self, stems: &str) -> bool {
        let word = self.folded.as_str();
        let length = word.chars().count();
        length >= 5
            && !self.name
            && stems.split_whitespace().any(|stem| {
                stem.chars().count() >= 5 && {
                    // A stem may be followed by an ending.
                    let cut = |n: usize| word.chars().take(n).collect::<String>();
                    let whole = stem.chars().count();
                    [whole - 1, whole, whole + 1].into_iter().any(|n| n <= length && one_slip(stem, &cut(n)))
                }
            })
    }

    /// `F541`, `f541`, `PLR0913`, `reportReturnType`: the code of a diagnostic, and not the name of a symbol.
    pub(super) fn is_code(&self) -> bool {
        let core = self.raw.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = core.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let letters = core.len() - digits.len();
        let all_digits = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
        let upper = core[..letters].chars().all(|c| c.is_ascii_uppercase()) && digits.len() >= 2;
        let numbered = (1..=4).contains(&letters) && all_digits && digits.len() <= 5 && (upper || digits.len() >= 3);
        let named = core.strip_prefix("report").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        (numbered || named) && !self.raw.contains('(')
    }

    pub(super) fn reports(&self) -> bool {
        !self.name && (self.begins(REPORTS) || self.nearly(REPORTS) || self.is(CLEAN))
    }
}

/// True if two words differ by one letter at most.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    match (a, b) {
        ([] | [_], [] | [_]) => true,
        ([w, x], [y, z]) => w == z && x == y,
        _ => false,
    }
}

/// Words of the longest clause: each is compared with those behind it, and nobody writes as many without a comma.
const LONGEST: usize = 100;

/// Words up to a comma, a conjunction or the end of a sentence.
pub(super) type Clause = Vec<Word>;

/// A request in its parts.
#[derive(Clone, Debug)]
pub(super) struct RequestReading {
    sentences: Vec<Vec<Clause>>,
    asks: bool,
}

/// In lower case and without accents and apostrophes.
fn fold(text: &str) -> String {
    let plain = |c: char| match c {
        'á' | 'à' | 'ä' => Some('a'),
        'é' | 'è' => Some('e'),
        'í' => Some('i'),
        'ó' | 'ö' => Some('o'),
        'ú' | 'ü' => Some('u'),
        'ñ' => Some('n'),
        '\'' | '’' | '‘' | '`' => None,
        c => Some(c),
    };
    text.to_lowercase().chars().filter_map(plain).collect()
}

fn word(raw: &str, first: bool) -> Option<Word> {
    let core = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    if core.is_empty() {
        return None;
    }
    let quoted = raw.contains('`');
    let path = core.contains("::") || core.contains('/') || core.contains('_') || raw.contains("()");
    let dotted = core.trim_end_matches('.').contains('.');
    let digits = core.chars().any(|c| c.is_ascii_digit());
    let camel = core.chars().zip(core.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let capital = !first && core.starts_with(char::is_uppercase) && core.chars().skip(1).any(char::is_lowercase);
    let name = quoted || path || dotted || digits || camel;
    // A capital letter proves little: headings and German nouns have one as well.
    let known = |word: &Word| word.begins(REPORTS) || word.is(GENERIC) || word.is(FILLERS) || word.is(FOREIGN);
    let plain = Word { folded: fold(core), name, raw: raw.to_owned() };
    let named = name || (capital && !known(&plain));
    Some(Word { name: named, ..plain })
}

impl RequestReading {
    pub(super) fn of(text: &str) -> Self {
        let text = without_quotes(text);
        let (mut sentences, mut sentence, mut clause) = (Vec::new(), Vec::new(), Clause::new());
        for raw in text.split_whitespace() {
            // An opening mark of Spanish begins a sentence.
            if raw.starts_with(['¿', '¡']) {
                sentence.push(std::mem::take(&mut clause));
                sentences.push(std::mem::take(&mut sentence));
            }
            if let Some(word) = word(raw, clause.is_empty()) {
                let limits =
                    word.is("but") && clause.last().is_some_and(|last| last.is("nothing anything all everything"));
                if word.is("and then but y pero luego und aber dann also &") && !word.name && !limits {
                    sentence.push(std::mem::take(&mut clause));
                } else {
                    clause.push(word);
                }
            }
            let stem = raw.trim_end_matches(['"', '”', ')', '\'', '»']);
            if stem.ends_with(['.', '!', '?', ';', '…']) {
                sentence.push(std::mem::take(&mut clause));
                sentences.push(std::mem::take(&mut sentence));
            } else if stem.ends_with([',', ':']) || matches!(raw, "-" | "–" | "—") || clause.len() >= LONGEST {
                sentence.push(std::mem::take(&mut clause));
            }
        }
        sentence.push(clause);
        sentences.push(sentence);
        for sentence in &mut sentences {
            sentence.retain(|clause: &Clause| !clause.is_empty());
        }
        sentences.retain(|sentence| !sentence.is_empty());
        Self { sentences, asks: text.trim_end().ends_with('?') }
    }

    fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.sentences.iter().flatten()
    }

    /// The wish of the whole: a repair if one of its parts wants one, else work, else an answer.
    pub(super) fn wish(&self) -> ClauseWish {
        let wishes: Vec<ClauseWish> = self.wishes().into_iter().flatten().map(|(_, wish)| wish).collect();
        let first = [ClauseWish::Repair, ClauseWish::Fix, ClauseWish::Work, ClauseWish::Question]
            .into_iter()
            .find(|w| wishes.contains(w));
        match first {
            Some(ClauseWish::Work) if self.asks && wishes.contains(&ClauseWish::Question) => ClauseWish::Question,
            None if self.asks => ClauseWish::Question,
            first => first.unwrap_or(ClauseWish::Nothing),
        }
    }

    /// The wish of each clause, sentence by sentence.
    pub(super) fn wishes(&self) -> Vec<Vec<(&Clause, ClauseWish)>> {
        let mut sentences = Vec::new();
        for sentence in &self.sentences {
            let (mut asking, mut wishes) = (false, Vec::new());
            for clause in sentence {
                let wish = wish(clause);
                // The words after `tell me how` in its sentence are the subject of the question; `find out why` is
                // whole.
                let open = clause.split_last().map_or(&[][..], |(_, open)| open);
                let asks = open.iter().any(|word| word.is(INTERROGATIVES)) || opens_with_modal(clause);
                asking |= wish == ClauseWish::Question && asks;
                wishes.push((clause, if asking { ClauseWish::Question } else { wish }));
            }
            sentences.push(wishes);
        }
        sentences
    }

    /// True if a word of it turns or limits its wish.
    pub(super) fn is_negated(&self) -> bool {
        self.clauses().any(|clause| {
            (0..clause.len()).any(|at| clause[at].is(NEGATIONS) && !clause[at].name && !is_harmless(clause, at))
                || clause.windows(2).any(|pair| pair[0].is("dry") && pair[1].is("run"))
        }) || self.only_looks()
    }

    /// True if it forbids every change, and not only changes of a part.
    pub(super) fn forbids(&self) -> bool {
        let bars = self.sentences.iter().any(|sentence| {
            let is_condition = |clause: &Clause| clause.first().is_some_and(|word| word.is(CONDITIONS));
            // `If the list is empty, do nothing` says what the code does.
            let holds_then = |at: usize| sentence[..at].iter().any(is_condition) && opens_light(&sentence[at]);
            (0..sentence.len()).any(|at| forbids(&sentence[at]) && !holds_then(at))
        });
        bars || (self.only_looks() && !matches!(self.wish(), ClauseWish::Repair | ClauseWish::Fix | ClauseWish::Work))
    }

    /// True if a prohibition is for the time being.
    pub(super) fn waits(&self) -> bool {
        self.clauses().flatten().any(|word| word.is(YET))
    }

    /// `just explain`, `solo mira`, `what would you fix`.
    fn only_looks(&self) -> bool {
        self.clauses().any(|clause| {
            let only = clause.iter().position(|word| word.is("just only solo solamente simplemente nur"));
            only.and_then(|at| clause.get(at + 1)).is_some_and(|next| next.begins(LOOKS))
        })
    }
}

/// Quoted text is not a word of the request.
fn without_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['“', '«']) {
        let end = if rest[start..].starts_with('“') { '”' } else { '»' };
        // A mark that is not closed quotes nothing.
        let Some(length) = rest[start..].find(end) else { break };
        out.push_str(&rest[..start]);
        out.push(' ');
        rest = &rest[start + length + end.len_utf8()..];
    }
    out.push_str(rest);
    out
}

/// `no longer`, `not defined`, `sin errores` forbid nothing.
fn is_harmless(clause: &[Word], at: usize) -> bool {
    let next: Vec<&Word> = clause[at + 1..].iter().filter(|word| !word.is("be is are a any the")).take(1).collect();
    let Some(next) = next.first() else { return false };
    HARMLESS.iter().any(|(negation, follows)| clause[at].is(negation) && next.is(follows))
}

fn opens_with_modal(clause: &[Word]) -> bool {
    if clause.len() > 1 && clause[0].is("do") && clause[1].is("you") {
        return true;
    }
    clause.first().is_some_and(|word| word.is(MODALS)) && clause.get(1).is_some_and(|word| word.is(OTHERS))
}

fn wish(clause: &[Word]) -> ClauseWish {
    let Some(first) = clause.first() else { return ClauseWish::Nothing };
    let obliged = first.is("hay") && clause.get(1).is_some_and(|word| word.is("que"));
    // `When the list is empty, …` names a time; `when is it empty` asks.
    let says_when = first.is("when") && clause.get(1).is_some_and(|word| word.is(SUBJECTS) || word.name);
    if (first.is(INTERROGATIVES) && !obliged && !says_when) || opens_with_modal(clause) {
        return ClauseWish::Question;
    }
    if clause.len() > 1 && first.is("por") && clause[1].is("que") {
        return ClauseWish::Question;
    }
    // A negation turns the wish; the turned wish is read all the same.
    let lead = |word: &&Word| word.is(POLITE) || word.is(NEGATIONS) || word.is(ONLY);
    let skipped = clause.iter().take_while(lead).count();
    let rest = &clause[skipped..];
    let Some(verb) = rest.first() else { return ClauseWish::Nothing };
    // `only the unused import`: the verb is implied.
    let only = clause[..skipped].iter().any(|word| word.is(ONLY) || word.is("just"));
    let named = |first: &&Word| (first.reports() || first.is_code()) && !first.begins(LOOKS);
    if only && self::object(rest).first().is_some_and(named) {
        return ClauseWish::Repair;
    }
    let object = object(&rest[1..]);
    if verb.begins(LOOKS) && !verb.name && !verb.reports() && !verb.is(NEGATIONS) {
        return ClauseWish::Question;
    }
    if let Some(wish) = fixing_wish(verb, rest, &object, skipped > 0) {
        return wish;
    }
    if verb.begins(WORKS) && !verb.name {
        return ClauseWish::Work;
    }
    // In German the verb stands at the end.
    let at_end = skipped > 0 && clause.last().is_some_and(|word| word.begins(FIX_VERBS));
    let wished = clause.iter().any(|word| word.is(WISHES)) && clause.iter().any(|word| word.is(PARTICIPLES));
    let at_hand = clause.iter().any(|word| word.reports() || word.is(GENERIC) || word.name);
    if (wished || at_end) && at_hand {
        return ClauseWish::Repair;
    }
    if clause[usize::from(says_when)..].iter().any(|word| word.is(QUESTIONS)) {
        ClauseWish::Question
    } else if clause.len() > 3 && makes_code_do(clause, clause.len()) {
        ClauseWish::Work
    } else {
        ClauseWish::Nothing
    }
}

/// The object of a verb, up to the words for a place.
fn object(rest: &[Word]) -> Vec<&Word> {
    let pieces = rest.iter().take_while(|word| !word.is(BOUNDS) || word.name);
    pieces.filter(|word| !word.is(FILLERS) || word.name).collect()
}

fn fixing_wish(verb: &Word, rest: &[Word], object: &[&Word], wished: bool) -> Option<ClauseWish> {
    if verb.name {
        return None;
    }
    let gerund = wished && verb.is(GERUNDS);
    let begins = |stems: &str| verb.begins(stems) && !verb.is(NO_VERBS) && !ends_as_noun(verb);
    let reports = object.iter().any(|word| word.reports());
    let undefined = object.iter().any(|word| word.begins("undefined unresolved unused indefinid undefinier definid"));
    let is_names = |word: &Word| word.is("name names nombre nombres namen");
    let foreign = |word: &Word| word.is(FOREIGN) && !word.name && !(undefined && is_names(word));
    let foreign = object.iter().any(|word| foreign(word));
    let says_little = |word: &Word| word.is(GENERIC) || word.is(ONLY) || word.is(NEGATIONS) || is_names(word);
    let unknown = object.iter().filter(|word| !word.name && !word.reports() && !says_little(word)).count();
    if gerund || begins(FIX_VERBS) || (verb.nearly(FIX_VERBS) && !verb.is(NO_VERBS)) {
        let at_hand = !foreign && unknown <= if reports { 2 } else { 1 };
        return Some(if at_hand { ClauseWish::Repair } else { ClauseWish::Fix });
    }
    if verb.is("quick") && object.is_empty() {
        return Some(ClauseWish::Repair);
    }
    if begins(TIDIES) {
        // `solve this` is a wish that needs understanding.
        let at_hand = !foreign && (reports && unknown <= 2 || unknown == 0);
        return Some(if at_hand { ClauseWish::Repair } else { ClauseWish::Fix });
    }
    let unused = object.iter().any(|word| word.begins("unused unbenutzt") || word.is("usar usados usadas"));
    if begins(DELETES) || (begins(MAKES) && rest.get(1).is_some_and(|word| word.is("rid"))) {
        let behind = rest.get(if begins(MAKES) { 3.. } else { 1.. }).unwrap_or_default();
        let object = self::object(behind);
        let reported = names_reports(behind);
        let names = object.iter().any(|word| word.begins("variable argument import parameter name nombre parametr"));
        let otherwise = begins(MAKES).then_some(ClauseWish::Work);
        return if reported || (unused && names) { Some(ClauseWish::Repair) } else { otherwise };
    }
    if begins(ADDS) {
        let import = object.iter().any(|word| word.begins("import"));
        let missing = rest.iter().any(|word| word.begins("missing falta fehl"));
        return (import && missing).then_some(ClauseWish::Repair);
    }
    if begins(MAKES) {
        let clean = rest[1..].iter().any(|word| word.is(CLEAN));
        let free = rest.windows(2).any(|pair| pair[0].is("sin without no ohne of de") && pair[1].begins(REPORTS));
        let free = free && rest.iter().any(|word| word.is("sin without no ohne free libre"));
        return ((clean || free) && !foreign).then_some(ClauseWish::Repair);
    }
    if begins(APPLIES) {
        return object.iter().any(|word| word.is(OFFERS)).then_some(ClauseWish::Repair);
    }
    None
}

/// True if the object of a verb of removal is reports, and no symbol that is called like one.
fn names_reports(behind: &[Word]) -> bool {
    let end = behind.iter().take_while(|word| !word.is(BOUNDS) || word.name).count();
    let adds = |word: &Word| word.is("up all") || (word.is(FILLERS) && !word.name);
    let Some(last) = behind[..end].iter().rposition(|word| !adds(word)) else { return false };
    let word = &behind[last];
    word.reports() && !word.is("type types typing tipo tipos hint hints") && !is_declared(&behind[..=last])
}

/// True if a symbol has the last of these words as its name: `impl Error`, and right behind the verb `class error`.
fn is_declared(words: &[Word]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    let capital = last.raw.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_uppercase);
    match before {
        [] => capital && last.is(ONE_REPORT),
        [.., kind] => last.is(ONE_REPORT) && kind.is(DECLARES) && (capital || before.len() == 1),
    }
}

/// `corrección`, `reparaciones`.
fn ends_as_noun(word: &Word) -> bool {
    ["cion", "ciones", "tion", "tions"].iter().any(|ending| word.folded.ends_with(ending))
}
