/**
 * The YAML of the policy. Nobody but Portolan reads it, so js-yaml does (YAML 1.2: `yes` and `on` are texts); catalogs
 * and the files that Go tools read have the reader of ADR 0003.
 */
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';
import { OffsetDocument } from '../../catalog/fbc/document.ts';
import type { Finding } from '../../catalog/finding.ts';
import { onceFor } from '../../catalog/go/once.ts';
import type { SettingsRead } from '../settings.ts';

// Limits of what a policy may cost. People's policies are far below them.

/** Deepest nesting that a policy may have. */
const DEPTH = 50;

/** Most aliases that a policy may have, and most values that they may expand it to. */
const MOST_ALIASES = 100;
const MOST_VALUES = 100_000;

/** YAML 1.2, with the merge keys (`<<`) that policies use for parts that repeat. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads a policy.
 *
 * @param file name for findings
 * @param what the kind of file, for messages
 * @returns no settings beside a finding of `settings/yaml`, `settings/repeated-key` or `settings/document`
 */
export function readPolicyDocument(
  file: string,
  bytes: Uint8Array,
  what: 'policy' | 'advisory' = 'policy',
): SettingsRead {
  const text = new TextDecoder('utf-8').decode(bytes);
  // It only turns offsets into lines and columns; the offset of a value comes from the tree that is read below.
  const document = new OffsetDocument(file, text, 1, () => 0);
  const refused = (rule: string, message: string, offset: number, hint?: string): SettingsRead => {
    const location = document.place(offset);
    const finding: Finding = { rule, severity: 'error', message, location, ...(hint ? { hint } : {}) };
    return { settings: undefined, findings: [finding] };
  };
  // To YAML a carriage return is a line break, but in a diff it can hide what follows.
  const hidden = text.search(/\r(?!\n)/);
  if (hidden >= 0)
    return refused(
      'settings/yaml',
      'a carriage return alone, which no diff shows, ends a line',
      hidden,
      'end lines with LF or CR LF',
    );
  try {
    const events = parseEvents(text, { maxDepth: DEPTH });
    const [value = null, ...others] = constructFromEvents(events, {
      source: text,
      schema: SCHEMA,
      maxAliases: MOST_ALIASES,
    });
    const [root, second] = treesOf(events, text);
    if (others.length > 0) {
      const offset = second?.start ?? text.length;
      return refused('settings/document', `the ${what} must be one document`, offset, 'keep one document');
    }
    if (expandedSize(value) > MOST_VALUES) {
      const message = `aliases expand the ${what} to more than ${MOST_VALUES} values`;
      return refused('settings/yaml', message, 0, 'write out the values that you need');
    }
    const locate = (path: Path): PlacedOffsets | undefined => offsetsOf(root, path);
    return {
      settings: {
        value,
        // An empty policy has no nodes: then the file's beginning is meant.
        locate: (path) => document.place(locate(path)?.value ?? 0),
        locateKey: (path) => document.place(locate(path)?.key ?? locate(path)?.value ?? 0),
      },
      findings: [],
    };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const offset = withQuote(text, error.mark?.position ?? 0);
    return error.reason === 'duplicated mapping key'
      ? refused('settings/repeated-key', repeatedKey(text, offset), offset, 'keep one of them')
      : refused('settings/yaml', `not YAML: ${error.reason}`, offset);
  }
}

/** The message for the key at an offset, which is written there a second time; a long key is cut after 200 characters. */
function repeatedKey(text: string, offset: number): string {
  // In double or single quotes, or plain; the message has it without quotes.
  const [key = ''] = /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:,}]+)/.exec(text.slice(offset, offset + 200)) ?? [];
  return `duplicate key ${JSON.stringify(key.replace(/^(['"])(.*)\1$/, '$2'))} in a mapping`;
}

type Path = readonly (string | number)[];

