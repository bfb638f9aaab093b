// The page of a rehearsal in Debian's Chromium: everything can be read on a desktop and on a phone, in light and dark.
import { expect } from 'vitest';
import type { Finding } from '../../catalog/finding.ts';
import type { Rehearsal } from '../../pipeline/check/rehearsal/rehearsal.ts';
import type { RehearsedMerge } from '../../pipeline/check/rehearsal/tally.ts';
import { rehearsalPage } from '../../pipeline/report/page/rehearsal-page.ts';
import { legibleContract } from '../fakes/legible.ts';

const LONG = 'operator'.repeat(10);
const ERROR: Finding = {
  rule: 'graph/package-removed',
  severity: 'error',
  message: `package "${LONG}" is removed`,
  location: { file: `catalogs/v4.20/${LONG}/catalog.yaml`, line: 1, column: 1 },
  catalogs: ['v4.19', 'v4.20'],
};
const merge = (state: RehearsedMerge['state'], more: Partial<RehearsedMerge> = {}): RehearsedMerge => ({
  commit: 'a'.repeat(40),
  date: '2026-01-01',
  subject: `Merge pull request #1 from somebody/${LONG}`,
  author: 'somebody',
  state,
  denied: false,
  headline: `package "${LONG}" is removed`,
  packages: [LONG],
  errors: [],
  needs: [],
  asked: [],
  ...more,
});
const REHEARSAL: Rehearsal = {
  from: '2026-01-01',
  to: '2026-01-01',
  merges: [
    merge('failure', { errors: [ERROR] }),
    merge('pending', { needs: [`needs approval from @${LONG} for package ${LONG}`], asked: [LONG] }),
    merge('success'),
  ],
  rules: [{ rule: 'graph/package-removed', errors: 1, warnings: 1000, merges: 1 }],
  people: [{ login: LONG, merges: 1 }],
  stranded: [
    {
      month: '2026-01',
      merges: 1,
      packages: [{ package: LONG, versions: ['1.0.0', '1.1.0'], catalogs: ['v4.19', 'v4.20'] }],
    },
  ],
  intended: {
    policy: `waivers:\n- {rule: graph/package-removed, package: ${LONG}, until: 2026-03-30, reason: say why it is intended}\n`,
    lines: [{ rule: 'graph/package-removed', setting: `a waiver for ${LONG}`, errors: 1, merges: 1 }],
  },
  unchecked: [{ what: 'earlier merges', why: 'the clone is shallow' }],
};

legibleContract(
  'rehearsal',
  () => {
    const policy = { source: 'x', text: `a: ${LONG}${LONG}` };
    const text = rehearsalPage({ rehearsal: REHEARSAL, name: LONG, policy });
    return text.replaceAll('<details>', '<details open>');
  },
  async (page) => {
    expect(await page.locator('h2').count()).toBe(7);
  },
);
