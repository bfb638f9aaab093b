/** Options of the commands that read releases. */
import type { Option } from '../command.ts';

/** Where releases and their channels are. */
export const GRAPH_OPTIONS: Readonly<Record<string, Option>> = {
  'update-graph': {
    value: 'URL|FILE|DIR',
    description:
      'where channels of releases are: an update service, its answers as ARCH-CHANNEL.json, or a copy of the graph-data repository (default: api.openshift.com, for okd origin-release.ci.openshift.org)',
  },
  'release-repository': {
    value: 'REPOSITORY',
    description:
      'repository with the payloads of releases that only graph data names (default: that of OpenShift)',
  },
};

/** Options for the releases of a configuration. */
export const RELEASE_OPTIONS: Readonly<Record<string, Option>> = {
  'release-signatures': {
    value: 'DIR|URL|none',
    description:
      'signatures of the release, laid out as sha256=DIGEST/signature-1 (default: those of Red Hat)',
  },
  'release-key': {
    value: 'FILE',
    description: 'OpenPGP key that signs the release (default: the keys of Red Hat)',
  },
  ...GRAPH_OPTIONS,
  'graph-data': {
    value: 'URL|FILE|DIR',
    description:
      'graph data for the image of the update graph: a copy of the graph-data repository, or its archive (default: that of api.openshift.com)',
  },
  'graph-base-image': {
    value: 'REFERENCE',
    description:
      'image to build the image of the update graph on (default: registry.access.redhat.com/ubi9/ubi:latest)',
  },
};
