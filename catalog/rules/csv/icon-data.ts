import { checkIconData } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/icon-data',
  severity: 'warning',
  summary: 'The data of an icon is valid base64',
  fix: 'use the output of base64 -w0 icon.svg',
  inspect: checkIconData,
};
