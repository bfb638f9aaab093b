/** Folders whose files no cluster gets: tests, examples, documentation, templates, archives, and copies of others' projects. */

const UNSHIPPED: readonly { readonly folder: RegExp; readonly reason: string }[] = [
  {
    folder:
      /(?:^|\/)(?:(?:[^/]*[-_])?(?:testdata|examples?|samples?|demos?|tutorials?|fixtures)|tests?|e2e|[^/]*(?:veneer|template)s?[^/]*)\//i,
    reason: 'a test, an example or a template',
  },
  { folder: /(?:^|\/)(?:archived?|archives|attic|retired|obsolete)\//i, reason: 'put away' },
  { folder: /(?:^|\/)(?:docs?|documentation)\//i, reason: 'part of the documentation' },
  {
    folder: /(?:^|\/)(?:third[-_]?party|3rd[-_]?party|vendor(?:ed)?|externals?)\//i,
    reason: "a copy of another project's files",
  },
];

/** Why files of a path are not expected to be published; undefined where they may be. */
export function unshippedReason(path: string): string | undefined {
  return UNSHIPPED.find(({ folder }) => folder.test(path))?.reason;
}

export function isUnshipped(path: string): boolean {
  return unshippedReason(path) !== undefined;
}

/** Whether a template is one of a test, an example or a copy: a folder for templates is where templates are. */
export function isUnshippedTemplate(path: string): boolean {
  return isUnshipped(path.replaceAll(/[^/]*(?:veneer|template)s?[^/]*\//gi, ''));
}
