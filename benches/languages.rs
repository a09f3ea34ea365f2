//! Reads real files of one language: what its symbols hold, and what reading them costs beside the parse.
//!
//! `cargo bench -p sextant-text --bench languages -- FOLDER EXTENSION [FILES]`; with `show`, the outline of each file.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sextant_text::edits::apply_text::apply;
use sextant_text::edits::symbol::{SymbolAction, SymbolEditError, edit};
use sextant_text::symbols::language::{self, Language};
use sextant_text::symbols::outline::Outline;

/// Symbols of one file that are replaced by themselves: each takes a parse of the whole file.
const REPLACED: usize = 12;

#[derive(Default)]
struct Figures {
    files: usize,
    with_errors: usize,
    symbols: usize,
    replaced: usize,
    faults: Vec<String>,
    parse: Duration,
    outline: Duration,
    slowest: (f64, String),
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [folder, extension, rest @ ..] = arguments.as_slice() else {
        println!("usage: cargo bench -p sextant-text --bench languages -- FOLDER EXTENSION [FILES] [show]");
        return;
    };
    let most = rest.iter().find_map(|argument| argument.parse().ok()).unwrap_or(100);
    let shows = rest.iter().any(|argument| argument == "show");
    let mut files = Vec::new();
    collect(Path::new(folder), extension, &mut files);
    files.sort();
    // Spread over the folder, the same ones each time.
    let step = (files.len() / most).max(1);
    let mut figures = Figures::default();
    for path in files.iter().step_by(step).take(most) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let name = path.display().to_string();
        let Some(language) = language::of_path(&name) else { continue };
        if let Some(outline) = read(language, &name, &text, &mut figures)
            && shows
        {
            show(&name, &text, &outline);
        }
    }
    report(&figures);
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, extension, files),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|found| found == extension) => files.push(path),
            _ => {}
        }
    }
}

fn read(language: &'static Language, name: &str, text: &str, figures: &mut Figures) -> Option<Outline> {
    let (parse, tree) = best(|| language.tree(text));
    let tree = tree?;
    let (taken, outline) = best(|| Outline::of_tree(language, text, &tree));
    figures.files += 1;
    figures.with_errors += usize::from(outline.has_errors);
    figures.symbols += outline.symbols.len();
    figures.parse += parse;
    figures.outline += taken;
    let ratio = (parse + taken).as_secs_f64() / parse.as_secs_f64();
    if ratio > figures.slowest.0 && text.len() > 2_000 {
        figures.slowest = (ratio, name.to_owned());
    }
    let faults = faults(language, text, &outline, &mut figures.replaced);
    figures.faults.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    Some(outline)
}

/// The shortest of five times: other programs run on the machine too.
fn best<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let start = Instant::now();
        let out = work();
        (start.elapsed(), out)
    };
    let (mut least, out) = run();
    for _ in 0..4 {
        least = least.min(run().0);
    }
    (least, out)
}

fn faults(language: &'static Language, text: &str, outline: &Outline, replaced: &mut usize) -> Vec<String> {
    let mut out = Vec::new();
    let all: Vec<usize> = (0..outline.symbols.len()).collect();
    for (index, symbol) in outline.symbols.iter().enumerate() {
        let path = outline.exact_path_of(index, &all);
        let (start, end) = (symbol.extent.start, symbol.extent.end);
        let Some(cut) = text.get(start..end) else {
            out.push(format!("{path} ends inside of a character"));
            continue;
        };
        if format!("{}{cut}{}", &text[..start], &text[end..]) != text {
            out.push(format!("{path} cannot be put back"));
        }
        if cut.trim() != cut || cut.is_empty() {
            out.push(format!("{path} has blanks at its ends"));
        }
        if outline.find(&path) != Ok(index) {
            out.push(format!("{path} finds {:?}", outline.find(&path)));
        }
        let inside = |mut at: Option<usize>| {
            while let Some(found) = at.filter(|found| *found != index) {
                at = outline.symbols[found].parent;
            }
            at.is_some()
        };
        if let Some(at) =
            [start, symbol.declaration.start, symbol.header, end - 1].into_iter().find(|at| !inside(outline.at(*at)))
        {
            out.push(format!("{path} does not hold its byte {}", at - start));
        }
        if let Some(parent) = symbol.parent.map(|parent| &outline.symbols[parent].extent)
            && (parent.start > start || parent.end < end)
        {
            out.push(format!("{path} reaches out of its parent"));
        }
    }
    let mut ends: Vec<(Option<usize>, usize, String)> = Vec::new();
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if let Some((_, _, other)) =
            ends.iter().rev().take(4).find(|(parent, end, _)| *parent == symbol.parent && *end > symbol.extent.start)
        {
            out.push(format!("{} overlaps {other}", outline.path_of(index)));
        }
        ends.push((symbol.parent, symbol.extent.end, outline.path_of(index)));
    }
    let step = (outline.symbols.len() / REPLACED).max(1);
    for index in (0..outline.symbols.len()).step_by(step) {
        let symbol = &outline.symbols[index];
        let content = &text[symbol.extent.clone()];
        *replaced += 1;
        match edit(text, language, outline, index, SymbolAction::Replace, content) {
            Err(SymbolEditError::NoChange) => {}
            Ok(one) if apply(text, std::slice::from_ref(&one)).is_ok_and(|after| after == text) => {}
            other => {
                out.push(format!("{} by itself gives {other:?}", outline.path_of(index)).chars().take(400).collect())
            }
        }
    }
    out
}

fn show(name: &str, text: &str, outline: &Outline) {
    println!("{name}");
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    for symbol in &outline.symbols {
        println!(
            "  {} {} {}-{}",
            symbol.path(),
            symbol.kind.name(),
            line(symbol.extent.start),
            line(symbol.extent.end)
        );
    }
}

fn report(figures: &Figures) {
    for fault in &figures.faults {
        println!("{fault}");
    }
    let cost = figures.outline.as_secs_f64() / figures.parse.as_secs_f64().max(1e-9);
    println!(
        "files: {}, with errors: {}; symbols: {}, replaced by themselves: {}; faults: {}",
        figures.files,
        figures.with_errors,
        figures.symbols,
        figures.replaced,
        figures.faults.len()
    );
    println!(
        "parse {:.0?}, outline {:.1} of a parse; slowest {:.1} of its parse: {}",
        figures.parse, cost, figures.slowest.0, figures.slowest.1
    );
}
