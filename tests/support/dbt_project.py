"""A dbt project: its tables, its properties file, what an import takes of it and what it leaves out."""

from __future__ import annotations

from schema_catalog.types import Column, Table, TableKind

CUSTOMERS = Table(
    "public",
    "customers",
    TableKind.TABLE,
    (Column("id", "integer"), Column("name", "text", description="as in the contract")),
)
ORDERS = Table(
    "public",
    "orders",
    TableKind.TABLE,
    (
        Column("id", "integer"),
        Column("customer_id", "integer"),
        Column("net", "numeric"),
        Column("food", "boolean"),
    ),
)
RAW = Table("raw", "raw_orders", TableKind.TABLE, (Column("id", "integer"),))
TABLES = (CUSTOMERS, ORDERS, RAW)

PROPERTIES = """\
version: 2
sources:
  - name: shop
    schema: raw
    tables:
      - name: orders
        identifier: raw_orders
        description: as they came
models:
  - name: customers
    description: "{{ doc('customers') }}"
    columns:
      - name: id
        tests: [unique, not_null]
      - name: NAME
        description: who pays
      - name: gone
        description: of an older version
  - name: orders
    description: one line an order
    meta:
      synonyms: [purchase, buying, "word\\tof two lines and so on that has many more than sixty characters"]
    columns:
      - name: customer_id
        data_tests:
          - not_null
          - relationships:
              arguments:
                to: ref('customers')
                field: id
      - name: net
        description: without VAT
        config:
          meta:
            synonyms: turnover, revenue
            unit: EUR
            time_zone: Middle Earth
  - name: not_built
    description: nowhere
semantic_models:
  - name: orders
    model: ref('orders')
    entities:
      - name: order
        type: primary
        expr: id
    dimensions:
      - name: is_food
        type: categorical
        expr: food
    measures:
      - name: net
        agg: sum
      - name: order_count
        agg: sum
        expr: 1
      - name: secret
        agg: max
        expr: pg_read_file('/etc/passwd') || net
      - name: anything
        agg: max
        expr: net + random()
      - name: query
        agg: max
        expr: (SELECT max(id) FROM customers)
metrics:
  - name: net_revenue
    label: Net revenue
    description: after returns
    type: simple
    type_params:
      measure: net
  - name: food_revenue
    type: simple
    type_params:
      measure: {name: net}
    filter: |
      {{ Dimension('order__is_food') }} = true
  - name: food_share
    type: ratio
    type_params:
      numerator: food_revenue
      denominator: net_revenue
  - name: doubled
    type: derived
    type_params:
      expr: 2 * a
      metrics: [{name: net_revenue, alias: a}]
  - {name: orders, type: simple, type_params: {measure: order_count}}
  - {name: secret, type: simple, type_params: {measure: secret}}
  - {name: anything, type: simple, type_params: {measure: anything}}
  - {name: query, type: simple, type_params: {measure: query}}
  - {name: running, type: cumulative, type_params: {measure: net}}
"""
TAKEN = """\
+ sales join public.orders.customer_id = public.customers.id: many-to-one
+ sales.public.customers.id key: unique
+ sales.public.customers.name description: who pays
+ sales.public.orders description: one line an order
+ sales.public.orders synonym: buying
+ sales.public.orders synonym: purchase
+ sales.public.orders.net description: without VAT
+ sales.public.orders.net synonym: revenue
+ sales.public.orders.net synonym: turnover
+ sales.public.orders.net unit: EUR
+ sales.raw.raw_orders description: as they came
+ sales term doubled: 2 * (SUM(orders.net))
+ sales term food revenue: SUM(orders.net) FILTER(WHERE ((orders.food) = TRUE))
+ sales term food share: \
CAST((SUM(orders.net) FILTER(WHERE ((orders.food) = TRUE))) AS DECIMAL) / NULLIF((SUM(orders.net)), 0)
+ sales term Net revenue: SUM(orders.net); after returns
"""
LEFT_OUT = """\
! metric running is not taken over: \
it is of the type cumulative, which is no expression over one table (schema.yml, line 93)
! time_zone of column public.orders.net is not taken over: 'Middle Earth' is none (schema.yml, line 31)
! description of customers is not taken over: it is a template; target/manifest.json has the text (schema.yml, line 10)
"""
