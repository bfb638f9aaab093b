/**
 * Names of catalogs as people say them: `v4.14 to v4.17, v4.20`.
 *
 * @param order names in the order of platforms: three or more in a row are shortened; one that is not in it stands alone, before all others
 */
export function catalogsText(names: readonly string[], order: readonly string[]): string {
  const runs: string[][] = [];
  for (const name of [...names].sort((a, b) => order.indexOf(a) - order.indexOf(b))) {
    const before = order[order.indexOf(name) - 1];
    const run = runs.at(-1);
    if (run && before !== undefined && run.at(-1) === before) run.push(name);
    else runs.push([name]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]} to ${run.at(-1)}` : run.join(', '))).join(', ');
}
