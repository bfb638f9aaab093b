/** What a pull request says that brings a bundle into catalogs. */
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, code, escaped } from './markdown.ts';

export interface ReleaseText {
  readonly package: string;
  readonly version: string;
  /** By digest. */
  readonly image: string;
  readonly paths: readonly string[];
}

/** The body, as Markdown. */
export function releaseBody({ package: name, version, image, paths }: ReleaseText): string {
  const first = `${escaped(name)} ${escaped(version)} was merged; its image is ${code(image)}.`;
  const files = paths.map((path) => `- ${code(path)}`);
  const what = `What its ${code('release-config.yaml')} makes of the catalogs:`;
  return withinBudget(
    [{ text: first }, { text: [what, '', ...files].join('\n'), cuttable: true }],
    COMMENT_BYTES,
  );
}
