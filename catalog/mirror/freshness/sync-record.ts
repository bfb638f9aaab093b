/**
 * What a configuration needs of a mirror that it shares with others, as its record in the registry says it: nobody else
 * deletes that.
 */

import { isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { parseJson } from '../../json.ts';
import { tryParseReference } from '../../reference.ts';
import type { Mapping } from '../mapping.ts';

export interface SyncRecord {
  /** The same in each sync of a configuration, and another one for each configuration. */
  readonly id: string;
  /** What people call the configuration. */
  readonly name: string;
  /** Whether somebody chose the name: then it stands for this configuration wherever it is synced from. */
  readonly isNamed: boolean;
  /** When the configuration last began to need something else, as ISO 8601. */
  readonly time: string;
  /** Tags of the index images that it writes. */
  readonly catalogs: readonly string[];
  readonly needs: readonly NeededImage[];
}

interface NeededImage {
  /** `HOST/REPOSITORY:TAG`. */
  readonly destination: string;
  /** Where it is known. */
  readonly digest?: string;
}

/** What a configuration needs, with both lists sorted. */
export type Needs = Pick<SyncRecord, 'catalogs' | 'needs'>;

export function needsOf(catalogs: readonly string[], mappings: readonly Mapping[]): Needs {
  return unionOf({ catalogs, needs: mappings.map(needOf) });
}

function needOf({ source, destination }: Mapping): NeededImage {
  const from = tryParseReference(source);
  return { destination, ...(from?.kind === 'digest' && { digest: from.digest }) };
}

/** What any of them needs. */
export function unionOf(...all: readonly Needs[]): Needs {
  const needs = all.flatMap((one) => one.needs);
  const byName = new Map(needs.map((one) => [`${one.destination} ${one.digest ?? ''}`, one]));
  return {
    catalogs: [...new Set(all.flatMap(({ catalogs }) => catalogs))].sort(compareText),
    needs: [...byName].sort(([a], [b]) => compareText(a, b)).map(([, one]) => one),
  };
}

/**
 * The record of a configuration that needs an image, by tag or manifest: deleting a manifest deletes all of its tags in
 * the repository. The registry's name does not count.
 */
export function whoNeeds(records: readonly SyncRecord[], mapping: Mapping): SyncRecord | undefined {
  const image = needOf(mapping);
  const path = pathInRegistry(mapping.destination);
  return records.find(({ needs }) =>
    needs.some((need) => {
      const other = pathInRegistry(need.destination);
      const isOneManifest = need.digest !== undefined && need.digest === image.digest;
      return other === path || (isOneManifest && repositoryOf(other) === repositoryOf(path));
    }),
  );
}

/** A destination without its registry, which may have several names: records are in the registry that they are about. */
export function pathInRegistry(destination: string): string {
  return destination.slice(destination.indexOf('/') + 1);
}

function repositoryOf(destination: string): string {
  return destination.slice(0, destination.lastIndexOf(':'));
}

const VERSION = 1;

export function syncRecordText({ id, name, isNamed, time, catalogs, needs }: SyncRecord): string {
  return `${JSON.stringify({ version: VERSION, id, name, isNamed, time, catalogs, needs })}\n`;
}

/** Reads what {@link syncRecordText} writes; undefined for anything else, a later version among it. */
export function readSyncRecord(text: string): SyncRecord | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['version'] !== VERSION) return undefined;
  const { id, name, isNamed, time, catalogs, needs } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof isNamed !== 'boolean') return undefined;
  if (typeof time !== 'string' || !isList(catalogs, isText) || !isList(needs, isNeeded)) return undefined;
  return { id, name, isNamed, time, catalogs, needs };
}

function isList<T>(value: unknown, is: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every(is);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNeeded(value: unknown): value is NeededImage {
  if (!isObject(value) || !isText(value['destination'])) return false;
  return value['digest'] === undefined || isText(value['digest']);
}
