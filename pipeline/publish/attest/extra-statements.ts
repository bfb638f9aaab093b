/** Signed statements about published images that extras make, one entry for each. Publishes also run without them. */
import type { ExtraStatement } from './extra-statement.ts';

export const EXTRA_STATEMENTS: readonly ExtraStatement[] = [
  {
    asked: 'upgrade-safety',
    summary: 'attach a signed statement that says whether installations keep their upgrade path',
    predicateType: 'urn:portolan:upgrade-safety:v1',
    load: async () => (await import('./upgrade-safety.ts')).upgradeSafety,
  },
];
