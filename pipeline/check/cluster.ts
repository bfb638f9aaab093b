/**
 * What a cluster has installed, as its own client prints it: subscriptions and their
 * ClusterServiceVersions under OLM v0, ClusterExtensions under OLM v1.
 */
import type { Installed } from '../../catalog/fbc/edge.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { parseJson } from '../../catalog/json.ts';
import type { Olm } from '../../catalog/olm/foresight/world.ts';
import { tryParseVersion } from '../../catalog/version/version.ts';
import { PipelineError } from '../error.ts';

/** One operator of a cluster. */
export interface ClusterInstallation {
  readonly olm: Olm;
  /** Namespace of the subscription; empty for a ClusterExtension. */
  readonly namespace: string;
  /** Of the subscription or the ClusterExtension. */
  readonly name: string;
  readonly package: string;
  /** Under OLM v0 one or none; none for all, or for the default one. */
  readonly channels: readonly string[];
  /** Name of the CatalogSource; empty under OLM v1. */
  readonly catalog: string;
  /** The version, or range of versions, that a ClusterExtension asks for, or empty. */
  readonly range: string;
  /** Undefined while nothing is installed. */
  readonly installed: Installed | undefined;
  /** Under OLM v0: what else the Subscription and its ClusterServiceVersion say. */
  readonly subscription?: SubscriptionSettings;
}

interface SubscriptionSettings {
  /** Whether somebody must approve each upgrade. */
  readonly isManual: boolean;
  /** Namespaces that the operator watches, none for all; undefined where OLM has not noted them. */
  readonly watches: readonly string[] | undefined;
  /** Settings of its deployments, `spec.config`. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads what `oc get subscriptions,csv -A -o json` or `oc get clusterextensions -o json` prints.
 *
 * @param path what the text is called in messages
 * @throws PipelineError `usage` when it is not such a list
 */
export function readCluster(text: string, path: string): ClusterInstallation[] {
  const installations = installationsOf(itemsOf(text, path));
  if (installations.length > 0) return installations;
  throw new PipelineError('usage', `${path} has no Subscription and no ClusterExtension`, {
    hint: 'oc get subscriptions.operators.coreos.com,csv -A -o json, or oc get clusterextensions -o json',
  });
}

/** Reads objects of a cluster: Subscriptions with their ClusterServiceVersions, and ClusterExtensions. */
export function installationsOf(objects: readonly ClusterObject[]): ClusterInstallation[] {
  const versions = new Map(
    objects
      .filter(({ kind }) => kind === 'ClusterServiceVersion')
      .map((csv) => [
        JSON.stringify([textAt(csv, 'metadata', 'namespace'), textAt(csv, 'metadata', 'name')]),
        csv,
      ]),
  );
  return objects.flatMap((object) => {
    if (object['kind'] === 'Subscription' && isOlms(object))
      return [subscribedInstallation(object, versions)];
    return object['kind'] === 'ClusterExtension' ? [extensionInstallation(object)] : [];
  });
}

/** An object of a cluster's API. */
export type ClusterObject = Readonly<Record<string, unknown>>;

/** The value of a text of JSON. @throws PipelineError `usage` for any other text, with the command that prints JSON */
function jsonValueIn(text: string, path: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new PipelineError('usage', `${path} is not valid JSON`, {
      cause,
      hint: 'oc get subscriptions.operators.coreos.com,csv -A -o json > FILE',
    });
  }
}

/**
 * The objects of a list in JSON, or of a list of lists.
 *
 * @throws PipelineError `usage` when it is not JSON, or a page of a longer list
 */
export function itemsOf(text: string, path: string): ClusterObject[] {
  return objectsIn(jsonValueIn(text, path), path);
}

/**
 * The objects in a value of JSON, also in lists of lists. @throws PipelineError `usage` for a page: what is on the others
 * would be missing
 */
function objectsIn(value: unknown, path: string): ClusterObject[] {
  if (Array.isArray(value)) return value.flatMap((one) => objectsIn(one, path));
  if (!isObject(value)) return [];
  if (!Array.isArray(value['items'])) return [value];
  if (valueAt(value, 'metadata', 'continue') || valueAt(value, 'metadata', 'remainingItemCount'))
    throw new PipelineError('usage', `${path} has only a page of a list`, {
      hint: 'export the whole list, as oc get -o json does',
    });
  return value['items'].flatMap((one) => objectsIn(one, path));
}

/** Knative also has a kind Subscription. */
function isOlms({ apiVersion }: ClusterObject): boolean {
  return typeof apiVersion === 'string' && apiVersion.startsWith('operators.coreos.com/');
}

/** The value at a path in an object; undefined if a part of the path is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inside, key) => (isObject(inside) ? inside[key] : undefined), value);
}

/** Text deep in an object; empty where it is not there. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** A number deep in an object; 0 where it is not there. */
export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : 0;
}

/** The installation that a Subscription stands for. @param versions ClusterServiceVersions by namespace and name */
function subscribedInstallation(
  object: ClusterObject,
  versions: ReadonlyMap<string, ClusterObject>,
): ClusterInstallation {
  const namespace = textAt(object, 'metadata', 'namespace');
  const name = textAt(object, 'status', 'installedCSV');
  const csv = versions.get(JSON.stringify([namespace, name]));
  const channel = textAt(object, 'spec', 'channel');
  return {
    olm: 'v0',
    namespace,
    name: textAt(object, 'metadata', 'name'),
    package: textAt(object, 'spec', 'name'),
    channels: channel === '' ? [] : [channel],
    catalog: textAt(object, 'spec', 'source'),
    range: '',
    installed: name === '' ? undefined : { name, version: tryParseVersion(textAt(csv, 'spec', 'version')) },
    subscription: settingsOf(object, csv),
  };
}

/** The annotation with the namespaces that an operator watches; empty for all. */
const TARGETS = 'olm.targetNamespaces';

/** How a Subscription and the ClusterServiceVersion that it has installed limit the operator. */
function settingsOf(object: ClusterObject, csv: ClusterObject | undefined): SubscriptionSettings {
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const metadata = csv && isObject(csv['metadata']) ? csv['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const targets = annotations[TARGETS];
  const { config } = spec;
  return {
    isManual: spec['installPlanApproval'] === 'Manual',
    watches: typeof targets === 'string' ? targets.split(',').filter((name) => name !== '') : undefined,
    config: isObject(config) && Object.keys(config).length > 0 ? config : undefined,
  };
}

/** The installation that a ClusterExtension stands for. */
function extensionInstallation(object: ClusterObject): ClusterInstallation {
  const found = valueAt(object, 'spec', 'source', 'catalog');
  const selection = isObject(found) ? found : {};
  const channels = Array.isArray(selection['channels']) ? selection['channels'] : [];
  const name = textAt(object, 'status', 'install', 'bundle', 'name');
  const version = tryParseVersion(textAt(object, 'status', 'install', 'bundle', 'version'));
  return {
    olm: 'v1',
    namespace: '',
    name: textAt(object, 'metadata', 'name'),
    package: textAt(selection, 'packageName'),
    channels: channels.filter((channel) => typeof channel === 'string'),
    catalog: '',
    range: textAt(selection, 'version'),
    installed: name === '' ? undefined : { name, version },
  };
}
