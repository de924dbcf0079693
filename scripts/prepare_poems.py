#!/usr/bin/env python3
"""Writes Chinese poems of Debian's fortunes-zh as training data: FOLDER/train.jsonl, FOLDER/validation.jsonl, and a tokenizer
for them: FOLDER/tokenizer.json, a byte-level BPE in which every character of the poems is one token.

    scripts/prepare_poems.py --output runs/poems

A row is {"text": "title\\nauthor\\nverses"} in simplified characters. tang300 and song100 are taken whole; of `chinese` only verse that
has an author and a title (no proverbs, no prose, no manuals). About one poem in fifty is for validation; which, is decided by title
and author, so that parts of one poem stay together and a newer package moves no other poem.
"""
import argparse
import hashlib
import json
import os
import re
import sys

FILES = ("tang300", "song100", "chinese")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ENTRY_END = re.compile(r"^%[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"^(?:题目[:：])?《(.+)》")
AUTHOR = re.compile(r"^作者[:：]\s*(.+)$")
ATTRIBUTION = re.compile(r"^\s*--\s*(\S+?)\s*《([^》]+)》$")
LIFETIME = re.compile(r"[（(].*?[）)]")
CLAUSE_END = re.compile(r"[，。！？；：、,.!?;:…—“”‘’\s]+")
NOT_VERSE = re.compile(r"[A-Za-z0-9《》\[\]的]|[\u2500-\u25ff\ue000-\uf8ff]")
OTHER_TITLE = re.compile(r"\s*[/-]\s*.*")  # "title / another title"
LONGEST_CLAUSE = 11
SHARE_FOR_VALIDATION = 50  # one of so many
SPECIAL = ("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>")  # DeepSeek's


class Failure(Exception):
    pass


def clauses(lines):
    return [clause for line in lines for clause in CLAUSE_END.split(line) if clause]


def verse_lines(lines):
    return [line.strip().replace(",", "，").replace("．", "。") for line in lines if line.strip()]


def read_headed(entry):
    """Title and author in the first two lines, as tang300 and song100 have them."""
    lines = entry.strip("\n").split("\n")
    if len(lines) < 3:
        return None
    title, author = TITLE.match(lines[0]), AUTHOR.match(lines[1])
    if not title or not author:
        return None
    return title.group(1), LIFETIME.sub("", author.group(1)).strip(), verse_lines(lines[2:])


def read_attributed(entry):
    """'-- author《title》' in the last line, as `chinese` has it; None for all that is no verse."""
    lines = entry.strip().split("\n")
    attribution = ATTRIBUTION.match(lines[-1])
    if len(lines) < 2 or not attribution:
        return None
    author, title = attribution.group(1), OTHER_TITLE.sub("", attribution.group(2))
    verses = verse_lines(lines[:-1])
    if not 2 <= len(author) <= 5 or NOT_VERSE.search(author + title + "".join(verses)):
        return None
    if max(map(len, clauses(verses)), default=0) > LONGEST_CLAUSE or len(clauses(verses)) < 2:
        return None
    return title, author, verses


def read_poems(folder):
    """All poems, each once: what repeats verses of an earlier one is left out."""
    seen = set()
    for name in FILES:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = COLOUR.sub("", file.read())
        for entry in ENTRY_END.split(text):
            poem = (read_attributed if name == "chinese" else read_headed)(entry)
            if poem is None:
                continue
            parts = clauses(poem[2])
            if 2 * sum(part in seen for part in parts if len(part) > 3) >= len(parts):
                continue
            seen.update(part for part in parts if len(part) > 3)
            yield poem


def is_for_validation(title, author):
    # Parts are named "title・first": they go together.
    name = re.split(r"[・·]", title)[0] + "\n" + author
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % SHARE_FOR_VALIDATION == 0


def write_rows(path, poems):
    partial = path + ".partial"
    with open(partial, "w", encoding="utf-8") as file:
        for title, author, verses in poems:
            file.write(json.dumps({"text": "\n".join([title, author, *verses])}, ensure_ascii=False) + "\n")
    os.replace(partial, path)


def byte_alphabet():
    """The visible character that stands for each byte in byte-level BPE."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {byte: chr(256 + place) for place, byte in enumerate(others)}


def write_tokenizer(folder, poems):
    """Merges make each character of the poems from its bytes; other characters stay bytes."""
    alphabet = byte_alphabet()
    characters = sorted({character for poem in poems for line in (poem[0], poem[1], *poem[2]) for character in line if ord(character) > 127})
    spelt = [[alphabet[byte] for byte in character.encode()] for character in characters]
    tokens, merges = [*SPECIAL, *(alphabet[byte] for byte in range(256))], []
    # Two bytes first, then the third: a byte pair begins no character but its own.
    for length in range(2, 5):
        for left, right in dict.fromkeys(("".join(units[:length - 1]), units[length - 1]) for units in spelt if len(units) >= length):
            tokens.append(left + right)
            merges.append([left, right])
    special = [{"id": place, "content": content, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False} for place, content in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    write_json(os.path.join(folder, "tokenizer.json"),
               {"version": "1.0", "added_tokens": special, "normalizer": None, "pre_tokenizer": byte_level, "decoder": byte_level,
                "post_processor": None, "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges}})
    write_json(os.path.join(folder, "tokenizer_config.json"),
               {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "eos_token": SPECIAL[1], "pad_token": SPECIAL[1],
                "add_bos_token": True, "add_eos_token": False, "clean_up_tokenization_spaces": False})
    return len(tokens)


def write_json(path, value):
    with open(path + ".partial", "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
    os.replace(path + ".partial", path)


def is_up_to_date(outputs, inputs):
    if not all(map(os.path.isfile, outputs)):
        return False
    return min(map(os.path.getmtime, outputs)) >= max(map(os.path.getmtime, inputs))


def prepare(output, folder):
    inputs = [os.path.join(folder, name) for name in FILES]
    missing = [path for path in inputs if not os.path.isfile(path)]
    if missing:
        raise Failure(
            f"{missing[0]} is missing: install the Debian package fortunes-zh\n"
            "  (scripts/install-dependencies, or apt-get install fortunes-zh), or name the folder with --fortunes"
        )
    train, validation = os.path.join(output, "train.jsonl"), os.path.join(output, "validation.jsonl")
    tokenizer = os.path.join(output, "tokenizer.json")
    if is_up_to_date([train, validation, tokenizer], inputs + [os.path.abspath(__file__)]):
        return f"{output} is up to date"
    poems = list(read_poems(folder))
    held_out = [poem for poem in poems if is_for_validation(poem[0], poem[1])]
    learnt = [poem for poem in poems if not is_for_validation(poem[0], poem[1])]
    if not learnt or not held_out:
        raise Failure(f"{folder} holds too few poems: {len(poems)}")
    os.makedirs(output, exist_ok=True)
    vocabulary = write_tokenizer(output, poems)
    write_rows(validation, held_out)
    write_rows(train, learnt)
    size = os.path.getsize(train) / 1e6
    return f"{output}: {len(learnt)} poems to train on ({size:.2f} MB), {len(held_out)} for validation, {vocabulary} tokens"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, metavar="FOLDER", help="where the two files go; made if needed")
    parser.add_argument("--fortunes", default="/usr/share/games/fortunes", metavar="FOLDER", help="where the package put its files")
    arguments = parser.parse_args()
    try:
        print(prepare(arguments.output, arguments.fortunes))
    except (Failure, OSError, UnicodeDecodeError) as error:
        print(f"prepare_poems.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
