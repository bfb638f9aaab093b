// Compares the plan of a real tool with ours, line by line and entry by entry. What
// differs needs an excuse: a row of docs/from-oc-mirror.md, found by a predicate on
// the case's input or on what was recorded.

import { isObject } from '../../catalog/go/shape.ts';
import type { KubernetesObject } from '../../catalog/mirror/kubernetes-object.ts';
import { type ReadObject, readObjects } from '../../catalog/mirror/read.ts';
import type { CaseResult } from './main.ts';
import { Excuses, type Line, type Row } from './mirror-excuse.ts';
import { argumentsOf, type MirrorCase, type Run } from './mirror-run.ts';

export interface RecordedPlan {
  readonly mapping: string;
  /** All documents, one behind the other. */
  readonly documents: string;
}

/** What is found while comparing. */
interface Comparison {
  readonly rows: Set<Row>;
  readonly wrong: string[];
}

export function comparePlans(one: MirrorCase, recorded: RecordedPlan, ours: Run): Omit<CaseResult, 'name'> {
  const result: Comparison = { rows: new Set(), wrong: [] };
  const lines = { recorded: linesOf(recorded.mapping), ours: linesOf(ours.mapping) };
  const excuses = new Excuses(one, ours, { ...recorded, lines: lines.recorded });
  compareLines(lines, excuses, result);
  // Images that were made for the case: their recorded documents are not at issue.
  if (one.info.tiny === undefined && !intoFiles(one)) compareDocuments(one, recorded, ours, excuses, result);
  if (result.wrong.length > 0) return { outcome: 'differ', detail: result.wrong.slice(0, 8).join('\n  ') };
  if (result.rows.size === 0) return { outcome: 'agree' };
  return { outcome: 'chosen', detail: [...result.rows].sort().join(', ') };
}

/** A destination in files: nothing that a cluster could use. */
function intoFiles({ command }: MirrorCase): boolean {
  return argumentsOf(command).operands.at(-1)?.startsWith('file://') === true;
}

