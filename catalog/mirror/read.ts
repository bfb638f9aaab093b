/**
 * Reading mirror documents back: from the files that somebody applies, or from what
 * `oc get … -o yaml` prints of a cluster.
 */
import { OffsetDocument, type SourceDocument } from '../fbc/document.ts';
import { splitDocuments } from '../fbc/split.ts';
import type { Finding } from '../finding.ts';
import { isObject, type Path } from '../go/shape.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError } from '../yaml/tree.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import type { MirrorRule, MirrorRules } from './node/node.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One object of a file, with the means to say where a part of it stands. */
export interface ReadObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly value: Fields;
  readonly document: SourceDocument;
  /** Where the object stands in its document: the root, or an item of a list. */
  readonly path: Path;
}

interface ObjectsRead {
  readonly objects: readonly ReadObject[];
  readonly findings: readonly Finding[];
}

/** Levels of nesting that an object may have. */
const DEPTH = 100;

/**
 * Reads a stream of YAML or JSON documents; the items of a `List` count as objects.
 *
 * @param wholeList kind of a list that is an object itself
 */
export function readObjects(text: string, file: string, wholeList?: string): ObjectsRead {
  const objects: ReadObject[] = [];
  const findings: Finding[] = [];
  for (const piece of splitDocuments(text)) {
    if ('rest' in piece) {
      const message = `a line that starts with --- separates documents, but contains "${piece.rest}"`;
      findings.push(defect(message, { file, line: piece.line, column: piece.column }));
      continue;
    }
    const body = text.slice(piece.from, piece.to);
    try {
      const { value, locate } = compose(readTree(body, { depth: DEPTH }).root);
      const document = new OffsetDocument(file, body, piece.line, locate);
      if (value !== null) addObjects(value, [], { document, objects, findings, wholeList });
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      const document = new OffsetDocument(file, body, piece.line, () => 0);
      findings.push(defect(`not YAML: ${error.message}`, document.place(error.offset)));
    }
  }
  return { objects, findings };
}

interface Sink {
  readonly document: SourceDocument;
  readonly objects: ReadObject[];
  readonly findings: Finding[];
  readonly wholeList: string | undefined;
}

/** Adds an object, or the items of a list, to the sink. */
function addObjects(value: unknown, path: Path, sink: Sink): void {
  if (!isObject(value) || typeof value['kind'] !== 'string' || typeof value['apiVersion'] !== 'string') {
    sink.findings.push(defect('expected an object with apiVersion and kind', sink.document.locate(path)));
    return;
  }
  const { kind, apiVersion, items, metadata } = value;
  if (kind.endsWith('List') && kind !== sink.wholeList && Array.isArray(items)) {
    for (const [i, item] of items.entries()) addObjects(item, [...path, 'items', i], sink);
    return;
  }
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  sink.objects.push({ kind, apiVersion, name, value, document: sink.document, path });
}

function defect(message: string, location: Finding['location']): Finding {
  return { rule: 'mirror/document', severity: 'error', message, location };
}

/** The kinds that say where nodes look for images, and the field with their entries. */
const LISTS: Readonly<Record<string, { readonly list: string; readonly by: keyof MirrorRules }>> = {
  ImageDigestMirrorSet: { list: 'imageDigestMirrors', by: 'digest' },
  ImageTagMirrorSet: { list: 'imageTagMirrors', by: 'tag' },
  ImageContentSourcePolicy: { list: 'repositoryDigestMirrors', by: 'digest' },
};

/** What was read of mirror documents. */
interface RulesRead {
  readonly rules: MirrorRules;
  readonly findings: readonly Finding[];
}

/** The rules of all mirror documents among the objects; mirror sets before policies, as nodes merge them. */
export function mirrorRules(objects: readonly ReadObject[]): RulesRead {
  const rules: Record<keyof MirrorRules, MirrorRule[]> = { digest: [], tag: [] };
  const findings: Finding[] = [];
  const rankOf = (object: ReadObject): number => Number(object.kind === 'ImageContentSourcePolicy');
  for (const object of [...objects].sort((a, b) => rankOf(a) - rankOf(b))) {
    const described = Object.hasOwn(LISTS, object.kind) ? LISTS[object.kind] : undefined;
    if (!described) continue;
    const spec = isObject(object.value['spec']) ? object.value['spec'] : {};
    const list = spec[described.list] ?? [];
    const path = [...object.path, 'spec', described.list];
    if (!Array.isArray(list)) {
      findings.push(defect(`${described.list} must be a list`, object.document.locate(path)));
      continue;
    }
    for (const [i, entry] of list.entries()) {
      const rule = ruleOf(entry);
      if (rule) rules[described.by].push(rule);
      else
        findings.push(
          defect('expected a source and a list of mirrors', object.document.locate([...path, i])),
        );
    }
  }
  return { rules, findings };
}

/** The rule of an entry; undefined for one of another form. */
function ruleOf(entry: unknown): MirrorRule | undefined {
  if (!isObject(entry)) return undefined;
  const { source, mirrors = [], mirrorSourcePolicy } = entry;
  if (typeof source !== 'string' || !Array.isArray(mirrors)) return undefined;
  if (!mirrors.every((mirror) => typeof mirror === 'string')) return undefined;
  return { source, mirrors, blocksSource: mirrorSourcePolicy === 'NeverContactSource' };
}

/** The rules of objects that were made here. */
export function rulesOf(objects: readonly KubernetesObject[]): MirrorRules {
  const rules: Record<keyof MirrorRules, MirrorRule[]> = { digest: [], tag: [] };
  for (const { kind, spec } of objects) {
    const known = Object.hasOwn(LISTS, kind) ? LISTS[kind] : undefined;
    const list = known && isObject(spec) ? spec[known.list] : undefined;
    if (!known || !Array.isArray(list)) continue;
    for (const rule of list.map(ruleOf)) if (rule) rules[known.by].push(rule);
  }
  return rules;
}

/** The kinds of mirror documents among the objects. */
export function mirrorKinds(objects: readonly ReadObject[]): ReadonlySet<string> {
  return new Set(objects.map(({ kind }) => kind).filter((kind) => Object.hasOwn(LISTS, kind)));
}
