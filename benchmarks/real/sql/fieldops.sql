-- What a government agency keeps: wildlife strikes of aircraft, employment by month, zip codes. Codes nearly everywhere,
-- with a table of their own, a comment, or neither; no foreign keys.
CREATE SCHEMA wls;
CREATE SCHEMA ces;
CREATE SCHEMA geo;
CREATE SCHEMA ref;

CREATE TABLE ref.st (
    st_cd char(2) PRIMARY KEY,
    st_nm text NOT NULL
);
INSERT INTO ref.st VALUES
    ('AL', 'Alabama'), ('AK', 'Alaska'), ('AZ', 'Arizona'), ('AR', 'Arkansas'), ('CA', 'California'), ('CO', 'Colorado'),
    ('CT', 'Connecticut'), ('DE', 'Delaware'), ('DC', 'DC'), ('FL', 'Florida'), ('GA', 'Georgia'), ('HI', 'Hawaii'),
    ('ID', 'Idaho'), ('IL', 'Illinois'), ('IN', 'Indiana'), ('IA', 'Iowa'), ('KS', 'Kansas'), ('KY', 'Kentucky'),
    ('LA', 'Louisiana'), ('ME', 'Maine'), ('MD', 'Maryland'), ('MA', 'Massachusetts'), ('MI', 'Michigan'),
    ('MN', 'Minnesota'), ('MS', 'Mississippi'), ('MO', 'Missouri'), ('MT', 'Montana'), ('NE', 'Nebraska'),
    ('NV', 'Nevada'), ('NH', 'New Hampshire'), ('NJ', 'New Jersey'), ('NM', 'New Mexico'), ('NY', 'New York'),
    ('NC', 'North Carolina'), ('ND', 'North Dakota'), ('OH', 'Ohio'), ('OK', 'Oklahoma'), ('OR', 'Oregon'),
    ('PA', 'Pennsylvania'), ('RI', 'Rhode Island'), ('SC', 'South Carolina'), ('SD', 'South Dakota'),
    ('TN', 'Tennessee'), ('TX', 'Texas'), ('UT', 'Utah'), ('VT', 'Vermont'), ('VA', 'Virginia'), ('WA', 'Washington'),
    ('WV', 'West Virginia'), ('WI', 'Wisconsin'), ('WY', 'Wyoming');

CREATE TABLE ref.phs (
    phs_cd text PRIMARY KEY,
    phs_dsc text NOT NULL
);
INSERT INTO ref.phs VALUES
    ('APP', 'Approach'), ('CLB', 'Climb'), ('TOR', 'Take-off run'), ('LDR', 'Landing Roll'), ('DSC', 'Descent'),
    ('TAX', 'Taxi'), ('PRK', 'Parked');

CREATE TABLE ref.dmg (
    dmg_cd text PRIMARY KEY,
    dmg_dsc text NOT NULL
);
-- Fifteen rows have a code that nobody remembers.
INSERT INTO ref.dmg VALUES ('N', 'None'), ('MI', 'Minor'), ('ME', 'Medium'), ('S', 'Substantial');

CREATE TABLE ref.arpt (
    arpt_id integer PRIMARY KEY,
    arpt_nm text NOT NULL,
    st_cd char(2) NOT NULL
);
INSERT INTO ref.arpt
SELECT row_number() OVER (ORDER BY airport_name), airport_name, st_cd
FROM (SELECT DISTINCT airport_name, origin_state FROM src_strikes) a JOIN ref.st ON st_nm = origin_state;

