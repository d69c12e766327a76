-- Tests a flag that the question names, where its table is read and the flag is not.

-- schema: flags
-- lists: member.isofficial = T, F
-- question: The names of the official members
SELECT name FROM member
=>
SELECT name FROM member WHERE member.isofficial = 'T'

-- schema: flags
-- question: Names of active members older than 3
SELECT m.name FROM member AS m WHERE m.age > 3
=>
SELECT m.name FROM member AS m WHERE m.age > 3 AND m.is_active

-- where its table is read
-- schema: flags
-- question: Clubs of no active member
SELECT title FROM club WHERE NOT club_id IN (SELECT club_id FROM member)
=>
unchanged

-- schema: flags
-- question: In which clubs is nobody an active member?
SELECT title FROM club WHERE NOT club_id IN (SELECT club_id FROM member)
=>
SELECT title FROM club WHERE NOT club_id IN (SELECT club_id FROM member WHERE member.is_active)

-- schema: flags
-- question: The retired members' names
SELECT name FROM member
=>
SELECT name FROM member WHERE member.retired

-- it is read
-- schema: flags
-- question: How many active members are there?
SELECT COUNT(*) FROM member WHERE NOT is_active
=>
unchanged

-- it is denied
-- schema: flags
-- question: Members that are not active
SELECT name FROM member
=>
unchanged

-- not all of its values are known
-- schema: flags
-- question: The names of the official members
SELECT name FROM member
=>
unchanged

-- its table is there twice
-- schema: flags
-- question: Pairs of active members
SELECT a.name, b.name FROM member AS a JOIN member AS b ON a.club_id = b.club_id
=>
unchanged
