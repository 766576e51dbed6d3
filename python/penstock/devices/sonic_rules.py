"""Syntax, references and limits of SONiC's tables."""

import re
from collections.abc import Mapping
from typing import Any

from penstock.devices.findings import Finding, Kind
from penstock.devices.json_lines import LinedDict
from penstock.devices.sonic_tables import NAME, NAMES_OF_32, TABLES, Field, Table
from penstock.errors import nearest


def check_tables(tables: LinedDict, findings: list[Finding]) -> dict[str, LinedDict]:
    """Return the known tables without the entries and fields that are faulty, which are added to the findings."""
    return _Rules(tables, findings).check()


class _Rules:
    def __init__(self, tables: LinedDict, findings: list[Finding]) -> None:
        self.tables, self.findings = tables, findings
        self.ports_known = isinstance(tables.get("PORT"), LinedDict)

    def add(
        self, line: int | None, where: str, kind: Kind, message: str, remedy: str = "", severity: str = "error"
    ) -> None:
        found = Finding(line=line, where=where, severity=severity, kind=kind, message=message, remedy=remedy)  # type: ignore[arg-type]
        self.findings.append(found)

    def repeated(self, found: LinedDict, where: str) -> None:
        for key, first, last in found.repeated:
            name = f"{where}|{key}".lstrip("|")
            self.add(last, name, "syntax", f"the key stands in line {first}, too: the last one wins", "keep one")

    def check(self) -> dict[str, LinedDict]:
        self.repeated(self.tables, "")
        known: dict[str, LinedDict] = {}
        others = []
        for name, entries in self.tables.items():
            line = self.tables.lines.get(name)
            if name not in TABLES and name != "DEVICE_METADATA":
                near = nearest(name, TABLES, "", cutoff=0.8)
                if near and not name.startswith("BUFFER_PORT") and name not in ("TC_TO_DSCP_MAP",):
                    self.add(line, name, "syntax", "no table has this name, so it has no effect", near, "warning")
                others.append(name)
                continue
            if not isinstance(entries, LinedDict):
                self.add(line, name, "syntax", "a table is an object of entries", f'write "{name}": {{ … }}')
                continue
            self.repeated(entries, name)
            good = LinedDict()
            good.lines = entries.lines
            for key, row in entries.items():
                if not isinstance(row, LinedDict):
                    self.add(entries.lines.get(key), f"{name}|{key}", "syntax", "an entry is an object of fields")
                    continue
                self.repeated(row, f"{name}|{key}")
                if name == "DEVICE_METADATA":
                    good[key] = row
                    continue
                kept = self.entry(name, TABLES[name], key, row, entries.lines.get(key))
                if kept is not None:
                    good[key] = kept
            known[name] = good
        if others:
            listed = ", ".join(sorted(others))
            self.add(None, "tables", "syntax", f"not looked at: {listed}", severity="note")
        if not self.ports_known:
            self.add(None, "PORT", "reference", "no table PORT, so names of ports are not checked", severity="note")
        self.together(known)
        return known

    def entry(self, name: str, table: Table, key: str, row: LinedDict, line: int | None) -> LinedDict | None:
        where = f"{name}|{key}"
        parts = key.split("|")
        if len(parts) != len(table.keys):
            shape = "|".join(part.upper() for part in table.keys)
            self.add(line, where, "syntax", f"the key has {len(parts)} parts", f"write {name}|{shape}")
            return None
        good = True
        for of, part in zip(table.keys, parts, strict=True):
            if of in ("port", "ifname") and not self.port(part, table.ports_besides):
                self.unknown_port(line, where, part)
                good = False
            if of in ("pg_num", "qindex"):
                good &= self.numbers(line, where, name, part)
        if name in NAMES_OF_32 and not re.fullmatch(NAME, key):
            self.add(
                line, where, "syntax", "no name", "write 1 to 32 letters, digits, - and _, a letter or digit first"
            )
        kept = LinedDict()
        kept.lines = row.lines
        if table.inner is not None:
            (of_key, keys), (of_value, values) = table.inner
            for code, value in row.items():
                at = row.lines.get(code)
                fine = self.value(at, f"{where}|{code}", of_key, keys, code)
                if self.value(at, f"{where}|{code}", of_value, values, value) and fine:
                    kept[code] = value
            return kept if good else None
        for field, value in row.items():
            rule = table.fields.get(field)
            at = row.lines.get(field)
            if rule is None:
                near = nearest(field, table.fields, "", cutoff=0.75) if name != "PORT" else ""
                if near:
                    self.add(at, f"{where}|{field}", "syntax", "no field has this name", near, "warning")
                kept[field] = value
            elif self.value(at, f"{where}|{field}", field, rule, value):
                kept[field] = value
        for field in table.mandatory:
            if field not in row:
                self.add(line, where, "syntax", f"{field} is missing", f"add {field}")
                good = False
        return kept if good else None

    def port(self, name: str, besides: tuple[str, ...]) -> bool:
        return not self.ports_known or name in self.tables["PORT"] or name in besides

    def unknown_port(self, line: int | None, where: str, name: str) -> None:
        hint = nearest(name, self.tables["PORT"], "add it to PORT")
        self.add(line, where, "reference", f"{name}: no port of PORT has this name", hint)

    def numbers(self, line: int | None, where: str, table: str, text: str) -> bool:
        highest = 7 if table == "BUFFER_PG" else 47 if where.startswith("QUEUE|CPU") else 15
        found = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", text)
        if found is None:
            self.add(line, where, "syntax", f"{text}: no number or range", "write 3 or 3-4")
            return False
        first, last = int(found[1]), int(found[2] or found[1])
        if last > highest or first > last:
            self.add(
                line, where, "range", f"{text}: beyond 0 to {highest}", f"write numbers from 0 to {highest}, rising"
            )
            return False
        return True

    def value(self, line: int | None, where: str, name: str, rule: Field, value: Any) -> bool:
        if isinstance(value, bool):
            text = str(value).lower()
        elif isinstance(value, str | int):
            text = str(value)
        else:
            self.add(line, where, "syntax", f"{name} is a text or a whole number, not {_shown(value)}")
            return False
        if rule.low is not None and rule.high is not None:
            if not re.fullmatch(r"-?\d{1,20}", text):
                self.add(line, where, "syntax", f"{_shown(text)}: no whole number", f"write {rule.low} to {rule.high}")
                return False
            if not rule.low <= int(text) <= rule.high:
                self.add(line, where, "range", f"{text}: out of range", f"write {rule.low} to {rule.high}")
                return False
        elif rule.values and text not in rule.values:
            self.add(line, where, "range", f"{_shown(text)}: no such value", f"write {', '.join(rule.values)}")
            return False
        elif rule.pattern and not re.fullmatch(rule.pattern, text, re.ASCII):
            self.add(line, where, "syntax", f"{_shown(text)}: not of the form", f"write, for instance, {rule.example}")
            return False
        elif rule.refers and not self.refers(line, where, rule, text):
            return False
        return True

    def refers(self, line: int | None, where: str, rule: Field, text: str) -> bool:
        if rule.refers == "PORT":
            if self.port(text, ()):
                return True
            self.unknown_port(line, where, text)
            return False
        old = re.fullmatch(r"\[(\w+)\|(.*)\]", text)
        name = old[2] if old else text
        entries = self.tables.get(rule.refers)
        if name in rule.besides or (isinstance(entries, dict) and name in entries):
            return True
        hint = nearest(name, entries if isinstance(entries, dict) else (), f"add it to {rule.refers}")
        self.add(line, where, "reference", f"{_shown(name)}: {rule.refers} has no entry of this name", hint)
        return False

    def together(self, known: Mapping[str, LinedDict]) -> None:
        """Check fields against each other."""
        for key, row in known.get("WRED_PROFILE", {}).items():
            for colour in ("green", "yellow", "red"):
                low, high = row.get(f"{colour}_min_threshold"), row.get(f"{colour}_max_threshold")
                if low is not None and high is not None and int(high) < int(low):
                    at = row.lines.get(f"{colour}_max_threshold")
                    where = f"WRED_PROFILE|{key}|{colour}_max_threshold"
                    self.add(
                        at, where, "range", f"{high} is below {colour}_min_threshold {low}", f"write {low} or more"
                    )
        watchdogs: Mapping[str, Any] = known.get("PFC_WD", {})
        pools: Mapping[str, Any] = known.get("BUFFER_POOL", {})
        poll = watchdogs["GLOBAL"].get("POLL_INTERVAL") if "GLOBAL" in watchdogs else None
        for key, row in known.get("PFC_WD", {}).items():
            for field in ("detection_time", "restoration_time"):
                if key != "GLOBAL" and poll is not None and field in row and int(row[field]) < int(poll):
                    where = f"PFC_WD|{key}|{field}"
                    message = f"{row[field]} ms is below POLL_INTERVAL {poll}"
                    self.add(row.lines.get(field), where, "range", message, f"write {poll} or more")
            wrong = [field for field in row if (field == "POLL_INTERVAL") != (key == "GLOBAL")]
            for field in wrong:
                self.add(
                    row.lines.get(field),
                    f"PFC_WD|{key}|{field}",
                    "syntax",
                    "not a field of this entry",
                    "POLL_INTERVAL stands in GLOBAL, all others at ports",
                )
        for key, row in known.get("BUFFER_PROFILE", {}).items():
            self.profile(key, row, pools)
        for key, row in known.get("BUFFER_POOL", {}).items():
            if "size" in row and "percentage" in row:
                where = f"BUFFER_POOL|{key}|percentage"
                self.add(row.lines.get("percentage"), where, "range", "stands beside size", "keep one of them")
        for key, row in known.get("SCHEDULER", {}).items():
            if "pir" in row and int(row["pir"]) < int(row.get("cir", 0)):
                where = f"SCHEDULER|{key}|pir"
                self.add(
                    row.lines.get("pir"), where, "range", f"{row['pir']} is below cir {row['cir']}", "write cir or more"
                )

    def profile(self, key: str, row: LinedDict, pools: Mapping[str, Any]) -> None:
        where = f"BUFFER_PROFILE|{key}"
        pool = str(row.get("pool", ""))
        pool = pool.partition("|")[2].rstrip("]") if pool.startswith("[") else pool
        mode = pools[pool].get("mode") if pool in pools else None
        if mode == "dynamic" and "static_th" in row:
            at, text = row.lines.get("static_th"), "the pool is dynamic, and static_th has octets"
            self.add(at, f"{where}|static_th", "range", text, "write dynamic_th, -8 to 7")
        if mode == "static" and "dynamic_th" in row:
            at, text = row.lines.get("dynamic_th"), "the pool is static, and dynamic_th is an exponent of alpha"
            self.add(at, f"{where}|dynamic_th", "range", text, "write static_th in octets")


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
