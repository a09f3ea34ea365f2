//! The words by which a request is read (English, Spanish, German), in lower case and without accents.
//!
//! A list of stems holds for every word that begins with one; a stem of fewer than four letters is a whole word.

/// Words that may stand before the verb of a wish without changing it.
pub(super) const POLITE: &str = "please pls plz kindly do can could would will might you just now then also hey hi hello ok \
    okay well so i id ill we want need like love to lets let us help me try trying go ahead must should have gotta maybe \
    perhaps simply quickly first finally again mind start \
    por favor puedes puede podrias podria podeis me nos quiero queria quisiera querria necesito hay que tienes debes \
    intenta ayudame ayuda vamos oye hola ahora entonces luego tambien a se pueden venga \
    bitte kannst konntest wurdest du mal ich mochte will wir lass uns jetzt";

/// Openings of a question. Those of [`MODALS`] only open one before another subject than `you`.
pub(super) const INTERROGATIVES: &str = "is are am was were does did has what whats why how hows where wheres when who \
    whose which que como donde cuando quien quienes cual cuales cuanto cuantos cuantas porque hay \
    gibt was warum wieso weshalb wie wo wann wer welche welcher ist sind";
/// Those of them that make a question of a sentence at any place.
pub(super) const QUESTIONS: &str = "what whats why how hows where wheres which who whose como donde cual cuales porque \
    was warum wieso weshalb wie";
pub(super) const MODALS: &str =
    "can could would will should shall do may might must have puedo debo deberia deberiamos soll kann";
pub(super) const OTHERS: &str =
    "i we it this that they he she there the these those errors yo nosotros se lo ich wir es das";

/// Words behind a `when` that names a time; none of them follows a `when` that asks.
pub(super) const SUBJECTS: &str =
    "the a an this that these those it they i we you there no nothing its my your one two";

/// Wishes to see or hear something.
pub(super) const LOOKS: &str = "show list check review analyz analys explain describe summari tell see look find search \
    inspect report read print view explore think consider suggest propose recommend guess estimate count diagnose \
    muestra lista revisa mira busca analiza explica describ resume cuenta dime lee sugiere propon ensena comprueba \
    zeig pruf erklar beschreib";

/// Verbs of fixing, with any object.
pub(super) const FIX_VERBS: &str = "fix autofix repair mend correct remedy rectify quickfix quick-fix \
    arregla arregle corrig corrij correg repara repare soluciona solucione enmienda subsana sanea \
    beheb korrigier reparier";
/// Verbs that mean fixing only before reports, or before a word for everything.
pub(super) const TIDIES: &str = "clean cleanup clean-up tidy resolve solve address organiz organis resuelv resolv limpia \
    limpie ordena organiza bereinig raum aufraum";
/// Verbs that mean fixing only if their object is a report.
pub(super) const DELETES: &str = "delet remov drop elimin borr quit lösch losch entfern clear";
pub(super) const ADDS: &str = "add insert anad agreg fuge";
pub(super) const MAKES: &str = "make get keep leave turn haz deja pon mach";
pub(super) const APPLIES: &str = "apply appl use take aplica usa wende";
/// Words that look like a verb of fixing and are not verbs.
pub(super) const NO_VERBS: &str = "fixed fixes fixing fixture fixtures corrected correctly correctness correction corrections \
    repaired repairs cleaned cleaner cleans resolved resolver resolution solved addressed addresses organization clears \
    corregido corregida corregidos arreglado arreglada arreglados";
/// The same in forms that follow a wish: `would you mind fixing`, `I want them fixed`.
pub(super) const GERUNDS: &str = "fixing repairing mending correcting cleaning resolving tidying";
pub(super) const PARTICIPLES: &str = "fixed repaired mended corrected cleaned resolved solved tidied arreglado arreglada \
    arreglados arregladas corregido corregida corregidos corregidas solucionado solucionados limpio reparado behoben";
pub(super) const WISHES: &str = "want need needs must please get have like should quiero necesito hay deben deberian bitte \
    mochte mussen";

