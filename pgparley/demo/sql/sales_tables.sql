CREATE TABLE regions (
    region text NOT NULL,
    title text NOT NULL,
    head_office text NOT NULL
);

CREATE TABLE departments (
    department_id integer NOT NULL,
    name text NOT NULL,
    budget numeric(12, 2) NOT NULL,
    city text NOT NULL
);

CREATE TABLE departments_2022 (
    department_id integer NOT NULL,
    name text NOT NULL,
    budget numeric(12, 2) NOT NULL,
    head_count integer NOT NULL
);

CREATE TABLE employees (
    employee_id integer NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text NOT NULL,
    department_id integer NOT NULL,
    manager_id integer,
    title text NOT NULL,
    hired_on date NOT NULL,
    base_pay numeric(10, 2) NOT NULL,
    allowance numeric(10, 2) NOT NULL,
    salary numeric(10, 2) NOT NULL
);

CREATE TABLE products (
    product_id integer NOT NULL,
    name text NOT NULL,
    category text NOT NULL,
    list_price numeric(10, 2) NOT NULL,
    unit_cost numeric(10, 2) NOT NULL,
    launched_on date NOT NULL
);

CREATE TABLE customers (
    customer_id integer NOT NULL,
    name text NOT NULL,
    segment text NOT NULL,
    city text NOT NULL,
    region text NOT NULL,
    since date NOT NULL,
    total_revenue numeric(12, 2) NOT NULL
);

CREATE TABLE orders (
    order_id integer NOT NULL,
    customer_id integer NOT NULL,
    employee_id integer NOT NULL,
    region text NOT NULL,
    ordered_on date NOT NULL,
    shipped_on date NOT NULL,
    gross_sales numeric(12, 2) NOT NULL,
    discount numeric(12, 2) NOT NULL,
    returned numeric(12, 2) NOT NULL,
    net_sales numeric(12, 2) NOT NULL
);

CREATE TABLE order_items (
    order_id integer NOT NULL,
    line_no integer NOT NULL,
    product_id integer NOT NULL,
    quantity integer NOT NULL,
    unit_price numeric(10, 2) NOT NULL
);

CREATE TABLE returns (
    return_id integer NOT NULL,
    order_id integer NOT NULL,
    product_id integer NOT NULL,
    quantity integer NOT NULL,
    amount numeric(12, 2) NOT NULL,
    returned_on date NOT NULL,
    reason text NOT NULL
);

CREATE TABLE sales_targets (
    region text NOT NULL,
    year integer NOT NULL,
    quarter integer NOT NULL,
    target numeric(12, 2) NOT NULL
);
