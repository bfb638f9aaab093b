/** Where each page of `docs/` stands in the navigation of the site. */

/** A group of the sidebar: a title, and documents by their path in the repository, in the order to read them. */
export interface Group {
  readonly title: string;
  readonly pages: readonly string[];
}

/** Every page for readers, once. Commands, rules and decisions have lists of their own. */
export const GROUPS: readonly Group[] = [
  {
    title: 'Start in five minutes',
    pages: [
      'docs/start-maintainer.md',
      'docs/start-release-engineer.md',
      'docs/start-disconnected.md',
      'docs/start-contributor.md',
    ],
  },
  {
    title: 'Maintainers',
    pages: [
      'docs/action.md',
      'docs/policy.md',
      'docs/presets.md',
      'docs/references.md',
      'docs/pictures.md',
      'docs/adoption.md',
      'docs/foresight.md',
      'docs/fleet.md',
      'docs/suggest-graph.md',
      'docs/rings.md',
      'docs/advisories.md',
      'docs/crd-safety.md',
      'docs/editor.md',
    ],
  },
  {
    title: 'Release engineers',
    pages: [
      'docs/index-image.md',
      'docs/functions.md',
      'docs/kubernetes.md',
      'docs/forgejo.md',
      'docs/gitlab.md',
      'docs/tekton.md',
    ],
  },
  { title: 'Disconnected administrators', pages: ['docs/first-mirror.md', 'docs/disconnected.md'] },
  { title: 'Cluster administrators', pages: ['docs/olm-v1.md'] },
  {
    title: 'Coming from other tools',
    pages: [
      'docs/comparison.md',
      'docs/from-operator-pipelines.md',
      'docs/opm.md',
      'docs/from-oc-mirror.md',
      'docs/from-konflux.md',
      'docs/bundle-differences.md',
      'docs/mirror-differences.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'docs/faq.md',
      'docs/compatibility.md',
      'docs/support.md',
      'docs/cli.md',
      'docs/rules.md',
      'docs/playground.md',
      'docs/performance.md',
      'docs/upstream.md',
      'CHANGELOG.md',
    ],
  },
  { title: 'Security', pages: ['SECURITY.md', 'docs/threat-model.md'] },
  {
    title: 'Contributors',
    pages: ['CONTRIBUTING.md', 'docs/architecture.md', 'docs/glossary.md', 'docs/releasing.md'],
  },
];
