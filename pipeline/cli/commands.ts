/**
 * The commands, in the groups and the order of the help text. Each is loaded when it is called for.
 */
import type { CommandEntry } from './command.ts';

interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandEntry[];
}

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: 'Pull requests',
    commands: [
      {
        words: 'check',
        summary: 'Check a pull request: permissions, catalog errors, and the effect on clusters',
        load: async () => (await import('./repository/check.ts')).command,
      },
      {
        words: 'preview',
        summary: 'Build the index images that a pull request would publish, and check that they serve',
        load: async () => (await import('./repository/preview.ts')).command,
      },
      {
        words: 'release',
        summary: 'Add a bundle to the catalogs listed in its release-config.yaml',
        load: async () => (await import('./repository/release.ts')).command,
      },
      {
        words: 'setup',
        summary: 'Write the policy and the workflows that check a repository',
        load: async () => (await import('./repository/setup.ts')).command,
      },
      {
        words: 'rehearse',
        summary: 'Check past merges as the gate would have, and write a page about them',
        load: async () => (await import('./repository/rehearse.ts')).command,
      },
      {
        words: 'monitor',
        summary: 'Check public repositories, and write a site about their stuck installations',
        load: async () => (await import('./monitor/monitor.ts')).command,
      },
    ],
  },
  {
    title: 'Catalogs',
    commands: [
      {
        words: 'validate',
        summary: 'Validate a catalog against the rules of opm',
        load: async () => (await import('./catalog/validate.ts')).command,
      },
      {
        words: 'audit',
        summary: 'Report every problem in a catalog, most serious first',
        load: async () => (await import('./catalog/audit.ts')).command,
      },
      {
        words: 'inventory',
        summary: 'List what clusters have installed, for reports about a fleet',
        load: async () => (await import('./catalog/inventory.ts')).command,
      },
      {
        words: 'next',
        summary: 'Show the upgrade path from an installed version',
        load: async () => (await import('./catalog/next.ts')).command,
      },
      {
        words: 'blame',
        summary: 'Find the merge since which installed versions are stuck',
        load: async () => (await import('./repository/blame.ts')).command,
      },
      {
        words: 'renovate',
        summary: 'List the index images that strand no installation of your fleet, for Renovate',
        load: async () => (await import('./renovate/renovate.ts')).command,
      },
      {
        words: 'migrate-to-v1',
        summary: 'Show what a move from OLM v0 to OLM v1 does to the operators on a cluster',
        load: async () => (await import('./migration/migrate-to-v1.ts')).command,
      },
      {
        words: 'install-set',
        summary: 'List a package and its dependencies as ClusterExtensions for OLM v1',
        load: async () => (await import('./migration/install-set.ts')).command,
      },
      {
        words: 'graph',
        summary: 'Draw the upgrade graph as HTML, SVG, Mermaid or JSON',
        load: async () => (await import('./catalog/graph.ts')).command,
      },
      {
        words: 'suggest-graph',
        summary: 'Suggest channels and edges that leave no installation without an upgrade path',
        load: async () => (await import('./catalog/suggest-graph.ts')).command,
      },
      {
        words: 'diff',
        summary: 'Compare two versions of a catalog and the upgrades they offer',
        load: async () => (await import('./repository/diff.ts')).command,
      },
      {
        words: 'list packages',
        summary: 'List the packages in a catalog',
        load: async () => (await import('./catalog/list.ts')).packages,
      },
      {
        words: 'list channels',
        summary: 'List the channels in a catalog, with their heads',
        load: async () => (await import('./catalog/list.ts')).channels,
      },
      {
        words: 'list bundles',
        summary: 'List the bundles in a catalog, with their upgrade edges',
        load: async () => (await import('./catalog/list.ts')).bundles,
      },
      {
        words: 'render',
        summary: 'Print catalogs as one JSON or YAML stream, identical to that of opm',
        load: async () => (await import('./catalog/render.ts')).command,
      },
      {
        words: 'serve',
        summary: 'Serve a catalog over gRPC (OLM v0) and HTTP (OLM v1)',
        load: async () => (await import('./index/serve.ts')).command,
      },
      {
        words: 'add',
        summary: 'Add a bundle to a channel (other lines stay unchanged)',
        load: async () => (await import('./catalog/add.ts')).command,
      },
      {
        words: 'deprecate',
        summary: 'Deprecate a package, a channel or a bundle (other lines stay unchanged)',
        load: async () => (await import('./catalog/deprecate.ts')).command,
      },
      {
        words: 'advisory new',
        summary: 'Write an advisory: versions that clusters must not use, and what they do instead',
        load: async () => (await import('./repository/advisory-new.ts')).command,
      },
      {
        words: 'advisory apply',
        summary: 'Change catalogs as an advisory asks, and show its effect on clusters',
        load: async () => (await import('./repository/advisory-apply.ts')).command,
      },
      {
        words: 'advisory list',
        summary: 'List the advisories, and whether each catalog has them applied',
        load: async () => (await import('./repository/advisory-list.ts')).command,
      },
      {
        words: 'promote',
        summary: 'Copy one package, or all of a catalog, to another catalog',
        load: async () => (await import('./catalog/promote.ts')).command,
      },
      {
        words: 'prune',
        summary: 'Remove all packages from a catalog except those you name',
        load: async () => (await import('./catalog/prune.ts')).command,
      },
      {
        words: 'compose',
        summary: 'Combine packages from several index images',
        load: async () => (await import('./catalog/compose.ts')).command,
      },
      {
        words: 'convert',
        summary: "Change a catalog's file layout (one file, one per package, or one per blob)",
        load: async () => (await import('./catalog/convert.ts')).command,
      },
      {
        words: 'resolve',
        summary: 'Resolve image tags to digests, and lock or pin them',
        load: async () => (await import('./catalog/resolve.ts')).command,
      },
    ],
  },
  {
    title: 'Publishing',
    commands: [
      {
        words: 'publish',
        summary: 'Build the index image of a commit, push it, and write the mirror files',
        load: async () => (await import('./publish/publish.ts')).command,
      },
      {
        words: 'status',
        summary: 'Show what is published, from which commit, and what is pending or failed',
        load: async () => (await import('./publish/status.ts')).command,
      },
      {
        words: 'ring list',
        former: 'rings',
        summary: 'Show which image each release ring has, and what each catalog and package is waiting for',
        load: async () => (await import('./publish/rings.ts')).command,
      },
      {
        words: 'ring hold',
        former: 'hold',
        summary: 'Keep images from moving on to the next release ring',
        load: async () => (await import('./publish/act-on-rings.ts')).hold,
      },
      {
        words: 'ring promote',
        former: 'promote-ring',
        summary: 'Open a release ring early, with a recorded reason',
        load: async () => (await import('./publish/act-on-rings.ts')).promote,
      },
      {
        words: 'rollback',
        summary: 'Propose reverting a catalog to an earlier commit, and show who would be stranded',
        load: async () => (await import('./repository/rollback.ts')).command,
      },
      {
        words: 'ledger',
        summary: 'Record the currently published versions in the ledger',
        load: async () => (await import('./repository/ledger.ts')).command,
      },
      {
        words: 'verify',
        summary: "Verify an image's signatures",
        load: async () => (await import('./publish/verify.ts')).command,
      },
      {
        words: 'registry',
        summary: 'Serve an OCI image layout as a container registry',
        load: async () => (await import('./index/registry.ts')).command,
      },
      {
        words: 'registry gc',
        summary: 'Delete unused files from an OCI image layout',
        load: async () => (await import('./index/registry-gc.ts')).command,
      },
    ],
  },
  {
    title: 'Mirrors',
    commands: [
      {
        words: 'mirror sync',
        summary: 'Mirror what an ImageSetConfiguration selects: plan, build, copy, verify and prune',
        load: async () => (await import('./mirror/sync/sync.ts')).command,
      },
      {
        words: 'mirror plan',
        summary: 'Write the mirror mapping and manifests for a disconnected cluster',
        load: async () => (await import('./mirror/plan/plan.ts')).command,
      },
      {
        words: 'mirror copy',
        summary: 'Copy the images in a mapping.txt, with all platforms and signatures',
        load: async () => (await import('./mirror/copy.ts')).command,
      },
      {
        words: 'mirror verify',
        summary: 'Check that every image can be pulled from the mirror',
        load: async () => (await import('./mirror/verify.ts')).command,
      },
      {
        words: 'mirror diff',
        summary: 'Show what to add to and delete from a mirror',
        load: async () => (await import('./mirror/diff.ts')).command,
      },
      {
        words: 'mirror prune',
        summary: 'Delete the images that a delete-images.yaml lists from a mirror',
        load: async () => (await import('./mirror/prune.ts')).command,
      },
      {
        words: 'mirror setup',
        summary: 'Write a systemd timer or a CronJob that keeps a mirror up to date',
        load: async () => (await import('./mirror/setup.ts')).command,
      },
      {
        words: 'mirror list releases',
        summary: 'List OpenShift releases and their channels',
        load: async () => (await import('./mirror/list-releases.ts')).command,
      },
      {
        words: 'mirror list operators',
        summary: 'List the operators of a catalog as oc-mirror does',
        load: async () => (await import('./mirror/list-operators.ts')).command,
      },
      {
        words: 'mirror migrate',
        summary: 'Convert ImageContentSourcePolicies to ImageDigestMirrorSets',
        load: async () => (await import('./mirror/migrate.ts')).command,
      },
    ],
  },
  {
    title: 'Bundles',
    commands: [
      {
        words: 'bundle validate',
        summary: 'Validate a bundle against the rules of opm, operator-sdk and preflight',
        load: async () => (await import('./bundle/validate.ts')).command,
      },
      {
        words: 'bundle generate',
        summary: 'Write annotations.yaml and a Dockerfile for a bundle, as opm does',
        load: async () => (await import('./bundle/generate.ts')).command,
      },
      {
        words: 'bundle build',
        summary: 'Build a bundle image without a container engine',
        load: async () => (await import('./bundle/build.ts')).build,
      },
      {
        words: 'bundle push',
        summary: 'Build a bundle image and push it to a registry',
        load: async () => (await import('./bundle/build.ts')).push,
      },
      {
        words: 'bundle manifests',
        summary: 'Write the manifests that install a bundle with the least privileges',
        load: async () => (await import('./bundle/manifests.ts')).command,
      },
      {
        words: 'bundle fetch',
        summary: 'Download the bundle images of catalogs into directories',
        load: async () => (await import('./bundle/fetch.ts')).command,
      },
      {
        words: 'bundle catalog',
        summary: 'Print the catalog that a commit contains or builds from bundle directories',
        load: async () => (await import('./bundle/catalog.ts')).command,
      },
      {
        words: 'convert package-manifests',
        summary: 'Convert package manifests to a file-based catalog and bundles',
        load: async () => (await import('./catalog/convert-package-manifests.ts')).command,
      },
      {
        words: 'crd-diff',
        summary: 'Check whether a CRD upgrade is safe for existing objects',
        load: async () => (await import('./bundle/crd-diff.ts')).command,
      },
    ],
  },
  {
    title: 'Compatibility with opm',
    commands: [
      {
        words: 'opm',
        summary: 'Run an opm command, with the same flags and the same output',
        load: async () => (await import('./opm/opm.ts')).command,
      },
      {
        words: 'index add',
        summary: 'Add bundles to a catalog, as opm index add does',
        load: async () => (await import('./index/add.ts')).command,
      },
      {
        words: 'index rm',
        summary: 'Remove packages from a catalog, as opm index rm does',
        load: async () => (await import('./index/remove-packages.ts')).remove,
      },
      {
        words: 'index prune',
        summary: 'Keep only the named packages of a catalog, as opm index prune does',
        load: async () => (await import('./index/remove-packages.ts')).prune,
      },
    ],
  },
  {
    title: 'Editors and shells',
    commands: [
      {
        words: 'lsp',
        summary: 'Serve an editor: findings while you type, fixes, and what clusters do',
        load: async () => (await import('./lsp/command.ts')).command,
      },
      {
        words: 'completion',
        summary: 'Print the completions of a shell: bash, zsh or fish',
        load: async () => (await import('./completion.ts')).completionOf(COMMANDS),
      },
    ],
  },
];

export const COMMANDS: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);

/** The commands that most people need, in the order of a catalog's life. The other ones follow in `portolan help --all`. */
export const EVERYDAY: readonly string[] = [
  'setup',
  'check',
  'validate',
  'bundle validate',
  'audit',
  'add',
  'diff',
  'next',
  'publish',
  'status',
  'mirror plan',
  'mirror copy',
];
