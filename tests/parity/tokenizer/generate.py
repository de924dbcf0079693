#!/usr/bin/env python3
"""Small byte-level tokenizers, one for each kind of pipeline, with what Hugging Face tokenizers makes of texts with them.

    pip install tokenizers==0.23.3 && python3 generate.py

Writes small/NAME.json (a tokenizer.json trained here on random text, so nothing is copied from a model) and small/NAME.jsonl:
{"text", "ids" with special tokens added, "decoded", "skipped" (decoded without special tokens), "pieces"}.
"""
import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parent / "small"
FIXED = ["", " ", "  ", "\n", " \n ", "\t x", "Hello, world!", " two  spaces  ", "12345678901", "3.14159e-10", "don't THEY'LL I'Ve we'd 'S '\u017f",
         "\u5e8a\u524d\u660e\u6708\u5149\uff0c\u7591\u662f\u5730\u4e0a\u971c\u3002", "\u3000\u3000indent\u3000\u3002\u3000 x\u3000abc", "e\u0301 \u00e9 \u1e9b\u0323 \u1100\u1161\u11a8",
         "def f(x):\n    return x**2  # square\n\n\nclass A:\n\tpass\n", "a" * 70, "ab " * 40, "\r\nwindows\r\n\r\n", "x\u0000y", "\u2460\u2167\u00bd\uff11\uff12\uff13",
         "Vi\u1ec7t Nam \u201cquoted\u201d \u2003em\u2003 \u2028 line", "<s>in<s> </s> <w>a<w> <w>b <l>  <l> <r>  x<rr>", "((([[[{{{}}}]]])))", "\U0001f469\u200d\U0001f469 \U00010d40\U00011de0",
         "trailing newline\n", "\ufeffBOM", "snake_case kebab-case CamelCase", "!?!? ...!!! \u2014\u2014"]
POOL = ([chr(c) for r in ((32, 127), (0xA0, 0x17F), (0x300, 0x30A), (0x370, 0x3FF), (0x4E00, 0x4E40), (0x3000, 0x30FF), (0x1EA0, 0x1EFF), (0x2000, 0x2070),
                          (0x5D0, 0x5EA), (0x2460, 0x2470), (0x1F600, 0x1F610), (0xAC00, 0xAC20), (0xFF00, 0xFF20), (0x9, 0xE)) for c in range(*r)]
        + list(" \n\t0123456789'<>se") * 12 + [" <s>", "</s>", "<w>", "<l> ", " <r>"] * 4)


def texts(seed, count):
    rng = random.Random(seed)
    return ["".join(rng.choice(POOL) for _ in range(rng.randint(1, 60))) for _ in range(count)]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern) if isinstance(pattern, str) else pattern[0], behavior, invert)


LLAMA = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
PIPELINES = {
    "llama3": [split(LLAMA % r"\p{N}{1,3}"), BYTES],
    "qwen2": [split(LLAMA % r"\p{N}"), BYTES],
    "deepseek_coder": [split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(HAN), pre_tokenizers.Digits(individual_digits=True), BYTES],
    "gpt2": [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)],
    "prefix_space": [pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True)],
    "behaviors": [split(r"\p{P}", "merged_with_previous"), split(r"\d+", "merged_with_next"), split([" "], "removed"), split(r"[^\s]+", "contiguous", True), BYTES],
    "whole": [BYTES],
}


def special_tokens(name):
    tokens = [AddedToken("<s>", special=True, normalized=False), AddedToken("</s>", special=True, normalized=False)]
    if name in ("gpt2", "behaviors"):
        tokens += [AddedToken("<w>", single_word=True), AddedToken("<l>", lstrip=True), AddedToken("<r>", rstrip=True), AddedToken("<rr>", special=True), AddedToken("\u00e9t\u00e9", normalized=True)]
    return tokens


def build(name, stages):
    tokenizer = Tokenizer(models.BPE())
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = stages[0] if len(stages) == 1 else pre_tokenizers.Sequence(stages)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=520, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(texts(1, 300) + FIXED * 3, trainer)
    tokenizer.add_tokens(special_tokens(name))
    if name == "llama3":
        # Whole pieces that merging cannot reach, which ignore_merges finds.
        state = json.loads(tokenizer.to_str())
        state["model"]["ignore_merges"] = True
        size = len(state["model"]["vocab"])
        for token in state["added_tokens"]:
            token["id"] += 3
        state["model"]["vocab"].update({"\u0120world": size, "Hello": size + 1, "\u0120spaces": size + 2})
        tokenizer = Tokenizer.from_str(json.dumps(state))
        bos = tokenizer.token_to_id("<s>")
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", bos), ("</s>", bos + 1)])])
    return tokenizer


def main():
    OUT.mkdir(exist_ok=True)
    for index, (name, stages) in enumerate(PIPELINES.items()):
        tokenizer = build(name, stages)
        # Merges as text for one, as pairs for the others: both spellings are in use.
        state = json.loads(tokenizer.to_str())
        if index % 2 == 0:
            state["model"]["merges"] = [" ".join(pair) if isinstance(pair, list) else pair for pair in state["model"]["merges"]]
        (OUT / f"{name}.json").write_text(json.dumps(state, ensure_ascii=False, indent=1))
        tokenizer = Tokenizer.from_str(json.dumps(state))
        with open(OUT / f"{name}.jsonl", "w") as lines:
            for text in FIXED + texts(100 + index, 60):
                ids = tokenizer.encode(text).ids
                pieces = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
                lines.write(json.dumps({"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False),
                                        "skipped": tokenizer.decode(ids), "pieces": pieces}) + "\n")


main()
