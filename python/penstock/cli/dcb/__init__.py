"""`penstock dcb`: congestion notification domains. Each command is a thin layer over `penstock.dcb`."""

from typing import Annotated

import typer

from penstock.cli import completion, options
from penstock.cli.failure import Commands

app = typer.Typer(
    name="dcb",
    cls=Commands,
    help="Congestion notification domains: managed objects, reaction points of interfaces, plans of domains.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_PROFILE = typer.Option(
    metavar="NAME", autocompletion=completion.profile, help="A named set of the scheme's parameters."
)
_SCHEME = typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme, instead of the scenario's.")


@app.command("show", short_help="Show managed objects: all, a scenario's, or a device's.")
def show(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="DEVICE|SCENARIO",
            autocompletion=completion.device_or_scenario,
            help="A network interface, or a scenario file or name.  [default: list the managed objects]",
        ),
    ] = None,
    scheme: Annotated[str | None, _SCHEME] = None,
    profile: Annotated[str | None, _PROFILE] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """Show the managed objects of IEEE8021-CN-MIB with their defaults, or a scenario's values, or a device's.

    A file, or a name that `penstock scenarios` lists, is a scenario; any other word is a device.
    """
    from penstock.cli.dcb.show import show_device, show_objects, show_scenario
    from penstock.cli.locate import is_scenario

    if scenario is None:
        show_objects(json=json)
    elif is_scenario(scenario):
        show_scenario(scenario, scheme=scheme, profile=profile, sets=sets or [], json=json)
    else:
        show_device(scenario, json=json)


@app.command("set", short_help="Set the reaction points of a device.")
def set_values(
    device: Annotated[
        str, typer.Argument(metavar="DEVICE", autocompletion=completion.device, help="A network interface.")
    ],
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE…",
            autocompletion=completion.reaction_point,
            help="Values, such as rpg_gd=7 or rpg_time_reset='25 ms'.",
        ),
    ],
    priorities: Annotated[
        list[int] | None,
        typer.Option("--priority", min=0, max=7, metavar="N", help="Their priority. Repeatable.  [default: all]"),
    ] = None,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """Set values of a network interface's reaction points, leave the others, and show all as they are then.

    It needs Linux, the capability CAP_NET_ADMIN, and a driver that has reaction points.
    """
    from penstock.cli.dcb.show import set_device

    set_device(device, values, priorities=priorities, json=json)


@app.command("plan", short_help="Plan the domain of a scenario with QCN.")
def plan(
    scenario: Annotated[str, options.SCENARIO],
    scheme: Annotated[str | None, _SCHEME] = None,
    profile: Annotated[str | None, _PROFILE] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            "--outside",
            metavar="NODE",
            autocompletion=completion.node,
            help="A node that takes no part in congestion notification. Repeatable.",
        ),
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    limit: Annotated[int, options.LIMIT] = 1,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """Say how each port of a scenario defends its domain, and which values make devices do as the scenario does.

    The modes are those on which the ports' state machines agree by LLDP (802.1Q, clause 32).
    """
    from penstock.cli.dcb.show import show_plan

    show_plan(scenario, scheme=scheme, profile=profile, outside=outside or [], sets=sets or [], limit=limit, json=json)
