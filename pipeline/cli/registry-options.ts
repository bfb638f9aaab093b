import type { Option } from './command.ts';

/** Options of every command that contacts registries. */
export const REGISTRY_OPTIONS: Readonly<Record<string, Option>> = {
  authfile: {
    value: 'FILE',
    description: 'registry credentials (default: REGISTRY_AUTH_FILE, then the files of podman and docker)',
  },
  insecure: {
    value: 'HOST',
    description: 'registry to contact over plain HTTP, with its port; it may be on an internal network',
    multiple: true,
  },
  internal: {
    value: 'HOST|RANGE',
    description: 'internal host or address range that Portolan may connect to',
    multiple: true,
  },
  idms: {
    value: 'PATH',
    description:
      'read images where these ImageDigestMirrorSets, ImageTagMirrorSets or ImageContentSourcePolicies say (files, folders, or the output of oc get -o yaml)',
    multiple: true,
  },
  'registries-conf': {
    value: 'FILE',
    description: 'read images where this registries.conf (version 2) says',
  },
  ca: { value: 'FILE', description: 'certificates of a private certificate authority (PEM)', multiple: true },
};
