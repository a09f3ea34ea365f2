//! Decides which symbol of a file a block of code is for, and where a new one goes.

use crate::edits::added_imports::{added, with_imports, without_imports};
use crate::edits::apply_text::apply;
use crate::edits::block_definitions::{BlockDefinition, definitions, flat};
use crate::edits::code_file::CodeFile;
use crate::edits::symbol::{self, SymbolAction, SymbolEditError};
use crate::symbols::outline::{Outline, Symbol};
use crate::symbols::path_spelling::{last_name, parts, spelled};

/// The symbol that a block of code is for, with the edit that puts it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTarget {
    /// Its path inside the file.
    pub names: String,
    /// The symbol that is replaced, or that a new one stands behind; `None` in a text without symbols.
    pub anchor: Option<usize>,
    pub is_new: bool,
    /// The part of the block that goes there.
    pub content: String,
    /// The imports of the block that the file does not have, which go to those of the file.
    pub imports: Vec<String>,
    /// The whole text with it.
    pub after: String,
}

/// The reason why a block goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    #[error("the code block is empty")]
    Empty,
    #[error("the code block does not parse")]
    Broken,
    #[error("the code block defines no symbol, and no symbol is under the cursor")]
    Nothing,
    #[error("the code block defines {}, and one symbol is applied at a time", .0.join(" and "))]
    Several(Vec<String>),
    #[error("{} is in several places", .0.join(", "))]
    Ambiguous(Vec<String>),
    #[error("the code block defines {defined} and would take {target} away")]
    TakesAway { target: String, defined: String },
    #[error("the code block defines {defined}, and {target} does not exist")]
    Another { target: String, defined: String },
    #[error("there is no {0} that the new symbol could go into")]
    NoHolder(String),
    #[error("{0} has no member that the new symbol could stand behind")]
    NoPlace(String),
    #[error(transparent)]
    Edit(#[from] SymbolEditError),
}

/// The symbol that a block is meant for, and the part of the block that is its text.
struct MeantSymbol {
    place: MeantPlace,
    content: String,
}

enum MeantPlace {
    There(usize),
    /// Not there yet: its name, and the path of its holder where that is known, empty for the level of the file.
    New {
        name: String,
        owner: Option<String>,
        is_holder: bool,
    },
}

/// The target of a block: the wanted one, or where that is empty, the symbol that the block defines, or else the one
/// under the cursor.
///
/// # Errors
/// With the reason why it goes nowhere.
pub fn target(file: CodeFile<'_>, block: &str, wanted: &str) -> Result<BlockTarget, BlockFault> {
    if block.trim().is_empty() {
        return Err(BlockFault::Empty);
    }
    let defined = definitions(file, block).ok_or(BlockFault::Broken)?;
    let mut block = flat(block);
    let mut imports = Vec::new();
    if !defined.is_empty() {
        imports = added(file.language, file.text, &block);
        block = without_imports(file.language, &block);
    }
    let meant = if wanted.is_empty() { found(file, &defined, &block)? } else { named(file, &defined, &block, wanted)? };
    let target = match meant.place {
        MeantPlace::There(symbol) => replaced(file, &defined, symbol, meant.content),
        MeantPlace::New { name, owner, is_holder } => {
            inserted(file, &name, owner.as_deref(), is_holder, &meant.content)
        }
    }?;
    let after = with_imports(&target.after, file.language, &imports);
    Ok(BlockTarget { imports, after, ..target })
}

fn names(defined: &[BlockDefinition]) -> Vec<String> {
    defined.iter().map(|one| one.name.clone()).collect()
}

fn found(file: CodeFile<'_>, defined: &[BlockDefinition], block: &str) -> Result<MeantSymbol, BlockFault> {
    let there = |symbol| Ok(MeantSymbol { place: MeantPlace::There(symbol), content: block.to_owned() });
    match defined {
        [] => there(file.at_cursor().ok_or(BlockFault::Nothing)?),
        [one] => of_one(file, one, block),
        many => {
            let at = file.at_cursor();
            if let Some(symbol) = at.filter(|at| many.iter().any(|one| one.name == file.symbol(*at).name)) {
                return there(symbol);
            }
            let mut known = Vec::new();
            for one in many {
                known.extend(existing(file, one)?);
            }
            // The others are new, and go along with the only one that is there.
            if let [only] = known.as_slice() { there(*only) } else { Err(BlockFault::Several(names(many))) }
        }
    }
}

fn of_one(file: CodeFile<'_>, one: &BlockDefinition, block: &str) -> Result<MeantSymbol, BlockFault> {
    let holder = existing(file, one)?;
    if let (Some(holder), Some(member)) = (holder, &one.framed)
        && file.children(Some(holder)).any(|child| file.symbol(child).name != member.name)
    {
        // The frame only says where the member belongs: the other members stay.
        let known = file.children(Some(holder)).find(|child| file.symbol(*child).name == member.name);
        let owner = file.children(Some(holder)).next().map(|child| file.symbol(child).owner.clone());
        let new = MeantPlace::New { name: member.name.clone(), owner, is_holder: false };
        return Ok(MeantSymbol { place: known.map_or(new, MeantPlace::There), content: member.content.clone() });
    }
    let owner = one.path.strip_suffix(parts(&one.path).last().copied().unwrap_or_default());
    let owner = owner.map(|owner| owner.trim_end_matches("::").to_owned()).filter(|owner| !owner.is_empty());
    let new = MeantPlace::New { name: one.name.clone(), owner, is_holder: one.is_holder };
    Ok(MeantSymbol { place: holder.map_or(new, MeantPlace::There), content: block.to_owned() })
}

