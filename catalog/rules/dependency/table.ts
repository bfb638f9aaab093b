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
    summary: 'A constraint is a CEL rule that returns true or false',
    fix: 'value: {failureMessage: …, cel: {rule: \'properties.exists(p, p.type == "olm.package")\'}}',
    opm: ['The CEL field is missing', 'The CEL expression is missing', 'Invalid CEL expression: …'],
    inspect: checkConstraint,
  },
  {
    id: 'dependency/gvk',
    severity: 'error',
    summary: 'A dependency on an API has a group, a version and a kind',
    fix: 'value: {group: etcd.io, version: v1, kind: Etcd}',
    opm: ['API Group is empty', 'API Version is empty', 'API Kind is empty'],
    inspect: checkGvkDependency,
  },
  {
    id: 'dependency/label',
    severity: 'error',
    summary: 'A dependency on a label has a label',
    fix: 'value: {label: …}',
    opm: ['Label information is missing'],
    inspect: checkLabelDependency,
  },
  {
    id: 'dependency/package',
    severity: 'error',
    summary: 'A dependency on a package has a package name and a version range',
    opm: ['Package name is empty', 'Package version is empty', 'Invalid semver format version'],
    inspect: checkPackageDependency,
  },
  {
    id: 'dependency/type',
    severity: 'error',
    summary: 'A dependency has a type that OLM knows and a matching value',
    opm: ["couldn't parse dependency of type T"],
    inspect: checkDependencyTypes,
  },
];
