"""What `fortrans check` finds, in the forms that machines read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from fortrans.remarks import InputError, Kind, Remark, codes
from fortrans.source import Source

DIFFERS, MISSING, STALE, ERROR = "differs", "missing", "stale", "error"
"""Rules that are not remarks: about committed generated files, and a file that cannot be read."""

_RULES = {
    DIFFERS: "Committed file is not what fortrans generates from its source",
    MISSING: "Generated file is not there",
    STALE: "File is generated from no source any more",
    ERROR: "File cannot be read or understood",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to do something about, at lines of a file.

    ``rule`` is a remark's code or one of this module's own; ``text`` is what stands there, which
    tells the finding again after lines were added above it.
    """

    path: str
    rule: str
    message: str
    first: int = 1
    last: int = 1
    text: str = ""

    @property
    def print(self) -> str:
        """The finding without its line: the same for as long as the statement stays as it is."""
        body = " ".join(self.text.split())
        state = hashlib.sha256("\0".join((_posix(self.path), self.rule, body)).encode("utf-8", "replace"))
        return state.hexdigest()[:32]


def of_remarks(source: Source, remarks: Sequence[Remark]) -> Iterator[Finding]:
    """A finding for each statement that would be rewritten."""
    lines = source.lines
    for remark in remarks:
        if remark.kind is Kind.PASSED:
            first, last = remark.span.first, remark.span.last
            yield Finding(
                source.path, remark.code, remark.message, first, last, "".join(lines[first - 1 : last])
            )


def of_error(problem: InputError) -> Finding:
    """The finding that a file cannot be read."""
    line = problem.line or 1
    return Finding(problem.path, ERROR, problem.message, line, line, problem.message)


def new(findings: Sequence[Finding], known: Mapping[str, int]) -> list[Finding]:
    """The findings that a baseline does not have; of equal ones, those beyond its count."""
    left = Counter(known)
    found = []
    for finding in findings:
        if left[finding.print] > 0 and finding.rule != ERROR:
            left[finding.print] -= 1
        else:
            found.append(finding)
    return found


def baseline(findings: Sequence[Finding]) -> str:
    """The text of a baseline that has all ``findings``, errors apart."""
    rows: dict[str, dict[str, object]] = {}
    for finding in findings:
        if finding.rule == ERROR:
            continue
        row = rows.setdefault(
            finding.print, {"path": _posix(finding.path), "rule": finding.rule, "count": 0}
        )
        row["count"] = int(str(row["count"])) + 1
    ordered = dict(sorted(rows.items(), key=lambda item: (str(item[1]["path"]), item[0])))
    return json.dumps({"version": 1, "findings": ordered}, indent=1) + "\n"


def read_baseline(path: str, text: str) -> dict[str, int]:
    """How often each finding of a baseline counts.  Raises InputError when it is none."""
    try:
        found = json.loads(text)
        if found["version"] != 1:
            raise InputError(path, f"Baseline has version {found['version']}, and 1 is understood")
        return {name: int(row["count"]) for name, row in found["findings"].items()}
    except json.JSONDecodeError as error:
        raise InputError(path, "Baseline is not JSON", error.lineno) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(path, "File is not a baseline of fortrans") from error


# ---- forms ---------------------------------------------------------------------------


def as_json(findings: Sequence[Finding], version: str) -> str:
    """One object: ``version`` of this form, ``tool``, and ``findings`` with path, lines, rule, message."""
    rows = [
        {
            "path": _posix(finding.path),
            "line": finding.first,
            "end_line": finding.last,
            "rule": finding.rule,
            "message": finding.message,
            "fingerprint": finding.print,
        }
        for finding in findings
    ]
    return json.dumps({"version": 1, "tool": f"fortrans {version}", "findings": rows}, indent=1) + "\n"


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands that become annotations of a pull request."""
    return "".join(
        f"::{'error' if finding.rule == ERROR else 'warning'} file={_property(_posix(finding.path))},"
        f"line={finding.first},endLine={finding.last},title={_property(_title(finding))}"
        f"::{_data(finding.message)}\n"
        for finding in findings
    )


def _title(finding: Finding) -> str:
    return f"fortrans {finding.rule}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(findings: Sequence[Finding], version: str) -> str:
    """A log in SARIF 2.1.0 (OASIS), one run; paths are relative to the folder of the call."""
    used = sorted({finding.rule for finding in findings})
    rules = [
        {
            "id": rule,
            "shortDescription": {"text": _RULES.get(rule) or codes()[rule].title},
            **({} if rule in _RULES else {"name": codes()[rule].name, "help": {"text": codes()[rule].what}}),
        }
        for rule in used
    ]
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": used.index(finding.rule),
            "level": "error" if finding.rule == ERROR else "warning",
            "message": {"text": finding.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(_posix(finding.path)), **_base(finding.path)},
                        "region": {"startLine": finding.first, "endLine": finding.last},
                    }
                }
            ],
            "partialFingerprints": {"fortrans/v1": finding.print},
        }
        for finding in findings
    ]
    driver = {"name": "fortrans", "version": version, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return json.dumps(log, indent=1) + "\n"


def _base(path: str) -> dict[str, str]:
    return {} if PurePath(path).is_absolute() else {"uriBaseId": "%SRCROOT%"}


def _posix(path: str) -> str:
    return PurePath(path).as_posix()
