-- Writes the label that a text is in another spelling, where PostgreSQL takes nothing but labels.

-- schema: tickets
SELECT COUNT(*) FROM ticket WHERE state = 'in progress'
=>
SELECT COUNT(*) FROM ticket WHERE state = 'IN_PROGRESS'

-- schema: tickets
SELECT t.title FROM ticket AS t WHERE t.state IN ('new', 'Closed')
=>
SELECT t.title FROM ticket AS t WHERE t.state IN ('NEW', 'CLOSED')

-- an enum has no patterns
-- schema: tickets
SELECT COUNT(*) FROM ticket WHERE state ILIKE '%progress%' OR LOWER(state) = 'new'
=>
SELECT COUNT(*) FROM ticket WHERE CAST(state AS TEXT) ILIKE '%progress%' OR LOWER(CAST(state AS TEXT)) = 'new'

-- a label
-- schema: tickets
SELECT COUNT(*) FROM ticket WHERE state <> 'CLOSED'
=>
unchanged

-- no label is spelt like it
-- schema: tickets
SELECT COUNT(*) FROM ticket WHERE state = 'waiting'
=>
unchanged

-- no enum
-- schema: tickets
SELECT COUNT(*) FROM ticket WHERE title = 'in progress'
=>
unchanged
