/** Reads semver templates: strict YAML, in which an unknown field is an error. */
import { OffsetDocument, type SourceDocument } from '../../fbc/document.ts';
import { bool, fitStruct, isObject, listOf, type Shape, structShape, text } from '../../go/shape.ts';
import { compose } from '../../yaml/compose.ts';
import { readTree } from '../../yaml/parser.ts';
import { asText, fieldOf } from '../../yaml/resolve.ts';
import { YamlError } from '../../yaml/tree.ts';
import { TemplateError, type TemplateText } from './template.ts';

/** From the least to the most trusted. */
export const ARCHETYPES = ['candidate', 'fast', 'stable'] as const;

export type Archetype = (typeof ARCHETYPES)[number];
export type ChannelKind = 'major' | 'minor';

export interface SemverTemplate {
  readonly images: Readonly<Record<Archetype, readonly string[]>>;
  /** Which channels are made, major before minor. */
  readonly kinds: readonly ChannelKind[];
  /** Which of two channels that begin with the same version is the default. */
  readonly preference: ChannelKind;
  readonly document: SourceDocument;
}

export const SEMVER_SCHEMA = 'olm.semver';

const BUNDLES = structShape('semver.channelBundles', {
  bundles: listOf(structShape('semver.bundleEntry', { image: text })),
});

const SHAPE = structShape('semver.SemverTemplateData', {
  schema: text,
  generateMajorChannels: bool,
  generateMinorChannels: bool,
  defaultChannelTypePreference: text,
  candidate: BUNDLES,
  fast: BUNDLES,
  stable: BUNDLES,
});

type Fields = Readonly<Record<string, unknown>>;

/** Reads a semver template as opm does. @throws TemplateError at the field that opm refuses */
export function readSemver(template: TemplateText): SemverTemplate {
  const { value, document } = strictDocument(template);
  const unknown = unknownField(value, SHAPE, []);
  if (unknown) throw new TemplateError(`unknown field ${unknown.join('.')}`, document.locate(unknown));
  const { value: fields, misfits } = fitStruct(asText(value, SHAPE), SHAPE);
  const [misfit] = misfits;
  if (misfit) {
    const message = `${misfit.path.join('.') || 'the template'} must be ${misfit.expected}, found ${misfit.found}`;
    throw new TemplateError(message, document.locate(misfit.path));
  }
  if (fields['schema'] !== SEMVER_SCHEMA) {
    const found = JSON.stringify(fields['schema'] ?? '');
    throw new TemplateError(
      `the template's schema is ${found}, expected ${SEMVER_SCHEMA}`,
      document.locate([]),
    );
  }
  const images = {
    candidate: imagesIn(fields, 'candidate'),
    fast: imagesIn(fields, 'fast'),
    stable: imagesIn(fields, 'stable'),
  };
  return { images, ...kindsOf(fields, document), document };
}

/** The value of a YAML document. @throws TemplateError for what is not YAML, and for duplicate keys */
function strictDocument({ file, bytes }: TemplateText): { value: unknown; document: SourceDocument } {
  const source = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  try {
    const { value, duplicates, locate } = compose(readTree(source).root);
    const document = new OffsetDocument(file, source, 1, locate);
    const [duplicate] = duplicates;
    if (!duplicate) return { value, document };
    throw new TemplateError(`duplicate key "${duplicate.key}"`, document.place(duplicate.again));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const place = new OffsetDocument(file, source, 1, () => 0).place(error.offset);
    throw new TemplateError(`not YAML: ${error.message}`, place);
  }
}

/** The path of the first field that a shape does not have; undefined if there is none. */
function unknownField(
  value: unknown,
  shape: Shape,
  path: (string | number)[],
): (string | number)[] | undefined {
  if (Array.isArray(value) && shape.kind === 'list') {
    for (const [i, item] of value.entries()) {
      const found = unknownField(item, shape.items, [...path, i]);
      if (found) return found;
    }
  }
  if (!isObject(value) || shape.kind !== 'struct') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const field = fieldOf(shape, key);
    if (!field) return [...path, key];
    const found = unknownField(item, field, [...path, key]);
    if (found) return found;
  }
  return undefined;
}

/** The images of an archetype, an empty text for an entry without one. */
function imagesIn(fields: Fields, archetype: Archetype): string[] {
  const channel = fields[archetype];
  const bundles = isObject(channel) && Array.isArray(channel['bundles']) ? channel['bundles'] : [];
  return bundles.map((entry) =>
    isObject(entry) && typeof entry['image'] === 'string' ? entry['image'] : '',
  );
}

/**
 * Which channels a template asks for, and which kind of them is the default. As in opm, those of minor versions are made if
 * it asks for none, and are the default if they are made.
 *
 * @throws TemplateError for a default that is neither major nor minor, or not made
 */
function kindsOf(fields: Fields, document: SourceDocument): Pick<SemverTemplate, 'kinds' | 'preference'> {
  const major = fields['generateMajorChannels'] === true;
  const minor = fields['generateMinorChannels'] === true || !major;
  const kinds: ChannelKind[] = [
    ...(major ? (['major'] as const) : []),
    ...(minor ? (['minor'] as const) : []),
  ];
  const wanted = fields['defaultChannelTypePreference'] ?? '';
  if (wanted === '') return { kinds, preference: minor ? 'minor' : 'major' };
  const place = document.locate(['defaultChannelTypePreference']);
  if (wanted !== 'major' && wanted !== 'minor') {
    throw new TemplateError(
      `defaultChannelTypePreference must be major or minor, found ${JSON.stringify(wanted)}`,
      place,
    );
  }
  if (kinds.includes(wanted)) return { kinds, preference: wanted };
  const option = wanted === 'major' ? 'generateMajorChannels' : 'generateMinorChannels';
  throw new TemplateError(`${wanted} channels are preferred, but not made`, place, `${option}: true`);
}
