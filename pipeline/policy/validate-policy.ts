/** Everything wrong in a policy file, each with its line and what to write instead. */
import type { ErrorObject } from 'ajv';
import type { Finding, Location } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { isDay } from '../../catalog/go/time.ts';
import { repositoryName } from '../../catalog/reference.ts';
import { nearest } from '../../catalog/spelling.ts';
import type { Settings } from '../settings.ts';
import { patternDefect } from './layout.ts';
import type { PolicyFile } from './policy-file.ts';
import { validator } from './policy-shape.ts';
import { repositoryMatcher } from './registries.ts';
import { commonRepository, imageDefect } from './released.ts';
import { RULE_IDS } from './rule-ids.ts';

type Path = readonly (string | number)[];

interface ValidatedPolicy {
  /** The policy as written; undefined when the schema does not pass it. */
  readonly written: PolicyFile | undefined;
  readonly findings: readonly Finding[];
}

/** Checks a policy by its schema, and by what no schema can say. */
export function validatePolicy(settings: Settings): ValidatedPolicy {
  const value = withOff(settings.value);
  const validate = validator();
  if (!validate(value)) {
    return { written: undefined, findings: schemaFindings(validate.errors ?? [], value, settings) };
  }
  const findings = [
    ...patternFindings(value, settings),
    ...dateFindings(value, settings),
    ...releasedFindings(value, settings),
    ...ringFindings(value, settings),
    ...ruleFindings(value, settings),
  ];
  return { written: value, findings };
}

/** The file that a schema is of, in findings. */
type Kind = 'policy' | 'advisory';

/** What a schema says of a file, each with its line. */
export function schemaFindings(
  errors: readonly ErrorObject[],
  value: unknown,
  settings: Settings,
  kind: Kind = 'policy',
): Finding[] {
  return errors
    .filter(({ keyword }) => !WRAPPERS.has(keyword))
    .map((defect) => schemaFinding(defect, { value, settings, kind }));
}

/** A file that was read: its value, where each part of it is, and its kind. */
interface Read {
  readonly value: unknown;
  readonly settings: Settings;
  readonly kind: Kind;
}

/** Keywords that only say that another one failed. */
const WRAPPERS: ReadonlySet<string> = new Set(['if', 'propertyNames', 'oneOf']);

/** A policy's value with the word `off` in the place of false: to YAML 1.1, which other tools write, both are the same. */
function withOff(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { merge, release, rules } = value;
  return {
    ...enforceAsWord(value),
    ...(isObject(merge) && merge['mode'] === false ? { merge: { ...merge, mode: 'off' } } : {}),
    ...(isObject(release) && release['mode'] === false ? { release: { ...release, mode: 'off' } } : {}),
    ...(isObject(rules)
      ? { rules: Object.fromEntries(Object.entries(rules).map(([id, rule]) => [id, ruleWithOff(rule)])) }
      : {}),
  };
}

/** A rule with the word `off` in the place of false, as {@link withOff}. */
function ruleWithOff(rule: unknown): unknown {
  if (rule === false) return 'off';
  if (!isObject(rule)) return rule;
  const inWords = enforceAsWord(rule);
  return inWords['severity'] === false ? { ...inWords, severity: 'off' } : inWords;
}

/** `enforce` as `on` or `off`, for a value that was read as a boolean. */
function enforceAsWord(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { enforce } = value;
  return typeof enforce === 'boolean' ? { ...value, enforce: enforce ? 'on' : 'off' } : value;
}

/** A finding about a policy or advisory: an error, because half a policy decides nothing. */
function finding(rule: string, message: string, location: Location, hint?: string): Finding {
  return { rule, severity: 'error', message, location, ...(hint === undefined ? {} : { hint }) };
}

/** The finding about one defect that the schema's validator reports. */
function schemaFinding(defect: ErrorObject, read: Read): Finding {
  const { value, settings, kind } = read;
  const path = pathOf(defect.instancePath, value);
  const at = path.length === 0 ? `the ${kind}` : pathText(path);
  switch (defect.keyword) {
    case 'additionalProperties':
      return unknownKey(defect, path, read);
    case 'required': {
      const key = String(defect.params['missingProperty']);
      return finding(`${kind}/value`, `${at}: ${key} is missing`, settings.locateKey(path), `${key}: …`);
    }
    case 'pattern':
      // Keys have a pattern only in `rules`.
      if (defect.propertyName !== undefined) {
        const message = `${at}: ${JSON.stringify(defect.propertyName)} is not a rule id`;
        const location = settings.locateKey([...path, defect.propertyName]);
        return finding(
          'policy/unknown-key',
          message,
          location,
          'use a rule such as graph/stuck-v1, or a group such as graph/*',
        );
      }
      break;
  }
  const expected = expectation(defect);
  const message = `${at} must be ${expected}, found ${shown(defect.data)}`;
  return finding(`${kind}/value`, message, settings.locate(path), hintFor(defect));
}

