import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Property } from '../../fbc/model.ts';
import { canonical, sameBundle } from '../../fbc/same-bundle.ts';
import { REQUIRING } from '../../olm/resolve/requirement.ts';
import { CONFIRM_HINT, imageChange, type TagDigests, UNCONFIRMED } from '../../references/same-image.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/bundle-mutated',
  severity: 'error',
  summary: 'A published bundle does not change: clusters that have it never install it again',
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      for (const bundle of change.after.catalog.packages.get(name)?.bundles.values() ?? []) {
        const old = was?.get(bundle.name);
        if (!old || sameBundle(old, bundle)) continue;
        const difference = differenceOf(old, bundle, change.before.digests);
        if (!difference) continue;
        if (!change.before.isPublished({ package: name, bundle: bundle.name })) {
          const message = `bundle ${quoted(bundle.name)} changes before it is published: ${difference.text}`;
          report(message, locate(bundle, ...difference.path), { package: name, severity: 'info' });
          continue;
        }
        const message = `bundle ${quoted(bundle.name)} is published and now differs: ${difference.text}`;
        report(message, locate(bundle, ...difference.path), {
          package: name,
          installed: [shortName(old)],
          ...(difference.severity ? { severity: difference.severity } : {}),
          ...(difference.isUnconfirmed
            ? { subject: UNCONFIRMED, hint: CONFIRM_HINT }
            : { hint: 'restore the bundle, and publish the change as a new version' }),
        });
      }
    }
  },
};

interface Difference {
  readonly text: string;
  readonly path: readonly string[];
  readonly severity?: 'warning';
  /** Whether a registry or a lock may show that nothing differs. */
  readonly isUnconfirmed?: boolean;
}

function differenceOf(old: Bundle, bundle: Bundle, digests: TagDigests): Difference | undefined {
  const replaced = `image ${bundle.image || 'none'} instead of ${old.image || 'none'}`;
  switch (imageChange(old.image, bundle.image, digests)) {
    case 'other':
      return { text: replaced, path: ['image'] };
    case 'unconfirmed':
      return {
        text: `${replaced}, and nothing confirms that the tag points to the digest`,
        path: ['image'],
        isUnconfirmed: true,
      };
    case 'same':
  }
  const [before, after] = [old, bundle].map(({ version }) => version && formatVersion(version));
  if (before !== after) return { text: `version ${after} instead of ${before}`, path: ['properties'] };
  const types = [...DECISIVE].filter((type) => differs(old.properties, bundle.properties, type));
  return types.length > 0
    ? { text: `properties ${types.join(', ')}`, path: ['properties'], severity: 'warning' }
    : undefined;
}

/** Properties that decide what clusters do; how the manifests are told may change from catalog to catalog. */
export const DECISIVE: ReadonlySet<string> = new Set([
  'olm.gvk',
  'olm.label',
  'olm.deprecated',
  'olm.maxOpenShiftVersion',
  ...REQUIRING,
]);

export function differs(a: readonly Property[], b: readonly Property[], wanted: string): boolean {
  const [before, after] = [a, b].map((properties) =>
    properties.filter(({ type }) => type === wanted).map(({ value }) => value),
  );
  // Most of the time nothing has moved at all.
  return JSON.stringify(before) !== JSON.stringify(after) && sorted(before) !== sorted(after);
}

function sorted(values: readonly unknown[] = []): string {
  return JSON.stringify(values.map(canonical).sort());
}
