-- Quotes names that were written without their capital letters.

-- schema: camel
SELECT COUNT(memberId) FROM Member WHERE isActive
=>
SELECT COUNT("memberId") FROM "Member" WHERE "isActive"

-- schema: camel
SELECT m.memberId FROM Member AS m JOIN Loan AS l ON l.memberId = m.memberId WHERE l."to" IS NULL
=>
SELECT m."memberId" FROM "Member" AS m JOIN "Loan" AS l ON l."memberId" = m."memberId" WHERE l."to" IS NULL

-- quoted already
-- schema: camel
SELECT COUNT(*) FROM "Member"
=>
unchanged

-- two names are such
-- schema: camel
SELECT code FROM "Loan"
=>
unchanged

-- an alias
-- schema: camel
SELECT isactive."memberId" FROM "Member" AS isactive
=>
unchanged
