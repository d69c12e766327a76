ALTER TABLE branches ADD PRIMARY KEY (branch_id);
ALTER TABLE departments ADD PRIMARY KEY (department_id);
ALTER TABLE employees
    ADD PRIMARY KEY (employee_id),
    ADD FOREIGN KEY (department_id) REFERENCES departments,
    ADD FOREIGN KEY (branch_id) REFERENCES branches;
ALTER TABLE authors ADD PRIMARY KEY (author_id);
ALTER TABLE books
    ADD PRIMARY KEY (book_id),
    ADD UNIQUE (title),
    ADD FOREIGN KEY (author_id) REFERENCES authors;
ALTER TABLE members
    ADD PRIMARY KEY (member_id),
    ADD UNIQUE (email),
    ADD FOREIGN KEY (branch_id) REFERENCES branches;
ALTER TABLE loans
    ADD PRIMARY KEY (loan_id),
    ADD FOREIGN KEY (book_id) REFERENCES books,
    ADD FOREIGN KEY (member_id) REFERENCES members,
    ADD FOREIGN KEY (branch_id) REFERENCES branches;
ALTER TABLE fines
    ADD PRIMARY KEY (fine_id),
    ADD FOREIGN KEY (loan_id) REFERENCES loans;
ALTER TABLE orders
    ADD PRIMARY KEY (order_id),
    ADD FOREIGN KEY (book_id) REFERENCES books,
    ADD CHECK (total_price = quantity * unit_price);
CREATE INDEX ON loans (book_id);
CREATE INDEX ON loans (member_id);

COMMENT ON COLUMN books.published IS 'Year of first publication';
COMMENT ON COLUMN books.copies IS 'How many copies the library holds';
COMMENT ON TABLE members IS 'People with a library card';
COMMENT ON COLUMN members.fines_owed IS 'Sum of the unpaid fines of the member';
COMMENT ON TABLE loans IS 'One row each time that a member borrows a book, 2023 to 2025';
COMMENT ON COLUMN loans.returned_on IS 'NULL: still on loan';
COMMENT ON TABLE fines IS 'Fines for late returns';
COMMENT ON TABLE orders IS 'Books bought from suppliers';
