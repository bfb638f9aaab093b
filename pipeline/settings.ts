/**
 * Files of settings (the policy, `ci.yaml`, `OWNERS`): one YAML document whose values
 * and places come from one parse.
 */
import { isUtf8 } from 'node:buffer';
import { OffsetDocument } from '../catalog/fbc/document.ts';
import type { Finding, Location } from '../catalog/finding.ts';
import { compose } from '../catalog/yaml/compose.ts';
import { readTree } from '../catalog/yaml/parser.ts';
import { YamlError, type YamlNode } from '../catalog/yaml/tree.ts';

export interface Settings {
  readonly value: unknown;
  /** Place of the value at `path`, or of the deepest node on the way to it that exists. */
  locate(path: readonly (string | number)[]): Location;
  /** Place of the key that `path` ends with. */
  locateKey(path: readonly (string | number)[]): Location;
}

export interface SettingsRead {
  /** Undefined when the text is not YAML. */
  readonly settings: Settings | undefined;
  /** Rule `settings/yaml` of severity error; `settings/repeated-key` and `settings/document` as warnings. */
  readonly findings: readonly Finding[];
}

/** Deepest nesting that settings may have, in levels: far more than any file of settings needs. */
const DEPTH = 50;

/**
 * Reads a file of settings.
 *
 * @param file name for findings
 */
export function readSettings(file: string, bytes: Uint8Array): SettingsRead {
  return read(file, bytes, 'warning');
}

/**
 * Reads a file that says who may do something. Duplicate keys, tags, anchors, aliases, further documents and line
 * breaks that some readers do not know are errors: other readers of YAML may see other people in such a file.
 *
 * @param file name for findings
 * @returns no settings beside an error
 */
export function readStrictSettings(file: string, bytes: Uint8Array): SettingsRead {
  const { settings, findings } = read(file, bytes, 'error');
  return { settings: findings.length > 0 ? undefined : settings, findings };
}

/** The value of a YAML file with places. @param severity of what is odd: as an error, also unusual YAML is refused */
function read(file: string, bytes: Uint8Array, severity: 'warning' | 'error'): SettingsRead {
  const text = new TextDecoder('utf-8').decode(bytes).replaceAll('\r\n', '\n');
  const findings: Finding[] = [];
  const add = (rule: string, message: string, location: Location, hint: string): void => {
    findings.push({ rule, severity, message, location, hint });
  };
  try {
    // Go and Python refuse such a file: nobody is in it.
    if (severity === 'error' && !isUtf8(bytes)) throw new YamlError('the text is not UTF-8', 0);
    const oddBreak = severity === 'error' ? text.search(ODD_BREAK) : -1;
    if (oddBreak >= 0)
      throw new YamlError('line breaks other than line feeds are not allowed here', oddBreak);
    const tree = readTree(text, { depth: DEPTH, plain: severity === 'error' });
    const { value, duplicates, locate } = compose(tree.root);
    const document = new OffsetDocument(file, text, 1, locate);
    for (const { key, again } of duplicates) {
      const effect = severity === 'error' ? '' : '; only the last one is used';
      const message = `duplicate key ${JSON.stringify(key)}${effect}`;
      add('settings/repeated-key', message, document.place(again), 'keep one of them');
    }
    const ignoredOffset = tree.ignoredFrom >= 0 ? tree.ignoredFrom : secondDocument(text);
    if (ignoredOffset >= 0) {
      const place = document.place(ignoredOffset);
      add(
        'settings/document',
        severity === 'error'
          ? 'the file must be one document'
          : 'content after the end of the document is ignored',
        place,
        'keep one document',
      );
    }
    const locateKey = (path: readonly (string | number)[]): Location =>
      document.place(keyOffset(tree.root, path) ?? locate(path));
    return { settings: { value, locate: (path) => document.locate(path), locateKey }, findings };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const place = new OffsetDocument(file, text, 1, () => 0).place(error.offset);
    // What is only not allowed is valid YAML.
    const message = `${/not allowed here$/.test(error.message) ? '' : 'not YAML: '}${error.message}`;
    findings.push({ rule: 'settings/yaml', severity: 'error', message, location: place });
    return { settings: undefined, findings };
  }
}

/** What ends a line for YAML, at least for 1.1, and neither in a diff nor on a screen. */
const ODD_BREAK = /[\r\x85\u2028\u2029]/;

/** Offset of the line that begins a second YAML document, or -1. */
function secondDocument(text: string): number {
  // The first line that is not a comment, a directive, a separator or blank.
  const content = /^(?![#%]|---(?:\s|$)|[^\S\n\r\u2028\u2029]*(?:#|$))/m.exec(text)?.index ?? text.length;
  const separator = /^---(?:\s|$)/m.exec(text.slice(content));
  return separator ? content + separator.index : -1;
}

/** Offset of the key that a path ends with, or of the item for a number; undefined where there is none. */
function keyOffset(root: YamlNode | undefined, path: readonly (string | number)[]): number | undefined {
  let node = root;
  let offset: number | undefined;
  for (const step of path) {
    const at: YamlNode | undefined = node?.kind === 'alias' ? node.target : node;
    if (at?.kind === 'sequence' && typeof step === 'number') {
      node = at.items[step];
      offset = node?.start;
    } else if (at?.kind === 'mapping') {
      // Of a key that is there twice, the last one has the value.
      const pair = at.pairs.findLast(({ key }) => key.kind === 'scalar' && key.text === step);
      node = pair?.value;
      offset = pair?.key.start;
    } else return undefined;
  }
  return offset;
}
