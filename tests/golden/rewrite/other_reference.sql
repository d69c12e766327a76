-- What is shown twice is shown by both references to its table.

-- schema: flights
SELECT T2.name, T2.name FROM flight AS T1 JOIN airport AS T2 ON T1.origin_id = T2.airport_id
=>
SELECT t2.name, t2_2.name FROM flight AS t1 JOIN airport AS t2 ON t1.origin_id = t2.airport_id JOIN airport AS t2_2 ON t1.destination_id = t2_2.airport_id

-- under other names, beside a bare column
-- schema: flights
SELECT carrier, airport.city AS from_city, airport.city AS to_city FROM airport JOIN flight ON flight.destination_id = airport.airport_id WHERE flight_id > 0
=>
SELECT flight.carrier, airport.city AS from_city, airport_2.city AS to_city FROM airport JOIN flight ON flight.destination_id = airport.airport_id JOIN airport AS airport_2 ON flight.origin_id = airport_2.airport_id WHERE flight.flight_id > 0

-- nothing is shown twice
-- schema: flights
SELECT T1.carrier, T2.name FROM flight AS T1 JOIN airport AS T2 ON T1.origin_id = T2.airport_id
=>
unchanged

-- both references are there
-- schema: flights
SELECT T2.name, T2.name FROM flight AS T1 JOIN airport AS T2 ON T1.origin_id = T2.airport_id JOIN airport AS T3 ON T1.destination_id = T3.airport_id AND T3.city = 'Oslo'
=>
unchanged

-- of the table that refers
-- schema: flights
SELECT T1.carrier, T1.carrier FROM flight AS T1 JOIN airport AS T2 ON T1.origin_id = T2.airport_id
=>
unchanged

-- one reference alone
SELECT stadium.name, stadium.name FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id
=>
unchanged

-- in groups
-- schema: flights
SELECT T2.name, T2.name, COUNT(*) FROM flight AS T1 JOIN airport AS T2 ON T1.origin_id = T2.airport_id GROUP BY T2.name
=>
unchanged
