; Finds the sections of Markdown by their headings, other than those of quotes and lists.
(document (section (atx_heading heading_content: (_) @name)) @section)
(document (section (setext_heading heading_content: (_) @name)) @section)
(section (section (atx_heading heading_content: (_) @name)) @section)
(section (section (setext_heading heading_content: (_) @name)) @section)