CREATE TABLE wls.strk (
    strk_id integer PRIMARY KEY,
    flt_dt date NOT NULL,
    arpt_id integer NOT NULL,
    opr_nm text NOT NULL,
    acft_mdl text NOT NULL,
    phs_cd text,
    tod_cd text NOT NULL,
    spd_kt integer,
    spcs text NOT NULL,
    sz_cd text NOT NULL,
    dmg_cd text NOT NULL,
    cst_rep integer NOT NULL,
    cst_oth integer NOT NULL,
    cst_tot integer NOT NULL
);
INSERT INTO wls.strk
SELECT row_number() OVER (ORDER BY flight_date, s.ctid), flight_date::date, arpt_id, aircraft_airline_operator,
    aircraft_make_model, phs_cd,
    CASE time_of_day WHEN 'Day' THEN 'D' WHEN 'Night' THEN 'N' WHEN 'Dawn' THEN 'DN' ELSE 'DK' END,
    speed_ias_in_knots::int, wildlife_species, left(wildlife_size, 1),
    coalesce(dmg_cd, effect_amount_of_damage), cost_repair::int, cost_other::int, cost_total::int
FROM src_strikes s
    JOIN ref.arpt ON arpt_nm = airport_name
    LEFT JOIN ref.phs ON phs_dsc = phase_of_flight
    LEFT JOIN ref.dmg ON dmg_dsc = effect_amount_of_damage;

CREATE TABLE ces.emp_m (
    mth date PRIMARY KEY,
    nfarm integer NOT NULL,
    prvt integer NOT NULL,
    gds integer NOT NULL,
    srv integer NOT NULL,
    prv_srv integer NOT NULL,
    mng integer NOT NULL,
    cnst integer NOT NULL,
    mfg integer NOT NULL,
    mfg_dur integer NOT NULL,
    mfg_nd integer NOT NULL,
    ttu integer NOT NULL,
    whl numeric(8, 1) NOT NULL,
    rtl numeric(8, 1) NOT NULL,
    trw numeric(8, 1) NOT NULL,
    utl numeric(8, 1) NOT NULL,
    inf integer NOT NULL,
    fin integer NOT NULL,
    pbs integer NOT NULL,
    ehs integer NOT NULL,
    lsh integer NOT NULL,
    oth integer NOT NULL,
    gov integer NOT NULL,
    nfarm_chg integer NOT NULL
);
INSERT INTO ces.emp_m
SELECT month::date, nonfarm::int, private::int, goods_producing::int, service_providing::int,
    private_service_providing::int, mining_and_logging::int, construction::int, manufacturing::int,
    durable_goods::int, nondurable_goods::int, trade_transportation_utilties::int, wholesale_trade::numeric,
    retail_trade::numeric, transportation_and_warehousing::numeric, utilities::numeric, information::int,
    financial_activities::int, professional_and_business_services::int, education_and_health_services::int,
    leisure_and_hospitality::int, other_services::int, government::int, nonfarm_change::int
FROM src_employment;

CREATE TABLE geo.zip (
    zip_cd text PRIMARY KEY,
    cty text NOT NULL,
    cnty text,
    st_cd char(2),
    lat double precision NOT NULL,
    lon double precision NOT NULL
);
INSERT INTO geo.zip SELECT zip_code, city, county, state, latitude::float8, longitude::float8 FROM src_zips;

COMMENT ON TABLE wls.strk IS 'wildlife strikes reported, 1990 to 2002';
COMMENT ON COLUMN wls.strk.tod_cd IS 'D day, N night, DN dawn, DK dusk';
COMMENT ON COLUMN wls.strk.sz_cd IS 'size of the animal: S small, M medium, L large';
COMMENT ON COLUMN wls.strk.spd_kt IS 'indicated air speed, knots';
COMMENT ON COLUMN wls.strk.cst_tot IS 'USD';
COMMENT ON TABLE ces.emp_m IS 'employees in thousands by industry, monthly';
COMMENT ON COLUMN ces.emp_m.ttu IS 'trade, transportation and utilities';
COMMENT ON COLUMN ces.emp_m.trw IS 'transportation and warehousing';
COMMENT ON COLUMN ces.emp_m.pbs IS 'professional and business services';
COMMENT ON COLUMN ces.emp_m.ehs IS 'education and health services';
COMMENT ON COLUMN ces.emp_m.lsh IS 'leisure and hospitality';
COMMENT ON COLUMN ces.emp_m.nfarm_chg IS 'change of nfarm against the month before';
