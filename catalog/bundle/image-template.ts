/**
 * Templates for the image of a bundle, such as
 * `quay.io/example/{{.Package}}-bundle:v{{.Version}}`.
 */

/** What a template may name. */
interface TemplateFields {
  readonly Package: string;
  readonly Name: string;
  readonly Version: string;
}

export type ImageTemplate = (fields: TemplateFields) => string;

/** `{{.Package}}`, with the white space around it, which the dashes of `{{- .Package -}}` remove. */
const ACTION = /(\s*)\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}(\s*)/gs;
const FIELD = /^\.(Package|Name|Version)$/;

/**
 * Reads a template in Go's syntax. Only fields can be named: nothing calls a function.
 *
 * @throws SyntaxError
 */
export function parseImageTemplate(text: string): ImageTemplate {
  const rest = text.replaceAll(ACTION, '');
  if (rest.includes('{{')) throw new SyntaxError(`the template ${JSON.stringify(text)} has an unclosed {{`);
  for (const [, , , action = ''] of text.matchAll(ACTION)) {
    if (FIELD.test(action) || isComment(action)) continue;
    const fields = '{{.Package}}, {{.Name}} or {{.Version}}';
    throw new SyntaxError(`the template ${JSON.stringify(text)} has {{${action}}}, expected ${fields}`);
  }
  return (fields) =>
    text.replaceAll(ACTION, (_, before, trimBefore, action: string, trimAfter, after) => {
      const name = FIELD.exec(action)?.[1] as keyof TemplateFields | undefined;
      return `${trimBefore ? '' : before}${name ? fields[name] : ''}${trimAfter ? '' : after}`;
    });
}

function isComment(action: string): boolean {
  return /^\/\*.*\*\/$/s.test(action);
}