function linesOf(mapping: string): Line[] {
  return mapping
    .split('\n')
    .filter((line) => line !== '')
    .map((text) => {
      const equals = text.indexOf('=');
      const bare = (reference: string): string => reference.replace(/^docker:\/\//, '');
      return { text, source: bare(text.slice(0, equals)), destination: bare(text.slice(equals + 1)) };
    });
}

function compareLines(
  { recorded, ours }: { recorded: readonly Line[]; ours: readonly Line[] },
  excuses: Excuses,
  { rows, wrong }: Comparison,
): void {
  const without = (lines: readonly Line[], others: readonly Line[]): Line[] => {
    const texts = new Set(others.map(({ text }) => text));
    return lines.filter(({ text }) => !texts.has(text));
  };
  for (const line of without(recorded, ours)) note(excuses.lostLine(line), `-${line.text}`, { rows, wrong });
  for (const line of without(ours, recorded)) note(excuses.addedLine(line), `+${line.text}`, { rows, wrong });
}

function note(row: Row | undefined, difference: string, { rows, wrong }: Comparison): void {
  if (row === undefined) wrong.push(difference);
  else rows.add(row);
}

type Fields = Readonly<Record<string, unknown>>;

const LISTS: Readonly<Record<string, string>> = {
  ImageContentSourcePolicy: 'repositoryDigestMirrors',
  ImageDigestMirrorSet: 'imageDigestMirrors',
  ImageTagMirrorSet: 'imageTagMirrors',
};

/** The kinds that a tool writes; ours writes the others as well. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  oc: ['ImageContentSourcePolicy', 'ImageDigestMirrorSet', 'CatalogSource'],
  'oc-mirror': ['ImageDigestMirrorSet', 'ImageTagMirrorSet', 'CatalogSource', 'ClusterCatalog'],
};

function compareDocuments(
  one: MirrorCase,
  recorded: RecordedPlan,
  ours: Run,
  excuses: Excuses,
  result: Comparison,
): void {
  const theirs = readObjects(recorded.documents, 'recorded.yaml').objects;
  const { contentSourcePolicies, digestMirrorSets, tagMirrorSets, catalogSources, clusterCatalogs } =
    ours.documents;
  const own = [
    ...contentSourcePolicies,
    ...digestMirrorSets,
    ...tagMirrorSets,
    ...catalogSources,
    ...clusterCatalogs,
  ];
  for (const kind of KINDS[one.command[0] ?? ''] ?? []) {
    const a = theirs.filter((object) => object.kind === kind);
    const b = own.filter((object) => object.kind === kind);
    if (Object.hasOwn(LISTS, kind)) compareEntries(kind, { theirs: a, ours: b }, excuses, result);
    else compareObjects(kind, { theirs: a, ours: b }, excuses, result);
  }
}

interface Sides {
  readonly theirs: readonly ReadObject[];
  readonly ours: readonly KubernetesObject[];
}

/** Entries by source and mirrors, whichever object they stand in. */
function entriesOf(
  kind: string,
  objects: readonly Fields[],
): Map<string, { source: string; mirrors: string[] }> {
  const entries = new Map<string, { source: string; mirrors: string[] }>();
  for (const { spec } of objects) {
    const list = isObject(spec) ? spec[LISTS[kind] ?? ''] : undefined;
    for (const entry of Array.isArray(list) ? list : []) {
      const { source, mirrors } = entry as { source: string; mirrors: string[] };
      entries.set(`${source} -> ${mirrors.join(', ')}`, { source, mirrors });
    }
  }
  return entries;
}

function compareEntries(kind: string, { theirs, ours }: Sides, excuses: Excuses, result: Comparison): void {
  const recorded = entriesOf(
    kind,
    theirs.map(({ value }) => value),
  );
  const own = entriesOf(kind, ours);
  const before = result.rows.size;
  for (const [text, entry] of recorded) {
    if (!own.has(text)) note(excuses.lostEntry(kind, entry), `-${kind}: ${text}`, result);
  }
  for (const [text, { source }] of own) {
    if (!recorded.has(text)) note(excuses.addedEntry(kind, source, result.rows), `+${kind}: ${text}`, result);
  }
  const excused = result.rows.size > before || result.rows.size > 0;
  compareNames(kind, { theirs, ours }, excused, result);
}

/** Names and labels of the objects with entries; how many there are depends on the entries. */
function compareNames(kind: string, { theirs, ours }: Sides, excused: boolean, result: Comparison): void {
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  for (const { name, value } of theirs) {
    if (!isValidName(name)) result.rows.add('invalid names');
    else if (!names.has(name) && !excused) result.wrong.push(`-${kind} ${name}`);
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    const labels = JSON.stringify(metadata['labels'] ?? {});
    const own = ours.find((object) => object.metadata.name === name);
    if (own && JSON.stringify(own.metadata.labels ?? {}) !== labels)
      result.wrong.push(`labels of ${kind} ${name}`);
    if (isObject(metadata['annotations'])) result.rows.add('provenance');
  }
  if (!excused && theirs.every(({ name }) => isValidName(name)) && names.size !== theirs.length) {
    result.wrong.push(`${names.size} ${kind}s, recorded ${theirs.length}`);
  }
}

function isValidName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

function compareObjects(kind: string, { theirs, ours }: Sides, excuses: Excuses, result: Comparison): void {
  if (theirs.length === 0 && ours.length > 0) {
    note(excuses.lostObjects(), `+${kind} ${ours.map(({ metadata }) => metadata.name).join(', ')}`, result);
    return;
  }
  const texts = new Map(ours.map((object) => [object.metadata.name, canonical(object)]));
  for (const { name, value } of theirs) {
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    if (isObject(metadata['annotations'])) result.rows.add('provenance');
    if (!isValidName(name)) result.rows.add('invalid names');
    else if (texts.get(name) !== canonical(value)) {
      note(
        excuses.otherObject(value),
        `${kind} ${name}: ${texts.get(name)} is not ${canonical(value)}`,
        result,
      );
    }
  }
}

/** JSON with sorted keys, without what says who wrote the object and when. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (!isObject(member)) return member;
    const keys = Object.keys(member)
      .filter((name) => !(key === 'metadata' && name === 'annotations'))
      .sort();
    return Object.fromEntries(keys.map((name) => [name, member[name]]));
  });
}
