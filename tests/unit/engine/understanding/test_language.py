"""Which natural language a question is in: short questions, names and codes."""

from __future__ import annotations

import pytest

from engine.understanding.language import foreign_language

FOREIGN = """
de Wie viele Kunden haben wir?
de Zeige alle Bestellungen aus dem letzten Jahr
de Umsatz pro Region im Jahr 2023
de Wer verdient am meisten?
de WIE VIELE KUNDEN HABEN WIR?
de Was kostet "New York Cheesecake"?
fr Combien de clients avons-nous ?
fr Affiche les commandes de l'année dernière
fr Qui gagne le plus ?
fr liste des clients
es ¿Cuántos clientes tenemos?
es Ventas por región en 2023
es productos más vendidos
it Quanti clienti abbiamo?
it Vendite per regione nel 2023
pt Qual é a idade média dos funcionários?
pt Mostre os pedidos do ano passado
nl Hoeveel klanten hebben we?
nl Omzet per regio in 2023
pl Ilu mamy klientów?
pl najdroższy produkt
tr Kaç müşterimiz var?
tr kaç ürün var
ru Сколько клиентов заказали товар?
zh 我们有多少客户
ja 顧客は何人いますか
ja 従業員の平均年齢は
da Find alle kunder fra Danmark
sv Hur många kunder har vi?
ko 고객이 몇 명입니까?
"""

ENGLISH = """
How many customers are there?
singers from France
total revenue
average age
sales per region
flights to Zürich
customers in São Paulo
Müller GmbH invoices
María García
La Liga teams
El Salvador population
Restaurants in München
Who is Jürgen Klopp?
capital of Côte d'Ivoire
Les Misérables
orders of 李雷
Boeing 737-800
SKU
AA-123
invoice INV-2023-0042
'Wie viele Kunden haben wir?'
name
status
chi papers
latitude longitude altitude
2023
"""


@pytest.mark.parametrize("line", FOREIGN.strip().splitlines())
def test_short_questions_in_other_languages(line: str) -> None:
    code, question = line.split(" ", 1)
    found = foreign_language(question)
    assert found is not None
    # Which language it is matters less than that it is not English: of a few words two languages may be as likely.
    assert found.code == code or found.probability < 0.7
    assert found.name


@pytest.mark.parametrize("question", ENGLISH.strip().splitlines())
def test_english_names_and_codes(question: str) -> None:
    assert foreign_language(question) is None
