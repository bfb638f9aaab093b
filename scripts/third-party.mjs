// The notices of what the build bundles: each package with its licence, as its authors ask.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names and versions of the packages whose code is in bundles, by esbuild's account of them, sorted. */
export function bundledPackages(metafiles) {
  const folders = new Set();
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
    }
  }
  return [...folders]
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
    .map(({ folder, name, version, license }) => ({ folder, name, version, license }));
}

/**
 * The text of the notices: packages with the same licence text stand above it together. It throws for a package that does
 * not say under which licence it is.
 */
export function noticesText(packages) {
  const byText = new Map();
  for (const { folder, name, version, license } of packages) {
    if (typeof license !== 'string') throw new Error(`${name} ${version} does not name its licence`);
    const text = readdirSync(folder)
      .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim())
      .join('\n\n');
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => [...names, '', text].join('\n').trim());
  return `The programs in this folder contain code of these packages.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
