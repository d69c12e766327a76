ALTER TABLE countries ADD PRIMARY KEY (code), ADD UNIQUE (name);

-- The list gives countries by code; people ask for them by name.
ALTER TABLE airports ADD COLUMN country text;
UPDATE airports a SET country = c.name FROM countries c WHERE c.code = a.country_code;
ALTER TABLE airports
    DROP COLUMN country_code,
    ALTER COLUMN country SET NOT NULL,
    ADD PRIMARY KEY (icao),
    ADD UNIQUE (iata),
    ADD FOREIGN KEY (country) REFERENCES countries (name);

-- A city's list may name an airport that the world's list no longer has.
DELETE FROM metro_airports m WHERE NOT EXISTS (SELECT FROM airports a WHERE a.iata = m.iata);
ALTER TABLE metro_airports
    ADD PRIMARY KEY (city_code, iata),
    ADD FOREIGN KEY (iata) REFERENCES airports (iata),
    ADD FOREIGN KEY (country_code) REFERENCES countries;

COMMENT ON TABLE countries IS 'Countries and territories by ISO 3166 two-letter code';
COMMENT ON TABLE airports IS 'Airports and landing strips of the whole world';
COMMENT ON COLUMN airports.icao IS 'ICAO location indicator, or the local code where there is none';
COMMENT ON COLUMN airports.iata IS 'Three-letter IATA code, known to travellers; most small airports have none';
COMMENT ON COLUMN airports.subdivision IS 'State, province or region';
COMMENT ON COLUMN airports.elevation IS 'Elevation above sea level in feet';
COMMENT ON COLUMN airports.time_zone IS 'IANA time zone';
COMMENT ON COLUMN airports.faa_lid IS 'FAA location identifier, United States only';
COMMENT ON COLUMN airports.country IS 'Country by its English name, for example France';
COMMENT ON TABLE metro_airports IS 'Cities with several airports under one IATA city code, e.g. LON for London';
