CREATE TABLE physician (physician_id int PRIMARY KEY, surname text NOT NULL, field text NOT NULL);
CREATE TABLE patient (patient_id int PRIMARY KEY, surname text NOT NULL, born date NOT NULL, insurer text);
CREATE TABLE appointment (appointment_id int PRIMARY KEY, patient_id int REFERENCES patient, physician_id int REFERENCES physician, booked_for timestamp NOT NULL, arrived timestamp, called timestamp, state text NOT NULL);
COMMENT ON COLUMN appointment.state IS 'D done, N did not come, C called off, P planned';
CREATE TABLE prescription (prescription_id int PRIMARY KEY, appointment_id int REFERENCES appointment, substance text NOT NULL, packs int NOT NULL);
INSERT INTO physician VALUES (1, 'Okafor', 'general'), (2, 'Lindqvist', 'skin'), (3, 'Duarte', 'general');
INSERT INTO patient VALUES (1, 'Abel', '1950-05-05', 'AOK'), (2, 'Brandt', '1988-11-30', 'TK'), (3, 'Celik', '2019-01-15', 'TK'), (4, 'Dorn', '1972-07-07', NULL), (5, 'Egger', '1990-02-02', 'AOK');
INSERT INTO appointment VALUES (1, 1, 1, '2026-05-04 08:00', '2026-05-04 07:55', '2026-05-04 08:20', 'D'), (2, 2, 1, '2026-05-04 08:30', '2026-05-04 08:28', '2026-05-04 08:40', 'D'),
  (3, 3, 2, '2026-05-04 09:00', NULL, NULL, 'N'), (4, 4, 2, '2026-05-05 10:00', '2026-05-05 09:40', '2026-05-05 10:30', 'D'), (5, 1, 3, '2026-05-06 10:00', NULL, NULL, 'N'),
  (6, 1, 2, '2026-05-07 10:00', NULL, NULL, 'N'), (7, 2, 3, '2026-05-08 10:00', NULL, NULL, 'C'), (8, 2, 1, '2026-06-08 10:00', NULL, NULL, 'P');
INSERT INTO prescription VALUES (1, 1, 'ibuprofen', 1), (2, 2, 'ibuprofen', 2), (3, 4, 'cortisone', 1), (4, 4, 'zinc', 4);
