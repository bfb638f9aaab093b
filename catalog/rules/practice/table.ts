import {
  checkChannelNames,
  checkCrdDescriptions,
  checkCreatesCrds,
  checkDeployments,
  checkNaming,
  checkResourceRequests,
} from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'practice/channel-name',
    severity: 'warning',
    summary: 'Reports channels that are not named candidate, fast or stable',
    fix: 'name the channel stable, fast or candidate, for example stable-v1',
    opm: ['channel(s) [C] are not following the recommended naming convention: …'],
    inspect: checkChannelNames,
  },
  {
    id: 'practice/crd-description',
    severity: 'warning',
    summary: 'Reports owned and required CRDs without a description',
    fix: 'description: <what an object of this kind is>',
    opm: ['owned CRD "N" has an empty description'],
    inspect: checkCrdDescriptions,
  },
  {
    id: 'practice/creates-crds',
    severity: 'warning',
    summary: 'Reports operators that may create CRDs',
    opm: ['CSV contains permissions to create CRD. …'],
    inspect: checkCreatesCrds,
  },
  {
    id: 'practice/csv-name',
    severity: 'warning',
    summary: 'Reports ClusterServiceVersions that are not named <operator>.v<version>',
    opm: [
      'csv.metadata.Name N is not following the versioning convention …',
      'csv.metadata.Name N is not following the recommended naming convention: …',
    ],
    inspect: checkNaming,
  },
  {
    id: 'practice/deployment',
    severity: 'error',
    summary: 'Reports operators without a deployment',
    fix: 'add a deployment to spec.install.spec.deployments',
    opm: ['unable to find a deployment to install in the CSV'],
    inspect: checkDeployments,
  },
  {
    id: 'practice/resource-requests',
    severity: 'warning',
    summary: 'Reports containers that do not request CPU or memory',
    opm: ['unable to find the resource requests for the container: (C). …'],
    inspect: checkResourceRequests,
  },
];
