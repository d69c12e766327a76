-- A column of each type that databases have beside numbers, texts and days.

CREATE TABLE room (room_id int PRIMARY KEY, room_name text NOT NULL, features text[] NOT NULL, floor_nos int[]);
CREATE TABLE booking (booking_id int PRIMARY KEY, room_id int NOT NULL REFERENCES room, guest text NOT NULL, stay daterange NOT NULL, price int4range);
CREATE TABLE call (call_id int PRIMARY KEY, caller text NOT NULL, began timestamptz NOT NULL, lasted interval NOT NULL, host inet, token uuid);
COMMENT ON COLUMN call.began IS 'shown in Europe/Vienna';
CREATE TABLE paper (paper_id int PRIMARY KEY, title text NOT NULL, body text NOT NULL, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED, meta jsonb NOT NULL);
CREATE TABLE bill (bill_id int PRIMARY KEY, status int NOT NULL, net numeric NOT NULL, deleted_at timestamptz);
COMMENT ON COLUMN bill.status IS '10 new, 20 paid, 30 reminded';
COMMENT ON TABLE bill IS 'rows with deleted_at do not count';
INSERT INTO room VALUES (1,'Amber','{beamer,whiteboard}','{1,2}'),(2,'Basalt','{whiteboard}','{2}'),(3,'Cedar','{beamer,kitchen}',NULL);
INSERT INTO booking VALUES (1,1,'Ines','[2026-05-01,2026-05-04)','[10,20)'),(2,1,'Tom','[2026-05-10,2026-05-12)','[15,30)'),(3,2,'Mai','[2026-05-03,2026-05-09)','[5,8)'),(4,3,'Ines','[2026-06-01,)',NULL);
INSERT INTO call VALUES (1,'Ines','2026-05-01 23:30+00','00:10','10.0.0.1','00000000-0000-0000-0000-000000000001'),(2,'Tom','2026-05-02 08:00+00','01:05','10.0.1.2','00000000-0000-0000-0000-000000000002'),(3,'Ines','2026-05-03 09:00+00','00:30','192.168.0.4','00000000-0000-0000-0000-000000000003');
INSERT INTO paper (paper_id,title,body,meta) VALUES (1,'Tides','The moon moves the water','{"authors":[{"name":"Prado"},{"name":"Sato"}],"pages":12,"open":true}'),(2,'Rocks','Stones and water','{"authors":[{"name":"Sato"}],"pages":30,"open":false}'),(3,'Wind','Air in motion','{"authors":[],"pages":7,"open":true}');
INSERT INTO bill VALUES (1,10,100,NULL),(2,20,50,NULL),(3,20,70,now()),(4,30,10,NULL);
