"""The question `requests` is the view request_times, sorted; columns may be left out."""

from made_up_runs import RunFolder, Stream


def of_view(tables, run):
    with tables.database.cursor() as cursor:
        view = cursor.sql(
            "SELECT * EXCLUDE (run_id) FROM request_times JOIN runs USING (run_id) "
            f"WHERE run_uid = '{run.uid}' ORDER BY request_id"
        )
        width = len(cursor.execute("DESCRIBE request_times").fetchall()) - 1
        return [dict(list(row.items())[:width]) for row in view.to_arrow_table().to_pylist()]


def test_requests_are_those_of_the_view_with_and_without_gaps(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(7), Stream(3, gaps_us=()), Stream(5, gaps_us=(9, 200_000))])
    shared_tables.turn()
    for n_known in (0, 2):
        rows = shared_tables.ask("requests", run=run.uid)
        assert rows == of_view(shared_tables, run)
        assert [row["request_id"] for row in rows] == [3, 5, 7]
        assert sum(row["n_gaps"] is not None for row in rows) == n_known
        run.end()
        shared_tables.turn()


def test_columns_that_are_not_needed_are_left_out_but_never_the_id(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0)])
    run.end()
    shared_tables.turn()
    whole = shared_tables.ask("requests", run=run.uid)[0]
    left_out = {"request_id", "detail", "ttft_us", "is_told"}
    (row,) = shared_tables.ask("requests", run=run.uid, without=sorted(left_out))
    assert row == {k: v for k, v in whole.items() if k not in left_out - {"request_id"}}
