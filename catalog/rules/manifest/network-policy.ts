import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/network-policy',
  severity: 'info',
  summary:
    'A bundle with a NetworkPolicy is accepted where it is released: operator-pipelines refuses such bundles since August 2025',
  fix: 'ask whoever releases the bundle, or create the NetworkPolicy from the operator',
  inspect({ allObjects }, report) {
    for (const { kind, name, document, group } of allObjects) {
      if (kind !== 'NetworkPolicy' || group !== 'networking.k8s.io') continue;
      report(
        `NetworkPolicy ${JSON.stringify(name)} restricts connections as soon as the bundle is installed, and operator-pipelines may refuse the bundle`,
        document.locate(['kind']),
      );
    }
  },
};
