-- Four airports that flights go to are not in the data set's list.
INSERT INTO airports (faa, name, lat, lon, alt, tz, dst, tzone) VALUES
    ('BQN', 'Rafael Hernandez Airport', 18.4949, -67.1294, 238, -4, 'N', 'America/Puerto_Rico'),
    ('PSE', 'Mercedita Airport', 18.0088, -66.5646, 37, -4, 'N', 'America/Puerto_Rico'),
    ('SJU', 'Luis Munoz Marin International Airport', 18.4394, -66.0021, 10, -4, 'N', 'America/Puerto_Rico'),
    ('STT', 'Cyril E King Airport', 18.3373, -64.9733, 24, -4, 'N', 'America/St_Thomas');

-- One reading of over 1,000 miles an hour is an instrument's fault.
UPDATE weather SET wind_speed = NULL WHERE wind_speed > 250;

ALTER TABLE airlines ADD PRIMARY KEY (carrier);
ALTER TABLE airports ADD PRIMARY KEY (faa);
ALTER TABLE planes ADD PRIMARY KEY (tailnum);
ALTER TABLE weather ADD PRIMARY KEY (origin, time_hour);
ALTER TABLE weather ADD FOREIGN KEY (origin) REFERENCES airports;
ALTER TABLE flights ADD PRIMARY KEY (time_hour, carrier, flight);
ALTER TABLE flights
    ADD FOREIGN KEY (carrier) REFERENCES airlines,
    ADD FOREIGN KEY (origin) REFERENCES airports,
    ADD FOREIGN KEY (dest) REFERENCES airports;

COMMENT ON TABLE airlines IS 'Airlines that fly from New York City, by two-letter carrier code';
COMMENT ON TABLE airports IS 'Airports of the United States, by FAA code';
COMMENT ON COLUMN airports.alt IS 'Altitude in feet';
COMMENT ON COLUMN airports.tz IS 'Hours from UTC, without daylight saving';
COMMENT ON COLUMN airports.dst IS 'Daylight saving: A as in the United States, N none, U unknown';
COMMENT ON COLUMN airports.tzone IS 'IANA time zone';
COMMENT ON TABLE planes IS 'Aircraft by tail number; not every tail number of flights is known here';
COMMENT ON COLUMN planes.year IS 'Year of manufacture';
COMMENT ON COLUMN planes.speed IS 'Average cruising speed in miles an hour; mostly unknown';
COMMENT ON TABLE weather IS 'Hourly weather at the three airports of New York City';
COMMENT ON COLUMN weather.temp IS 'Temperature in degrees Fahrenheit';
COMMENT ON COLUMN weather.dewp IS 'Dew point in degrees Fahrenheit';
COMMENT ON COLUMN weather.humid IS 'Relative humidity in per cent';
COMMENT ON COLUMN weather.wind_speed IS 'Wind speed in miles an hour';
COMMENT ON COLUMN weather.precip IS 'Precipitation in inches';
COMMENT ON COLUMN weather.pressure IS 'Sea level pressure in millibars';
COMMENT ON COLUMN weather.visib IS 'Visibility in miles';
COMMENT ON TABLE flights IS 'All flights that left New York City (EWR, JFK, LGA) in 2013';
COMMENT ON COLUMN flights.dep_time IS 'Actual departure, local time as hhmm; NULL: the flight was cancelled';
COMMENT ON COLUMN flights.sched_dep_time IS 'Scheduled departure, local time as hhmm';
COMMENT ON COLUMN flights.dep_delay IS 'Departure delay in minutes; negative: early';
COMMENT ON COLUMN flights.arr_delay IS 'Arrival delay in minutes; negative: early';
COMMENT ON COLUMN flights.origin IS 'FAA code of the airport of departure';
COMMENT ON COLUMN flights.dest IS 'FAA code of the airport of arrival';
COMMENT ON COLUMN flights.air_time IS 'Minutes in the air';
COMMENT ON COLUMN flights.distance IS 'Distance in miles';
COMMENT ON COLUMN flights.time_hour IS 'Scheduled hour of departure; with origin it finds the weather';
