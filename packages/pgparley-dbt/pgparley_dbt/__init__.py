"""What was said of a database in files of other tools, read and written: dbt with MetricFlow, and Apache Ossie."""
