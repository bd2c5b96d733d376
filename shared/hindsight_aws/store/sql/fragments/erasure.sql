-- d_carries --
-- The document, directive, page, scope or memory d carries the tags: one of them, or all.
(CASE WHEN %(all_of)s::boolean THEN d.tags @> %(tags)s::text[] ELSE d.tags && %(tags)s::text[] END)

-- item_carries --
-- The item, as rows keep it, carries the tags: one of them, or all.
(CASE WHEN %(all_of)s::boolean THEN item -> 'tags' ?& %(tags)s::text[] ELSE item -> 'tags' ?| %(tags)s::text[] END)
