ALTER TABLE regions ADD PRIMARY KEY (region);
ALTER TABLE departments ADD PRIMARY KEY (department_id), ADD UNIQUE (name);
ALTER TABLE departments_2022 ADD PRIMARY KEY (department_id);
ALTER TABLE employees
    ADD PRIMARY KEY (employee_id),
    ADD UNIQUE (email),
    ADD FOREIGN KEY (department_id) REFERENCES departments,
    ADD FOREIGN KEY (manager_id) REFERENCES employees,
    ADD CHECK (salary = base_pay + allowance);
ALTER TABLE products ADD PRIMARY KEY (product_id), ADD UNIQUE (name);
ALTER TABLE customers
    ADD PRIMARY KEY (customer_id),
    ADD FOREIGN KEY (region) REFERENCES regions;
ALTER TABLE orders
    ADD PRIMARY KEY (order_id),
    ADD FOREIGN KEY (customer_id) REFERENCES customers,
    ADD FOREIGN KEY (employee_id) REFERENCES employees,
    ADD FOREIGN KEY (region) REFERENCES regions,
    ADD CHECK (net_sales = gross_sales - discount - returned);
ALTER TABLE order_items
    ADD PRIMARY KEY (order_id, line_no),
    ADD FOREIGN KEY (order_id) REFERENCES orders,
    ADD FOREIGN KEY (product_id) REFERENCES products;
ALTER TABLE returns
    ADD PRIMARY KEY (return_id),
    ADD FOREIGN KEY (order_id) REFERENCES orders,
    ADD FOREIGN KEY (product_id) REFERENCES products;
ALTER TABLE sales_targets
    ADD PRIMARY KEY (region, year, quarter),
    ADD FOREIGN KEY (region) REFERENCES regions;
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON orders (ordered_on);

COMMENT ON TABLE departments_2022 IS 'Departments before the reorganisation of 2022, kept for audits';
COMMENT ON COLUMN employees.base_pay IS 'Yearly pay as in the contract, without allowances';
COMMENT ON COLUMN employees.salary IS 'Yearly pay: base pay and allowance';
COMMENT ON TABLE customers IS 'Companies that buy from us';
COMMENT ON COLUMN customers.total_revenue IS 'Net sales of all orders of the customer';
COMMENT ON TABLE orders IS 'Orders of 2023 to 2025; amounts in US dollars';
COMMENT ON COLUMN orders.employee_id IS 'Who sold it';
COMMENT ON COLUMN orders.region IS 'Region of the customer';
COMMENT ON COLUMN orders.gross_sales IS 'Sum of quantity times unit price over the items';
COMMENT ON COLUMN orders.returned IS 'Refunded for what came back: the sum of its returns';
COMMENT ON COLUMN orders.net_sales IS 'Gross sales less discount and returned';
COMMENT ON COLUMN products.list_price IS 'Price of one piece in US dollars, before discounts';
COMMENT ON TABLE sales_targets IS 'Planned gross sales by region and quarter';
