/**
 * The kinds of templates, each with the one reader that rendering uses: whoever asks what
 * stands in a template reads it as whoever renders it.
 */

import { decodeMeta, readFields } from '../../fbc/blob.ts';
import { readDocuments } from '../../fbc/documents.ts';
import { DEFAULT_LIMITS } from '../../fbc/load.ts';
import { type Blobs, NO_BLOBS } from '../../fbc/model.ts';
import type { Finding } from '../../finding.ts';
import { escapeHtml } from '../../go/json-marshal.ts';
import { compactJson, indentedJson, RawJson } from '../../go/json-text.ts';
import { parseJson } from '../../json.ts';
import { emitYaml } from '../../yaml/emit.ts';
import type { Json } from '../../yaml/scalar.ts';
import { BASIC_SCHEMA, expandBasic, writtenInBasic } from './basic.ts';
import { schemaOf } from './entries.ts';
import { expandSemver } from './semver.ts';
import { readSemver, SEMVER_SCHEMA } from './semver-read.ts';
import { expandSubstitutes, SUBSTITUTES_SCHEMA, writtenInSubstitutes } from './substitutes.ts';
import { type Expand, TemplateError, type TemplateText } from './template.ts';

export interface TemplateKind {
  readonly name: string;
  readonly schema: string;
  readonly expand: Expand;
  /**
   * The blobs that stand in a template; bundles only as far as they are written there, not what their images hold.
   * An entry that cannot be read is a finding.
   *
   * @throws TemplateError
   */
  readonly written: (text: TemplateText, findings: Finding[]) => Blobs;
}

export const TEMPLATE_KINDS: readonly TemplateKind[] = [
  { name: 'basic', schema: BASIC_SCHEMA, expand: expandBasic, written: writtenInBasic },
  {
    name: 'semver',
    schema: SEMVER_SCHEMA,
    expand: expandSemver,
    written: (text) => {
      // Only images stand in it; it is read for the errors alone.
      readSemver(text);
      return NO_BLOBS;
    },
  },
  {
    name: 'substitutes',
    schema: SUBSTITUTES_SCHEMA,
    expand: expandSubstitutes,
    written: writtenInSubstitutes,
  },
];

/** The kind that a template's schema names; undefined if it is not a template. */
export function templateKind(text: TemplateText): TemplateKind | undefined {
  try {
    const schema = schemaOf(text);
    return TEMPLATE_KINDS.find((kind) => kind.schema === schema);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

// Templates made of a catalog.
//
// @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/converter/converter.go

export type ConvertedKind = 'basic' | 'substitutes';

/** A template, or why the catalog cannot become one. */
interface Converted {
  readonly text: string | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Puts every object of a catalog's file into a template. A basic one keeps only the image of a bundle, which rendering reads;
 * one with substitutions keeps bundles whole, as opm does.
 */
export function convertTo(kind: ConvertedKind, { file, bytes }: TemplateText): Converted {
  const findings: Finding[] = [];
  const entries: string[] = [];
  for (const { value, document } of readDocuments(file, bytes, { limits: DEFAULT_LIMITS, findings })) {
    const meta = decodeMeta(value, document, findings);
    if (!meta) continue;
    if (kind === 'basic' && meta.schema === 'olm.bundle') {
      const image = readFields({ ...meta, document }, findings)?.['image'];
      entries.push(`{"schema":"olm.bundle","image":${compactJson(typeof image === 'string' ? image : '')}}`);
    } else entries.push(compactJson(meta.value));
  }
  if (findings.some(({ severity }) => severity === 'error')) return { text: undefined, findings };
  // Go writes a list to which nothing was added as null.
  const listed = entries.length === 0 ? 'null' : `[${entries.join(',')}]`;
  const text =
    kind === 'basic'
      ? `{"schema":"${BASIC_SCHEMA}","entries":${listed}}`
      : `{"schema":"${SUBSTITUTES_SCHEMA}","entries":${listed},"substitutions":[]}`;
  return { text, findings };
}

/** The template as opm prints it. @throws EmitError for what YAML cannot hold */
export function templateText(json: string, format: 'json' | 'yaml'): string {
  if (format === 'json') return `${escapeHtml(indentedJson(new RawJson(json)))}\n`;
  return `---\n${emitYaml(parseJson(json) as Json)}\n`;
}
