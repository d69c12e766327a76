CREATE TABLE member (member_id int PRIMARY KEY, full_name text NOT NULL, joined_on date NOT NULL, district text);
CREATE TABLE training (member_id int REFERENCES member, topic text, passed_on date, PRIMARY KEY (member_id, topic));
CREATE TABLE duty (duty_id int PRIMARY KEY, member_id int REFERENCES member, place text NOT NULL, starts_at timestamp NOT NULL, ends_at timestamp NOT NULL, cancelled boolean NOT NULL DEFAULT false);
CREATE TABLE gift (gift_id int PRIMARY KEY, giver text, euros numeric NOT NULL, given_on date NOT NULL);
INSERT INTO member VALUES (1, 'Petra Quist', '2023-02-01', 'Neudorf'), (2, 'Imre Balog', '2024-06-15', 'Altmarkt'),
  (3, 'Sana Idris', '2025-01-10', 'Neudorf'), (4, 'Theo Lund', '2021-09-03', NULL);
INSERT INTO training VALUES (1, 'first aid', '2023-03-01'), (3, 'first aid', '2025-02-11'), (2, 'sign language', '2024-07-01'), (4, 'driving', '2022-01-05');
INSERT INTO duty VALUES (1, 1, 'soup kitchen', '2026-04-01 10:00', '2026-04-01 14:00', false), (2, 1, 'soup kitchen', '2026-04-08 10:00', '2026-04-08 14:00', false),
  (3, 2, 'night bus', '2026-04-02 22:00', '2026-04-03 06:00', false), (4, 2, 'night bus', '2026-05-02 22:00', '2026-05-03 06:00', true),
  (5, 3, 'soup kitchen', '2026-05-06 10:00', '2026-05-06 12:00', false), (6, 1, 'reading room', '2026-05-09 09:00', '2026-05-09 10:00', false);
INSERT INTO gift VALUES (1, 'Bakery Horn', 250, '2026-04-03'), (2, 'Bakery Horn', 100, '2026-05-01'), (3, NULL, 40, '2026-05-20'), (4, 'Ida Voss', 500, '2025-12-24');
