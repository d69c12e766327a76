// `java -cp pgjdbc.jar:. Day URL < questions`: each line is a question, asked with autocommit off. A row is a line
// of "number <tab> kind <tab> database <tab> statement"; a line "done <tab> milliseconds" ends each question.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

public final class Day {
    public static void main(String[] a) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        try (Connection c = DriverManager.getConnection(a[0]); Statement s = c.createStatement()) {
            c.setAutoCommit(false);
            for (String q = questions.readLine(); q != null; q = questions.readLine()) {
                long began = System.nanoTime();
                try (ResultSet rows = s.executeQuery("NL: $$" + q + "$$")) {
                    while (rows.next()) {
                        String sql = String.valueOf(rows.getString("sql")).replaceAll("\\s+", " ");
                        String what = rows.getString("kind") + "\t" + rows.getString("database");
                        System.out.println(rows.getInt("n") + "\t" + what + "\t" + sql);
                    }
                }
                c.commit();
                System.out.println("done\t" + (System.nanoTime() - began) / 1_000_000);
            }
        }
    }
}
