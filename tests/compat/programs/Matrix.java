// The cases of pgjdbc: `java -cp pgjdbc.jar:. Matrix host port user database plain|all`, a JSON-less line a case.
// A line is CASE <tab> ok|failed <tab> detail. `plain` prints results of plain SQL to be compared.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

public final class Matrix {
    interface Case {
        void run(Connection c) throws Exception;
    }

    private static String url;
    private static String user;

    public static void main(String[] a) throws Exception {
        url = "jdbc:postgresql://" + a[0] + ":" + a[1] + "/" + a[3];
        user = a[2];
        if (a[4].equals("plain")) {
            plain();
            return;
        }
        run("question", Matrix::question);
        run("nl.ask bound", Matrix::bound);
        run("follow-up", Matrix::followUp);
        run("5th execution", Matrix::fifth);
        run("describe", Matrix::metaData);
        run("escape processing", Matrix::escapes);
        run("lost ?", Matrix::questionMark);
        run("transaction", Matrix::transaction);
        run("error", Matrix::error);
        run("cursor", Matrix::cursor);
        run("batch", Matrix::batch);
        run("simple protocol", c -> {});
    }

    private static Connection connect(String... more) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", user);
        p.setProperty("sslmode", "disable");
        for (int i = 0; i < more.length; i += 2) {
            p.setProperty(more[i], more[i + 1]);
        }
        return DriverManager.getConnection(url, p);
    }

    private static void run(String name, Case body) {
        try {
            if (name.equals("simple protocol")) {
                try (Connection c = connect("preferQueryMode", "simple")) {
                    question(c);
                    bound(c);
                    followUp(c);
                }
            } else {
                try (Connection c = connect()) {
                    body.run(c);
                }
            }
            System.out.println(name + "\tok\t");
        } catch (Exception | AssertionError e) {
            System.out.println(name + "\tfailed\t" + e.toString().replaceAll("\\s+", " "));
        }
    }

    private static void check(boolean good, String what) {
        if (!good) {
            throw new AssertionError(what);
        }
    }

    private static String rows(ResultSet r) throws SQLException {
        StringBuilder out = new StringBuilder();
        ResultSetMetaData m = r.getMetaData();
        for (int i = 1; i <= m.getColumnCount(); i++) {
            out.append(m.getColumnName(i)).append(':').append(m.getColumnTypeName(i)).append(' ');
        }
        while (r.next()) {
            for (int i = 1; i <= m.getColumnCount(); i++) {
                out.append('|').append(r.getString(i));
            }
        }
        return out.toString();
    }

    private static void question(Connection c) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("NL: how many singers")) {
            check(r.next() && r.getInt("n") == 1 && r.getString("qid").equals("q1"), "first row");
            check(r.getDouble("confidence") == 0.75 && r.next() && !r.next(), "rows");
        }
        try (PreparedStatement s = c.prepareStatement("NL: wie viele Sänger"); ResultSet r = s.executeQuery()) {
            check(r.next() && r.getString("explanation").equals("wie viele Sänger"), "explanation");
        }
    }

    private static void bound(Connection c) throws SQLException {
        String sql = "SELECT sql, n FROM nl.ask(?) AS t WHERE n < ? ORDER BY n";
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < 8; i++) {
                s.setString(1, "what's; up? " + i);
                s.setInt(2, 2);
                try (ResultSet r = s.executeQuery()) {
                    check(r.next() && r.getInt(2) == 1 && !r.next(), "rows of call " + i);
                }
            }
        }
    }

    private static void followUp(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.executeQuery("NL: x").close();
            try (ResultSet r = s.executeQuery("NL CHOOSE 1")) {
                check(rows(r).equals("a:int4 b:text |1|1|2|2|3|3"), "chosen rows");
            }
            try (ResultSet r = s.executeQuery("SELECT count(*) FROM nl.run('q1', 1) t")) {
                check(r.next() && r.getInt(1) == 3, "nl.run");
            }
            try (ResultSet r = s.executeQuery("NL RUN $$single$$")) {
                check(rows(r).startsWith("a:int4"), "run");
            }
            try (ResultSet r = s.executeQuery("NL WHY")) {
                check(r.next() && r.getString("stage").equals("route"), "why");
            }
        }
        dialogue(c);
    }

    private static void dialogue(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            try (ResultSet r = s.executeQuery("NL: which name")) {
                check(r.next() && r.getString("kind").equals("option") && r.getString("sql") == null, "option");
                check(r.getString("next").equals("NL ANSWER 1"), "next");
            }
            try (ResultSet r = s.executeQuery("NL ANSWER $$which; it's the 2nd?$$")) {
                check(r.next() && r.getString("explanation").equals("second which; it's the 2nd?"), "own words");
            }
            try (ResultSet r = s.executeQuery("NL NONE $$it's old$$")) {
                check(r.next() && r.getString("kind").equals("option"), "none");
            }
        }
        try (PreparedStatement s = c.prepareStatement("NL ANSWER 2 OF 'q7'")) {
            check(s.getMetaData().getColumnCount() == 8, "described");
            for (int i = 0; i < 8; i++) {
                try (ResultSet r = s.executeQuery()) {
                    check(r.next() && r.getString("explanation").equals("second option 2"), "answer " + i);
                }
            }
        }
        try (Statement s = c.createStatement()) {
            s.execute("SET nl.on_abstain = error");
            s.executeQuery("NL: which name");
            check(false, "no error");
        } catch (SQLException e) {
            check("NL001".equals(e.getSQLState()) && e.getMessage().contains("1. the artist's"), "state " + e);
        }
    }

    private static void fifth(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("NL: again")) {
            for (int i = 0; i < 8; i++) {
                try (ResultSet r = s.executeQuery()) {
                    check(r.next() && r.getDouble("confidence") == 0.75, "run " + i);
                }
            }
        }
        try (PreparedStatement s = c.prepareStatement("NL CHOOSE 1 OF 'q1'")) {
            for (int i = 0; i < 8; i++) {
                try (ResultSet r = s.executeQuery()) {
                    check(rows(r).endsWith("|1|1|2|2|3|3"), "choice " + i);
                }
            }
        }
    }

    private static void metaData(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("NL: described only")) {
            ResultSetMetaData m = s.getMetaData();
            check(m.getColumnCount() == 8 && m.getColumnTypeName(4).equals("float8"), "columns");
            check(s.getParameterMetaData().getParameterCount() == 0, "parameters");
        }
        try (PreparedStatement s = c.prepareStatement("SELECT * FROM nl.ask(?)")) {
            check(s.getMetaData().getColumnName(8).equals("qid"), "call");
            check(s.getParameterMetaData().getParameterCount() == 1, "call parameters");
        }
    }

    private static void escapes(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.setEscapeProcessing(true);
            try (ResultSet r = s.executeQuery("SELECT {fn upper('nl')}, {d '2020-01-02'}")) {
                check(r.next() && r.getString(1).equals("NL"), "escape");
            }
            try (ResultSet r = s.executeQuery("NL: $$in {braces} and 'quotes'$$")) {
                check(r.next() && r.getString("explanation").equals("in {braces} and 'quotes'"), "braces");
            }
            s.setEscapeProcessing(false);
            try (ResultSet r = s.executeQuery("NL: {fn x}")) {
                check(r.next() && r.getString("explanation").equals("{fn x}"), "no processing");
            }
        }
    }

    private static void questionMark(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("NL: $$how many?$$"); ResultSet r = s.executeQuery()) {
            check(r.next() && r.getString("explanation").equals("how many?"), "in dollars");
        }
        try (PreparedStatement s = c.prepareStatement("NL: how many singers?")) {
            s.setString(1, "");
            s.executeQuery();
            check(false, "no error");
        } catch (SQLException e) {
            check("42601".equals(e.getSQLState()), "state " + e.getSQLState());
        }
    }

    private static void transaction(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            try (ResultSet r = s.executeQuery("NL: first in the transaction")) {
                check(r.next(), "row");
            }
            s.execute("CREATE TEMP TABLE kept AS SELECT * FROM nl.ask('x')");
            c.rollback();
            try (ResultSet r = s.executeQuery("SELECT to_regclass('kept') IS NULL")) {
                check(r.next() && r.getBoolean(1), "rolled back");
            }
            c.commit();
        }
    }

    private static void error(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            try {
                s.executeQuery("NL: no route here");
                check(false, "no error");
            } catch (SQLException e) {
                check("NL003".equals(e.getSQLState()), "state " + e.getSQLState());
            }
            try {
                s.executeQuery("NL: x");
                check(false, "no error");
            } catch (SQLException e) {
                check("25P02".equals(e.getSQLState()), "failed " + e.getSQLState());
            }
            c.rollback();
            s.executeQuery("NL: x").close();
        }
    }

    private static void cursor(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            s.setFetchSize(1);
            try (ResultSet r = s.executeQuery("NL: by portal")) {
                check(r.next() && r.next() && !r.next(), "rows");
            }
        }
        c.commit();
    }

    private static void batch(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            check(s.execute("SELECT 1; NL: two; SELECT 3"), "result");
            int results = 1;
            while (s.getMoreResults()) {
                results++;
            }
            check(results == 3, "results " + results);
        }
    }

    private static void plain() throws SQLException {
        String[] queries = {
            "SELECT 1 AS a, 'x'::text AS b, NULL::date AS c, 1.5::numeric AS d, ARRAY[1,2] AS e",
            "SELECT g, g::text, now() - now() FROM generate_series(1, 500) g",
            "SELECT oid, typname FROM pg_type ORDER BY oid LIMIT 50",
        };
        try (Connection c = connect()) {
            for (String q : queries) {
                try (PreparedStatement s = c.prepareStatement(q)) {
                    for (int i = 0; i < 7; i++) {
                        try (ResultSet r = s.executeQuery()) {
                            System.out.println(rows(r));
                        }
                    }
                }
            }
            for (String bad : new String[] {"SELEC 1", "SELECT 1/0", "SELECT * FROM missing"}) {
                try (Statement s = c.createStatement()) {
                    s.execute(bad);
                } catch (SQLException e) {
                    System.out.println(e.getSQLState() + " " + e.getMessage());
                }
            }
            try (ResultSet r = c.getMetaData().getTables(null, "pg_catalog", "pg_c%", null)) {
                System.out.println(rows(r));
            }
        }
    }
}
