import { addedGrants, type Grant } from '../../olm/foresight/access.ts';
import { type NewUpgrade, reportUpgrades } from '../new-upgrades.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/permissions-grow',
  severity: 'info',
  summary: 'Reports permissions that an upgrade adds, because clusters grant them automatically',
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    reportUpgrades(change, report, addedText, (text, { text: upgrades, isOne }) => ({
      message: `${upgrades} ${isOne ? 'adds' : 'add'} permissions: ${text}`,
      hint: 'check that the operator needs them: automatic upgrades grant them on every cluster',
    }));
  },
};

/** Kinds that a message names; what is beyond is counted. */
const NAMED = 60;

/** Which permissions an upgrade adds; undefined for none, and where either side is unknown. */
function addedText({ from, to }: NewUpgrade): string | undefined {
  const [before, after] = [from.manifests.csv?.permissions, to.manifests.csv?.permissions];
  if (!before || !after) return undefined;
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
  const text = parts.map((part) => `${part.where} ${part.added.map(grantText).join(', ')}`).join('; ') + more;
  return text === '' ? undefined : text;
}

function grantText({ on, verbs }: Grant): string {
  return `${on} (${verbs.join(' ')})`;
}
