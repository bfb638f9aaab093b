import {
  checkExampleFields,
  checkOwnedResources,
  checkSpecDescriptors,
  checkStatusDescriptors,
} from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'scorecard/example-field',
    severity: 'error',
    summary: 'Reports fields of examples that the schema lacks',
    fix: 'remove the field from the example, or add it to the schema',
    opm: ['Add CRD validation for spec field `F` in K/V'],
    inspect: checkExampleFields,
  },
  {
    id: 'scorecard/resources',
    severity: 'error',
    summary: 'Reports owned CRDs that do not list the resources that the operator creates for them',
    opm: ['Owned CRDs do not have resources specified'],
    inspect: checkOwnedResources,
  },
  {
    id: 'scorecard/spec-descriptor',
    severity: 'error',
    summary: 'Reports examples without a spec, and their fields without a descriptor',
    fix: 'specDescriptors: [{path: size, description: …}]',
    opm: ['F does not have a spec descriptor'],
    inspect: checkSpecDescriptors,
  },
  {
    id: 'scorecard/status-descriptor',
    severity: 'error',
    summary: 'Reports owned CRDs without status descriptors although their examples have a status',
    fix: 'statusDescriptors: [{path: ready, description: …}]',
    opm: ['C does not have a status descriptor'],
    inspect: checkStatusDescriptors,
  },
];
