/** How often a property is tried. */

const everything = process.env['PROPERTY_RUNS'] === 'all';

/**
 * The runs of a property in CI; a tenth of them in `npm test`, whose examples are others each time.
 *
 * @param all what `.ci/run` asks for, by `PROPERTY_RUNS=all`
 */
export function runs(all: number): { readonly numRuns: number } {
  return { numRuns: everything ? all : Math.ceil(all / 10) };
}
