/**
 * The commands, in the order of the help text. Each is loaded when it is called for.
 */
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    words: 'check',
    summary: 'check a pull request: who may, what is wrong, what clusters will do',
    load: async () => (await import('./check.ts')).command,
  },
  {
    words: 'preview',
    summary: 'build what a pull request would publish, start it, and ask for its packages',
    load: async () => (await import('./preview.ts')).command,
  },
  {
    words: 'release',
    summary: 'bring a bundle into the catalogs that its release-config.yaml names',
    load: async () => (await import('./release.ts')).command,
  },
  {
    words: 'setup',
    summary: 'write the policy and the workflows that gate a repository',
    load: async () => (await import('./setup.ts')).command,
  },
  {
    words: 'validate',
    summary: 'judge a catalog as opm does, every defect at once and on its line',
    load: async () => (await import('./validate.ts')).command,
  },
  {
    words: 'audit',
    summary: 'say all that can be said of catalogs as they stand, the worst first',
    load: async () => (await import('./audit.ts')).command,
  },
  {
    words: 'next',
    summary: 'say what a cluster does with an installed version, and where its road ends',
    load: async () => (await import('./next.ts')).command,
  },
  {
    words: 'graph',
    summary: 'draw where each version really goes next: a page, a picture, a diagram, or data',
    load: async () => (await import('./graph.ts')).command,
  },
  {
    words: 'diff',
    summary: 'compare two states of catalogs: what was changed, what clusters will do otherwise',
    load: async () => (await import('./diff.ts')).command,
  },
  {
    words: 'ledger',
    summary: 'add what catalogs have today to the ledger of all that was ever published',
    load: async () => (await import('./ledger.ts')).command,
  },
  {
    words: 'list packages',
    summary: 'list the packages of a catalog',
    load: async () => (await import('./list-packages.ts')).command,
  },
  {
    words: 'list channels',
    summary: 'list the channels of a catalog, with their heads',
    load: async () => (await import('./list-channels.ts')).command,
  },
  {
    words: 'list bundles',
    summary: 'list the bundles of a catalog, channel by channel, with their edges',
    load: async () => (await import('./list-bundles.ts')).command,
  },
  {
    words: 'render',
    summary: 'print catalogs as one stream of JSON or YAML, byte for byte as opm',
    load: async () => (await import('./render.ts')).command,
  },
  {
    words: 'publish',
    summary: 'build the index image of a commit, push it, write what mirrors need',
    load: async () => (await import('./publish.ts')).command,
  },
  {
    words: 'status',
    summary: 'say what is published where, from which commit, and what waits or failed',
    load: async () => (await import('./status.ts')).command,
  },
  {
    words: 'rollback',
    summary: 'propose a catalog as an earlier commit had it, and say who would be stranded',
    load: async () => (await import('./rollback.ts')).command,
  },
  {
    words: 'convert',
    summary: 'lay a catalog out anew: one file, one a package, one a blob',
    load: async () => (await import('./convert.ts')).command,
  },
  {
    words: 'verify',
    summary: 'tell who signed an image, and whether that is who must have',
    load: async () => (await import('./verify.ts')).command,
  },
  {
    words: 'compose',
    summary: 'put packages out of several index images together',
    load: async () => (await import('./compose.ts')).command,
  },
  {
    words: 'add',
    summary: 'add a bundle to a channel, every other line as it is',
    load: async () => (await import('./add.ts')).command,
  },
  {
    words: 'deprecate',
    summary: 'deprecate a package, a channel or a bundle, every other line as it is',
    load: async () => (await import('./deprecate.ts')).command,
  },
  {
    words: 'promote',
    summary: 'copy a package from one catalog to another',
    load: async () => (await import('./promote.ts')).command,
  },
  {
    words: 'prune',
    summary: 'keep only some packages of a catalog',
    load: async () => (await import('./prune.ts')).command,
  },
  {
    words: 'index add',
    summary: 'put bundles into a catalog as opm index add put them into its database',
    load: async () => (await import('./index-add.ts')).command,
  },
  {
    words: 'index rm',
    summary: 'take packages out of a catalog, as opm index rm did',
    load: async () => (await import('./index-keep.ts')).remove,
  },
  {
    words: 'index prune',
    summary: 'keep only some packages of a catalog, as opm index prune did',
    load: async () => (await import('./index-keep.ts')).prune,
  },
  {
    words: 'opm',
    summary: 'do what opm does: its commands and flags as they are typed, its output byte for byte',
    load: async () => (await import('./opm.ts')).command,
  },
  {
    words: 'resolve',
    summary: 'find the digest of every tag that catalogs and templates name; lock and pin them',
    load: async () => (await import('./resolve.ts')).command,
  },
  {
    words: 'serve',
    summary: 'serve a catalog as clusters see it: the registry API by gRPC, catalogd by HTTP',
    load: async () => (await import('./serve.ts')).command,
  },
  {
    words: 'mirror plan',
    summary: 'write what a disconnected cluster needs: mapping.txt, mirror sets, catalog sources',
    load: async () => (await import('./mirror-plan.ts')).command,
  },
  {
    words: 'mirror copy',
    summary: 'carry out a mapping.txt: copy the images, with all platforms and signatures',
    load: async () => (await import('./mirror-copy.ts')).command,
  },
  {
    words: 'mirror verify',
    summary: 'follow every reference of every bundle as a node would',
    load: async () => (await import('./mirror-verify.ts')).command,
  },
  {
    words: 'mirror diff',
    summary: 'say what to add to a mirror, what stays, what may be deleted',
    load: async () => (await import('./mirror-diff.ts')).command,
  },
  {
    words: 'mirror prune',
    summary: 'delete from a mirror what is not needed any more, after asking',
    load: async () => (await import('./mirror-prune.ts')).command,
  },
  {
    words: 'mirror migrate',
    summary: 'print ImageContentSourcePolicies as ImageDigestMirrorSets',
    load: async () => (await import('./mirror-migrate.ts')).command,
  },
  {
    words: 'bundle catalog',
    summary: 'print the catalog that a commit holds, or that is made from its bundle directories',
    load: async () => (await import('./bundle-catalog.ts')).command,
  },
  {
    words: 'bundle validate',
    summary: 'judge a bundle as every tool would, every defect at once and on its line',
    load: async () => (await import('./bundle-validate.ts')).command,
  },
  {
    words: 'bundle generate',
    summary: 'write the metadata of a bundle and its Dockerfile, as opm does',
    load: async () => (await import('./bundle-generate.ts')).command,
  },
  {
    words: 'bundle build',
    summary: 'make the image of a bundle, without a daemon',
    load: async () => (await import('./bundle-build.ts')).build,
  },
  {
    words: 'bundle push',
    summary: 'make the image of a bundle and push it',
    load: async () => (await import('./bundle-build.ts')).push,
  },
  {
    words: 'bundle manifests',
    summary: 'write what installs a bundle, with exactly the permissions that it needs',
    load: async () => (await import('./bundle-manifests.ts')).command,
  },
  {
    words: 'bundle fetch',
    summary: 'fetch the bundle images of catalogs into directories',
    load: async () => (await import('./bundle-fetch.ts')).command,
  },
  {
    words: 'crd-diff',
    summary: 'judge whether objects survive the upgrade of their definitions',
    load: async () => (await import('./crd-diff.ts')).command,
  },
  {
    words: 'convert package-manifests',
    summary: 'turn package manifests into a catalog and into bundles',
    load: async () => (await import('./convert-package-manifests.ts')).command,
  },
  {
    words: 'registry',
    summary: 'serve a directory (an OCI image layout) as a registry',
    load: async () => (await import('./registry.ts')).command,
  },
];
