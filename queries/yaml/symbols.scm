; Finds the keys of YAML that hold more than one value.
(block_mapping_pair key: (_) @name value: (block_node [(block_mapping) (block_sequence) (block_scalar)])) @key
(block_mapping_pair key: (_) @name value: (flow_node [(flow_mapping) (flow_sequence)])) @key
(block_sequence_item (block_node (block_mapping (block_mapping_pair key: (_) @_key value: (flow_node) @name)
  (#match? @_key "^(name|id)$")))) @key
(comment) @comment
