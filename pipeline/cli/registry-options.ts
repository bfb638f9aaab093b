import type { Option } from './command.ts';

/** Options of every command that asks registries. */
export const REGISTRY_OPTIONS: Readonly<Record<string, Option>> = {
  authfile: {
    value: 'FILE',
    description: 'credentials (default: REGISTRY_AUTH_FILE, then those of podman and docker)',
  },
  insecure: {
    value: 'HOST',
    description: 'a registry, with its port, that speaks plain HTTP; it may be on an internal network',
    multiple: true,
  },
  internal: {
    value: 'HOST|RANGE',
    description: 'a host or range of addresses of an internal network that may be connected to',
    multiple: true,
  },
  ca: { value: 'FILE', description: 'certificates of a private authority, PEM', multiple: true },
};
