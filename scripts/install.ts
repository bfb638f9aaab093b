/**
 * How people get Portolan. Pages, examples and workflows take it from here: `npm run generate` writes it into them.
 *
 * Somebody else could register the name of a package that is not published, and run code wherever it is called: until
 * `published` is true, everything is built from a clone or a commit.
 */
import { readFileSync } from 'node:fs';

export interface Install {
  /** Whether npm and ghcr.io have the release of `version`. */
  readonly published: boolean;
  readonly version: string;
  /** A commit that contains the built Action of this version. */
  readonly commit: string;
}

export const INSTALL: Install = {
  published: false,
  version: JSON.parse(readFileSync('package.json', 'utf8')).version,
  commit: 'b54b97e4b73c5d9d53a6adb53861d35c11bced3b',
};

const REPOSITORY = 'portolan/portolan';
const REGISTRY = `ghcr.io/${REPOSITORY}`;
const UNRELEASED = 'unreleased';
/** Builds the command line in a clone, and puts it on the `PATH`. */
export const BUILD = 'npm ci && npm run build && npm link';

/** What a marked place of a page says before and after the release. */
interface Place {
  readonly before: (install: Install) => readonly string[];
  readonly after: (install: Install) => readonly string[];
}

const PLACES: Readonly<Record<string, Place>> = {
  'command-line': {
    before: () => [
      'Portolan is not on npm yet. Build it from a clone, and put it on your `PATH`:',
      '',
      '```',
      `git clone https://github.com/${REPOSITORY} && cd portolan`,
      BUILD,
      '```',
      '',
      'Without `npm link`, run `node CLONE/dist/portolan.mjs` in place of `portolan`. On Node 20, `npm ci` warns that two packages ask for',
      'Node 22 (`EBADENGINE`); CI runs all tests on Node 20, too.',
    ],
    after: ({ version }) => [
      'Put it on your `PATH`:',
      '',
      '```',
      `npm install --global portolan@${version}`,
      '```',
      '',
      `To run it without installing it, write \`npx portolan@${version}\` in place of \`portolan\`.`,
    ],
  },
  badges: {
    before: badges,
    after: (install) => [
      ...badges(install),
      '[![npm](https://img.shields.io/npm/v/portolan)](https://www.npmjs.com/package/portolan)',
    ],
  },
  action: {
    before: stepOfAction,
    after: stepOfAction,
  },
  mirror: {
    before: () => ['[Install](install.md) Portolan from a clone. Then the command is `portolan`.'],
    after: ({ version }) => [
      `Install Portolan: \`npm install --global portolan@${version}\`. Then the command is \`portolan\`.`,
    ],
  },
  tekton: {
    before: ({ version }) => [
      'Nothing is released yet. Until then, apply the tasks from a clone with your own image of Portolan:',
      '',
      '```',
      'for task in deploy/tekton/*.yaml; do',
      `  sed 's#{image}#REGISTRY/portolan@sha256:DIGEST#; s#{version}#${version}#' "$task" | oc apply -f -`,
      'done',
      '```',
    ],
    after: ({ version }) => [
      `The bundle of this version is \`${REGISTRY}/tekton:${version}\`. In pipelines, put its digest behind the version.`,
    ],
  },
  'kubernetes-image': {
    before: () => [
      "Clone Portolan's repository, build the image there, and push it where your cluster pulls from:",
      '',
      '```',
      'podman build -f functions/kubernetes/Containerfile -t registry.example.com/team/portolan .',
      'podman push --digestfile digest registry.example.com/team/portolan',
      '```',
    ],
    after: ({ version }) => [
      `The chart starts \`${REGISTRY}:${version}\` by its digest. If your cluster cannot pull from there, copy the image, and name`,
      'your copy in `image`.',
    ],
  },
  'kubernetes-chart': {
    before: () => ['```', 'helm install portolan functions/kubernetes/chart --values values.yaml', '```'],
    after: ({ version }) => [
      '```',
      `helm install portolan oci://${REGISTRY}/chart/portolan --version ${version} --values values.yaml`,
      '```',
    ],
  },
  playground: {
    before: () => [
      'Build it in a clone, and open `dist/playground.html` in a browser:',
      '',
      '```',
      'npm ci',
      'npm run playground',
      '```',
    ],
    after: ({ version }) => [
      `Download [playground.html](https://github.com/${REPOSITORY}/releases/download/v${version}/playground.html), and open it in a browser.`,
    ],
  },
  name: {
    before: () => [
      'The name `portolan` on npm is not claimed yet. Until it is published from this repository,',
      '[install from a clone](install.md). Do not run `npx portolan` outside a clone: whoever registers the name could',
      'run code on your machine.',
    ],
    after: ({ version }) => [
      `The package on npm is \`portolan\`. Pages and examples name it with its version, \`portolan@${version}\`.`,
    ],
  },
};