/// The reports of checkers and servers.
pub(super) const REPORTS: &str = "diagnos error warning lint linter complain problem issue finding squiggl violation hint \
    import imports unused undefined unresolved missing type types typing type-check type-checking typecheck pyright \
    basedpyright ruff mypy reported reports aviso advertencia queja fallo fallos errores tipo tipos importaci importes \
    problema \
    fehler warnung meldung typen importe";
/// Words for one report that are names of symbols as well.
pub(super) const ONE_REPORT: &str = "error warning hint issue problem finding violation diagnostic complaint lint";
/// Words before the name of a symbol.
pub(super) const DECLARES: &str = "impl class struct enum trait interface union record protocol function fn def method \
    macro variant const constant type clase estructura interfaz funcion metodo tipo klasse funktion methode";
/// The result of a verb of tidying.
pub(super) const CLEAN: &str = "clean type-clean typeclean lint-clean lint-free error-free warning-free limpio limpia \
    limpios sauber fehlerfrei";
/// The offers.
pub(super) const OFFERS: &str = "fix fixes quickfix quickfixes quick-fix quick-fixes correction corrections suggestion \
    suggestions suggested offered arreglo arreglos correccion correcciones sugerencias vorschlage korrekturen";

/// Words without a name that stand for the present things.
pub(super) const GENERIC: &str = "it this that them these those all everything every each whole entire any something \
    things stuff anything rest ones same here there file files module modules project workspace code function functions \
    method methods class classes symbol package packages line lines folder directory repo script selection \
    whatever possible up python py static bit \
    lo la los las le esto eso esta este todo toda todos todas archivo archivos fichero ficheros modulo proyecto codigo \
    funcion metodo clase linea lineas cosas cosa aqui paquete carpeta \
    alles alle das datei dateien projekt funktion methode klasse hier modul ganze";
/// Words that add nothing.
pub(super) const FILLERS: &str = "a an the my our your its some and or of please now just again too also more one ones are \
    is be been remaining current new old common obvious simple other quick automatic automatically safe safely easy \
    up out can able el un una unos unas mi mis su sus y o por favor ya der die den dem des ein eine einen mein meine \
    und oder bitte";
/// Words before a place or a purpose.
pub(super) const BOUNDS: &str = "from in of at inside within on for so that which because to into with by until where \
    when if while as using via before after across throughout \
    de del desde en para con que donde porque hasta por aus von im am zu damit mit bei fur";
/// Nouns of work that no server offers a fix for.
pub(super) const FOREIGN: &str = "test tests testing bug bugs spelling typo typos grammar doc docs docstring docstrings \
    comment comments documentation readme layout design format formatting indentation whitespace style performance speed \
    logic behaviour behavior crash crashes build ci pipeline deployment database migration conflict conflicts merge \
    security vulnerability race leak memory cache encoding ui css button page login algorithm naming message messages \
    text wording title version versions dependency dependencies handling handler exception exceptions api config \
    configuration history commit commits branch git screen desk room mess name names \
    prueba pruebas ortografia comentario comentarios documentacion rendimiento logica base datos mensaje mensajes \
    texto nombre nombres cache";

/// Wishes for work of another kind.
pub(super) const WORKS: &str = "add rename write implement create refactor move extract delete remove translate document \
    test change replace convert optimi rewrite generate make insert inline split simplif improve format reformat run \
    execute commit push deploy install update upgrade silence suppress ignore undo revert clear build compile \
    anad agreg renombr escrib crea elimin borr cambi traduc mueve genera ejecuta mejora actualiza instala quita simplifica \
    fuge umbenenn benenn schreib erstell losch ander ersetz fuhr";

/// Words that turn a wish into its opposite, or limit it.
pub(super) const NEGATIONS: &str = "no not dont doesnt never nothing neither nor without cannot cant wont shouldnt mustnt \
    wouldnt couldnt neednt avoid refrain except unless leave skip stop unchanged untouched read-only readonly dry-run \
    nada nunca jamas tampoco sin ni ninguno ninguna ningun evita excepto salvo \
    nicht nichts kein keine keinen ohne niemals nie";
