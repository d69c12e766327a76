CREATE TABLE branches (
    branch_id integer NOT NULL,
    name text NOT NULL,
    city text NOT NULL
);

CREATE TABLE departments (
    department_id integer NOT NULL,
    name text NOT NULL
);

CREATE TABLE employees (
    employee_id integer NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    department_id integer NOT NULL,
    branch_id integer NOT NULL,
    hired_on date NOT NULL,
    salary numeric(10, 2) NOT NULL
);

CREATE TABLE authors (
    author_id integer NOT NULL,
    name text NOT NULL,
    birth_year integer NOT NULL,
    country text NOT NULL
);

CREATE TABLE books (
    book_id integer NOT NULL,
    title text NOT NULL,
    author_id integer NOT NULL,
    genre text NOT NULL,
    published integer NOT NULL,
    pages integer NOT NULL,
    copies integer NOT NULL
);

CREATE TABLE members (
    member_id integer NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text NOT NULL,
    kind text NOT NULL,
    joined_on date NOT NULL,
    branch_id integer NOT NULL,
    fines_owed numeric(8, 2) NOT NULL
);

CREATE TABLE loans (
    loan_id integer NOT NULL,
    book_id integer NOT NULL,
    member_id integer NOT NULL,
    branch_id integer NOT NULL,
    loaned_on date NOT NULL,
    due_on date NOT NULL,
    returned_on date
);

CREATE TABLE fines (
    fine_id integer NOT NULL,
    loan_id integer NOT NULL,
    amount numeric(8, 2) NOT NULL,
    paid boolean NOT NULL
);

CREATE TABLE orders (
    order_id integer NOT NULL,
    supplier text NOT NULL,
    book_id integer NOT NULL,
    quantity integer NOT NULL,
    unit_price numeric(8, 2) NOT NULL,
    total_price numeric(10, 2) NOT NULL,
    ordered_on date NOT NULL
);
