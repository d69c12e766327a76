-- Leaves out rows that do not count by themselves, where nothing is said of them.

-- schema: gone
-- question: What is the total net of all bills?
SELECT SUM(net) FROM bill
=>
SELECT SUM(net) FROM bill WHERE NOT bill.trial AND bill.deleted_at IS NULL

-- clients without such bills stay
-- schema: gone
-- question: How many bills has each client?
SELECT c.name, COUNT(b.bill_id) FROM client AS c LEFT JOIN bill AS b ON b.client_id = c.client_id GROUP BY c.client_id, c.name
=>
SELECT c.name, COUNT(b.bill_id) FROM client AS c LEFT JOIN bill AS b ON b.client_id = c.client_id AND NOT b.trial AND b.deleted_at IS NULL GROUP BY c.client_id, c.name

-- one of them is spoken of
-- schema: gone
-- question: What is the total net of the deleted bills?
SELECT SUM(net) FROM bill WHERE NOT deleted_at IS NULL
=>
SELECT SUM(net) FROM bill WHERE NOT deleted_at IS NULL AND NOT bill.trial

-- their table is not read
-- schema: gone
-- question: How many clients are there?
SELECT COUNT(*) FROM client
=>
unchanged

-- the statement tests both already
-- schema: gone
-- question: How many bills are there?
SELECT COUNT(*) FROM bill WHERE NOT trial AND deleted_at IS NULL
=>
unchanged
