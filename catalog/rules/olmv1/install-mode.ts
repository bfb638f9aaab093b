import { checkInstallModeSupport } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/install-mode',
  severity: 'info',
  summary: 'OLM v1 can install the bundle: it supports AllNamespaces',
  fix: 'support AllNamespaces',
  opm: ['unsupported bundle: bundle does not support AllNamespaces install mode'],
  inspect: checkInstallModeSupport,
};
