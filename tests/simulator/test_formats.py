"""Every foreign format on a few lines written as its source writes them."""

import gzip
import json
import re

import pytest

from autoscaler.cli.trace import KINDS as OFFERED
from autoscaler.errors import TraceError
from autoscaler.simulator.foreign import write_traffic
from autoscaler.simulator.formats import KINDS, import_traffic, seconds_of
from autoscaler.world.traffic import read_traffic

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2023-11-16 18:19:00.0000000,100,5
"""
BURSTGPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,276,693,API log
"""
MOONCAKE = """{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0]}
{"timestamp": 59000, "input_length": 100, "output_length": 50, "hash_ids": [1]}
{"timestamp": 61000, "input_length": 7, "output_length": 3, "hash_ids": [2]}
"""
SERVEGEN = "0,2.5,1.0,Poisson\n600,3.0,1.1,Gamma\n1200,0.0,0,\n"
PROMETHEUS = json.dumps(
    {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {"metric": {}, "values": [[1000020, "1.5"], [1000080, "NaN"], [1000140, "2"]]}
            ],
        },
    }
)
GRAFANA = "Time,demand\n2026-03-01 10:01:00,1.5\n2026-03-01 10:02:00,2\n2026-03-01 10:03:00,x\n"


def imported(tmp_path, kind, text):
    source = tmp_path / "source"
    source.write_text(text)
    return import_traffic(kind, source)


@pytest.mark.parametrize("kind", ["azure-2023", "azure-2024"])
def test_azure(tmp_path, kind):
    found = imported(tmp_path, kind, AZURE)
    assert found.columns["requests"].tolist() == [2.0, 0.0, 1.0]  # a minute without is a zero
    assert found.columns["prompt_tokens"].tolist() == [7988.0, 0.0, 100.0]
    assert found.absolute


def test_burstgpt(tmp_path):
    found = imported(tmp_path, "burstgpt", BURSTGPT)
    assert found.columns["requests"].tolist() == [2.0, 1.0]
    assert found.columns["output_tokens"].tolist() == [248.0, 276.0]


def test_mooncake(tmp_path):
    found = imported(tmp_path, "mooncake", MOONCAKE)
    assert found.columns["requests"].tolist() == [2.0, 1.0]
    assert found.times.tolist() == [0.0, 60.0]


def test_servegen(tmp_path):
    found = imported(tmp_path, "servegen", SERVEGEN)
    assert found.columns["requests_per_second"].tolist() == [2.5, 3.0, 0.0]
    assert imported(tmp_path, "servegen", "time,rate,cv\n" + SERVEGEN).refused == ()


def test_prometheus_samples_look_back(tmp_path):
    found = imported(tmp_path, "prometheus", PROMETHEUS)
    assert found.times.tolist() == [999960.0, 1000080.0]  # the NaN is a hole
    assert found.columns["demand_per_second"].tolist() == [1.5, 2.0]
    assert found.refused == ("value 2: nan",)


def test_grafana(tmp_path):
    found = imported(tmp_path, "grafana", "sep=,\n" + GRAFANA)
    assert found.columns["demand_per_second"].tolist() == [1.5, 2.0]
    assert found.refused[0].startswith("line 5: ")


@pytest.mark.parametrize(
    "text",
    [
        "timestamp,input_tokens,output_tokens\n2026-03-01T10:00:01Z,5,6\n2026-03-01T10:01:59Z,7,8\n",
        '{"ts": 1772359201000, "prompt_tokens": 5, "completion_tokens": 6}\n'
        '{"ts": 1772359319000, "prompt_tokens": 7, "completion_tokens": 8}\n',
    ],
)
def test_request_logs(tmp_path, text):
    found = imported(tmp_path, "log", text)
    assert found.times.tolist() == [1772359200.0, 1772359260.0]
    assert found.columns["prompt_tokens"].tolist() == [5.0, 7.0]
    assert found.absolute


