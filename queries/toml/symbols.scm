; Finds the tables of TOML, and the keys that hold more than one value.
((table . (dotted_key) @name) @key (#set! path "."))
(table . [(bare_key) (quoted_key)] @name) @key
((table_array_element . (dotted_key) @name) @key (#set! path "."))
(table_array_element . [(bare_key) (quoted_key)] @name) @key
((inline_table (pair . (dotted_key) @name [(inline_table) (array)]) @key) (#set! path ".") (#set! separator ","))
((inline_table (pair . [(bare_key) (quoted_key)] @name [(inline_table) (array)]) @key) (#set! separator ","))
((pair . (dotted_key) @name [(inline_table) (array)]) @key (#set! path "."))
(pair . [(bare_key) (quoted_key)] @name [(inline_table) (array)]) @key
(comment) @comment
