/**
 * From ImageContentSourcePolicy to ImageDigestMirrorSet, as `oc adm migrate icsp` does:
 * the same name and labels, the same entries in the same order. What nodes never use as
 * it is written is put right or reported.
 *
 * @see https://github.com/openshift/oc/blob/master/pkg/cli/admin/migrate/icsp/icsp.go
 */
import type { Finding } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { repositoryName, tryParseReference } from '../../reference.ts';
import type { KubernetesObject, Metadata } from '../kubernetes-object.ts';
import type { MirrorRule } from '../node/node.ts';
import { mirrorRules, type ReadObject } from '../read.ts';

interface Migrated {
  readonly objects: readonly KubernetesObject[];
  readonly findings: readonly Finding[];
}

const POLICY = 'ImageContentSourcePolicy';

/** One mirror set for each policy; every other kind of object is a finding. */
export function migratePolicies(objects: readonly ReadObject[]): Migrated {
  const findings: Finding[] = [];
  const sets = objects.flatMap((object) => {
    if (object.kind !== POLICY) {
      findings.push(finding(object, 'error', `expected an ${POLICY}, found ${object.kind}`));
      return [];
    }
    const { rules, findings: ruleFindings } = mirrorRules([object]);
    for (const one of ruleFindings) findings.push(one);
    const entries = rules.digest.flatMap((rule) => entryOf(rule, object, findings));
    return [mirrorSet(object, entries)];
  });
  return { objects: sets, findings };
}

interface Entry {
  readonly source: string;
  readonly mirrors: readonly string[];
}

/** The mirror set that takes the place of a policy. */
function mirrorSet(object: ReadObject, entries: readonly Entry[]): KubernetesObject {
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageDigestMirrorSet',
    metadata: metadataOf(object),
    spec: { imageDigestMirrors: entries.map(({ source, mirrors }) => ({ source, mirrors })) },
  };
}

/** Name, labels and annotations; not what only the cluster writes. */
function metadataOf({ name, value }: ReadObject): Metadata {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const labels = texts(metadata['labels']);
  const { [LAST_APPLIED]: _applied, ...annotations } = texts(metadata['annotations']);
  return {
    name,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function texts(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/**
 * The entry of a mirror set that stands for an old rule, with mirrors that nodes accept; none if no mirror is left. The
 * rest becomes findings.
 */
function entryOf({ source, mirrors }: MirrorRule, object: ReadObject, findings: Finding[]): Entry[] {
  // Only sources can be wildcards: no node can rewrite a name to one.
  const location = source.startsWith('*.') ? source : locationName(source);
  if (location === undefined) {
    findings.push(
      finding(
        object,
        'error',
        `${JSON.stringify(source)} is not a valid image location: the entry is left out`,
      ),
    );
    return [];
  }
  if (location !== source) {
    findings.push(
      finding(
        object,
        'warning',
        `nodes pull from ${location}, never from ${source}: the entry uses ${location}`,
      ),
    );
  }
  const usable = mirrors.filter((mirror) => locationName(mirror) === mirror);
  for (const mirror of mirrors.filter((one) => !usable.includes(one))) {
    findings.push(
      finding(
        object,
        'error',
        `${JSON.stringify(mirror)} is not a valid image location: the mirror of ${source} is left out`,
      ),
    );
  }
  return usable.length === 0 ? [] : [{ source: location, mirrors: usable }];
}

/** A location as nodes look it up, or undefined when they never could. */
function locationName(location: string): string | undefined {
  const probe = tryParseReference(`${location}/a`);
  // Nodes match no image with a single part without a dot or a port: it may be a host or a repository.
  if (!probe || (!location.includes('/') && probe.registry !== location)) return undefined;
  return repositoryName(probe).slice(0, -'/a'.length);
}

/** A finding about an object, with its name before the message. */
function finding(
  { document, path, name }: ReadObject,
  severity: Finding['severity'],
  message: string,
): Finding {
  return {
    rule: 'mirror/migrate',
    severity,
    message: name === '' ? message : `${name}: ${message}`,
    location: document.locate(path),
  };
}