def test_tokens_that_are_not_told_or_no_number(tmp_path):
    text = "t,input_tokens,output_tokens\n0,5,\n30,7,2\n60,nan,1\n61,-1,1\n62,1,x\n70,1,1\n"
    found = imported(tmp_path, "log", text)
    assert found.columns["requests"].tolist() == [2.0, 1.0]
    assert found.columns["output_tokens"].tolist() == [2.0, 1.0]
    assert found.notes == ("1 requests name no count of tokens: they add none to the totals",)
    assert found.refused[:2] == (
        "line 4: 'nan' is no count of tokens",
        "line 5: '-1' is no count of tokens",
    )
    assert found.refused[2].startswith("line 6: ")
    assert found.remarks(1) == (found.refused[0], "3 rows were not used", *found.notes)
    assert imported(tmp_path, "log", "t\n0\n60\n").remarks(1) == ()


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    text = 't,note\n0,"two\nlines"\n\nx,\n60,\n'
    assert imported(tmp_path, "log", text).refused[0].startswith("line 5: ")


def test_bad_lines_are_told_and_counted(tmp_path):
    text = MOONCAKE + 'no json\n[1]\n{"timestamp": null}\n'
    found = imported(tmp_path, "mooncake", text)
    assert [line.split(":")[0] for line in found.refused] == ["line 4", "line 5", "line 6"]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("azure-2024", BURSTGPT, "not azure-2024: no column 'TIMESTAMP'; found Timestamp"),
        ("burstgpt", AZURE, "not burstgpt: no column 'Timestamp'; found TIMESTAMP"),
        ("prometheus", "{}", "not prometheus: the answer of /api/v1/query_range is expected"),
        ("prometheus", '{"data": null}', "the answer of /api/v1/query_range is expected"),
        ("prometheus", '{"data": {"result": [{"values": [1]}]}}', "is expected"),
        ("prometheus", '{"data": {"result": []}}', "found 0 series; exactly one is demand"),
        ("prometheus", "not json", ":1: not prometheus: no JSON"),
        ("log", "a,b\n1,2\n", "no time column (one of timestamp, time, t, ts, arrival); found a"),
        ("log", "t\n0\n1e10\n", "lie 115741 days apart; is one of the times wrong?"),
        ("mooncake", "", "0 usable slots as mooncake"),
        ("grafana", "Time,a,b\n0,1,2\n", "found 3 columns (Time, a, b); a time and one series is"),
        ("grafana", "Series;Time;Value\n", "found 1 columns (Series;Time;Value)"),
        (
            "log",
            "t,a\n0," + "x" * 200_000 + "\n",
            "a CSV or JSON lines with a timestamp is expected",
        ),
    ],
)
def test_other_files_are_refused_in_words(tmp_path, kind, text, message):
    with pytest.raises(TraceError, match=re.escape(message)):
        imported(tmp_path, kind, text)


def test_a_slot_of_no_length_and_a_broken_archive(tmp_path):
    (tmp_path / "log.csv").write_text("t\n0\n60\n")
    with pytest.raises(TraceError, match="--slot: found 0 s"):
        import_traffic("log", tmp_path / "log.csv", 0.0)
    whole = gzip.compress(b"t,value\n" + bytes(str(list(range(999))), "ascii"))
    (tmp_path / "broken.csv.gz").write_bytes(whole[:40] + b"\xff" * 40 + whole[80:])
    with pytest.raises(TraceError, match="cannot be read as text"):
        import_traffic("log", tmp_path / "broken.csv.gz")
    with pytest.raises(TraceError, match="cannot be read as text"):
        read_traffic(tmp_path / "broken.csv.gz")


@pytest.mark.parametrize("name", ["own.csv", "own.csv.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    write_traffic(imported(tmp_path, "azure-2023", AZURE), tmp_path / name)
    traffic = read_traffic(tmp_path / name)
    assert (traffic.values * 60).tolist() == [2.0, 0.0, 1.0]
    assert traffic.start == 1_700_158_620.0  # `t` and the date of the first row
    first = (tmp_path / name).read_bytes()
    write_traffic(imported(tmp_path, "azure-2023", AZURE), tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


def test_every_kind_is_offered_by_the_command():
    assert tuple(KINDS) == OFFERED


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(5, 5.0), ("5.5", 5.5), (1772359201000, 1772359201.0), ("1970-01-01T00:01:00", 60.0)],
)
def test_times(value, seconds):
    assert seconds_of(value) == seconds


@pytest.mark.parametrize("value", [None, True, "yesterday", "nan"])
def test_no_times(value):
    with pytest.raises(ValueError, match=r"yesterday|no time"):
        seconds_of(value)
