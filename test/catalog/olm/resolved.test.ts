// Small universes with the answers of the real resolvers: OLM's step resolver over what `opm serve` would
// serve, and the catalog resolver of operator-controller. Each line is as small as one that differs, or shows
// another kind of outcome, could be made.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadCel } from '../../../catalog/fbc/cel/cel.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogOf, type Property } from '../../../catalog/fbc/model.ts';
import { resolveExtension } from '../../../catalog/olm/resolve/extension.ts';
import { resolveNamespace, type Subscription } from '../../../catalog/olm/resolve/namespace.ts';
import { storedVersion, versionReleaseOf } from '../../../catalog/olm/resolve/release.ts';
import type { Scope } from '../../../catalog/olm/resolve/snapshot.ts';
import { isServed } from '../../../catalog/rules/serve-refusals.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { parseVersion } from '../../../catalog/version/version.ts';

interface Recorded {
  readonly catalogs: readonly {
    readonly name: string;
    readonly priority: number;
    readonly blobs: readonly object[];
  }[];
}

interface RecordedV0 extends Recorded {
  readonly engine: 'v0';
  readonly subscriptions: readonly Subscription[];
  readonly installed: readonly {
    readonly name: string;
    readonly version: string;
    readonly package: string;
    readonly properties: readonly Property[];
  }[];
  readonly answer: { readonly steps?: readonly Step[]; readonly error?: string };
}

interface Step {
  readonly catalog: string;
  readonly bundle: string;
  readonly replaces: string;
}

interface RecordedV1 extends Recorded {
  readonly engine: 'v1';
  readonly package: string;
  readonly spec: {
    readonly version: string;
    readonly channels: readonly string[];
    readonly upgradeConstraintPolicy: string;
  };
  readonly installed: { readonly name: string; readonly version: string } | null;
  readonly answer: {
    readonly resolved?: string;
    readonly stored?: string;
    readonly error?: string;
    readonly candidates: Readonly<Record<string, readonly string[]>>;
  };
}

const cases = readFileSync('test/catalog/olm/fixtures/resolved.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line): RecordedV0 | RecordedV1 => JSON.parse(line));
const numbered = <C extends RecordedV0 | RecordedV1>(engine: C['engine']): [number, C][] =>
  cases.flatMap((one, i) => (one.engine === engine ? [[i + 1, one as C]] : []));

async function scopeOf({ catalogs }: Recorded, judges: boolean): Promise<Scope> {
  const all = catalogs.map(async ({ name, priority, blobs }) => {
    const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
    const { blobs: loaded, findings } = await load(sourceOf({ 'catalog.json': text }));
    const catalog = catalogOf(loaded);
    return { name, namespace: 'olm', priority, catalog, serving: !judges || isServed(catalog, findings) };
  });
  return { catalogs: await Promise.all(all), cel: await loadCel() };
}

describe('OLM v0', () => {
  test.each(numbered<RecordedV0>('v0'))('case %i', async (_, recorded) => {
    const resolution = resolveNamespace(await scopeOf(recorded, true), {
      name: 'operators',
      subscriptions: recorded.subscriptions,
      installed: recorded.installed.map(({ name, version, package: of, properties }) => ({
        name,
        version: parseVersion(version),
        properties: [{ type: 'olm.package', value: { packageName: of, version } }, ...properties],
      })),
    });
    const { steps = [], error } = recorded.answer;
    if (resolution.kind === 'fails') {
      // Which of several conflicts is named is up to the real solver.
      expect(error?.split(':')[0]).toBe(resolution.reason.text.split(':')[0]);
      return;
    }
    const ours = resolution.steps.map(({ catalog, bundle, replaces }) => ({ catalog, bundle, replaces }));
    expect(error).toBeUndefined();
    expect(byBundle(ours)).toEqual(byBundle(steps));
  });
});

function byBundle(steps: readonly Step[]): Step[] {
  return [...steps].sort((a, b) => (a.bundle < b.bundle ? -1 : 1));
}

describe('OLM v1', () => {
  test.each(numbered<RecordedV1>('v1'))('case %i', async (_, recorded) => {
    const scope = await scopeOf(recorded, false);
    const { spec, installed, answer } = recorded;
    const { outcome, candidates } = resolveExtension(scope, {
      package: recorded.package,
      version: spec.version,
      channels: spec.channels,
      policy: spec.upgradeConstraintPolicy === 'SelfCertified' ? 'SelfCertified' : 'CatalogProvided',
      installed: installed ?? undefined,
    });
    if (outcome.kind === 'fails') {
      expect(outcome.reason.text).toBe(answer.error);
      if (outcome.reason.code === 'bad-version') return;
    } else {
      const name = outcome.kind === 'upgrade' ? outcome.to.name : installed?.name;
      expect([name, storedAs(scope, name)]).toEqual([answer.resolved, answer.stored]);
    }
    expect(Object.fromEntries(candidates)).toEqual(answer.candidates);
  });
});

/** The version that OLM v1 keeps for a bundle. */
function storedAs({ catalogs }: Scope, name: string | undefined): string | undefined {
  const bundle = catalogs.flatMap(({ catalog }) => catalog.blobs.bundles).find((one) => one.name === name);
  const found = bundle && versionReleaseOf(bundle);
  return found && storedVersion(found);
}
