"""Asks `oncecheck conform --json` what the model makes of vectors."""

import json
import os
import re
import subprocess
import tempfile

import vector as vectors
from shrink import shape

VERDICTS = ("agree", "allowed", "unsupported", "mismatch")
_KIND = re.compile(r"^\w+|GET_LOCK|advisory\w*|ON CONFLICT|ON DUPLICATE|IGNORE|FOR \w+|SHARE MODE|DO \w+")


class ModelError(Exception):
    """The command did not give a verdict for every vector."""


def verdicts(binary, folder):
    """name -> (verdict, what the command said about it) for the vectors of a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        command = [binary, "conform", folder, "--json", report]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not os.path.exists(report):
            raise ModelError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()[-200:]}")
        try:
            with open(report, encoding="utf-8") as file:
                entries = json.load(file)["vectors"]
        except (ValueError, KeyError) as error:
            raise ModelError(f"{' '.join(command)}: no report: {error}") from error
    return {entry["name"]: (entry["verdict"], entry) for entry in entries}


def ask(binary, recorded):
    """The verdicts for a list of vectors, in order. A vector at which the command fails is a mismatch."""
    try:
        return _ask(binary, recorded)
    except ModelError as error:
        if len(recorded) == 1:
            return [("mismatch", {"reason": f"the command failed: {error}"})]
        middle = len(recorded) // 2
        return ask(binary, recorded[:middle]) + ask(binary, recorded[middle:])


def _ask(binary, recorded):
    """Under names of their own: those of the vectors may repeat."""
    with tempfile.TemporaryDirectory() as folder:
        for index, vector in enumerate(recorded):
            vectors.save(os.path.join(folder, f"v{index:05d}.json"), dict(vector, name=f"v{index:05d}"))
        found = verdicts(binary, folder)
    missing = [index for index in range(len(recorded)) if f"v{index:05d}" not in found]
    if missing:
        raise ModelError(f"no verdict for {len(missing)} of {len(recorded)} vectors")
    return [found[f"v{index:05d}"] for index in range(len(recorded))]


def what_differs(vector, entry):
    """The kind of statement at which the model leaves the record, what was expected and what the model gave."""
    for recording in entry.get("recordings", []):
        for divergence in recording.get("divergences", []):
            for line in divergence.get("differences", []):
                step = line.get("step", len(vector["steps"]))
                sql = vector["steps"][step].get("sql", "op") if step < len(vector["steps"]) else "final"
                kind = " ".join(_KIND.findall(sql))
                return f"{kind}: {shape(line['expected'])} <> {shape(line['got'])}"[:240]
    return entry.get("reason", "no path")
