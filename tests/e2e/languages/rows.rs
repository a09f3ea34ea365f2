//! The languages that are held end to end: a small program each, edits of it, and what its real checker says.

/// A language with a program.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) file: &'static str,
    /// The path of a symbol in the file, and a line of it.
    pub(crate) symbol: &'static str,
    pub(crate) line: usize,
    /// Edits as old and new text: one in the symbol, one outside of it, and one in it that brings an error.
    pub(crate) inside: (&'static str, &'static str),
    pub(crate) outside: (&'static str, &'static str),
    pub(crate) broken: (&'static str, &'static str),
    /// The same for an edit in it that only silences its checkers.
    pub(crate) silencing: (&'static str, &'static str),
    /// A part of the one diagnostic that the error brings.
    pub(crate) diagnostic: &'static str,
    /// The provider that reports it.
    pub(crate) provider: &'static str,
    /// The program of the language server that is needed; empty where there is none.
    pub(crate) server: &'static str,
    /// Commands of the configuration.
    pub(crate) commands: &'static str,
    /// The symbol as a model answers it, after the edit inside.
    pub(crate) answer: &'static str,
}

pub(crate) const ROWS: &[Row] = &[RUST, TYPESCRIPT, CPP, LUA, BASH];

const RUST: Row = Row {
    name: "rust",
    files: &[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "src/lib.rs",
            "/// A cart.\npub struct Cart {\n    prices: Vec<u32>,\n}\n\nimpl Cart {\n    /// The sum.\n    \
             pub fn total(&self) -> u32 {\n        self.prices.iter().sum::<u32>() + 1\n    }\n\n    \
             pub fn count(&self) -> usize {\n        self.prices.len()\n    }\n}\n",
        ),
    ],
    file: "src/lib.rs",
    symbol: "Cart::total",
    line: 9,
    inside: ("sum::<u32>() + 1", "sum::<u32>()"),
    outside: ("self.prices.len()", "self.prices.len() + 1"),
    broken: ("self.prices.iter().sum::<u32>() + 1", "self.costs.iter().sum::<u32>()"),
    silencing: ("pub fn total", "#[allow(clippy::all)]\n    pub fn total"),
    diagnostic: "no field `costs`",
    provider: "cargo",
    server: "",
    commands: "commands = [\"cargo\"]\n",
    answer: "    /// The sum.\n    pub fn total(&self) -> u32 {\n        self.prices.iter().sum::<u32>()\n    }\n",
};

const TYPESCRIPT: Row = Row {
    name: "typescript",
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}}\n"),
        (
            "cart.ts",
            "/** A cart. */\nexport class Cart {\n  constructor(private prices: number[]) {}\n\n  /** The sum. */\n  \
             total(): number {\n    return this.prices.reduce((sum, price) => sum + price, 1);\n  }\n\n  \
             count(): number {\n    return this.prices.length;\n  }\n}\n",
        ),
    ],
    file: "cart.ts",
    symbol: "Cart::total",
    line: 7,
    inside: ("sum + price, 1)", "sum + price, 0)"),
    outside: ("this.prices.length", "this.prices.length + 1"),
    broken: ("sum + price, 1)", "sum + cost, 1)"),
    silencing: ("    return this.prices.reduce", "    // @ts-ignore\n    return this.prices.reduce"),
    diagnostic: "cannot find name 'cost'",
    provider: "vtsls",
    server: "vtsls",
    commands: "",
    answer: "  /** The sum. */\n  total(): number {\n    return this.prices.reduce((sum, price) => sum + price, 0);\n  }\n",
};

const CPP: Row = Row {
    name: "cpp",
    files: &[(
        "cart.cpp",
        "// A cart.\nclass Cart {\npublic:\n    // The sum.\n    int total() const {\n        \
         return prices[0] + prices[1] + 1;\n    }\n\n    int count() const { return 2; }\n\nprivate:\n    \
         int prices[2] = {1, 2};\n};\n\nint main() {\n    return Cart().total() + Cart().count();\n}\n",
    )],
    file: "cart.cpp",
    symbol: "Cart::total",
    line: 6,
    inside: ("prices[1] + 1", "prices[1]"),
    outside: ("return 2;", "return 3;"),
    broken: ("prices[0] + prices[1] + 1", "costs + prices[1]"),
    silencing: ("prices[1] + 1;", "prices[1] + 1; // NOLINT"),
    diagnostic: "undeclared identifier 'costs'",
    provider: "clangd",
    server: "clangd",
    commands: "",
    answer: "    // The sum.\n    int total() const {\n        return prices[0] + prices[1];\n    }\n",
};

const LUA: Row = Row {
    name: "lua",
    files: &[(
        "cart.lua",
        "local M = {}\n\n--- The sum.\nfunction M.total(prices)\n  local sum = 1\n  for _, price in ipairs(prices) do\n    \
         sum = sum + price\n  end\n  return sum\nend\n\nfunction M.count(prices)\n  return #prices\nend\n\nreturn M\n",
    )],
    file: "cart.lua",
    symbol: "M::total",
    line: 5,
    inside: ("local sum = 1", "local sum = 0"),
    outside: ("return #prices", "return #prices + 1"),
    broken: ("return sum\n", "return sum +\n"),
    silencing: ("  return sum\n", "  ---@diagnostic disable-next-line: undefined-global\n  return sum\n"),
    diagnostic: "syntax",
    provider: "syntax",
    server: "",
    commands: "",
    answer: "--- The sum.\nfunction M.total(prices)\n  local sum = 0\n  for _, price in ipairs(prices) do\n    \
             sum = sum + price\n  end\n  return sum\nend\n",
};

const BASH: Row = Row {
    name: "bash",
    files: &[(
        "cart.sh",
        "#!/usr/bin/env bash\nset -euo pipefail\n\n# The sum.\ntotal() {\n  local sum=1 price\n  for price in \"$@\"; do\n    \
         sum=$((sum + price))\n  done\n  echo \"$sum\"\n}\n\ncount() {\n  echo \"$#\"\n}\n\ntotal 1 2\ncount 1 2\n",
    )],
    file: "cart.sh",
    symbol: "total",
    line: 6,
    inside: ("local sum=1 price", "local sum=0 price"),
    outside: ("echo \"$#\"", "echo \"$# items\""),
    broken: ("echo \"$sum\"", "echo \"$sums\""),
    silencing: ("  for price in", "  # shellcheck disable=SC2154\n  for price in"),
    diagnostic: "sums is referenced but not assigned",
    provider: "bash-language-server",
    server: "bash-language-server",
    commands: "",
    answer: "# The sum.\ntotal() {\n  local sum=0 price\n  for price in \"$@\"; do\n    sum=$((sum + price))\n  done\n  \
             echo \"$sum\"\n}\n",
};
