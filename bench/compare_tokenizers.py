#!/usr/bin/env python3
"""Tokenizes the same text with athanor and with Hugging Face tokenizers in turn (A B A B ...) on one core and prints ratios.

    python3 -m venv PEERS && PEERS/bin/pip install -r bench/requirements-peers.txt
    cmake --preset release && cmake --build build --target tokenize_bench
    python3 bench/compare_tokenizers.py --peer-python PEERS/bin/python [--tokenizer FOLDER] [TEXT_FILE ...]

Without files: Chinese poems (Debian fortunes-zh), English (license texts), Python sources, and the three mixed. Both sides cut the
text into documents of 2000 characters, start each round with an empty cache, and must give the same ids before any time is believed.
Times are processor time of the one thread, so that a busy machine troubles both sides alike. A figure is the median over the rounds;
the spread is (largest - smallest) / median.
"""
import argparse
import glob
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def peer(tokenizer, files):
    """One round of the peer, run by its own Python: prints {file: {seconds, bytes, checksum}} as JSON."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer

    started = time.process_time()
    encoder = Tokenizer.from_file(str(pathlib.Path(tokenizer) / "tokenizer.json"))
    out = {"load": {"seconds": time.process_time() - started}}
    for file in files:
        text = pathlib.Path(file).read_bytes().decode("utf-8", errors="replace")
        documents = [text[i : i + 2000] for i in range(0, len(text), 2000)]
        encoder = Tokenizer.from_file(str(pathlib.Path(tokenizer) / "tokenizer.json"))
        started = time.process_time()
        encodings = encoder.encode_batch_fast(documents, add_special_tokens=False)
        seconds = time.process_time() - started
        checksum = 0
        for encoding in encodings:
            for token in encoding.ids:
                checksum = (checksum * 31 + token) % 2147483647
        out[file] = {"seconds": seconds, "bytes": len(text.encode()), "checksum": checksum}
    json.dump(out, sys.stdout)


def run_peer(python, tokenizer, files):
    command = [python, __file__, "--as-peer", "--tokenizer", tokenizer, *files]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_ours(binary, tokenizer, files):
    command = [binary, f"--tokenizer={tokenizer}", "--benchmark_format=json", "--benchmark_filter=encode|load",
               "--benchmark_min_time=0.3", *[f"--corpus={file}" for file in files]]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    out = {}
    for row in report["benchmarks"]:
        if row["name"] == "load":
            out["load"] = {"seconds": row["cpu_time"] / 1e3}
            continue
        file = next(f for f in files if os.path.basename(f) == row["name"].split("/", 1)[1])
        size = os.path.getsize(file)
        out[file] = {"seconds": size / row["bytes_per_second"], "bytes": size, "checksum": int(row["checksum"])}
    return out


def write_default_texts(folder):
    read = lambda pattern, limit: "".join(pathlib.Path(f).read_text(encoding="utf-8", errors="replace")
                                          for f in sorted(glob.glob(pattern))[:limit] if os.path.isfile(f))
    texts = {
        "chinese": re.sub(r"\x1b\[[0-9;]*m", "", "".join(read(f"/usr/share/games/fortunes/{name}", 1)
                                                         for name in ("tang300", "song100", "chinese"))),
        "english": read("/usr/share/common-licenses/*", 40),
        "python": read("/usr/lib/python3*/*.py", 60),
    }
    texts["mixed"] = "\n".join("".join(parts) for parts in zip(*[
        [text[i : i + 500] for i in range(0, len(text), 500)] for text in texts.values()]))
    files = []
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
        files.append(str(folder / name))
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--binary", default=str(ROOT / "build/bin/tokenize_bench"))
    parser.add_argument("--tokenizer", default=str(ROOT / ".deps/tokenizers/v3"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_peer:
        return peer(arguments.tokenizer, arguments.files)

    with tempfile.TemporaryDirectory() as folder:
        files = arguments.files or write_default_texts(pathlib.Path(folder))
        rounds = []
        for _ in range(arguments.rounds):
            rounds.append((run_ours(arguments.binary, arguments.tokenizer, files),
                           run_peer(arguments.peer_python, arguments.tokenizer, files)))
        for file in files:
            ours, theirs = rounds[0][0][file]["checksum"], rounds[0][1][file]["checksum"]
            if ours != theirs:
                sys.exit(f"{file}: the ids differ (checksums {ours} and {theirs})")
        print(f"{'text':10} {'bytes':>9} {'athanor MB/s':>13} {'spread':>7} {'peer MB/s':>10} {'spread':>7} {'ratio':>6}")
        for file in files:
            rates = [[r[side][file]["bytes"] / r[side][file]["seconds"] / 1e6 for r in rounds] for side in (0, 1)]
            medians = [statistics.median(rate) for rate in rates]
            spreads = [(max(rate) - min(rate)) / median for rate, median in zip(rates, medians)]
            print(f"{os.path.basename(file):10} {rounds[0][0][file]['bytes']:9} {medians[0]:13.1f} {spreads[0]:7.0%} "
                  f"{medians[1]:10.2f} {spreads[1]:7.0%} {medians[0] / medians[1]:6.1f}")
        loads = [statistics.median(r[side]["load"]["seconds"] for r in rounds) * 1e3 for side in (0, 1)]
        print(f"load: athanor {loads[0]:.0f} ms, peer {loads[1]:.0f} ms")


main()
