/**
 * Templates made of a catalog.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/converter/converter.go
 */
import { decodeMeta, readFields } from '../../fbc/blob.ts';
import { readDocuments } from '../../fbc/documents.ts';
import { DEFAULT_LIMITS } from '../../fbc/load.ts';
import type { Finding } from '../../finding.ts';
import { escapeHtml } from '../../go/json-marshal.ts';
import { compactJson, indentedJson, RawJson } from '../../go/json-text.ts';
import { parseJson } from '../../json.ts';
import { emitYaml } from '../../yaml/emit.ts';
import type { Json } from '../../yaml/scalar.ts';
import { BASIC_SCHEMA } from './basic.ts';
import { SUBSTITUTES_SCHEMA } from './substitutes.ts';
import type { TemplateText } from './template.ts';

export type TemplateKind = 'basic' | 'substitutes';

/** A template, or why the catalog is none that could become one. */
interface Converted {
  readonly text: string | undefined;
  readonly findings: readonly Finding[];
}

/** Puts every object of a catalog's file into a template; of bundles only the image is kept. */
export function convertTo(kind: TemplateKind, { file, bytes }: TemplateText): Converted {
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
