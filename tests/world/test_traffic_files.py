"""The traffic format: what is read, what is told, what is refused."""

import gzip

import numpy as np
import pytest

from autoscaler.errors import TraceError
from autoscaler.world.traffic import UNDATED, beginning, grid, read_traffic, unread


def file(tmp_path, text, name="traffic.csv"):
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_totals_per_slot_become_demand_per_second(tmp_path):
    traffic = read_traffic(file(tmp_path, "t,requests\n0,60\n60,120\n120,0\n"))
    assert (traffic.slot, traffic.column, traffic.start) == (60.0, "requests", None)
    assert traffic.values.tolist() == [1.0, 2.0, 0.0]
    assert beginning(traffic) == 1_704_067_200.0  # a Monday


def test_per_second_by_name_or_by_flag(tmp_path):
    named = file(tmp_path, "t,requests_per_second\n0,3\n60,4\n")
    assert read_traffic(named).values.tolist() == [3.0, 4.0]
    foreign = file(tmp_path, "t,load\n0,3\n60,4\n")
    assert read_traffic(foreign, per="second").values.tolist() == [3.0, 4.0]
    assert read_traffic(foreign).values.tolist() == [0.05, 4 / 60]


def test_timestamps_and_compression(tmp_path):
    text = "timestamp,calls\n2026-03-01T12:00:30+08:00,60\n2026-03-01T12:01:30+08:00,60\n"
    traffic = read_traffic(file(tmp_path, text, "x.csv.gz"))
    assert traffic.start == 1_772_337_630.0
    assert beginning(traffic) == 1_772_337_600.0


@pytest.mark.parametrize(
    ("stamp", "start"),
    [("1970-01-02T00:00:00Z", 86_400.0), ("1970-01-02T08:00:00+08:00", 86_400.0)],
)
def test_a_timestamp_beside_t_dates_the_file_where_it_names_its_zone(tmp_path, stamp, start):
    """What is exported keeps its calendar: holidays and events are where they were."""
    for text in (
        f"t,timestamp,calls\nx,y,z\n60,{stamp},1\n120,?,2\n",
        f"timestamp,t,calls\n{stamp},0,1\n,60,2\n",
    ):
        traffic = read_traffic(file(tmp_path, text))
        assert (traffic.start, traffic.times.tolist()) == (start, [0.0, 60.0])
    for unsure in (stamp[:19], "Friday", ""):
        traffic = read_traffic(file(tmp_path, f"t,calls,timestamp\n0,1,{unsure}\n60,2\n"))
        assert (traffic.start, beginning(traffic)) == (None, 1_704_067_200.0)


def test_holes_are_bridged_or_held(tmp_path):
    traffic = read_traffic(file(tmp_path, "t,value\n0,60\n60,120\n240,300\n300,-60\n"))
    assert grid(traffic).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]
    assert grid(traffic, within="hold").tolist() == [1.0, 2.0, 2.0, 2.0, 5.0, 0.0]


def test_a_long_hole_is_told_from_a_missing_row(tmp_path):
    rows = "".join(f"{300 * i},60\n" for i in range(20) if i not in {3, 4, 8, 9, 10, 11})
    traffic = read_traffic(file(tmp_path, "t,value\n" + rows))
    lost = unread(traffic)
    assert len(lost) == len(grid(traffic))
    # two rows are bridged; of four, the slot of the last row before them is still known
    assert np.flatnonzero(lost).tolist() == list(range(8 * 5, 12 * 5))
    assert unread(traffic, 300.0).nonzero()[0].tolist() == [8, 9, 10, 11]


def test_what_counts_as_zero_is_told(tmp_path):
    traffic = read_traffic(file(tmp_path, "t,value\n0,60\n60,x\n120,-3\n180,60\n240,-60\n"))
    assert traffic.remarks(5) == (
        "line 3: '60,x' has no time and number",
        "1 row was not used",
        "2 values are below zero and count as 0",
    )
    assert traffic.remarks(0)[0] == "1 row was not used"


def test_a_date_that_does_not_exist_is_told_as_such(tmp_path):
    rows = "2026-02-27,1\n2026-02-28,1\n2026-02-29,1\n2026-03-01,-1\n"
    assert read_traffic(file(tmp_path, "timestamp,value\n" + rows)).remarks(5) == (
        "line 4: '2026-02-29,1' has no time and number (day is out of range for month)",
        "1 row was not used",
        "1 value is below zero and counts as 0",
    )


@pytest.mark.parametrize("date", ["2026-13-01", "2026-02-29", "2026-02-28T25:00"])
def test_of_a_date_that_does_not_exist_the_reason_is_told(tmp_path, date):
    text = f"timestamp,value\n2026-02-27,1\n2026-02-28,1\n{date},1\nnoon,1\n"
    said = read_traffic(file(tmp_path, text)).remarks(5)
    assert said[0].startswith(f"line 4: '{date},1' has no time and number (")
    assert said[1] == "line 5: 'noon,1' has no time and number"


def test_dates_that_are_called_seconds_are_told(tmp_path):
    rows = "1793491200,60\n1793491260,60\n"
    dateless = read_traffic(file(tmp_path, "t,value\n" + rows))
    assert beginning(dateless) == UNDATED
    (said,) = dateless.remarks(5)
    assert "name the column `timestamp`" in said
    dated = read_traffic(file(tmp_path, "timestamp,value\n" + rows))
    assert beginning(dated) == 1_793_491_200
    assert dated.remarks(5) == ()


def test_a_line_betrays_the_next_slot_and_a_step_does_not(tmp_path):
    traffic = read_traffic(file(tmp_path, "t,value\n0,600\n600,1200\n1200,0\n"))
    assert grid(traffic)[:11].tolist() == pytest.approx(list(np.linspace(1, 2, 11)))
    assert grid(traffic, within="hold")[:11].tolist() == [1.0] * 10 + [2.0]


def test_bad_rows_are_told_by_line(tmp_path):
    text = "t,value\n0,60\n60,abc\n120,inf\n90\n60,5\n180,60\n180,70\n240,60\n"
    traffic = read_traffic(file(tmp_path, text))
    assert traffic.times.tolist() == [0.0, 60.0, 180.0, 240.0]
    assert [refusal.split(":")[0] for refusal in traffic.refused] == [
        *("line 3", "line 4", "line 5", "line 8")
    ]
    assert "inf is not a finite number" in traffic.refused[1]
    assert "does not increase" in traffic.refused[3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; a header line"),
        ("a,b\n1,2\n", "no column `t` or `timestamp`; found a, b"),
        ("t,a,b\n0,1,2\n", "which column is the demand\\? choose one of a, b"),
        ("t,value\n0,1\n", "1 usable rows in column value; 2 are needed"),
        ("t,value\n0,'" + "x" * 200_000 + "\n", ":2: no CSV: field larger than"),
        ("t,value\nx,y\n", "0 usable rows .* line 2: 'x,y' has no time"),
    ],
)
def test_unusable_files(tmp_path, text, message):
    with pytest.raises(TraceError, match=message):
        read_traffic(file(tmp_path, text))


def test_a_column_that_is_not_there(tmp_path):
    with pytest.raises(TraceError, match="no column 'tokens'; found value"):
        read_traffic(file(tmp_path, "t,value\n0,1\n60,1\n"), column="tokens")
    with pytest.raises(TraceError, match="cannot be read"):
        read_traffic(tmp_path / "nothing.csv")
