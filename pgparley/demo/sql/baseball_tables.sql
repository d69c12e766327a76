-- Columns in the order of the data set's files, its names in snake case.
CREATE TABLE leagues (
    lg_id text NOT NULL,
    name text NOT NULL
);

CREATE TABLE people (
    player_id text NOT NULL,
    birth_year integer,
    birth_month integer,
    birth_day integer,
    birth_country text,
    birth_state text,
    birth_city text,
    death_year integer,
    death_month integer,
    death_day integer,
    death_country text,
    death_state text,
    death_city text,
    name_first text,
    name_last text NOT NULL,
    name_given text,
    weight integer,
    height integer,
    bats text,
    throws text,
    debut date,
    final_game date,
    retro_id text,
    bbref_id text
);

CREATE TABLE franchises (
    franch_id text NOT NULL,
    franch_name text NOT NULL,
    active text NOT NULL,
    na_assoc text
);

CREATE TABLE teams (
    year_id integer NOT NULL,
    lg_id text NOT NULL,
    team_id text NOT NULL,
    franch_id text NOT NULL,
    div_id text,
    rank integer NOT NULL,
    g integer NOT NULL,
    g_home integer,
    w integer NOT NULL,
    l integer NOT NULL,
    div_win boolean,
    wc_win boolean,
    lg_win boolean,
    ws_win boolean,
    r integer NOT NULL,
    ab integer NOT NULL,
    h integer NOT NULL,
    doubles integer NOT NULL,
    triples integer NOT NULL,
    hr integer NOT NULL,
    bb integer,
    so integer,
    sb integer,
    cs integer,
    hbp integer,
    sf integer,
    ra integer NOT NULL,
    er integer NOT NULL,
    era numeric(6, 2) NOT NULL,
    cg integer NOT NULL,
    sho integer NOT NULL,
    sv integer NOT NULL,
    ip_outs integer NOT NULL,
    ha integer NOT NULL,
    hra integer NOT NULL,
    bba integer NOT NULL,
    soa integer NOT NULL,
    e integer NOT NULL,
    dp integer NOT NULL,
    fp numeric(4, 3) NOT NULL,
    name text NOT NULL,
    park text,
    attendance integer,
    bpf integer NOT NULL,
    ppf integer NOT NULL,
    team_id_br text NOT NULL,
    team_id_lahman45 text NOT NULL,
    team_id_retro text NOT NULL
);

CREATE TABLE managers (
    player_id text NOT NULL,
    year_id integer NOT NULL,
    team_id text NOT NULL,
    lg_id text NOT NULL,
    inseason integer NOT NULL,
    g integer NOT NULL,
    w integer NOT NULL,
    l integer NOT NULL,
    rank integer,
    plyr_mgr boolean NOT NULL
);

CREATE TABLE batting (
    player_id text NOT NULL,
    year_id integer NOT NULL,
    stint integer NOT NULL,
    team_id text NOT NULL,
    lg_id text NOT NULL,
    g integer NOT NULL,
    ab integer NOT NULL,
    r integer NOT NULL,
    h integer NOT NULL,
    doubles integer NOT NULL,
    triples integer NOT NULL,
    hr integer NOT NULL,
    rbi integer,
    sb integer,
    cs integer,
    bb integer NOT NULL,
    so integer,
    ibb integer,
    hbp integer,
    sh integer,
    sf integer,
    gidp integer
);

CREATE TABLE pitching (
    player_id text NOT NULL,
    year_id integer NOT NULL,
    stint integer NOT NULL,
    team_id text NOT NULL,
    lg_id text NOT NULL,
    w integer NOT NULL,
    l integer NOT NULL,
    g integer NOT NULL,
    gs integer NOT NULL,
    cg integer NOT NULL,
    sho integer NOT NULL,
    sv integer NOT NULL,
    ip_outs integer NOT NULL,
    h integer NOT NULL,
    er integer NOT NULL,
    hr integer NOT NULL,
    bb integer NOT NULL,
    so integer NOT NULL,
    ba_opp numeric(5, 3),
    era numeric(6, 2),
    ibb integer,
    wp integer NOT NULL,
    hbp integer,
    bk integer NOT NULL,
    bfp integer,
    gf integer NOT NULL,
    r integer NOT NULL,
    sh integer,
    sf integer,
    gidp integer
);

CREATE TABLE salaries (
    year_id integer NOT NULL,
    team_id text NOT NULL,
    lg_id text NOT NULL,
    player_id text NOT NULL,
    salary integer NOT NULL
);

CREATE TABLE awards_players (
    player_id text NOT NULL,
    award_id text NOT NULL,
    year_id integer NOT NULL,
    lg_id text,
    tie boolean,
    notes text
);

CREATE TABLE hall_of_fame (
    player_id text NOT NULL,
    year_id integer NOT NULL,
    voted_by text NOT NULL,
    ballots integer,
    needed integer,
    votes integer,
    inducted boolean NOT NULL,
    category text NOT NULL,
    needed_note text
);
