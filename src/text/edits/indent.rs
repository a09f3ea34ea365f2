//! Indentation: the start of a line, and tabs against spaces.

/// The spaces and tabs at the start of a line.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Tabs for spaces or spaces for tabs; the number is the spaces of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retab {
    ToTabs(usize),
    ToSpaces(usize),
}

impl Retab {
    /// The change from the quoted lines to the style of the text; `None` if they agree or the text mixes both.
    pub(crate) fn between(text: &str, quoted: &[&str]) -> Option<Self> {
        let has = |text: &str, c: char| text.lines().any(|line| line.starts_with(c) && !line.trim().is_empty());
        let (tabs, spaces) = (has(text, '\t'), has(text, ' '));
        if tabs && !spaces && quoted.iter().any(|part| has(part, ' ')) {
            Some(Self::ToTabs(level(quoted.iter().flat_map(|part| part.lines()))))
        } else if spaces && !tabs && quoted.iter().any(|part| has(part, '\t')) {
            Some(Self::ToSpaces(level(text.lines())))
        } else {
            None
        }
    }

    pub(crate) fn line(self, line: &str) -> String {
        let indent = indent(line);
        let (tabs, spaces) = (indent.matches('\t').count(), indent.matches(' ').count());
        let rest = &line[indent.len()..];
        match self {
            Self::ToTabs(unit) => {
                format!("{}{}{rest}", "\t".repeat(tabs + spaces / unit), " ".repeat(spaces % unit))
            }
            Self::ToSpaces(unit) => format!("{}{rest}", " ".repeat(tabs * unit + spaces)),
        }
    }
}

/// The spaces of one level: a divisor of all indentations.
fn level<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let found = lines.map(|line| indent(line).matches(' ').count()).filter(|spaces| *spaces > 0).fold(0, gcd);
    // Aligned continuation lines have no common divisor; 4 is the usual level.
    if found < 2 { 4 } else { found }
}