/// The symbol that a definition means: by its path, else the nearest of its name around the cursor, else the only one.
fn existing(file: CodeFile<'_>, one: &BlockDefinition) -> Result<Option<usize>, BlockFault> {
    let all: Vec<usize> =
        (0..file.outline.symbols.len()).filter(|index| file.symbol(*index).name == one.name).collect();
    if one.path.contains("::") && parts(&one.path).len() > 1 {
        let whole: Vec<usize> = all.into_iter().filter(|index| file.symbol(*index).path() == one.path).collect();
        return single(file, &whole);
    }
    let at = file.at_cursor();
    if let Some(here) = at.filter(|at| all.contains(at)) {
        return Ok(Some(here));
    }
    let around = file.around(at).map(Some).chain([None]);
    for holder in around {
        let near: Vec<usize> = all.iter().copied().filter(|index| file.symbol(*index).parent == holder).collect();
        if !near.is_empty() {
            return single(file, &near);
        }
    }
    single(file, &all)
}

/// The only one of these; of several in one place the one that defines what the others declare.
fn single(file: CodeFile<'_>, all: &[usize]) -> Result<Option<usize>, BlockFault> {
    let is_one_place = all.windows(2).all(|two| file.symbol(two[0]).owner == file.symbol(two[1]).owner);
    let mut defined = all.iter().filter(|index| !file.symbol(**index).is_declaration);
    match (all, defined.next().filter(|_| is_one_place && defined.next().is_none())) {
        ([], _) => Ok(None),
        ([one], _) | (_, Some(one)) => Ok(Some(*one)),
        (many, _) => {
            let paths = many.iter().map(|index| file.outline.exact_path_of(*index, many));
            Err(BlockFault::Ambiguous(paths.collect()))
        }
    }
}

/// The target that the user has named.
fn named(
    file: CodeFile<'_>,
    defined: &[BlockDefinition],
    block: &str,
    wanted: &str,
) -> Result<MeantSymbol, BlockFault> {
    let name = last_name(wanted).to_owned();
    let framed = match defined {
        [one] if one.name != name => one.framed.as_ref().filter(|member| member.name == name),
        _ => None,
    };
    let content = framed.map_or(block, |member| member.content.as_str()).to_owned();
    if let Ok(symbol) = file.outline.find(wanted) {
        return Ok(MeantSymbol { place: MeantPlace::There(symbol), content });
    }
    let is_meant = |path: &str| path == wanted || path.ends_with(&format!("::{wanted}"));
    let all: Vec<usize> = (0..file.outline.symbols.len())
        .filter(|index| is_meant(&joined(&file.symbol(*index).owner, &spelled(&file.symbol(*index).name))))
        .collect();
    single(file, &all)?;
    if framed.is_none() && !defined.iter().any(|one| one.name == name) {
        let defined = words(defined);
        return Err(BlockFault::Another { target: wanted.to_owned(), defined });
    }
    let owner = wanted.strip_suffix(parts(wanted).last().copied().unwrap_or_default()).unwrap_or_default();
    let owner = owner.trim_end_matches("::");
    let owner = if owner.is_empty() {
        String::new()
    } else {
        let holder = file.outline.find(owner).map_err(|_| BlockFault::NoHolder(owner.to_owned()))?;
        file.outline.path_of(holder)
    };
    let is_holder = defined.iter().any(|one| one.name == name && one.is_holder);
    Ok(MeantSymbol { place: MeantPlace::New { name, owner: Some(owner), is_holder }, content })
}

fn words(defined: &[BlockDefinition]) -> String {
    if defined.is_empty() { "no symbol".to_owned() } else { names(defined).join(" and ") }
}

fn replaced(
    file: CodeFile<'_>,
    defined: &[BlockDefinition],
    symbol: usize,
    content: String,
) -> Result<BlockTarget, BlockFault> {
    let (known, path) = (file.symbol(symbol), file.outline.path_of(symbol));
    let takes_away = || BlockFault::TakesAway { target: path.clone(), defined: words(defined) };
    let beside = |one: &&BlockDefinition| {
        one.name != known.name && file.children(known.parent).any(|child| file.symbol(child).name == one.name)
    };
    if defined.len() > 1 && defined.iter().any(|one| one.name == known.name) && defined.iter().any(|one| beside(&one)) {
        return Err(BlockFault::Several(names(defined)));
    }
    let edit = symbol::edit(file.text, file.language, file.outline, symbol, SymbolAction::Replace, &content);
    let edit = edit.map_err(|error| match error {
        SymbolEditError::NotWhole(_) => takes_away(),
        other => BlockFault::Edit(other),
    })?;
    let after = apply(file.text, &[edit]).map_err(|_| SymbolEditError::NoSuchSymbol)?;
    let outline = Outline::parse(file.language, &after);
    let is_broken = outline.has_errors && file.language.reports_syntax;
    if !is_broken && !outline.symbols.iter().any(|symbol| symbol.path() == path) {
        return Err(takes_away());
    }
    Ok(BlockTarget { names: path, anchor: Some(symbol), is_new: false, content, imports: Vec::new(), after })
}

