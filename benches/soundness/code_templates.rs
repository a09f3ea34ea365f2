//! The texts in programming languages, of about 200 lines each: sums that mean nothing.

use crate::templates::Template;

pub const PYTHON: Template = Template {
    beside: &[("pyproject.toml", "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n")],
    first: "\"\"\"Sums that mean nothing.\"\"\"\n",
    import: "from collections import Counter as Bag",
    rest: "

def counted() -> int:
    holder = Bag()
    return len(str(holder))


NEUTRAL = @n

",
    remark: "# A remark, number @n.",
    function: "def area_@i(width: int, height: int) -> int:
    total: int = width * height
    for step in range(width):
        total += step
    @mistake
    if total > @i:
        total -= height
    else:
        total += width
    parts = [total, width, height]
    total = sum(parts)
    return total

",
    last: "",
    clean: "total += 1",
    name: "total += missing_@n",
    kind: "total = \"text @n\"",
    syntax: "total += = @n",
};

const OPTIONS: &str =
    r#"{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "commonjs"}}"#;

pub const TYPESCRIPT: Template = Template {
    beside: &[("tsconfig.json", OPTIONS), ("bag.ts", "export class Bag {\n  size = 0;\n}\n")],
    first: "// Sums that mean nothing.\n",
    import: "import { Bag } from './bag';",
    rest: "
export function counted(): number {
  const holder = new Bag();
  return holder.size;
}

export const NEUTRAL = @n;
",
    remark: "// A remark, number @n.",
    function: "export function area@i(width: number, height: number): number {
  let total: number = width * height;
  for (let step = 0; step < width; step++) {
    total += step;
  }
  @mistake
  if (total > @i) {
    total -= height;
  } else {
    total += width;
  }
  const parts = [total, width, height];
  total = parts.reduce((a, b) => a + b, 0);
  return total;
}
",
    last: "",
    clean: "total += 1;",
    name: "total += missing_@n;",
    kind: "total = \"text @n\";",
    syntax: "total += = @n;",
};

/// The rules that see an unknown name are off by default in both linters.
const BIOME: &str = r#"{"linter": {"rules": {"correctness": {"noUndeclaredVariables": "error"}}}}"#;
const ESLINT: &str = "export default [{ rules: { 'no-undef': 'error', eqeqeq: 'error' } }];\n";

pub const JAVASCRIPT: Template = Template {
    beside: &[
        ("biome.json", BIOME),
        ("eslint.config.mjs", ESLINT),
        ("package.json", "{\"type\": \"module\", \"private\": true}\n"),
        ("bag.js", "export class Bag {\n  size = 0;\n}\n"),
    ],
    import: "import { Bag } from './bag.js';",
    rest: "
export function counted() {
  const holder = new Bag();
  return holder.size;
}

export const NEUTRAL = @n;
",
    function: "export function area@i(width, height) {
  let total = width * height;
  for (let step = 0; step < width; step++) {
    total += step;
  }
  @mistake
  if (total > @i) {
    total -= height;
  } else {
    total += width;
  }
  const parts = [total, width, height];
  total = parts.reduce((a, b) => a + b, 0);
  return total;
}
",
    // No linter here knows types.
    kind: "if (total == @n) total += 1;",
    ..TYPESCRIPT
};

pub const CPP: Template = Template {
    beside: &[("bag.h", "#pragma once\nstruct Bag {\n  int size = 0;\n};\n")],
    first: "// Sums that mean nothing.\n#include <map>\n#include <string>\n#include <vector>",
    import: "#include \"bag.h\"",
    rest: "
int counted() {
  Bag holder;
  return holder.size;
}

int neutral = @n;
",
    function: "int area_@i(int width, int height) {
  int total = width * height;
  for (int step = 0; step < width; step++) {
    total += step;
  }
  @mistake
  if (total > @i) {
    total -= height;
  } else {
    total += width;
  }
  std::vector<int> parts = {total, width, height};
  for (int part : parts) total += part;
  return total;
}
",
    ..TYPESCRIPT
};

pub const GO: Template = Template {
    beside: &[
        ("go.mod", "module example.com/subject\n\ngo 1.18\n"),
        (
            "bag/bag.go",
            "// Package bag has a bag.\npackage bag\n\n// Bag is empty.\ntype Bag struct {\n\tSize int\n}\n",
        ),
    ],
    first: "// Package subject has sums that mean nothing.\npackage subject\n",
    import: "import \"example.com/subject/bag\"",
    rest: "
func counted() int {
\tholder := bag.Bag{}
\treturn holder.Size
}

var neutral = @n
",
    function: "func area@i(width int, height int) int {
\ttotal := width * height
\tfor step := 0; step < width; step++ {
\t\ttotal += step
\t}
\t@mistake
\tif total > @i {
\t\ttotal -= height
\t} else {
\t\ttotal += width
\t}
\tfor _, part := range []int{total, width, height} {
\t\ttotal += part
\t}
\treturn total
}
",
    clean: "total += 1",
    name: "total += missing_@n",
    kind: "total = \"text @n\"",
    syntax: "total += = @n",
    ..TYPESCRIPT
};

pub const LUA: Template = Template {
    beside: &[("bag.lua", "local Bag = { size = 0 }\nreturn Bag\n")],
    first: "-- Sums that mean nothing.\n",
    import: "local Bag = require('bag')",
    rest: "
local function counted()
  return Bag.size
end

local neutral = @n
print(counted(), neutral)
",
    remark: "-- A remark, number @n.",
    function: "---@param width integer
---@param height integer
---@return integer
local function area_@i(width, height)
  ---@type integer
  local total = width * height
  for step = 1, width do
    total = total + step
  end
  @mistake
  if total > @i then
    total = total - height
  else
    total = total + width
  end
  for _, part in ipairs({ total, width, height }) do
    total = total + part
  end
  return total
end
print(area_@i(1, 2))
",
    clean: "total = total + 1",
    name: "total = total + missing_@n",
    kind: "total = \"text @n\"",
    syntax: "total = = @n",
    ..TYPESCRIPT
};

pub const SHELL: Template = Template {
    beside: &[("bag.sh", "#!/bin/bash\nbag_size=1\n")],
    first: "#!/bin/bash\n# Sums that mean nothing.\n",
    import: ". ./bag.sh",
    rest: "
counted() {
  echo \"$bag_size\"
}

neutral=@n
echo \"$neutral\"
",
    remark: "# A remark, number @n.",
    function: "area_@i() {
  local width=\"$1\" height=\"$2\" total=0
  for ((step = 0; step < width; step++)); do
    total=$((total + step))
  done
  @mistake
  if ((total > @i)); then
    total=$((total - height))
  else
    total=$((total + width))
  fi
  for part in \"$total\" \"$width\" \"$height\"; do
    total=$((total + part))
  done
  echo \"$total\"
}
",
    clean: "total=$((total + 1))",
    name: "total=\"$missing_@n\"",
    // A variable without quotes.
    kind: "echo $height @n",
    syntax: "fi @n",
    ..TYPESCRIPT
};
