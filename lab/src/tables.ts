/** Tables of the theory, each loaded when a run is seen that has one. */

import { address, has } from "./files";
import type { Entry } from "./page";
import type { Table } from "./theory";
import type { RunView } from "./view";

export class Tables {
  private readonly loaded = new Map<string, Table>();

  /** The table of a run; null where the page has none. */
  async of(view: RunView, gallery: Entry[]): Promise<Table | null> {
    const entry = gallery.find(({ question }) => question === view.series.plan.question);
    const name = `theory/${entry?.scenario}.${view.name}.json`;
    if (!entry?.theory.includes(view.name) || !has(name)) return null;
    let table = this.loaded.get(name);
    if (!table) {
      table = (await (await fetch(address(name))).json()) as Table;
      this.loaded.set(name, table);
    }
    return table;
  }
}
