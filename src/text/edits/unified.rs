//! The difference of two texts as a unified diff without its head.

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// The hunks, each under its `@@` line, with so many lines around them.
pub fn unified(before: &str, after: &str, context: u32) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(context);
    diff.unified_diff(&printer, config, &input).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_gone_are_shown_too() {
        let found = unified("a\nb\nc\nd\ne\nf\n", "a\nc\nd\ne\nf\ng\n", 1);
        assert_eq!(found, "@@ -1,3 +1,2 @@\n a\n-b\n c\n@@ -6,1 +5,2 @@\n f\n+g\n");
        assert!(unified("a\n", "a\n", 3).is_empty());
    }
}