/// Harmless words for `no`: a negation, and the words that may follow it then.
pub(super) const HARMLESS: &[(&str, &str)] = &[
    (
        "no",
        "longer more error errors warning warnings diagnostics problem problems issues lint complaints mas usado usada usados usadas definido definida definidos definidas",
    ),
    (
        "not",
        "defined accessed used callable subscriptable iterable found resolved assignable known exported imported \
             possible supported declared bound reachable allowed annotated awaited needed compile match exist work",
    ),
    ("cannot", "find import resolve access assign found imported resolved accessed assigned"),
    ("nothing", "reported left remains"),
    ("sin", "errores error avisos advertencias problemas diagnosticos usar quejas definir"),
    ("without", "errors error warnings diagnostics problems issues complaints"),
    ("ningun", "error aviso problema diagnostico"),
    ("ohne", "fehler warnungen"),
    ("keine", "fehler warnungen"),
];

/// Words that limit a wish to the things that it names.
pub(super) const ONLY: &str = "only solo solamente unicamente nur";
/// Words that select one of several things by its order or number. No report has a number.
pub(super) const ORDINALS: &str = "first second third last one single next \
    primer primero primera segundo segunda tercer tercero ultimo ultima \
    erste ersten erster erstes zweite zweiten dritte dritten letzte letzten letzter nachste nachsten einzigen";
/// Words before a place.
pub(super) const PLACES: &str = "in at inside within en dentro im ins am";
/// Words before a place, or before the subject of a report.
pub(super) const OWNERS: &str = "of from de del von vom des aus";
/// A place that is named by its number.
pub(super) const NUMBERED: &str = "line lines linea lineas zeile zeilen";
/// Looks that a repair begins with: they leave nothing undone.
pub(super) const FIRST_LOOKS: &str = "check review find look see inspect analys analyz show list search read view explore     diagnose revisa busca mira comprueba muestra lista analiza pruf zeig";
/// Words for reports in a question before a repair.
pub(super) const WRONG: &str = "wrong fails failing broken mal falla falsch kaputt";
/// Words that stand for something mentioned before.
pub(super) const PRONOUNS: &str = "it them these those lo los las sie es ihn";
/// Words that name no part of the repair, beside fillers.
pub(super) const ASIDES: &str = "teh hte what which who was welche que lo cual dieser diese dieses diesem diesen meinem meiner     jeder jede jedes jeden all shown see visible given left remain remains remaining present buffer currently immediately     asap urgent thanks thank thx cheers gracias danke rid free frei libre quede queden quedan queda hay sind werden wird     gemeldet gemeldeten reportado reportados reportan senalan has have had being under across whatever say says said     tell tells complain complains hinzu only solo solamente unicamente nur really actually completely entirely";

/// Verbs of changing, in prohibitions.
pub(super) const EDITS: &str = "change edit touch modify alter write fix apply save repair rewrite update do make \
    changing editing touching modifying altering writing fixing applying making doing \
    changes edits modifications edited changed modified touched \
    toques toque toquen tocar tocarlo cambies cambiar cambiarlo cambios cambio modifiques modificar edites editar escribas \
    escribir hagas hacer arregles arreglar corrijas corregir apliques aplicar alteres alterar borres borrar toca cambia \
    modifica tocando cambiando modificando editando \
    andern andere andre bearbeiten anfassen schreiben anderungen geandert";
/// Such verbs mean nothing without an object of this kind: `do nothing`, `make no changes`.
pub(super) const LIGHT: &str = "do make doing making hagas hacer";
/// Words before a condition.
pub(super) const CONDITIONS: &str = "if when whenever unless where si cuando donde wenn falls";
/// Words for everything that a prohibition may name without naming a part.
pub(super) const ANYTHING: &str = "anything nothing any ningun ninguna it them this that these those code file files source sources line \
    lines text project workspace repo repository stuff thing things everything edit edits change changes modification \
    modifications yet now here nada algo codigo archivo archivos fichero ficheros linea lineas todo proyecto eso esto \
    aun todavia cambio cambios modificacion modificaciones lo los \
    etwas nichts datei dateien code anderung anderungen zu";
/// Words after which a prohibition holds for the rest alone.
pub(super) const REST: &str = "else other others besides but except outside beyond apart elsewhere otro otra otros otras mas \
    salvo excepto fuera sonst anderes ausser";
/// Words that limit a prohibition until the user's next word.
pub(super) const YET: &str = "yet now first before until aun todavia ahora primero antes noch erst";
