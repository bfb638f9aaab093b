import { checkConversionModes } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/conversion-modes',
  severity: 'error',
  summary: 'With a conversion webhook, AllNamespaces is the only supported install mode',
  fix: 'set supported: true only for AllNamespaces',
  opm: [
    '(N) only AllNamespaces InstallModeType is supported when conversionCRDs is present',
    'bundle contains conversion webhook "W" and supports install modes […]',
  ],
  inspect: checkConversionModes,
};
