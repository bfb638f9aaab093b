import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { compareMinors, formatMinor, type Limit, limitOf } from '../../fbc/openshift.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/max-openshift-version',
  severity: 'error',
  summary:
    "Reports values of olm.maxOpenShiftVersion that are not a single minor version, or are below the catalog's",
  foresee(world, report) {
    for (const { name, bundles } of checkedPackages(world)) {
      const wrong = [...bundles.values()].flatMap((bundle) => {
        const why = defectOf(limitOf(bundle.properties), world);
        return why === undefined ? [] : [{ bundle, why }];
      });
      for (const group of grouped(wrong, ({ why }) => why)) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const message = `package ${quoted(name)}: ${last.why}; while ${listed(versions)} ${versions.length === 1 ? 'is' : 'are'} installed, the cluster cannot upgrade`;
        report(message, locate(last.bundle, 'properties', positionIn(last.bundle), 'value'), {
          package: name,
          installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
          hint: `value: "${world.platform ? formatMinor(world.platform) : '4.20'}"`,
        });
      }
    }
  },
};

function positionIn({ properties }: Bundle): number {
  return properties.findLastIndex(({ type }) => type === 'olm.maxOpenShiftVersion');
}

function defectOf(limit: Limit, { platform, name }: World): string | undefined {
  if (limit.kind === 'invalid') return `olm.maxOpenShiftVersion is not valid: ${limit.why}`;
  if (limit.kind === 'none' || !platform || compareMinors(limit.max, platform) >= 0) return undefined;
  // 4.1 is what becomes of an unquoted 4.10.
  const slip = limit.max.minor < 10 && limit.max.minor > 0 ? ' (a number loses its last zero: quote it)' : '';
  return `olm.maxOpenShiftVersion is ${formatMinor(limit.max)}${slip}, but the catalog ${quoted(name)} is for ${formatMinor(platform)}`;
}
