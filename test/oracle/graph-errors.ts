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
  return (states) => rules.findingsOf(states);
}

/** The errors of a merge alone. */
export function graphErrors(): FindingsOf {
  const findingsOf = graphFindings();
  return async (states) => (await findingsOf(states)).filter(({ severity }) => severity === 'error');
}
