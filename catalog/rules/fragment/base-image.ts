import { repositoryOf } from '../../fbc/fragment.ts';
import { quoted, type Rule } from '../rule.ts';

/** The base images that the task `validate-fbc` 0.2 allows. */
const ALLOWED = [
  'registry.redhat.io/openshift4/ose-operator-registry',
  'registry.redhat.io/openshift4/ose-operator-registry-rhel9',
  'registry.redhat.io/openshift5/ose-operator-registry',
  'registry.redhat.io/openshift5/ose-operator-registry-rhel9',
  'brew.registry.redhat.io/rh-osbs/openshift-ose-operator-registry-rhel9',
];

const HINT = 'FROM registry.redhat.io/openshift4/ose-operator-registry-rhel9:v4.20';

export const rule: Rule = {
  id: 'fragment/base-image',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a Dockerfile of a catalog on a base image that Konflux does not allow; those that it allows have opm and grpc_health_probe',
  opm: ['Base image B is not allowed for the file based catalog image.'],
  fragment({ base, path, place }, report) {
    if (base === undefined) {
      const message = `${path}: the base image depends on a build argument without a default, so it is not checked`;
      report(message, place, { severity: 'warning', hint: HINT });
      return;
    }
    if (ALLOWED.includes(repositoryOf(base))) return;
    report(`${path}: the base image ${quoted(base)} is not allowed for catalogs`, place, { hint: HINT });
  },
};
