-- Counts members in place of arrays.

-- schema: several
-- question: Which article has the most tags, and how many tags has it?
SELECT title, COUNT(tags) FROM article GROUP BY article_id ORDER BY COUNT(tags) DESC LIMIT 1
=>
SELECT title, CARDINALITY(tags) FROM article ORDER BY CARDINALITY(tags) DESC LIMIT 1

-- schema: several
-- question: What is the number of red tags?
SELECT COUNT(tags) FROM article
=>
SELECT SUM(CARDINALITY(tags)) FROM article

-- the groups are for more
-- schema: several
-- question: How many tags and rows has each title?
SELECT title, COUNT(tags), COUNT(*) FROM article GROUP BY title
=>
unchanged

-- articles are asked for
-- schema: several
-- question: How many articles have tags?
SELECT COUNT(tags) FROM article
=>
unchanged