fn inserted(
    file: CodeFile<'_>,
    name: &str,
    owner: Option<&str>,
    is_holder: bool,
    content: &str,
) -> Result<BlockTarget, BlockFault> {
    if file.outline.symbols.is_empty() {
        return at_end(file, name, content);
    }
    let anchors = anchors(file, owner, is_holder);
    let mut first = None;
    for anchor in anchors {
        let edit = symbol::edit(file.text, file.language, file.outline, anchor, SymbolAction::InsertAfter, content)?;
        let after = apply(file.text, &[edit]).map_err(|_| SymbolEditError::NoSuchSymbol)?;
        let outline = Outline::parse(file.language, &after);
        let is_known = |path: &String| file.outline.symbols.iter().any(|symbol| symbol.path() == *path);
        let new = outline.symbols.iter().filter(|symbol| symbol.name == name).map(Symbol::path);
        let mut new = new.filter(|path| !is_known(path));
        let is_sound = !outline.has_errors || file.outline.has_errors || !file.language.reports_syntax;
        let fits = |path: &String| owner.is_none_or(|owner| *path == joined(owner, path));
        let Some(names) = new.find(|path| fits(path)).filter(|_| is_sound) else {
            first.get_or_insert(outline.has_errors);
            continue;
        };
        let (content, imports) = (content.to_owned(), Vec::new());
        return Ok(BlockTarget { names, anchor: Some(anchor), is_new: true, content, imports, after });
    }
    match (first, owner) {
        (Some(true), _) => Err(BlockFault::Broken),
        (_, owner) => Err(BlockFault::NoPlace(owner.filter(|owner| !owner.is_empty()).unwrap_or(name).to_owned())),
    }
}

/// A path in this holder with the last name of another path.
fn joined(owner: &str, path: &str) -> String {
    let last = parts(path).last().copied().unwrap_or_default().to_owned();
    if owner.is_empty() { last } else { format!("{owner}::{last}") }
}

/// The symbols behind which a new one may stand, best first: at the cursor, then at the end of its container.
fn anchors(file: CodeFile<'_>, owner: Option<&str>, is_holder: bool) -> Vec<usize> {
    let mut anchors: Vec<usize> = Vec::new();
    let mut chain = file.named_at_cursor();
    if is_holder {
        chain.reverse();
    }
    for one in chain.iter().copied() {
        // In a class beside its members, the nearest one above is meant.
        let is_inside = file.symbol(one).kind.holds_members() && !is_holder;
        anchors.extend(last_child(file, Some(one), file.cursor).filter(|_| is_inside));
        anchors.extend(last_child(file, Some(one), None).filter(|_| is_inside));
        anchors.push(one);
    }
    anchors.extend(last_child(file, None, file.cursor));
    let of_owner = |index: &usize| owner.is_some_and(|owner| file.symbol(*index).owner == owner);
    let ends: Vec<usize> = (0..file.outline.symbols.len()).filter(of_owner).collect();
    if let Some(owner) = owner {
        anchors.retain(|anchor| file.symbol(*anchor).owner == owner);
        anchors.extend(ends.last());
        anchors.extend(file.outline.known(owner).filter(|_| !owner.is_empty()));
    } else {
        anchors.extend(last_child(file, None, None));
    }
    anchors
}

/// The last child, or the last one that ends before the cursor.
fn last_child(file: CodeFile<'_>, holder: Option<usize>, cursor: Option<usize>) -> Option<usize> {
    let is_above = |index: &usize| cursor.is_none_or(|cursor| file.symbol(*index).extent.end <= cursor);
    file.children(holder).filter(is_above).last()
}

/// A block at the end of a text without symbols.
fn at_end(file: CodeFile<'_>, name: &str, content: &str) -> Result<BlockTarget, BlockFault> {
    // The last line stays as it is, with blanks at its end.
    let last = file.text.trim_end().len();
    let end = file.text[last..].find('\n').map_or(file.text.len(), |end| last + end);
    let above = if last == 0 { "" } else { file.text[..end].trim_end_matches('\r') };
    let content = content.trim();
    let gap = if above.is_empty() { String::new() } else { "\n".repeat(1 + file.language.blank_lines) };
    let after = format!("{above}{gap}{content}\n");
    let outline = Outline::parse(file.language, &after);
    let new = outline.symbols.iter().find(|symbol| symbol.name == name).map(Symbol::path);
    let names = new.ok_or(BlockFault::Broken)?;
    Ok(BlockTarget { names, anchor: None, is_new: true, content: content.to_owned(), imports: Vec::new(), after })
}

#[cfg(test)]
mod tests;
