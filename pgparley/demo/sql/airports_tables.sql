-- Columns in the order of the data set's files.
CREATE TABLE countries (
    code text NOT NULL,
    name text NOT NULL
);

CREATE TABLE airports (
    icao text NOT NULL,
    iata text,
    name text NOT NULL,
    city text,
    subdivision text,
    country_code text NOT NULL,
    elevation double precision NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    time_zone text NOT NULL,
    faa_lid text
);

CREATE TABLE metro_airports (
    country_code text NOT NULL,
    city_code text NOT NULL,
    city_name text NOT NULL,
    iata text NOT NULL,
    airport_name text NOT NULL
);
