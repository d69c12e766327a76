"""Defog's instructions that define one expression, as terms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defined:
    """A term of a database's. `phrase`: of the questions that it is for."""

    database: str
    name: str
    definition: str

    @property
    def phrase(self) -> str:
        """As the questions write it."""
        return self.name.casefold()


_DERM, _WALLET = "defog_derm_treatment", "defog_ewallet"
_BOTH_DAYS = "outcomes.day7_pasi_score IS NOT NULL AND outcomes.day100_pasi_score IS NOT NULL"
_DAY_7 = f"avg(outcomes.day7_pasi_score) FILTER (WHERE {_BOTH_DAYS})"
_DAY_100 = f"avg(outcomes.day100_pasi_score) FILTER (WHERE {_BOTH_DAYS})"
_PAID, _BEGUN = "wallet_transactions_daily", "user_sessions.session_start_ts"

TERMS = (
    Defined(_DERM, "PIC", "count(*) FILTER (WHERE patients.ins_type = 'private')"),
    Defined(_DERM, "CAW", "avg(patients.weight_kg)"),
    Defined(_DERM, "DDD", "treatments.tot_drug_amt / nullif(treatments.end_dt - treatments.start_dt, 0)"),
    Defined(_DERM, "D7D100PIR", f"({_DAY_100} - {_DAY_7}) / ({_DAY_7}) * 100"),
    Defined(_DERM, "PMPD", "count(DISTINCT treatments.diag_id)"),
    Defined(_DERM, "PMTC", "count(DISTINCT treatments.treatment_id)"),
    Defined(_DERM, "biologic drug", "drugs.drug_type = 'biologic'"),
    Defined(
        _DERM,
        "last 6 months",
        "treatments.start_dt BETWEEN date_trunc('month', current_date) - interval '6 months'"
        " AND date_trunc('month', current_date) - interval '1 day'",
    ),
    Defined(
        _WALLET,
        "LUB",
        "wallet_user_balance_daily.updated_at = (SELECT max(b.updated_at) FROM wallet_user_balance_daily AS b"
        " WHERE b.user_id = wallet_user_balance_daily.user_id)",
    ),
    Defined(_WALLET, "PMDAU", f"count(DISTINCT {_PAID}.sender_id) FILTER (WHERE {_PAID}.sender_type = 0)"),
    Defined(
        _WALLET,
        "TUC",
        f"count(*) FILTER (WHERE {_BEGUN} >= current_date - interval '1 month')",
    ),
    Defined(_WALLET, "AMB", "avg(wallet_user_balance_daily.balance)"),
    Defined(_WALLET, "CPUR", f"count(DISTINCT {_PAID}.coupon_id) * 1.0 / count(DISTINCT {_PAID}.txid)"),
    Defined(_WALLET, "STR", f"count(*) FILTER (WHERE {_PAID}.status = 'success') * 1.0 / count(*)"),
    Defined(_WALLET, "weekend", "extract(dow FROM notifications.created_at) IN (0, 6)"),
    Defined(_WALLET, "last 7 days", f"{_PAID}.created_at >= current_date - interval '7 days'"),
)
"""Worded from the instructions alone. Two that rank groups are left out: their GROUP BY is no expression."""
