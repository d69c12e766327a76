-- A consumer lender: the loans, and what the credit bureau said of each applicant (wide). No foreign keys at all.
CREATE SCHEMA lms;
CREATE SCHEMA bur;
CREATE SCHEMA ref;

CREATE TABLE ref.purp (
    purp_cd char(2) PRIMARY KEY,
    purp_dsc text NOT NULL
);
INSERT INTO ref.purp VALUES
    ('DC', 'debt consolidation'), ('CC', 'credit card'), ('OT', 'other'), ('HI', 'home improvement'),
    ('MP', 'major purchase'), ('MD', 'medical'), ('HS', 'house'), ('CR', 'car'), ('SB', 'small business'),
    ('MV', 'moving'), ('VC', 'vacation'), ('RE', 'renewable energy');

CREATE TABLE ref.stat (
    stat_cd text PRIMARY KEY,
    stat_dsc text NOT NULL
);
INSERT INTO ref.stat VALUES
    ('CUR', 'Current'), ('PIF', 'Fully Paid'), ('GRC', 'In Grace Period'), ('L16', 'Late (16-30 days)'),
    ('L31', 'Late (31-120 days)'), ('CO', 'Charged Off');

CREATE TABLE lms.ln (
    ln_no integer PRIMARY KEY,
    iss_mth date NOT NULL,
    st_cd char(2) NOT NULL,
    emp_ttl text,
    emp_yrs integer,
    own_cd char(1) NOT NULL,
    app_cd char(1) NOT NULL,
    ann_inc numeric(12, 2) NOT NULL,
    inc_vrf text NOT NULL,
    dti numeric(8, 2),
    ann_inc_jt numeric(12, 2),
    inc_vrf_jt text,
    dti_jt numeric(8, 2),
    purp_cd char(2) NOT NULL,
    ln_amt integer NOT NULL,
    term_mo integer NOT NULL,
    int_rt numeric(6, 2) NOT NULL,
    inst_amt numeric(10, 2) NOT NULL,
    grd char(1) NOT NULL,
    sgrd char(2) NOT NULL,
    lst_cd char(1) NOT NULL,
    dsb_cd char(1) NOT NULL,
    stat_cd text NOT NULL,
    bal_amt numeric(12, 2) NOT NULL,
    pd_tot numeric(12, 2) NOT NULL,
    pd_prin numeric(12, 2) NOT NULL,
    pd_int numeric(12, 2) NOT NULL,
    pd_fee numeric(12, 2) NOT NULL
);
INSERT INTO lms.ln
SELECT rownames::int, to_date(issue_month, 'Mon-YYYY'), state, emp_title, emp_length::float8::int,
    left(homeownership, 1), upper(left(application_type, 1)), annual_income::numeric,
    CASE verified_income WHEN 'Verified' THEN 'V' WHEN 'Source Verified' THEN 'SV' ELSE 'NV' END,
    debt_to_income::numeric, annual_income_joint::numeric,
    CASE verification_income_joint WHEN 'Verified' THEN 'V' WHEN 'Source Verified' THEN 'SV'
        WHEN 'Not Verified' THEN 'NV' END,
    debt_to_income_joint::numeric, purp_cd, loan_amount::int, term::int, interest_rate::numeric, installment::numeric,
    grade, sub_grade, upper(left(initial_listing_status, 1)), left(disbursement_method, 1), stat_cd, balance::numeric,
    paid_total::numeric, paid_principal::numeric, paid_interest::numeric, paid_late_fees::numeric
FROM src_loans
    JOIN ref.purp ON purp_dsc = replace(loan_purpose, '_', ' ')
    JOIN ref.stat ON stat_dsc = loan_status
ORDER BY rownames::int;

CREATE TABLE bur.rpt (
    ln_no integer PRIMARY KEY,
    dlq_2y integer NOT NULL,
    mo_snc_dlq integer,
    erl_crl_yr integer NOT NULL,
    inq_12m integer NOT NULL,
    crl_tot integer NOT NULL,
    crl_opn integer NOT NULL,
    crd_lmt integer NOT NULL,
    crd_usd integer NOT NULL,
    coll_12m integer NOT NULL,
    fail_pay integer NOT NULL,
    mo_snc_90d integer,
    acc_dlq integer NOT NULL,
    coll_amt integer NOT NULL,
    inst_acc integer NOT NULL,
    acc_opn_24m integer NOT NULL,
    mo_snc_inq integer,
    acc_sat integer NOT NULL,
    acc_120d integer,
    acc_30d integer NOT NULL,
    deb_act integer NOT NULL,
    deb_lmt integer NOT NULL,
    cc_tot integer NOT NULL,
    cc_opn integer NOT NULL,
    cc_bal integer NOT NULL,
    mort_acc integer NOT NULL,
    nvr_dlq_pct numeric(5, 1) NOT NULL,
    tax_ln integer NOT NULL,
    pub_bkr integer NOT NULL,
    fst_crl_age integer NOT NULL,
    util_pct numeric(6, 1)
);
INSERT INTO bur.rpt
SELECT rownames::int, delinq_2y::int, months_since_last_delinq::float8::int, earliest_credit_line::int,
    inquiries_last_12m::int, total_credit_lines::int, open_credit_lines::int, total_credit_limit::int,
    total_credit_utilized::int, num_collections_last_12m::int, num_historical_failed_to_pay::int,
    months_since_90d_late::float8::int, current_accounts_delinq::int, total_collection_amount_ever::int,
    current_installment_accounts::int, accounts_opened_24m::int, months_since_last_credit_inquiry::float8::int,
    num_satisfactory_accounts::int, num_accounts_120d_past_due::float8::int, num_accounts_30d_past_due::int,
    num_active_debit_accounts::int, total_debit_limit::int, num_total_cc_accounts::int, num_open_cc_accounts::int,
    num_cc_carrying_balance::int, num_mort_accounts::int, account_never_delinq_percent::numeric, tax_liens::int,
    public_record_bankrupt::int, 2018 - earliest_credit_line::int,
    round(100.0 * total_credit_utilized::int / nullif(total_credit_limit::int, 0), 1)
FROM src_loans
ORDER BY rownames::int;

COMMENT ON TABLE lms.ln IS 'loans issued January to March 2018';
COMMENT ON COLUMN lms.ln.own_cd IS 'home: M mortgage, R rent, O own';
COMMENT ON COLUMN lms.ln.app_cd IS 'I individual, J joint';
COMMENT ON COLUMN lms.ln.inc_vrf IS 'income verification: V verified, SV source verified, NV not verified';
COMMENT ON COLUMN lms.ln.dti IS 'debt to income, percent';
COMMENT ON COLUMN lms.ln.lst_cd IS 'initial listing: W whole, F fractional';
COMMENT ON COLUMN lms.ln.dsb_cd IS 'disbursed by: C cash, D direct pay';
COMMENT ON TABLE bur.rpt IS 'credit bureau report at application';
COMMENT ON COLUMN bur.rpt.dlq_2y IS 'delinquencies in the last two years';
COMMENT ON COLUMN bur.rpt.inq_12m IS 'credit inquiries in the last 12 months';
COMMENT ON COLUMN bur.rpt.coll_12m IS 'collections in the last 12 months';
COMMENT ON COLUMN bur.rpt.nvr_dlq_pct IS 'share of accounts never delinquent';
COMMENT ON COLUMN bur.rpt.util_pct IS 'credit used of the limit, percent';
