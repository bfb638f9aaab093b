/** Which versions of the documentation the site has. */

/** One version of the site: its name, the commit or tag to build, and its folder below the root of the site. */
export interface SiteVersion {
  readonly name: string;
  readonly ref: string;
  readonly folder: string;
}

/** Minor versions whose documentation stays on the site. */
const MOST = 6;

/**
 * The newest release of each minor version, the newest first, then the branch. The newest release is in the root of the site;
 * before the first release, the branch is. Prereleases do not count.
 */
export function siteVersions(tags: readonly string[]): SiteVersion[] {
  const releases = tags
    .flatMap((tag) => {
      const [, major, minor, patch] = /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag) ?? [];
      return patch === undefined ? [] : [{ tag, numbers: [Number(major), Number(minor), Number(patch)] }];
    })
    .sort((a, b) => compare(b.numbers, a.numbers));
  const newest = new Map<string, string>();
  for (const { tag, numbers } of releases) {
    const name = `v${numbers[0]}.${numbers[1]}`;
    if (!newest.has(name)) newest.set(name, tag);
  }
  const released = [...newest].slice(0, MOST).map(([name, ref], index) => ({
    name,
    ref,
    folder: index === 0 ? '' : `${name}/`,
  }));
  return [...released, { name: 'main', ref: 'main', folder: released.length === 0 ? '' : 'main/' }];
}

/** Compares versions number by number: negative, 0 or positive. */
function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
