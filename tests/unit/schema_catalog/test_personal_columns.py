"""Which columns and values are taken for personal data."""

from __future__ import annotations

import pytest

from schema_catalog.personal import (
    PersonalKind,
    personal_by_name,
    personal_by_values,
    personal_texts,
    personal_value,
)
from schema_catalog.types import Column

NAMED = {
    PersonalKind.NAME: "customer.name orders.customer_name x.FirstName x.firstname kunden.name x.nachname"
    " users.username clients.nom x.prenom alumnos.nombre x.cognome x.salesperson staff.full_name people.name_first"
    " x.imie klant.naam",
    PersonalKind.EMAIL: "x.email x.contact_email x.e_mail x.courriel x.correo_electronico x.EmailAddress",
    PersonalKind.PHONE: "x.phone x.telephone_number x.TelefonNr x.mobile_2 x.téléphone x.telefoonnummer",
    PersonalKind.ADDRESS: "x.address_line_1 x.billing_street x.Straße x.indirizzo x.endereço",
    PersonalKind.ACCOUNT: "x.iban x.card_number x.kontonummer",
    PersonalKind.IDENTITY: "x.ssn x.passport_no x.codice_fiscale x.pesel",
    PersonalKind.PAGE: "x.linkedin x.homepage",
}
OTHERS = (
    "category.name product.name x.state x.city x.address_type x.email_verified x.user_id x.phone_count"
    " x.company_name airports.name x.title x.lead_time x.country"
)


@pytest.mark.parametrize(("kind", "names"), NAMED.items())
def test_names_of_columns(kind: PersonalKind, names: str) -> None:
    for name in names.split():
        table, column = name.split(".")
        assert personal_by_name(table, Column(column, "text")) is kind, name


def test_other_columns_and_what_is_no_text_hold_no_name() -> None:
    for name in OTHERS.split():
        table, column = name.split(".")
        assert personal_by_name(table, Column(column, "text")) is None, name
    assert personal_by_name("customer", Column("email", "boolean")) is None
    assert personal_by_name("orders", Column("customer", "integer")) is None
    assert personal_by_name("orders", Column("customer", "mood", labels=("good",))) is None
    assert personal_by_name("x", Column("phone", "bigint")) is PersonalKind.PHONE


VALUES = {
    PersonalKind.EMAIL: ("joe@mail.example", "Joe B. <joe.b@mail.example>"),
    PersonalKind.PHONE: (
        *("+43 660 1234567", "0660/1234567", "(555) 123-4567", "555-123-4567", "01 23 45 67 89"),
    ),
    PersonalKind.ACCOUNT: ("AT61 1904 3002 3457 3201", "DE89370400440532013000", "4111-1111-1111-1111"),
    PersonalKind.PAGE: ("https://linkedin.com/in/joe", "http://club.example/~joe"),
    None: (
        *("2024-01-15", "01.02.2024", "12:30", "192.168.1.1", "SKU-0001", "1234567", "2024-Q1"),
        *("1.234.567", "open"),
    ),
}


@pytest.mark.parametrize(("kind", "values"), VALUES.items())
def test_forms_of_values(kind: PersonalKind | None, values: tuple[str, ...]) -> None:
    assert [personal_value(each) for each in values] == [kind] * len(values)


def test_a_fifth_of_a_columns_values_tells_its_kind() -> None:
    assert personal_by_values(["a@b.example", *"abcd"]) is PersonalKind.EMAIL
    assert personal_by_values(["a@b.example", *"abcde"]) is None
    assert personal_by_values([]) is None


def test_what_stands_in_a_text() -> None:
    text = (
        "- a 'Joe' joe@x.example, +43 660 1234567; id 12; 4111 1111 1111 1111 from 2024-01-01 to 2024-12-31"
    )
    assert [(kind.value, found) for kind, found in personal_texts(text)] == [
        ("e-mail", "joe@x.example"),
        ("account or card", "4111 1111 1111 1111"),
        ("phone", "+43 660 1234567"),
    ]