/** The finding about a key that the schema does not have, with the key that was probably meant. */
function unknownKey(defect: ErrorObject, path: Path, { settings, kind }: Read): Finding {
  const key = String(defect.params['additionalProperty']);
  const known = Object.keys(
    isObject(defect.parentSchema?.['properties']) ? defect.parentSchema['properties'] : {},
  );
  const meant = nearest(key, known);
  const where = path.length === 0 ? '' : ` in ${pathText(path)}`;
  const hint = meant === undefined ? `valid keys: ${known.join(', ')}` : `did you mean ${meant}?`;
  const location = settings.locateKey([...path, key]);
  return finding(`${kind}/unknown-key`, `unknown key ${JSON.stringify(key)}${where}`, location, hint);
}

/** What the schema expected, in words. */
function expectation({ keyword, params, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return TYPES.get(String(params['type'])) ?? String(params['type']);
    case 'enum':
      return Array.isArray(params['allowedValues'])
        ? `one of ${params['allowedValues'].join(', ')}`
        : 'another';
    case 'const':
      return String(params['allowedValue']);
    case 'minimum':
      return `at least ${params['limit']}`;
    case 'exclusiveMinimum':
      return `more than ${params['limit']}`;
    case 'maximum':
      return `at most ${params['limit']}`;
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return 'a non-empty value';
    case 'maxLength':
      return `at most ${params['limit']} characters`;
    case 'maxItems':
      return `a list of at most ${params['limit']} values`;
    case 'uniqueItems':
      return `without repeats (${params['j']} and ${params['i']} are equal)`;
    default:
      return example(parentSchema) ?? `in the form ${params['pattern'] ?? keyword}`;
  }
}

/** What a value looks like: the schema's examples, or its description if that is not a sentence (begins in lower case). */
function example({ description, examples }: Readonly<Record<string, unknown>> = {}): string | undefined {
  if (Array.isArray(examples)) return `text such as ${examples.join(' or ')}`;
  return typeof description === 'string' && /^[^A-Z]/.test(description) ? description : undefined;
}

