-- The data set writes NA for franchises that folded before there were leagues.
ALTER TABLE franchises ALTER COLUMN active TYPE boolean USING (active = 'Y');
-- A tie is marked, its absence left blank; one award has no league.
UPDATE awards_players SET tie = coalesce(tie, false), lg_id = coalesce(lg_id, 'ML')
    WHERE tie IS NULL OR lg_id IS NULL;
ALTER TABLE awards_players ALTER COLUMN tie SET NOT NULL;

ALTER TABLE leagues ADD PRIMARY KEY (lg_id);
ALTER TABLE people ADD PRIMARY KEY (player_id);
ALTER TABLE franchises ADD PRIMARY KEY (franch_id);
ALTER TABLE teams
    ADD PRIMARY KEY (year_id, team_id),
    ADD FOREIGN KEY (lg_id) REFERENCES leagues,
    ADD FOREIGN KEY (franch_id) REFERENCES franchises;
ALTER TABLE managers
    ADD PRIMARY KEY (year_id, team_id, inseason),
    ADD FOREIGN KEY (player_id) REFERENCES people,
    ADD FOREIGN KEY (year_id, team_id) REFERENCES teams;
ALTER TABLE batting
    ADD PRIMARY KEY (player_id, year_id, stint),
    ADD FOREIGN KEY (player_id) REFERENCES people,
    ADD FOREIGN KEY (year_id, team_id) REFERENCES teams;
ALTER TABLE pitching
    ADD PRIMARY KEY (player_id, year_id, stint),
    ADD FOREIGN KEY (player_id) REFERENCES people,
    ADD FOREIGN KEY (year_id, team_id) REFERENCES teams;
ALTER TABLE salaries
    ADD PRIMARY KEY (year_id, team_id, player_id),
    ADD FOREIGN KEY (player_id) REFERENCES people,
    ADD FOREIGN KEY (year_id, team_id) REFERENCES teams;
ALTER TABLE awards_players
    ADD PRIMARY KEY (player_id, award_id, year_id, lg_id),
    ADD FOREIGN KEY (player_id) REFERENCES people,
    ADD FOREIGN KEY (lg_id) REFERENCES leagues;
ALTER TABLE hall_of_fame
    ADD PRIMARY KEY (player_id, year_id, voted_by),
    ADD FOREIGN KEY (player_id) REFERENCES people;

COMMENT ON TABLE people IS 'Players, managers and others: names, dates and places of birth and death';
COMMENT ON COLUMN people.weight IS 'Weight in pounds';
COMMENT ON COLUMN people.height IS 'Height in inches';
COMMENT ON COLUMN people.debut IS 'Date of the first major league game';
COMMENT ON TABLE franchises IS 'Franchises; a team may change its name and stay the same franchise';
COMMENT ON TABLE teams IS 'One row for each team and season: standing, totals, attendance';
COMMENT ON COLUMN teams.w IS 'Wins';
COMMENT ON COLUMN teams.l IS 'Losses';
COMMENT ON COLUMN teams.ws_win IS 'Won the World Series';
COMMENT ON COLUMN teams.attendance IS 'Home attendance of the whole season';
COMMENT ON TABLE managers IS 'Managers by team and season, in the order in which they served';
COMMENT ON COLUMN managers.plyr_mgr IS 'Played in the same season';
COMMENT ON TABLE batting IS 'Batting by player, season and stint; a stint is one stay with one team';
COMMENT ON COLUMN batting.g IS 'Games';
COMMENT ON COLUMN batting.ab IS 'At bats';
COMMENT ON COLUMN batting.r IS 'Runs';
COMMENT ON COLUMN batting.h IS 'Hits';
COMMENT ON COLUMN batting.hr IS 'Home runs';
COMMENT ON COLUMN batting.rbi IS 'Runs batted in';
COMMENT ON COLUMN batting.sb IS 'Stolen bases';
COMMENT ON COLUMN batting.bb IS 'Bases on balls (walks)';
COMMENT ON COLUMN batting.so IS 'Strikeouts';
COMMENT ON TABLE pitching IS 'Pitching by player, season and stint';
COMMENT ON COLUMN pitching.w IS 'Wins';
COMMENT ON COLUMN pitching.l IS 'Losses';
COMMENT ON COLUMN pitching.hr IS 'Home runs allowed by the pitcher';
COMMENT ON COLUMN pitching.so IS 'Batters struck out';
COMMENT ON COLUMN pitching.era IS 'Earned run average';
COMMENT ON COLUMN pitching.ip_outs IS 'Outs pitched: innings times three';
COMMENT ON TABLE salaries IS 'Player salaries in US dollars, 1985 to 2016';
COMMENT ON TABLE awards_players IS 'Awards won by players';
COMMENT ON TABLE hall_of_fame IS 'Votes of the Hall of Fame; one person may stand in several years';
