-- Columns in the order of the data set's files.
CREATE TABLE airlines (
    carrier text NOT NULL,
    name text NOT NULL
);

CREATE TABLE airports (
    faa text NOT NULL,
    name text NOT NULL,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    alt integer NOT NULL,
    tz integer NOT NULL,
    dst text NOT NULL,
    tzone text
);

CREATE TABLE planes (
    tailnum text NOT NULL,
    year integer,
    type text NOT NULL,
    manufacturer text NOT NULL,
    model text NOT NULL,
    engines integer NOT NULL,
    seats integer NOT NULL,
    speed integer,
    engine text NOT NULL
);

CREATE TABLE weather (
    origin text NOT NULL,
    year integer NOT NULL,
    month integer NOT NULL,
    day integer NOT NULL,
    hour integer NOT NULL,
    temp double precision,
    dewp double precision,
    humid double precision,
    wind_dir integer,
    wind_speed double precision,
    wind_gust double precision,
    precip double precision,
    pressure double precision,
    visib double precision,
    time_hour timestamptz NOT NULL
);

CREATE TABLE flights (
    year integer NOT NULL,
    month integer NOT NULL,
    day integer NOT NULL,
    dep_time integer,
    sched_dep_time integer NOT NULL,
    dep_delay integer,
    arr_time integer,
    sched_arr_time integer NOT NULL,
    arr_delay integer,
    carrier text NOT NULL,
    flight integer NOT NULL,
    tailnum text,
    origin text NOT NULL,
    dest text NOT NULL,
    air_time integer,
    distance integer NOT NULL,
    hour integer NOT NULL,
    minute integer NOT NULL,
    time_hour timestamptz NOT NULL,
    flight_date date GENERATED ALWAYS AS (make_date(year, month, day)) STORED
);