/** Types of JSON in words. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['object', 'a mapping'],
  ['array', 'a list'],
  ['string', 'text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
]);

/** What to write for a value that the schema refuses; undefined where it does not say. */
function hintFor({ keyword, params, data }: ErrorObject): string | undefined {
  if (keyword === 'type' && params['type'] === 'string' && typeof data !== 'object') {
    return `quote it: '${String(data)}'`;
  }
  if (keyword !== 'enum' || typeof data !== 'string' || !Array.isArray(params['allowedValues']))
    return undefined;
  const meant = nearest(data, params['allowedValues'].map(String));
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/** A value for a message: a list or mapping could be long, and is only named. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'a mapping';
  return JSON.stringify(value) ?? 'nothing';
}

/** From a JSON pointer to a path: numbers only where a list stands. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let node = root;
  for (const raw of pointer.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) {
      path.push(Number(key));
      node = node[Number(key)];
    } else {
      path.push(key);
      node = isObject(node) ? node[key] : undefined;
    }
  }
  return path;
}

/** A path as `publish.catalogs.NAME.rings[0]`. */
function pathText(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text.startsWith('.') ? text.slice(1) : text;
}

/** Findings about patterns of the layout that are not valid. */
function patternFindings({ layout = {} }: PolicyFile, settings: Settings): Finding[] {
  return Object.entries(layout).flatMap(([kind, written]) =>
    (typeof written === 'string' ? [written] : written).flatMap((one, i) => {
      const pattern = typeof one === 'string' ? one : one.path;
      const defect = patternDefect(pattern) ?? packageDefect(kind, pattern);
      const path = typeof written === 'string' ? ['layout', kind] : ['layout', kind, i];
      return defect === undefined
        ? []
        : [finding('policy/value', `${pathText(path)}: ${defect}`, settings.locate(path), HINTS[kind])];
    }),
  );
}

/** A pattern of each kind of path, for hints. */
const HINTS: Readonly<Record<string, string>> = {
  catalog: "catalog: 'catalogs/{catalog}/{package}/**'",
  template: "template: 'operators/{package}/catalog-templates/**'",
  packageConfig: "packageConfig: 'operators/{package}/ci.yaml'",
  bundle: "bundle: 'operators/{package}/{version}/**'",
};

/** Why a pattern does not name a package, although each file of its kind belongs to one; undefined for other kinds. */
function packageDefect(kind: string, pattern: string): string | undefined {
  const perPackage = kind === 'template' || kind === 'packageConfig' || kind === 'bundle';
  return perPackage && !/\{package[:}]/.test(pattern) ? 'the pattern must contain {package}' : undefined;
}

/** Findings about waivers that end on a day that does not exist. */
function dateFindings({ waivers = [] }: PolicyFile, settings: Settings): Finding[] {
  return waivers.flatMap(({ until }, i) => {
    const path = ['waivers', i, 'until'];
    const message = `${pathText(path)}: ${until} is not a valid date`;
    return isDay(until) ? [] : [finding('policy/value', message, settings.locate(path), 'until: 2027-03-01')];
  });
}

/** Findings about references to released images that nothing could ever read. */
function releasedFindings({ graph = {}, registries = {} }: PolicyFile, settings: Settings): Finding[] {
  const allows = repositoryMatcher(registries.allow ?? []);
  return Object.entries(graph.released ?? {}).flatMap(([pattern, by]) => {
    const image = typeof by === 'string' ? undefined : by.image;
    if (image === undefined) return [];
    const path = ['graph', 'released', pattern, 'image'];
    const oneFinding = (why: string, hint: string): Finding[] => [
      finding('policy/value', `${pathText(path)}: ${why}`, settings.locate(path), hint),
    ];
    const defect = imageDefect(image);
    if (defect !== undefined) return oneFinding(defect, `image: '${EXAMPLE_IMAGE}'`);
    const repository = commonRepository(image);
    if (!repository || allows(repository)) return [];
    const name = repositoryName(repository);
    return oneFinding(`registries.allow does not allow ${name}`, `registries: {allow: [${name}]}`);
  });
}

/** Findings about rings that no image could pass. */
function ringFindings({ publish = {} }: PolicyFile, settings: Settings): Finding[] {
  return Object.entries(publish.catalogs ?? {}).flatMap(([pattern, target]) => {
    const { image, rings = [] } = target;
    const last = rings.at(-1)?.tag;
    if (last === undefined) return [];
    const at = ['publish', 'catalogs', pattern];
    const findingAt = (key: Path, why: string, hint: string): Finding[] => [
      finding('policy/value', `${pathText([...at, ...key])}: ${why}`, settings.locate([...at, ...key]), hint),
    ];
    // Rings are tags that move, which only a registry has.
    const isNamed = image.endsWith(`:${last}`) && !/^(?:oci|docker-archive|oci-archive):/.test(image);
    const tags = rings.map(({ tag }) => tag);
    const again = tags.findIndex((tag, i) => tags.indexOf(tag) < i);
    return [
      ...(isNamed
        ? []
        : findingAt(
            ['image'],
            `found ${image}, expected the tag of the last ring in a registry`,
            `image: '…:${last}'`,
          )),
      ...(again < 0
        ? []
        : findingAt(
            ['rings', again, 'tag'],
            `found ${tags[again]} twice, expected another tag for each ring`,
            'tag: …',
          )),
      ...RING_KEYS.filter((key) => rings[0]?.[key] !== undefined).flatMap((key) =>
        findingAt(
          ['rings', 0, key],
          'the first ring has no conditions: a merge moves its tag',
          `remove ${key}`,
        ),
      ),
      ...rings.flatMap(({ after }, i) =>
        i === 0 || after !== undefined ? [] : findingAt(['rings', i], 'after is missing', 'after: 72h'),
      ),
      ...(target.immutableTags === false
        ? findingAt(
            ['immutableTags'],
            'found false beside rings: a registry may delete an image that soaks without a tag',
            'remove immutableTags',
          )
        : []),
      ...(['also', 'slim'] as const)
        .filter((key) => target[key] !== undefined)
        .flatMap((key) =>
          findingAt(
            [key],
            `found ${key} beside rings, which would get each image at once`,
            `remove ${key} or rings`,
          ),
        ),
    ];
  });
}

/** What a ring waits for. */
const RING_KEYS = ['after', 'unless', 'checks', 'approvals'] as const;

const EXAMPLE_IMAGE = 'registry.redhat.io/redhat/redhat-operator-index:v{minor}';

/** Findings about rule ids that do not exist. */
function ruleFindings(written: PolicyFile, settings: Settings): Finding[] {
  const groups = new Set(RULE_IDS.map((id) => `${id.split('/')[0]}/*`));
  const known = new Set([...RULE_IDS, ...groups]);
  const findUnknown = (id: string, location: Location): Finding[] => {
    if (known.has(id)) return [];
    const meant = nearest(id, known);
    const hint = meant === undefined ? 'docs/rules.md lists the rules' : `did you mean ${meant}?`;
    return [finding('policy/unknown-key', `unknown rule ${JSON.stringify(id)}`, location, hint)];
  };
  return [
    ...Object.keys(written.rules ?? {}).flatMap((id) => findUnknown(id, settings.locateKey(['rules', id]))),
    ...(written.waivers ?? []).flatMap(({ rule }, i) =>
      findUnknown(rule, settings.locate(['waivers', i, 'rule'])),
    ),
  ];
}
