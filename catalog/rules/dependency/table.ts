import {
  checkConstraint,
  checkDependencyTypes,
  checkGvkDependency,
  checkLabelDependency,
  checkPackageDependency,
} from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'dependency/constraint',
    severity: 'error',
    summary: 'Reports constraints that are not a CEL rule that returns true or false',
    fix: 'value: {failureMessage: …, cel: {rule: \'properties.exists(p, p.type == "olm.package")\'}}',
    opm: ['The CEL field is missing', 'The CEL expression is missing', 'Invalid CEL expression: …'],
    inspect: checkConstraint,
  },
  {
    id: 'dependency/gvk',
    severity: 'error',
    summary: 'Reports dependencies on an API without a group, a version or a kind',
    fix: 'value: {group: etcd.io, version: v1, kind: Etcd}',
    opm: ['API Group is empty', 'API Version is empty', 'API Kind is empty'],
    inspect: checkGvkDependency,
  },
  {
    id: 'dependency/label',
    severity: 'error',
    summary: 'Reports dependencies on a label without a label',
    fix: 'value: {label: …}',
    opm: ['Label information is missing'],
    inspect: checkLabelDependency,
  },
  {
    id: 'dependency/package',
    severity: 'error',
    summary: 'Reports dependencies on a package without a package name or a version range',
    opm: ['Package name is empty', 'Package version is empty', 'Invalid semver format version'],
    inspect: checkPackageDependency,
  },
  {
    id: 'dependency/type',
    severity: 'error',
    summary:
      'Reports dependencies with a type that OLM does not know, or with a value that does not match it',
    opm: ["couldn't parse dependency of type T"],
    inspect: checkDependencyTypes,
  },
];
