/**
 * Names of catalogs as people say them: `v4.14 to v4.17, v4.20`.
 *
 * @param order all names, in the order of platforms: three or more in a row are shortened
 */
export function catalogsText(names: readonly string[], order: readonly string[]): string {
  const runs: string[][] = [];
  for (const name of [...names].sort((a, b) => order.indexOf(a) - order.indexOf(b))) {
    const run = runs.at(-1);
    const previous = run?.at(-1);
    if (run && previous !== undefined && order.indexOf(name) === order.indexOf(previous) + 1) run.push(name);
    else runs.push([name]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]} to ${run.at(-1)}` : run.join(', '))).join(', ');
}
