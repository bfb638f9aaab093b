/** Options whose values have a form: a mistyped value is an error, it never switches a check off. */
import { tryParseMinor } from '../../catalog/fbc/openshift.ts';
import { isDnsLabel, isDnsSubdomain } from '../../catalog/names.ts';
import { parseVersionConstraint } from '../../catalog/version/constraint.ts';
import { parseTolerant, VersionError } from '../../catalog/version/version.ts';
import { parseIdentity } from '../policy/identity.ts';
import { type Command, type Invocation, usageError } from './command.ts';

export interface Form {
  /** What the value must be, with an example. */
  readonly expected: string;
  readonly accepts: (value: string) => boolean;
}

/** A name in which Kubernetes allows no dots, such as a namespace. */
export const DNS_LABEL: Form = {
  expected: 'a DNS label (lower-case letters, digits and -), for example etcd-operator',
  accepts: isDnsLabel,
};

/** The name of most objects of Kubernetes. */
export const DNS_SUBDOMAIN: Form = {
  expected: 'a DNS name (lower-case letters, digits, - and dots), for example etcd-operator',
  accepts: isDnsSubdomain,
};

/** A version of Kubernetes as operator-sdk reads its option `k8s-version`. */
export const KUBERNETES_VERSION: Form = {
  expected: 'a version, for example 1.25',
  accepts: (value) => isRead(() => parseTolerant(value)),
};

/** A version of OpenShift. */
export const OPENSHIFT_VERSION: Form = {
  expected: 'a version, for example 4.19',
  accepts: (value) => tryParseMinor(value) !== undefined,
};

/** Longest version range of a ClusterExtension, in characters: `maxLength` in its CRD. */
const MAX_RANGE = 64;

/** A channel of OLM v0. */
export const NAME: Form = { expected: 'a name', accepts: (value) => value.trim() !== '' };

/** The version range of a ClusterExtension. */
export const RANGE: Form = {
  expected: 'a version range of at most 64 characters, for example ">=1.0.0 <2.0.0"',
  accepts: (value) =>
    value.trim() !== '' && value.length <= MAX_RANGE && isRead(() => parseVersionConstraint(value)),
};

/** Whether a text can be read as a version or a range. */
function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof VersionError) return false;
    throw error;
  }
}

/** `HOST:PORT`, with an IPv6 address in brackets; this machine where the host is empty. Undefined for another text. */
export function parseAddress(text: string): { host: string; port: number } | undefined {
  // The last colon: an IPv6 address has others.
  const [, host, port] = /^(.*):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65535) return undefined;
  // For an empty host Node would listen on all addresses.
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
}

/** The value of an option of a form; undefined when it is left out. @throws PipelineError `usage` */
export function formedOption(
  command: Command,
  { text }: Invocation,
  { option, form }: { readonly option: string; readonly form: Form },
): string | undefined {
  const value = text(option);
  if (value === undefined || form.accepts(value)) return value;
  throw usageError(command, `--${option} must be ${form.expected}, not ${JSON.stringify(value)}`);
}

/** The identities of `--admin`. @throws PipelineError `usage` */
export function adminsOption(command: Command, { text }: Invocation): string[] {
  const admins = (text('admin') ?? '').split(',').filter((name) => name !== '');
  const wrong = admins.find((name) => parseIdentity(name) === undefined);
  if (wrong !== undefined)
    throw usageError(command, `--admin must be LOGIN, LOGIN#ID or @ORG/TEAM, not ${JSON.stringify(wrong)}`);
  return admins;
}
