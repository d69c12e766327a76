-- Counts rows that do not count by themselves as well.

-- schema: gone
-- question: What is the total net of all bills?
SELECT SUM(net) FROM bill WHERE NOT trial AND bill.deleted_at IS NULL AND client_id = 1
=>
SELECT SUM(net) FROM bill WHERE client_id = 1

-- the question leaves them out itself
-- schema: gone
-- question: How many bills are not deleted?
SELECT COUNT(*) FROM bill WHERE deleted_at IS NULL
=>
unchanged

-- it asks for them
-- schema: gone
-- question: Which bills were made for trial?
SELECT bill_id FROM bill WHERE trial
=>
unchanged

-- it tests more than that
-- schema: gone
-- question: How many bills are there?
SELECT COUNT(*) FROM bill WHERE deleted_at IS NULL OR net > 10
=>
unchanged
