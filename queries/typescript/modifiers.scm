; Finds the modifiers that only TypeScript has.
(accessibility_modifier) @visibility
(abstract_class_declaration "abstract" @modifier)
(public_field_definition ["static" "readonly"] @follows)
(override_modifier) @follows
