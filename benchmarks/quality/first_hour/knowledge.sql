-- What a DBA who knows this database says of it in an hour: of every table, of what is terse, and of its business.
SELECT nl_catalog.describe('own.' || t, d) FROM (VALUES
    ('erp.cgrp', 'customer groups'), ('erp.ctry', 'countries'), ('erp.cust', 'customers'), ('erp.pcat', 'product categories'),
    ('erp.prod', 'products'), ('erp.supp', 'suppliers'), ('erp.sprd', 'which supplier delivers which product, at what price'),
    ('erp.whs', 'warehouses'), ('erp.stk', 'stock by warehouse and product'), ('erp.smv', 'stock movements'),
    ('erp.dept', 'departments'), ('erp.emp', 'employees'), ('erp.ordh', 'orders: heads'), ('erp.ordl', 'order lines'),
    ('erp.carr', 'carriers'), ('erp.shph', 'shipments: heads'), ('erp.shpl', 'shipment lines'), ('erp.invh', 'invoices'),
    ('erp.pmt', 'payments'), ('erp.rsn', 'reasons of returns'), ('erp.reth', 'returns: heads'), ('erp.retl', 'returned lines'),
    ('crm.lead', 'sales leads'), ('crm.actv', 'activities on leads'), ('crm.cmp', 'campaigns'), ('crm.crsp', 'responses to campaigns'),
    ('crm.tkt', 'support tickets'), ('crm.tlog', 'notes on tickets'), ('crm.srv', 'satisfaction surveys'), ('crm.cont', 'contacts')
) AS said(t, d);
SELECT nl_catalog.describe('own.' || c, d) FROM (VALUES
    ('erp.cgrp.dsc', 'name of the group'), ('erp.ctry.nm', 'name'), ('erp.ctry.reg', 'region: EU, EX outside of it, AM America'),
    ('erp.cust.nm', 'name'), ('erp.cust.cty', 'city'), ('erp.cust.crlim', 'credit limit, euros'), ('erp.cust.sdt', 'customer since'),
    ('erp.cust.st', 'status: A active, I inactive, B blocked'), ('erp.pcat.dsc', 'name of the category'), ('erp.pcat.ppc', 'the category above'),
    ('erp.prod.dsc', 'name of the product'), ('erp.prod.pr', 'list price'), ('erp.prod.cst', 'cost'), ('erp.prod.uom', 'unit of measure'),
    ('erp.prod.st', 'status: 1 on sale, 2 phasing out, 3 discontinued'), ('erp.supp.nm', 'name'), ('erp.supp.rtg', 'rating, 1 to 5'),
    ('erp.sprd.ldt', 'lead time in days'), ('erp.sprd.pr', 'purchase price'), ('erp.whs.nm', 'name, a city'), ('erp.whs.sqm', 'area in square metres'),
    ('erp.stk.qoh', 'quantity on hand, the stock'), ('erp.stk.rol', 'reorder level'), ('erp.smv.mty', 'kind: R receipt, I issue, A adjustment'),
    ('erp.smv.qty', 'quantity'), ('erp.smv.mdt', 'date of the movement'), ('erp.dept.nm', 'name'), ('erp.dept.bud', 'budget'), ('erp.emp.nm', 'name'),
    ('erp.emp.hdt', 'hired on'), ('erp.emp.sal', 'salary'), ('erp.emp.mgr', 'number of the manager'), ('erp.ordh.odt', 'date of the order'),
    ('erp.ordh.ost', 'status: 10 open, 20 confirmed, 30 shipped, 40 invoiced, 90 cancelled'), ('erp.ordh.eno', 'employee who took the order'),
    ('erp.ordh.chn', 'channel: W web, P phone, S shop'), ('erp.ordl.qty', 'quantity'), ('erp.ordl.pr', 'price of one'), ('erp.ordl.dpc', 'discount in percent'),
    ('erp.carr.nm', 'name'), ('erp.carr.md', 'mode: R road, A air, S sea'), ('erp.shph.sdt', 'shipped on'), ('erp.shph.ddt', 'delivered on; empty while under way'),
    ('erp.invh.idt', 'date of the invoice'), ('erp.invh.due', 'due on'), ('erp.invh.amt', 'amount'), ('erp.invh.ist', 'status: O open, P paid, V void'),
    ('erp.pmt.pdt', 'paid on'), ('erp.pmt.amt', 'amount paid'), ('erp.pmt.pty', 'kind: B bank, C card, D debit'), ('erp.rsn.dsc', 'the reason'),
    ('erp.reth.rdt', 'returned on'), ('crm.lead.src', 'source'), ('crm.lead.st', 'status: N new, Q qualified, W won, L lost'), ('crm.lead.val', 'expected value'),
    ('crm.lead.odt', 'opened on'), ('crm.actv.aty', 'kind: C call, M mail, V visit'), ('crm.actv.mins', 'minutes'), ('crm.cmp.bud', 'budget'),
    ('crm.cmp.nm', 'name'), ('crm.crsp.cnv', 'converted'), ('crm.crsp.rdt', 'responded on'), ('crm.tkt.odt', 'opened on'), ('crm.tkt.cdt', 'closed on'),
    ('crm.tkt.pri', 'priority, 1 is the highest'), ('crm.tkt.st', 'status: O open, P pending, C closed'), ('crm.tkt.eno', 'employee who has the ticket'),
    ('crm.srv.sc', 'satisfaction score, 1 to 5'), ('crm.cont.eml', 'email'), ('crm.cont.opt', 'may be mailed: 1 yes')
) AS said(c, d);
SELECT nl_catalog.allow_values('own.' || c) FROM unnest(ARRAY[
    'erp.cgrp.dsc', 'erp.ctry.nm', 'erp.ctry.reg', 'erp.cust.nm', 'erp.cust.cty', 'erp.pcat.dsc', 'erp.prod.dsc', 'erp.supp.nm', 'erp.whs.nm', 'erp.dept.nm',
    'erp.carr.nm', 'erp.rsn.dsc', 'crm.lead.src', 'crm.cmp.nm', 'crm.cmp.chn', 'erp.cust.st', 'erp.invh.ist', 'crm.lead.st', 'crm.tkt.st']) AS c;
SELECT nl_catalog.define_term('own', 'revenue', 'sum(erp.ordl.qty * erp.ordl.pr * (1 - erp.ordl.dpc / 100))', 'of order lines, after discount');
SELECT nl_catalog.define_term('own', 'delivery time', 'erp.shph.ddt - erp.shph.sdt', 'days from shipping to delivery');
SELECT nl_catalog.add_synonym('own.erp.stk.qoh', 'stock');
SELECT nl_catalog.add_synonym('own.erp.cgrp', 'customer group');
