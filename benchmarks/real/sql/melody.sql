-- A media shop. The catalogue is real, its customers and invoices are the Chinook sample's. Four departments, a schema
-- each; keys inside a schema, none between schemas.
CREATE SCHEMA cat;
CREATE SCHEMA sls;
CREATE SCHEMA hr;
CREATE SCHEMA ref;

CREATE TABLE ref.ctry (
    ctry_cd char(2) PRIMARY KEY,
    ctry_nm text NOT NULL UNIQUE
);
INSERT INTO ref.ctry VALUES
    ('AR', 'Argentina'), ('AU', 'Australia'), ('AT', 'Austria'), ('BE', 'Belgium'), ('BR', 'Brazil'),
    ('CA', 'Canada'), ('CL', 'Chile'), ('CZ', 'Czech Republic'), ('DK', 'Denmark'), ('FI', 'Finland'),
    ('FR', 'France'), ('DE', 'Germany'), ('HU', 'Hungary'), ('IN', 'India'), ('IE', 'Ireland'), ('IT', 'Italy'),
    ('NL', 'Netherlands'), ('NO', 'Norway'), ('PL', 'Poland'), ('PT', 'Portugal'), ('ES', 'Spain'), ('SE', 'Sweden'),
    ('US', 'USA'), ('GB', 'United Kingdom');

CREATE TABLE cat.art (
    art_id integer PRIMARY KEY,
    art_nm text NOT NULL
);
INSERT INTO cat.art SELECT pk::int, name FROM src_artist;

CREATE TABLE cat.alb (
    alb_id integer PRIMARY KEY,
    art_id integer NOT NULL REFERENCES cat.art,
    ttl text NOT NULL
);
INSERT INTO cat.alb SELECT pk::int, artist::int, title FROM src_album;

CREATE TABLE cat.gnr (
    gnr_id integer PRIMARY KEY,
    gnr_dsc text NOT NULL
);
INSERT INTO cat.gnr SELECT pk::int, name FROM src_genre;

CREATE TABLE cat.trk (
    trk_id integer PRIMARY KEY,
    ttl text NOT NULL,
    alb_id integer NOT NULL REFERENCES cat.alb,
    gnr_id integer NOT NULL REFERENCES cat.gnr,
    med_cd text NOT NULL,
    cmpsr text,
    dur_ms integer NOT NULL,
    sz_b bigint NOT NULL,
    unit_prc numeric(6, 2) NOT NULL
);
INSERT INTO cat.trk
SELECT t.pk::int, t.name, t.album::int, t.genre::int,
    CASE m.name WHEN 'MPEG audio file' THEN 'MP3' WHEN 'Protected AAC audio file' THEN 'AACP'
        WHEN 'Protected MPEG-4 video file' THEN 'MP4V' WHEN 'Purchased AAC audio file' THEN 'AACB' ELSE 'AAC' END,
    t.composer, t.milliseconds::int, t.bytes::bigint, t.unit_price::numeric
FROM src_track t JOIN src_mediatype m ON m.pk = t.mediatype;

CREATE TABLE cat.plst (
    plst_id integer PRIMARY KEY,
    plst_nm text NOT NULL
);
INSERT INTO cat.plst SELECT pk::int, replace(name, '’', '''') FROM src_playlist;

CREATE TABLE cat.plst_trk (
    plst_id integer NOT NULL REFERENCES cat.plst,
    trk_id integer NOT NULL REFERENCES cat.trk,
    PRIMARY KEY (plst_id, trk_id)
);
INSERT INTO cat.plst_trk SELECT DISTINCT playlist::int, track::int FROM src_playlisttrack;

CREATE TABLE sls.cust (
    cust_no integer PRIMARY KEY,
    fst_nm text NOT NULL,
    lst_nm text NOT NULL,
    co_nm text,
    addr text NOT NULL,
    cty text NOT NULL,
    st_cd text,
    ctry_cd char(2) NOT NULL,
    zip text,
    tel text,
    fax text,
    eml text NOT NULL,
    rep_no integer NOT NULL
);
INSERT INTO sls.cust
SELECT c.pk::int, firstname, lastname, company, address, city, state, ctry_cd, postalcode, phone, fax, email,
    support_rep::int
FROM src_customer c JOIN ref.ctry ON ctry_nm = country;

CREATE TABLE sls.inv_hdr (
    inv_no integer PRIMARY KEY,
    cust_no integer NOT NULL REFERENCES sls.cust,
    inv_dt date NOT NULL,
    bl_cty text NOT NULL,
    bl_st_cd text,
    bl_ctry_cd char(2) NOT NULL,
    bl_zip text,
    tot_amt numeric(10, 2) NOT NULL
);
INSERT INTO sls.inv_hdr
SELECT i.pk::int, customer::int, left(invoicedate, 10)::date, billingcity, billingstate, ctry_cd, billingpostalcode,
    total::numeric
FROM src_invoice i JOIN ref.ctry ON ctry_nm = billingcountry;

CREATE TABLE sls.inv_ln (
    inv_no integer NOT NULL REFERENCES sls.inv_hdr,
    ln_no integer NOT NULL,
    trk_id integer NOT NULL,
    unit_prc numeric(6, 2) NOT NULL,
    qty integer NOT NULL,
    PRIMARY KEY (inv_no, ln_no)
);
INSERT INTO sls.inv_ln
SELECT invoice::int, row_number() OVER (PARTITION BY invoice ORDER BY pk::int), track::int, unit_price::numeric,
    quantity::int
FROM src_invoiceline;

CREATE TABLE hr.emp (
    emp_no integer PRIMARY KEY,
    fst_nm text NOT NULL,
    lst_nm text NOT NULL,
    job_ttl text NOT NULL,
    mgr_no integer REFERENCES hr.emp,
    brth_dt date NOT NULL,
    hire_dt date NOT NULL,
    cty text NOT NULL,
    st_cd text NOT NULL,
    ctry_cd char(2) NOT NULL,
    tel text NOT NULL,
    eml text NOT NULL
);
INSERT INTO hr.emp
SELECT e.pk::int, firstname, lastname, title, reports_to::int, left(birthdate, 10)::date, left(hiredate, 10)::date, city,
    state, ctry_cd, phone, email
FROM src_employee e JOIN ref.ctry ON ctry_nm = country
ORDER BY e.pk::int;

COMMENT ON TABLE cat.plst IS 'playlists';
COMMENT ON COLUMN cat.trk.med_cd IS 'MP3, AAC, AACP protected AAC, AACB purchased AAC, MP4V video';
COMMENT ON COLUMN cat.trk.dur_ms IS 'duration in milliseconds';
COMMENT ON COLUMN sls.cust.rep_no IS 'support agent, hr.emp';
COMMENT ON COLUMN sls.inv_hdr.bl_ctry_cd IS 'billing country';
