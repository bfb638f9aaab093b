import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveExtension } from '../../../catalog/graph/extension.ts';
import { resolveNamespace } from '../../../catalog/graph/namespace.ts';
import { nextV0 } from '../../../catalog/graph/next-v0.ts';
import { nextV1 } from '../../../catalog/graph/next-v1.ts';
import type { Outcome } from '../../../catalog/graph/outcome.ts';
import { parseVersion } from '../../../catalog/version.ts';
import { anyPackage, bundleName, PACKAGE, sourceFrom, VERSIONS } from './universe.ts';

const anyInstalled = fc.constantFrom(...VERSIONS).map((version) => ({ name: bundleName(version), version }));

describe('what is prepared for a package answers as the whole resolver does', () => {
  test('under OLM v0', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, anyInstalled, async (written, { name, version }) => {
        const source = await sourceFrom({ [PACKAGE]: written });
        const scope = { catalogs: [source] };
        const installed = { name, version: parseVersion(version) };
        const prepared = nextV0(scope, source, { place: { package: PACKAGE, channel: 'a' }, installed });
        const whole = resolveNamespace(scope, {
          name: 'operators',
          subscriptions: [
            {
              name: 's',
              package: PACKAGE,
              channel: 'a',
              catalog: 'cat',
              startingCSV: '',
              installedCSV: name,
            },
          ],
          installed: [
            { ...installed, properties: [{ type: 'olm.package', value: { packageName: PACKAGE, version } }] },
          ],
        });
        expect(target(prepared)).toBe(
          whole.kind === 'fails' ? `fails: ${whole.reason.code}` : (whole.steps[0]?.bundle ?? 'stays'),
        );
      }),
      { numRuns: 120 },
    );
  });

  test.each([[[]], [['a']], [['b']]])('under OLM v1 with channels %j', async (channels) => {
    await fc.assert(
      fc.asyncProperty(anyPackage, anyInstalled, async (written, { name, version }) => {
        const source = await sourceFrom({ [PACKAGE]: written });
        const selection = { package: PACKAGE, channels };
        const prepared = nextV1(source, { selection, installed: { name, version: parseVersion(version) } });
        const whole = resolveExtension(
          { catalogs: [source] },
          { ...selection, version: '', policy: 'CatalogProvided', installed: { name, version } },
        );
        if (whole.ties.length > 0) return;
        expect(prepared).toEqual(whole.outcome);
      }),
      { numRuns: 120 },
    );
  });
});

function target(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'upgrade':
      return outcome.to.name;
    case 'stays':
      return 'stays';
    case 'fails':
      return `fails: ${outcome.reason.code}`;
  }
}
