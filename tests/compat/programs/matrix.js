// The cases of node-pg: `node matrix.js host port user database plain|all`; a line a case, as Matrix.java prints them.
"use strict";

const { Client } = require("pg");

const [host, port, user, database, what] = process.argv.slice(2);

async function connected(run) {
  const client = new Client({ host, port: Number(port), user, database, ssl: false });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

function check(good, text) {
  if (!good) throw new Error(text);
}

async function state(promise) {
  try {
    await promise;
  } catch (error) {
    return error.code;
  }
  return "no error";
}

const cases = {
  question: async (c) => {
    const r = await c.query("NL: wie viele Sänger");
    check(r.rows.length === 2 && r.rows[0].n === 1 && r.rows[0].confidence === 0.75, "rows");
    check(r.rows[0].explanation === "wie viele Sänger" && r.fields[7].name === "qid", "fields");
  },
  "nl.ask bound": async (c) => {
    for (let i = 0; i < 6; i++) {
      const r = await c.query("SELECT explanation FROM nl.ask($1) WHERE n < $2", [`what's; up? ${i}`, 2]);
      check(r.rows.length === 1 && r.rows[0].explanation === `what's; up? ${i}`, `call ${i}`);
    }
  },
  "follow-up": async (c) => {
    await c.query("NL: x");
    check((await c.query("NL CHOOSE 1")).rows.length === 3, "chosen");
    check((await c.query("SELECT sum(a)::int s FROM nl.run('q1', 1)")).rows[0].s === 6, "nl.run");
    check((await c.query("NL WHY")).rows[0].stage === "route", "why");
    check((await c.query("NL: which name")).rows[2].kind === "option", "options");
    const answered = await c.query("NL ANSWER $$it's; both$$");
    check(answered.rows[0].explanation === "second it's; both", "answer");
    check((await c.query("NL NONE $$it's old$$")).rows[0].kind === "option", "none");
  },
  "5th execution": async (c) => {
    for (let i = 0; i < 7; i++) {
      const r = await c.query({ name: "asked", text: "NL: named" });
      check(r.rows.length === 2, `run ${i}`);
    }
  },
  transaction: async (c) => {
    await c.query("BEGIN");
    check((await c.query("NL: x")).rows.length === 2, "rows");
    await c.query("CREATE TEMP TABLE kept AS SELECT * FROM nl.ask('x')");
    await c.query("ROLLBACK");
    check((await c.query("SELECT to_regclass('kept') r")).rows[0].r === null, "rolled back");
  },
  error: async (c) => {
    check((await state(c.query("NL: no route"))) === "NL003", "NL003");
    check((await state(c.query("NL:"))) === "42601", "42601");
    check((await c.query("SELECT 1 AS one")).rows[0].one === 1, "goes on");
  },
  batch: async (c) => {
    const r = await c.query("SELECT 1; NL: two; SELECT 3");
    check(r.length === 3 && r[1].rows.length === 2, "results");
  },
  "pipeline": async (c) => {
    const r = await Promise.all(["SELECT 1 AS n", "NL: a", "SELECT 3 AS n", "NL: b"].map((q) => c.query(q)));
    check(r.map((x) => x.rows.length).join() === "1,2,1,2", "order");
  },
  cursor: async (c) => {
    await c.query("BEGIN");
    const r = await c.query({ text: "SELECT * FROM nl.ask($1)", values: ["x"], rows: 1 });
    check(r.rows.length === 2, "by portal");
    await c.query("DECLARE k CURSOR FOR SELECT n FROM nl.ask('x')");
    check((await c.query("FETCH 1 FROM k")).rows[0].n === 1, "fetch");
    check((await state(c.query("DECLARE l CURSOR FOR NL: x"))) === "0A000", "refused");
    await c.query("ROLLBACK");
  },
};

async function plain(c) {
  for (const text of ["SELECT 1 AS a, 'x'::text AS b, NULL::date AS c", "SELECT g FROM generate_series(1, 500) g"]) {
    for (const query of [{ text }, { text, values: [] }, { text, name: text.slice(0, 20) }]) {
      const r = await c.query(query);
      console.log(JSON.stringify([r.command, r.rowCount, r.fields, r.rows]));
    }
  }
  for (const bad of ["SELEC 1", "SELECT 1/0"]) {
    try {
      await c.query(bad);
    } catch (error) {
      console.log(`${error.code} ${error.message} ${error.position}`);
    }
  }
}

(async () => {
  if (what === "plain") {
    await connected(plain);
    return;
  }
  for (const [name, run] of Object.entries(cases)) {
    try {
      await connected(run);
      console.log(`${name}\tok\t`);
    } catch (error) {
      console.log(`${name}\tfailed\t${String(error.stack).replace(/\s+/g, " ")}`);
    }
  }
})();
