import { shortName } from '../../fbc/edge.ts';
import { addedGrants, type Grant } from '../../olm/foresight/access.ts';
import { grouped } from '../message-text.ts';
import { type NewUpgrade, newUpgrades, onlyChannelOf, placeOfEdge, upgradesText } from '../new-upgrades.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/permissions-grow',
  severity: 'info',
  summary: 'Reports permissions that an upgrade adds, because clusters grant them automatically',
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    for (const name of change.packages) {
      const growing = newUpgrades(change, name).flatMap((edge) => {
        const text = addedText(edge);
        return text === '' ? [] : [{ edge, text }];
      });
      for (const group of grouped(growing, ({ edge, text }) => `${edge.to.bundle.name}\n${text}`)) {
        const [first] = group;
        if (!first) continue;
        const edges = group.map(({ edge }) => edge);
        const message = `${upgradesText(edges)} of package ${quoted(name)} ${edges.length === 1 ? 'adds' : 'add'} permissions: ${first.text}`;
        report(message, placeOfEdge(change, first.edge), {
          package: name,
          ...onlyChannelOf(edges),
          installed: edges.map(({ from }) => shortName(from.bundle)),
          hint: 'check that the operator needs them: automatic upgrades grant them on every cluster',
        });
      }
    }
  },
};

/** Kinds that a message names; what is beyond is counted. */
const NAMED = 60;

/** Which permissions an upgrade adds; empty for none, and where either side is unknown. */
function addedText({ from, to }: NewUpgrade): string {
  const [before, after] = [from.manifests.csv?.permissions, to.manifests.csv?.permissions];
  if (!before || !after) return '';
  const { grants, whole } = addedGrants(before, after);
  const named = grants.slice(0, NAMED);
  const more = [
    ...(grants.length > NAMED ? [`; and ${grants.length - NAMED} more`] : []),
    ...(whole ? [] : ['; the rest is too much to compare']),
  ].join('');
  const parts = [
    { where: 'in all namespaces', added: named.filter(({ wide }) => wide) },
    { where: 'in the namespaces that it watches', added: named.filter(({ wide }) => !wide) },
  ].filter((part) => part.added.length > 0);
  return parts.map((part) => `${part.where} ${part.added.map(grantText).join(', ')}`).join('; ') + more;
}

function grantText({ on, verbs }: Grant): string {
  return `${on} (${verbs.join(' ')})`;
}
