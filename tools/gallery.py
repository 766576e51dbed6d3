"""The gallery of the documentation: figures of scenarios, each with question, command and link to the laboratory."""

from pathlib import Path

import penstock

from lab_links import run_it

# Each heading with its scenarios and the figure of each.
GALLERY = {
    "Incast": [("incast/hpcc-sixteen", "overview"), ("incast/swift-eight", "overview"), ("loads/bursts", "overview")],
    "Fabrics under load": [("fabric/leaf-spine-200g", "overview"), ("loads/websearch-leaf-spine", "slowdown")],
    "Pauses": [("victim-flow/pfc", "overview"), ("deadlock/ring", "overview"), ("faults/pfc-storm", "overview")],
    "Broken links": [("faults/spine-link-near", "overview"), ("faults/spine-link-far", "overview")],
    "Jobs": [("jobs/training-step", "jobs"), ("jobs/experts", "path")],
    "The papers' experiments": [("netfpga/eight-sources-100us", "overview"), ("four-sources", "overview")],
}


def gallery(docs: Path, page: Path) -> str:
    """Return the gallery's Markdown for `page`, below `docs`, where its figures are drawn."""
    (docs / "images/gallery").mkdir(parents=True, exist_ok=True)
    return "\n\n".join(
        "\n\n".join([f"## {heading}", *(_entry(name, show, docs, page) for name, show in entries)])
        for heading, entries in GALLERY.items()
    )


def _entry(name: str, show: str, docs: Path, page: Path) -> str:
    scenario = penstock.Scenario.named(name)
    target = docs / f"images/gallery/{name.replace('/', '-')}.svg"
    scenario.run().plot(target, show=show, title=False)
    return "\n\n".join(
        [
            f"### {scenario.question}",
            f"![{scenario.question}]({target.relative_to(docs)})",
            f"```sh\npenstock run {name}\n```",
            *run_it(scenario, page),
        ]
    )