/** The badges that do not depend on a release. */
function badges(_: Install): string[] {
  const ci = `https://github.com/${REPOSITORY}/actions/workflows/ci.yml`;
  const scorecard = 'scorecard.dev';
  return [
    `[![CI](${ci}/badge.svg)](${ci})`,
    `[![OpenSSF Scorecard](https://api.${scorecard}/projects/github.com/${REPOSITORY}/badge)](https://${scorecard}/viewer/?uri=github.com/${REPOSITORY})`,
  ];
}

/** The Action by its commit. A version stands behind it once there is one. */
function pinOf({ published, version, commit }: Install): string {
  return `${REPOSITORY}@${commit} # ${published ? `v${version}` : UNRELEASED}`;
}

/** A step of a workflow that checks with the Action. */
function stepOfAction(install: Install): string[] {
  return ['```yaml', `- uses: ${pinOf(install)}`, '  with: {mode: check}', '```'];
}

const MARKED = /^( *)<!-- install: (\S+) -->\n[\s\S]*?^ *<!-- end of install -->$/gm;

/**
 * A page, an example or a workflow, as it has to be.
 *
 * @throws Error where a page has a place that nobody knows
 */
export function withInstall(text: string, install: Install): string {
  const marked = text.replaceAll(MARKED, (_, indentation: string, name: string) => {
    const place = PLACES[name];
    if (!place) throw new Error(`no text for <!-- install: ${name} -->`);
    const lines = install.published ? place.after(install) : place.before(install);
    return [`<!-- install: ${name} -->`, ...lines, '<!-- end of install -->']
      .map((line) => (line === '' ? '' : `${indentation}${line}`))
      .join('\n');
  });
  return inJobs(marked, install)
    .replaceAll(/portolan\/portolan@[0-9a-f]{40} # \S+/g, pinOf(install))
    .replaceAll(/ghcr\.io\/portolan\/portolan\/tekton:\d[\w.-]*/g, `${REGISTRY}/tekton:${install.version}`);
}

/** The lines of a job that build Portolan from a commit, or install the package; a dash begins each in GitLab. */
const FROM_COMMIT =
  /^( *(?:- )?)git init --quiet portolan\n\1git -C portolan fetch .*\n\1git -C portolan checkout .*\n\1\(cd portolan && .*\)$/gm;
const FROM_NPM = /^( *(?:- )?)npm install .*--prefix portolan portolan@\S+$/gm;
const PROGRAM_OF_COMMIT = 'portolan/dist/portolan.mjs';
const PROGRAM_OF_NPM = 'portolan/node_modules/portolan/dist/portolan.mjs';
const WHY_COMMIT = '# Portolan is built from a fixed commit, so that nobody can replace the program.';
const WHY_NPM = '# The version of Portolan is fixed, and npm never replaces a version.';

/** The same for jobs, which may push: they never run a name that nobody has claimed, or whatever is newest. */
function inJobs(text: string, { published, version, commit }: Install): string {
  const commands = published
    ? [`npm install --silent --ignore-scripts --prefix portolan portolan@${version}`]
    : [
        'git init --quiet portolan',
        `git -C portolan fetch --quiet --depth 1 https://github.com/${REPOSITORY} ${commit}`,
        'git -C portolan checkout --quiet FETCH_HEAD',
        '(cd portolan && npm ci --silent && node scripts/build.mjs)',
      ];
  const lines = (_: string, start: string): string => commands.map((line) => `${start}${line}`).join('\n');
  const [program, other] = published
    ? [PROGRAM_OF_NPM, PROGRAM_OF_COMMIT]
    : [PROGRAM_OF_COMMIT, PROGRAM_OF_NPM];
  const [why, otherWhy] = published ? [WHY_NPM, WHY_COMMIT] : [WHY_COMMIT, WHY_NPM];
  return text
    .replaceAll(FROM_COMMIT, lines)
    .replaceAll(FROM_NPM, lines)
    .replaceAll(`node ${other}`, `node ${program}`)
    .replaceAll(otherWhy, why);
}
