/**
 * `mapping.txt`: one line an image, `SOURCE=DESTINATION`. Behind `#` a line may name the platforms of a manifest list
 * that are copied: `# platforms: linux/amd64,linux/arm64`; to oc that is a comment.
 *
 * @see https://github.com/openshift/oc/blob/master/pkg/cli/image/mirror/mappings.go
 */
import type { Finding, Location } from '../finding.ts';
import { InvalidReference } from '../reference.ts';
import { parseOcReference, typedText } from './oc.ts';
import { isPlatform, platformsOf, withPlatforms } from './platforms.ts';

export interface Mapping {
  /** Where an image is copied from, by digest or by tag. */
  readonly source: string;
  /** Where it goes: a repository with a tag. */
  readonly destination: string;
  /** Which images of a manifest list are copied, as `os/architecture`; absent: all. */
  readonly platforms?: readonly string[];
}

/** A mapping that somebody wrote. */
export interface MappingLine extends Mapping {
  /**
   * Set when the source stands for several tags: a pattern in which `*` is any text. The
   * source and the destination are repositories then.
   */
  readonly tags?: string;
  /** Set where the destination has `docker://`, as oc-mirror writes it. */
  readonly hasTransport?: true;
  readonly location: Location;
}

/** The text of `mapping.txt`; with `docker://` as oc-mirror writes it. */
export function mappingText(mappings: readonly Mapping[], transport: '' | 'docker://' = ''): string {
  return mappings
    .map(({ source, destination, platforms }) => {
      const comment = platforms ? ` # ${PLATFORMS} ${platforms.join()}` : '';
      return `${withTransport(source, transport)}=${withTransport(destination, transport)}${comment}\n`;
    })
    .join('');
}

/** How a comment begins that names platforms. */
const PLATFORMS = 'platforms:';

function withTransport(reference: string, transport: string): string {
  return reference.includes('://') ? reference : transport + reference;
}

/** What was read of a `mapping.txt`, and what could not be. */
export interface MappingsRead {
  readonly mappings: readonly MappingLine[];
  readonly findings: readonly Finding[];
}

/**
 * Reads a `mapping.txt` of ours, of oc (`SRC=DST …` or `SRC DST …`, comments behind `#`)
 * or of oc-mirror's dry run (with `docker://`).
 */
export function readMapping(text: string, file: string): MappingsRead {
  const mappings: MappingLine[] = [];
  const findings: Finding[] = [];
  const firstLines = new Map<string, { readonly source: string; readonly line: number }>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const report = (message: string, column: number): void => {
      findings.push({
        rule: 'mirror/mapping',
        severity: 'error',
        message,
        location: { file, line: i + 1, column },
      });
    };
    const hidden = HIDDEN_BREAK.exec(line.replaceAll('\t', ' '));
    if (hidden) {
      const code = hidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      const message = `the character U+${code} may end the line for some programs, expected one line an image`;
      report(message, hidden.index + 1);
      continue;
    }
    const platforms = platformsIn(line);
    if (typeof platforms === 'string') {
      report(platforms, line.indexOf('#') + 1);
      continue;
    }
    for (const { source, destination, column } of pairsOf(line)) {
      const read = readPair(source, destination, { file, line: i + 1, column });
      if (typeof read === 'string') {
        report(read, column);
        continue;
      }
      const hasTransport = destination.startsWith('docker://') && { hasTransport: true as const };
      const mapping = { ...read, ...hasTransport, ...withPlatforms(platforms) };
      mappings.push(mapping);
      const before = firstLines.get(mapping.destination);
      // Several tags of a source share their destination, a repository.
      if (before && mapping.tags === undefined && !isSameContent(before.source, mapping.source))
        report(
          `${mapping.destination} is already the destination of line ${before.line}: a tag names one image`,
          column,
        );
      if (!before) firstLines.set(mapping.destination, { source: mapping.source, line: i + 1 });
    }
  }
  return { mappings, findings };
}

/** What ends a line for some programs, and is not seen in others: a second image could stand behind it. */
const HIDDEN_BREAK = /[\p{Cc}\u2028\u2029]/u;