/** A node with its place in the text. */
interface Node {
  readonly start: number;
  /** Of a mapping: its keys, as texts, with their places. */
  readonly keys?: { readonly name: string; readonly start: number }[];
  /** Of a mapping: its values, in the order of its keys; of a sequence: its items. */
  readonly children?: Node[];
}

/** Where a scalar begins, of which js-yaml says where its text begins. */
function withQuote(text: string, offset: number): number {
  return /["']/.test(text.charAt(offset - 1)) ? offset - 1 : offset;
}

/**
 * The nodes of each document with their places, from js-yaml's events: its values do not say where they are.
 */
function treesOf(events: readonly Event[], text: string): Node[] {
  const anchors = new Map<string, Node>();
  let at = 0;
  const anchored = (event: { anchorStart: number; anchorEnd: number }, node: Node): Node => {
    if (event.anchorStart >= 0) anchors.set(text.slice(event.anchorStart, event.anchorEnd), node);
    return node;
  };
  const collection = (start: number): Node & { keys: NonNullable<Node['keys']>; children: Node[] } => ({
    start,
    keys: [],
    children: [],
  });
  const isOpen = (): boolean => events[at] !== undefined && events[at]?.type !== EVENT_ID.POP;
  /** The next node, with all that is in it. */
  const next = (): Node => {
    const event = events[at++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return anchored(event, { start: withQuote(text, event.valueStart) });
      case EVENT_ID.SEQUENCE: {
        const node = collection(event.start);
        anchored(event, node);
        while (isOpen()) node.children.push(next());
        at++;
        return node;
      }
      case EVENT_ID.MAPPING: {
        const node = collection(event.start);
        anchored(event, node);
        while (isOpen()) {
          const key = events[at];
          const name = key?.type === EVENT_ID.SCALAR ? getScalarValue(text, key) : '';
          node.keys.push({ name, start: next().start });
          node.children.push(next());
        }
        at++;
        return node;
      }
      case EVENT_ID.ALIAS: {
        const target = anchors.get(text.slice(event.anchorStart, event.anchorEnd));
        // The asterisk of an alias is before its name.
        return { ...target, start: event.anchorStart - 1 };
      }
      default:
        return { start: text.length };
    }
  };
  const documents: Node[] = [];
  while (at < events.length) {
    if (events[at++]?.type !== EVENT_ID.DOCUMENT) continue;
    documents.push(isOpen() ? next() : { start: text.length });
  }
  return documents;
}

/** Offsets of a value, and of the key that it stands at. */
interface PlacedOffsets {
  readonly value: number;
  readonly key?: number;
}

/** By its name, where a key stands last: a mapping with many defects is asked for each. */
const lastIndexes = onceFor(
  (keys: NonNullable<Node['keys']>): ReadonlyMap<string, number> =>
    new Map(keys.map(({ name }, i) => [name, i])),
);

/** Where a path leads; without a key, the deepest node on the way to it that exists. */
function offsetsOf(root: Node | undefined, path: Path): PlacedOffsets | undefined {
  if (!root) return undefined;
  let node = root;
  let key: number | undefined;
  for (const step of path) {
    const at = typeof step === 'number' ? step : ((node.keys && lastIndexes(node.keys).get(step)) ?? -1);
    const child = node.children?.[at];
    if (!child) return { value: node.start };
    key = node.keys?.[at]?.start ?? child.start;
    node = child;
  }
  return { value: node.start, ...(key === undefined ? {} : { key }) };
}

/** How many values a policy has when each alias is written out. */
function expandedSize(value: unknown, known = new Map<object, number>()): number {
  if (typeof value !== 'object' || value === null) return 1;
  const seen = known.get(value);
  if (seen !== undefined) return seen;
  // An alias within its own anchor never ends.
  known.set(value, Number.POSITIVE_INFINITY);
  const size = Object.values(value).reduce((sum: number, one) => sum + expandedSize(one, known), 1);
  known.set(value, size);
  return size;
}
