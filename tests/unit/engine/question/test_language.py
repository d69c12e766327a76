"""Which natural language a question is in: short questions, names and codes."""

from __future__ import annotations

import pytest

from engine.question.question import Question

FOREIGN = """
de Wie viele Kunden haben wir?
de WIE VIELE KUNDEN HABEN WIR?
de Was kostet "New York Cheesecake"?
fr Combien de clients avons-nous ?
fr liste des clients
es ¿Cuántos clientes tenemos?
es productos más vendidos
it Quanti clienti abbiamo?
pt Qual é a idade média dos funcionários?
nl Hoeveel klanten hebben we?
pl Ilu mamy klientów?
tr Kaç müşterimiz var?
ru Сколько клиентов заказали товар?
zh 我们有多少客户
ja 顧客は何人いますか
da Find alle kunder fra Danmark
sv Hur många kunder har vi?
ko 고객이 몇 명입니까?
"""

ENGLISH = """
How many customers are there?
singers from France
sales per region
customers in São Paulo
María García
Restaurants in München
capital of Côte d'Ivoire
Les Misérables
orders of 李雷
SKU
invoice INV-2023-0042
'Wie viele Kunden haben wir?'
status
chi papers
2023
"""


@pytest.mark.parametrize("line", FOREIGN.strip().splitlines())
def test_short_questions_in_other_languages(line: str) -> None:
    code, question = line.split(" ", 1)
    found = Question(question).language
    assert found is not None
    # Which language it is matters less than that it is not English: of a few words two languages may be as likely.
    assert found.code == code or found.probability < 0.7
    assert found.name


@pytest.mark.parametrize("question", ENGLISH.strip().splitlines())
def test_english_names_and_codes(question: str) -> None:
    assert Question(question).language is None
