#!/bin/sh
# Run once by PostgreSQL's image, when it makes its data: the store and its role.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$PGPARLEY_STORE_PASSWORD" <<'SQL'
CREATE ROLE pgparley LOGIN PASSWORD :'password';
CREATE ROLE nl_admin;
CREATE ROLE nl_steward;
CREATE DATABASE pgparley_store OWNER pgparley;
SQL
