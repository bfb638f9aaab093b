/**
 * The kinds of templates, each with the one reader that rendering uses: whoever asks what
 * stands in a template reads it as whoever renders it.
 */

import { type Blobs, NO_BLOBS } from '../../fbc/model.ts';
import type { Finding } from '../../finding.ts';
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