/** The platforms in the comment of a line; undefined where it names none, and a text for what is wrong with them. */
function platformsIn(line: string): ReturnType<typeof platformsOf> | string {
  const comment = line.includes('#') ? line.slice(line.indexOf('#') + 1).trim() : '';
  if (!comment.startsWith(PLATFORMS)) return undefined;
  const texts = comment
    .slice(PLATFORMS.length)
    .trim()
    .split(/[\s,]+/);
  const invalidText = texts.find((text) => !isPlatform(text));
  if (invalidText === undefined) return platformsOf(texts);
  return `${JSON.stringify(invalidText)} is not a platform, expected OS/ARCHITECTURE such as linux/amd64`;
}

/** Whether two sources are one image wherever it comes from: they name equal digests. */
export function isSameContent(a: string, b: string): boolean {
  const [digest, other] = [a, b].map((source) => source.split('@')[1]);
  return digest !== undefined && digest === other;
}

interface Pair {
  readonly source: string;
  readonly destination: string;
  /** 1-based, where the source begins. */
  readonly column: number;
}

/** The words of a line, two by two. */
function pairsOf(line: string): Pair[] {
  const written = line.split('#', 1)[0] ?? '';
  const words = [...written.matchAll(/\S+/g)].map((match) => ({ word: match[0], column: match.index + 1 }));
  const pairs = words.filter(({ word }) => word.includes('='));
  // oc writes SOURCE=DESTINATION; it also takes one source with several destinations, separated by blanks.
  if (pairs.length > 0) {
    return pairs.map(({ word, column }) => {
      const equals = word.indexOf('=');
      return { source: word.slice(0, equals), destination: word.slice(equals + 1), column };
    });
  }
  const [source, ...destinations] = words;
  if (!source) return [];
  if (destinations.length === 0) return [{ source: source.word, destination: '', column: source.column }];
  return destinations.map(({ word }) => ({ source: source.word, destination: word, column: source.column }));
}

/** The mapping, or why it is none. */
function readPair(source: string, destination: string, location: Location): MappingLine | string {
  try {
    return pairOf(source, destination, location);
  } catch (error) {
    if (error instanceof InvalidReference) return error.message;
    throw error;
  }
}

/** What a line of the mapping says; without a tag, the destination has the source's. @throws InvalidReference */
function pairOf(source: string, destination: string, location: Location): MappingLine {
  if (source === '' || destination === '') {
    throw new InvalidReference('expected SOURCE=DESTINATION');
  }
  const to = parseSide(destination);
  if (to.digest !== '')
    throw new InvalidReference(`the destination ${destination} has a digest, expected a tag`);
  // A directory, which is not a reference and has no tags to choose from.
  if (source.startsWith('oci://')) return { source, destination: typedText(to), location };
  const { from, tags } = sourceOf(source);
  if (tags === undefined) {
    const tag = to.tag === '' ? from.tag : to.tag;
    return { source: typedText(from), destination: typedText({ ...to, tag }), location };
  }
  if (to.tag !== '') {
    throw new InvalidReference(
      `${source} matches several tags, so the destination must be a repository, found ${destination}`,
    );
  }
  return { source: typedText(from), destination: typedText(to), tags, location };
}

/**
 * One side of a line as oc reads it.
 *
 * @throws InvalidReference with the text that was read
 */
function parseSide(text: string): ReturnType<typeof parseOcReference> {
  let reference: ReturnType<typeof parseOcReference>;
  try {
    reference = parseOcReference(text.replace(/^docker:\/\//, ''));
  } catch (error) {
    if (error instanceof InvalidReference) throw new InvalidReference(`${text}: ${error.message}`);
    throw error;
  }
  if (reference.name === '')
    throw new InvalidReference(`${text} is a registry without a repository, expected REGISTRY/REPOSITORY`);
  return reference;
}

/** A source, and the pattern of its tags if it names several images. */
function sourceOf(text: string): { from: ReturnType<typeof parseOcReference>; tags: string | undefined } {
  const colon = text.lastIndexOf(':');
  const tags = text.slice(colon + 1);
  if (colon >= 0 && tags.includes('*') && /^[\w.*-]+$/.test(tags))
    return { from: parseSide(text.slice(0, colon)), tags };
  const from = parseSide(text);
  return { from, tags: from.tag === '' && from.digest === '' ? '*' : undefined };
}
