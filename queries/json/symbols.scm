; Finds the keys of JSON that hold more than one value, and the items of arrays that have a name.
((object (pair key: (string) @name value: [(object) (array)]) @key) (#set! separator ","))
((array (object (pair key: (string) @_key value: (string) @name)) @key) (#match? @_key "^.(name|id).$")
  (#set! separator ","))
