/** What rules about graphs find in a merge of generated states. */
import { afterAll, beforeAll } from 'vitest';
import { type FindingsOf, type GraphRules, openGraphRules } from './graph-rules.ts';

/** Opens one repository for all tests of a file. */
export function graphFindings(): FindingsOf {
  let rules: GraphRules;
  beforeAll(async () => {
    rules = await openGraphRules();
  });
  afterAll(() => rules.close());
  return (...asked) => rules.findingsOf(...asked);
}

/** The errors of a merge alone. */
export function graphErrors(): FindingsOf {
  const findingsOf = graphFindings();
  return async (...asked) => (await findingsOf(...asked)).filter(({ severity }) => severity === 'error');
}
