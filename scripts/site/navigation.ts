/** Where each page of `docs/` stands in the navigation of the site. */

/** A group of the sidebar: a title, and documents by their path in the repository, in the order to read them. */
export interface Group {
  readonly title: string;
  readonly pages: readonly string[];
}

/** Every page for readers, once. Commands, rules and decisions have lists of their own. */
export const GROUPS: readonly Group[] = [
  {
    title: 'Get started',
    pages: [
      'docs/install.md',
      'docs/concepts.md',
      'docs/start-author.md',
      'docs/start-maintainer.md',
      'docs/start-release-engineer.md',
      'docs/faq.md',
    ],
  },
  {
    title: 'Check pull requests',
    pages: [
      'docs/action.md',
      'docs/gitlab.md',
      'docs/forgejo.md',
      'docs/policy.md',
      'docs/presets.md',
      'docs/foresight.md',
      'docs/references.md',
      'docs/crd-safety.md',
      'docs/advisories.md',
      'docs/fleet.md',
      'docs/suggest-graph.md',
      'docs/editor.md',
      'docs/monitor.md',
      'docs/playground.md',
    ],
  },
  {
    title: 'Publish',
    pages: [
      'docs/index-image.md',
      'docs/policy-engines.md',
      'docs/functions.md',
      'docs/kubernetes.md',
      'docs/runbook.md',
      'docs/tekton.md',
      'docs/rings.md',
    ],
  },
  { title: 'Mirror', pages: ['docs/first-mirror.md', 'docs/disconnected.md'] },
  { title: 'Clusters', pages: ['docs/olm-v1.md'] },
  {
    title: 'Reference',
    pages: [
      'docs/cli.md',
      'docs/rules.md',
      'docs/policy-reference.md',
      'docs/action-reference.md',
      'docs/compatibility.md',
      'docs/cases.md',
      'docs/threat-model.md',
      'SECURITY.md',
      'CHANGELOG.md',
    ],
  },
  {
    title: 'Evaluate',
    pages: [
      'docs/comparison.md',
      'docs/adoption.md',
      'docs/pictures.md',
      'docs/performance.md',
      'docs/from-operator-pipelines.md',
      'docs/opm.md',
      'docs/from-oc-mirror.md',
      'docs/from-konflux.md',
      'docs/bundle-differences.md',
    ],
  },
  {
    title: 'Contribute',
    pages: [
      'docs/start-contributor.md',
      'CONTRIBUTING.md',
      'docs/architecture.md',
      'docs/glossary.md',
      'docs/releasing.md',
    ],
  },
];
