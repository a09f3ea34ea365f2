//! The texts in data languages, of about 150 lines each, and the schema that they are held against.

use crate::templates::Template;

/// What stands for a function in the other languages is an object here, and the import a key that the schema requires.
const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["bag"],
  "properties": {
    "$schema": {"type": "string"},
    "bag": {"type": "object"},
    "neutral": {"type": "integer"},
    "last": {"type": "boolean"}
  },
  "patternProperties": {
    "^remark_": {"type": "string"},
    "^area_": {
      "type": "object",
      "properties": {
        "width": {"type": "integer"},
        "height": {"type": "integer"},
        "total": {"type": "integer"},
        "parts": {"type": "array", "items": {"type": "integer"}}
      },
      "required": ["width", "height", "parts"],
      "additionalProperties": false
    }
  },
  "additionalProperties": false
}
"#;

pub const JSON: Template = Template {
    beside: &[("schema.json", SCHEMA)],
    first: "{\n  \"$schema\": \"./schema.json\",",
    import: "  \"bag\": {\"size\": 1},",
    rest: "  \"neutral\": @n,",
    // A comment is a mistake in JSON.
    remark: "  \"remark_@i_@n\": \"A remark, number @n.\",",
    function: r#"  "area_@i": {
    "width": @i,
    @mistake
    "height": 4,
    "parts": [
      1,
      2,
      3
    ]
  },"#,
    last: "  \"last\": true\n}",
    clean: "\"total\": 1,",
    name: "\"missing_@n\": 1,",
    kind: "\"total\": \"text @n\",",
    syntax: "\"total\": = @n,",
};

pub const YAML: Template = Template {
    beside: &[("schema.json", SCHEMA)],
    first: "# yaml-language-server: $schema=./schema.json\n# Sums that mean nothing.",
    import: "bag:\n  size: 1",
    rest: "neutral: @n\n",
    remark: "# A remark, number @n.",
    function: "area_@i:
  width: @i
  @mistake
  height: 4
  parts:
    - 1
    - 2
    - 3
",
    last: "last: true",
    clean: "total: 1",
    name: "missing_@n: 1",
    kind: "total: text @n",
    syntax: "total: @n: @n",
};
