/** Steps that extras add to the check of a pull request's content, one line for each. The check also runs without them. */
import type { Repository } from '../git/repository.ts';
import { checkAdvisories } from './advisories/undone-advisories.ts';
import type { CatalogResult } from './content/catalog-rules.ts';
import type { Asked } from './request.ts';
import type { LoadedCatalogs } from './world/catalogs.ts';
import type { CheckScene } from './world/scene.ts';

interface ExtraResult {
  readonly results: readonly CatalogResult[];
  /** Makes findings of the catalogs milder that people have accepted. */
  readonly soften: (result: CatalogResult) => CatalogResult;
}

type ExtraStep = (
  repository: Repository,
  checked: Pick<LoadedCatalogs, 'touched'> & { readonly scene: CheckScene },
  asked: Asked<'historyOf'> & { readonly today: string; readonly hasPeople: boolean },
) => Promise<ExtraResult>;

/** In the order in which their findings are listed. */
const EXTRA_STEPS: readonly ExtraStep[] = [checkAdvisories];

/** Runs all of them. */
export async function checkExtras(...given: Parameters<ExtraStep>): Promise<ExtraResult> {
  const all = await Promise.all(EXTRA_STEPS.map((step) => step(...given)));
  return {
    results: all.flatMap(({ results }) => results),
    soften: (result) => all.reduce((before, { soften }) => soften(before), result),
  };
}

/** For a pull request of which nothing is read. */
export const NO_EXTRAS: ExtraResult = { results: [], soften: (result) => result };
