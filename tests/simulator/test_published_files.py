"""Importers on the first lines of the published files as they are, and on whole real ones.

The heads were copied from where each dataset is published; whole files are played where the folder
of traces stands beside the checkout (or FORETIDE_SHARED names it): its request-level files have
the published values under other names, and a count per slot that was made by somebody else.
"""

import csv
import gzip
import json

import numpy as np
import pytest

from autoscaler.cli.main import run
from autoscaler.simulator.formats import import_traffic
from autoscaler.world.traffic import beginning, read_traffic
from tests.support.shared import shared

# https://github.com/Azure/AzurePublicDataset: data/AzureLLMInferenceTrace_code.csv (CC-BY 4.0)
AZURE_2023 = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2023-11-16 18:17:04.0781490,110,27
2023-11-16 18:17:43.3074770,7435,9
2023-11-16 18:20:07.0417510,2648,15
2023-11-16 18:20:07.1378960,2564,9
"""
# the same: AzureLLMInferenceTrace_code_1week.csv and conv_1week.csv, as analysis/…2024.ipynb shows
# their rows; "we have both: 2024-05-12 00:00:00.001163+00:00 and 2024-05-12 00:00:00+00:00"
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-12 00:00:00+00:00,1452,3
2024-05-12 00:00:00.001163+00:00,1452,3
2024-05-12 00:00:00.041683+00:00,584,3
2024-05-12 00:01:59.995460+00:00,2688,366
"""
# https://github.com/HPMLL/BurstGPT: data/BurstGPT_1.csv (CC-BY 4.0)
BURSTGPT_1 = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,276,693,Conversation log
"""
# the same, release 2.0: BurstGPT_3.csv; of its API log the session is not told, and a failed
# request has no response
BURSTGPT_3 = """\
Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation log
19440161.0,d5983bf9-4b48-497b-892b-a58995247443,2,ChatGPT,36,29,65,Conversation log
19440192.0,a5c69b35-4fbc-45e9-955e-18715e376d74,8,GPT-4,1779,123,1902,Conversation log
19440254.0,8b74c7d8-1643-4bba-8c69-91cb4548c506,3,ChatGPT,935,178,1113,Conversation log
19440255.0,,1,ChatGPT,100,0,100,API log
"""
# https://github.com/kvcache-ai/Mooncake: FAST25-release/traces/conversation_trace.jsonl (Apache 2)
MOONCAKE = """\
{"timestamp": 0, "input_length": 2290, "output_length": 316, "hash_ids": [0, 42, 43, 44, 45]}
{"timestamp": 3000, "input_length": 915, "output_length": 355, "hash_ids": [0, 462]}
{"timestamp": 5999, "input_length": 1053, "output_length": 26, "hash_ids": [0, 773, 774]}
{"timestamp": 60000, "input_length": 898, "output_length": 324, "hash_ids": [0, 1099]}
"""
# https://github.com/alibaba/ServeGen: data/language/m-large/chunk-1-trace.csv (Apache-2.0)
SERVEGEN = """\
31200,0,0,,0,0
31800,0.043333333333333335,1.0486253901923495,Gamma,0.909409031757566,0.08858500892567882
32400,0,0,,0,0
33000,0,0,,0,0
33600,0,0,,0,0
34200,1.625,10.470393428026078,Weibull,0.351909818665188,0.29648237619564355
"""


@pytest.mark.parametrize(
    ("kind", "text", "requests", "prompts", "outputs"),
    [
        ("azure-2023", AZURE_2023, [4, 0, 0, 2], [15533, 0, 0, 5212], [54, 0, 0, 24]),
        ("azure-2024", AZURE_2024, [3, 1], [3488, 2688], [9, 366]),
        ("burstgpt", BURSTGPT_1, [2, 1], [1559, 417], [248, 276]),
        ("burstgpt", BURSTGPT_3, [1, 1, 1, 2], [906, 36, 1779, 1035], [446, 29, 123, 178]),
        ("mooncake", MOONCAKE, [3, 1], [4258, 898], [697, 324]),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_requests(tmp_path, kind, text, requests, prompts, outputs, ends):
    source = tmp_path / "published"
    source.write_bytes(text.replace("\n", ends).encode())
    found = import_traffic(kind, source)
    assert found.columns["requests"].tolist() == requests
    assert found.columns["prompt_tokens"].tolist() == prompts
    assert found.columns["output_tokens"].tolist() == outputs
    assert found.remarks(1) == ()
    assert found.absolute == kind.startswith("azure")


def test_dates_survive_the_import(tmp_path):
    source, out = tmp_path / "published.csv", tmp_path / "out.csv"
    source.write_text(AZURE_2024)
    assert run(["trace", "import", "azure-2024", str(source), str(out)]) == 0
    assert beginning(read_traffic(out)) == 1_715_472_000.0  # Sunday, 12 May 2024, 00:00 UTC


def test_clients_of_servegen(tmp_path):
    source = tmp_path / "chunk-1-trace.csv"
    source.write_text(SERVEGEN)
    found = import_traffic("servegen", source)
    assert found.columns["requests_per_second"].tolist() == [
        0,
        0.043333333333333335,
        0,
        0,
        0,
        1.625,
    ]
    assert found.times.tolist() == [31200, 31800, 32400, 33000, 33600, 34200]
    assert found.refused == ()


def test_a_large_file_tells_how_far_it_is(tmp_path):
    source, shares = tmp_path / "large.csv.gz", []
    rows = "".join(f"{i},1\n" for i in range(120_000))
    source.write_bytes(gzip.compress(f"t,input_tokens\n{rows}".encode(), mtime=0))
    found = import_traffic("log", source, progress=shares.append)
    assert found.columns["requests"].tolist() == [60.0] * 2000
    assert shares == sorted(shares)
    assert len(shares) == 3
    assert 0 < shares[-1] <= 1


def rows_of(name):
    """Rows of a file of the folder of traces."""
    with gzip.open(shared("traces", *name.split("/")), "rt") as file:
        return list(csv.DictReader(file))


def agrees(found, counted, column="requests"):
    """Every slot of the other count, and no request beside them."""
    expected = np.asarray([float(row[column]) for row in counted])
    at = np.asarray([float(row["t"]) for row in counted])
    mine = dict(zip((found.times - found.times[0]).tolist(), found.columns[column], strict=True))
    assert [mine.pop(t) for t in at.tolist()] == pytest.approx(expected)
    assert not any(mine.values())


@pytest.mark.parametrize("folder", ["azure-llm-2023-code", "azure-llm-2023-conv"])
def test_azure_2023_whole(tmp_path, folder):
    source = tmp_path / "whole.csv"
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    lines += [
        f"{row['timestamp']},{row['prompt_tokens']},{row['output_tokens']}"
        for row in rows_of(f"{folder}/requests.csv.gz")
    ]
    source.write_text("\n".join(lines))
    found = import_traffic("azure-2023", source)
    assert found.refused == ()
    for column in ("requests", "prompt_tokens", "output_tokens"):
        agrees(found, rows_of(f"{folder}/per_minute.csv.gz"), column)


def test_mooncake_whole(tmp_path):
    source = tmp_path / "whole.jsonl"
    requests = rows_of("mooncake-conversation/requests.csv.gz")
    source.write_text(
        "\n".join(
            json.dumps(
                {
                    "timestamp": int(row["t_ms"]),
                    "input_length": int(row["prompt_tokens"]),
                    "output_length": int(row["output_tokens"]),
                    "hash_ids": list(range(int(row["n_blocks"]))),
                }
            )
            for row in requests
        )
    )
    found = import_traffic("mooncake", source)
    assert found.columns["requests"].sum() == len(requests) == 12_031
    for column in ("requests", "prompt_tokens", "output_tokens"):
        agrees(found, rows_of("mooncake-conversation/per_minute.csv.gz"), column)


def test_a_request_log_whole(tmp_path):
    """A log with a time of its own zone beside `t`, twenty columns that nobody asked for."""
    found = import_traffic("log", shared("traces", "gentd26-image-requests", "requests.csv.gz"))
    counted = rows_of("gentd26-image-requests/per_minute.csv.gz")
    agrees(found, counted)


def test_servegen_whole(tmp_path):
    source = tmp_path / "chunk-5-trace.csv"
    counted = rows_of("servegen-clients/m-small-c5.csv.gz")
    source.write_text(
        "".join(f"{row['t']},{int(row['requests']) / 600},1,,0,0\n" for row in counted)
    )
    out = tmp_path / "out.csv.gz"
    assert run(["trace", "import", "servegen", str(source), str(out)]) == 0
    traffic = read_traffic(out)
    assert traffic.slot == 600.0
    assert traffic.values * 600 == pytest.approx([int(row["requests"]) for row in counted])
