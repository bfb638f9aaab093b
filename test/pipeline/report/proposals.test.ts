/** Texts of pull requests that the pipeline opens: what catalogs say stands in them as text, and they fit. */
import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { pinsBody, releaseBody, rollbackBody } from '../../../pipeline/report/proposal-text.ts';

const EVIL =
  '@everyone [click](https://evil.example) <img src=x onerror=alert(1)> | `code` ```mermaid\n::set-output::x \u001b[31m';

const finding: Finding = {
  rule: 'graph/strands-installed-v0',
  severity: 'error',
  message: EVIL,
  location: { file: EVIL, line: 1, column: 1 },
  hint: EVIL,
};

const digest = `sha256:${'a'.repeat(64)}`;
const BODIES: readonly (readonly [string, (times: number) => string])[] = [
  [
    'pins',
    (times) =>
      pinsBody(EVIL, {
        moved: Array.from({ length: times }, () => ({ tag: EVIL, before: digest, after: digest })),
        left: Array.from({ length: times }, () => finding),
      }),
  ],
  [
    'rollback',
    (times) =>
      rollbackBody({
        catalog: EVIL,
        to: 'a'.repeat(40),
        findings: Array.from({ length: times }, () => finding),
      }),
  ],
  [
    'release',
    (times) =>
      releaseBody({
        package: EVIL,
        version: EVIL,
        image: EVIL,
        paths: Array.from({ length: times }, () => EVIL),
      }),
  ],
];

test.each(BODIES)('%s', (_, body) => {
  // Code spans show what is in them as it is.
  const text = body(1).replaceAll(/(`+)[^`](?:.*?[^`])?\1(?!`)/gs, '');
  expect(text).not.toMatch(/@everyone|<img|\]\(https:|```|^::/m);
  expect(body(1)).not.toContain('\u001b');
  expect(Buffer.byteLength(body(5000))).toBeLessThanOrEqual(65_000);
  expect(body(5000)).toContain('The rest does not fit here');
});
