/** Templates whose `entries` are blobs: what the first document of the file says. */
import { type Decoded, decodeBlob } from '../../fbc/blob.ts';
import { partOfDocument, type SourceDocument } from '../../fbc/document.ts';
import { readDocuments } from '../../fbc/documents.ts';
import { DEFAULT_LIMITS } from '../../fbc/load.ts';
import type { Blob, Blobs } from '../../fbc/model.ts';
import type { Finding } from '../../finding.ts';
import { any, fitStruct, listOf, type Shape, type StructShape, structShape, text } from '../../go/shape.ts';
import { TemplateError, type TemplateText } from './template.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Template {
  readonly fields: Fields;
  readonly document: SourceDocument;
}

/** The shape of a template with entries, and with further fields. */
export function entriesShape(name: string, further: Readonly<Record<string, Shape>> = {}): StructShape {
  return structShape(name, { schema: text, entries: listOf(any), ...further });
}

const SCHEMA_ONLY = structShape('struct { Schema string "json:\\"schema\\"" }', { schema: text });

/**
 * The schema that a template names.
 *
 * @throws TemplateError
 */
export function schemaOf(template: TemplateText): string {
  const { value, document } = firstDocument(template);
  const { value: fields } = fitStruct(value, SCHEMA_ONLY);
  if (typeof fields['schema'] === 'string' && fields['schema'] !== '') return fields['schema'];
  throw new TemplateError('the template has no schema', document.locate([]), 'schema: olm.template.basic');
}

/**
 * The first document, fitted to a shape. Unknown fields are passed over.
 *
 * @throws TemplateError when it does not fit, or has another schema
 */
export function readTemplate(template: TemplateText, schema: string, shape: StructShape): Template {
  const { value, document } = firstDocument(template);
  const { value: fields, misfits } = fitStruct(value, shape);
  const [misfit] = misfits;
  if (misfit) {
    const message = `${misfit.path.join('.') || 'the template'} must be ${misfit.expected}, found ${misfit.found}`;
    throw new TemplateError(message, document.locate(misfit.path));
  }
  if (fields['schema'] === schema) return { fields, document };
  const found = JSON.stringify(fields['schema'] ?? '');
  throw new TemplateError(
    `the template's schema is ${found}, expected ${schema}`,
    document.locate(['schema']),
  );
}

/**
 * The first document of a template, which is all that opm reads.
 *
 * @throws TemplateError for a text that cannot be read, or is empty
 */
function firstDocument({ file, bytes }: TemplateText): { value: unknown; document: SourceDocument } {
  const findings: Finding[] = [];
  const [first] = readDocuments(file, bytes, { limits: DEFAULT_LIMITS, findings });
  const defect = findings.find(({ severity }) => severity === 'error');
  if (first && !defect) return first;
  throw new TemplateError(
    defect?.message ?? 'the template is empty',
    defect?.location ?? { file, line: 1, column: 1 },
  );
}

/** The entries as blobs; what cannot be read as one is a finding. */
export function entryBlobs({ fields, document }: Template, findings: Finding[]): Blobs {
  const entries = Array.isArray(fields['entries']) ? fields['entries'] : [];
  const blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };
  for (const [i, entry] of entries.entries()) {
    const decoded = decodeBlob(entry, partOfDocument(document, ['entries', i]), findings);
    if (decoded) addBlob(blobs, decoded);
  }
  return blobs;
}

/** Lists that can be added to. */
type Growing = { readonly [Kind in keyof Blobs]: Blobs[Kind][number][] };

/** Adds a decoded blob to those of its kind. */
function addBlob(blobs: Growing, decoded: Decoded): void {
  switch (decoded.kind) {
    case 'package':
      blobs.packages.push(decoded.blob);
      break;
    case 'channel':
      blobs.channels.push(decoded.blob);
      break;
    case 'bundle':
      blobs.bundles.push(decoded.blob);
      break;
    case 'deprecations':
      blobs.deprecations.push(decoded.blob);
      break;
    case 'other':
      (blobs.others as Blob[]).push(decoded.blob);
      break;
  }
}
