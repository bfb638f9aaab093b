/** Defences of what reads foreign input: files that name people, codecs, expressions, requests. */
import type { Mutation } from './mutation.ts';

const PATTERN = 'pipeline/policy/owners/code-owners-pattern.ts';
const PATTERN_TEST = 'test/pipeline/policy/owners/code-owners-pattern.test.ts';
const OWNERS_TEST = 'test/pipeline/policy/owners/owners.test.ts';

const REGISTRY = 'pipeline/oci/registry/embedded/server.ts';
const EXPOSED = 'test/pipeline/oci/registry/embedded/exposed.test.ts';
const LIMITS_TEST = 'test/pipeline/server-limits.test.ts';
const RECEIVER_TEST = 'test/functions/kubernetes/server.test.ts';
const GRPC = 'pipeline/catalogs/serve/grpc-server.ts';
const GRPC_TEST = 'test/pipeline/catalogs/serve/grpc-server.test.ts';

const CEL = 'catalog/fbc/cel.ts';
const CEL_TEST = 'test/catalog/fbc/cel.test.ts';

const FRAMES = 'pipeline/oci/image/zstd-frames.ts';
const FRAMES_TEST = 'test/pipeline/oci/image/zstd-frames.test.ts';

export const INPUT_MUTATIONS: readonly Mutation[] = [
  {
    attack: 41,
    without: '`**` that stands for any number of names',
    file: PATTERN,
    text: "name === '**' ? 'any' : nameMatcher(name)",
    instead: "name === '**' ? anyItem : nameMatcher(name)",
    test: PATTERN_TEST,
  },
  {
    attack: 41,
    without: 'taking what an unknown pattern may match from the lines before it',
    file: PATTERN,
    text: 'return (path) => path.startsWith(literal);',
    instead: 'return (path) => path === literal;',
    test: PATTERN_TEST,
  },
  {
    attack: 42,
    without: 'errors for duplicate keys',
    file: 'pipeline/settings.ts',
    text: "const { settings, findings } = read(file, bytes, 'error');",
    instead: "const { settings, findings } = { ...read(file, bytes, 'warning'), findings: [] };",
    test: OWNERS_TEST,
  },
  {
    attack: 42,
    without: 'errors for tags, anchors and aliases',
    file: 'catalog/yaml/parser.ts',
    text: 'if (this.#plain) refuseUnlessPlain(first);',
    instead: '',
    test: OWNERS_TEST,
  },
  {
    attack: 43,
    without: 'a limit of the window',
    file: FRAMES,
    text: 'if (window > LARGEST_WINDOW) {',
    instead: 'if (window < 0) {',
    test: FRAMES_TEST,
  },
  {
    attack: 43,
    without: 'a limit of what a layer holds',
    file: 'pipeline/oci/image/decompress.ts',
    text: 'if (size > limit)',
    instead: 'if (size < 0)',
    test: FRAMES_TEST,
  },
  {
    attack: 43,
    without: 'a limit of the time that a decoder takes',
    file: 'pipeline/oci/image/decompress.ts',
    text: 'if (passed - reading.waited > LONGEST)',
    instead: 'if (passed < 0)',
    test: FRAMES_TEST,
  },
  {
    attack: 44,
    without: 'an estimate of what a rule costs',
    file: CEL,
    text: '.cost > MAX_COST) return null;',
    instead: '.cost < 0) return null;',
    test: CEL_TEST,
  },
  {
    attack: 44,
    without: 'a finding for a rule that costs too much',
    file: 'catalog/rules/graph/unreadable-requirement.ts',
    text: 'mayCost ? undecidedIn(scope, read) : undefined;',
    instead: 'undefined;',
    test: 'test/catalog/rules/costly-requirement.test.ts',
  },
  {
    attack: 44,
    without: 'counting what a rule costs while it runs',
    file: CEL,
    text: 'meterRule(program.ast, meter);',
    instead: '',
    test: CEL_TEST,
  },
  {
    attack: 45,
    without: 'an environment of its own',
    file: 'pipeline/check/confined/confined-check.ts',
    text: 'env: { ...task.settings.parts,',
    instead: 'env: { ...process.env,',
    test: 'test/functions/confined-gate.test.ts',
  },
  {
    attack: 45,
    without: 'a result for a reader that crashed',
    file: 'pipeline/check/confined/confined-check.ts',
    text: "child.once('close', (code, signal) => end(endText({ code, signal }, said, limits)));",
    instead: '',
    test: 'test/functions/confined-gate.test.ts',
  },
  {
    attack: 45,
    without: 'the end of a reader whose parent is gone',
    file: 'pipeline/check/confined/limits.ts',
    text: "if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');",
    instead: '',
    test: 'test/pipeline/check/confined/limits.test.ts',
  },
  {
    attack: 45,
    without: 'telling exit codes of the program from others',
    file: 'pipeline/cli/supervised.ts',
    text: 'OWN_CODES.includes(code)',
    instead: 'code < 99',
    test: 'test/pipeline/cli/supervised.test.ts',
  },
  {
    attack: 46,
    without: 'telling signatures from attestations',
    file: 'pipeline/oci/signatures/verify.ts',
    text: 'return verified.some(({ isSignature }) => isSignature);',
    instead: 'return verified.length > 0;',
    test: 'test/pipeline/publish/attest/demands.test.ts',
  },
  {
    attack: 46,
    without: 'a result where there must be one',
    file: 'pipeline/catalogs/references/look-up.ts',
    text: 'return results.length === 0 ? needsResult',
    instead: 'return results.length === 0 ? false',
    test: 'test/pipeline/publish/attest/external-checks.test.ts',
  },
  {
    attack: 47,
    without: 'asking whether a tag in a query is one',
    file: 'pipeline/oci/registry/embedded/push.ts',
    text: 'if (!tags.every(isTag))',
    instead: 'if (tags.length > 99)',
    test: EXPOSED,
  },
  {
    attack: 47,
    without: 'an answer to requests that fail unexpectedly',
    file: REGISTRY,
    text: "return error instanceof PipelineError ? replyTo(error) : refusal(500, 'UNKNOWN', 'internal error');",
    instead: 'return replyTo(error);',
    test: EXPOSED,
  },
  {
    attack: 48,
    without: 'names in a layout that are names',
    file: 'pipeline/oci/registry/layout/layout.ts',
    text: "if (!(repository === '' || isRepository(repository)) || !(tag === undefined || isTag(tag)))",
    instead: 'if (tag === repository)',
    test: EXPOSED,
  },
  {
    attack: 49,
    without: 'a limit of wrong passwords',
    file: 'pipeline/oci/registry/embedded/attempts.ts',
    text: 'const isTooMany = recent.length + own.size >= MOST_WRONG;',
    instead: 'const isTooMany = recent.length + own.size >= MOST_WRONG * 1000;',
    test: EXPOSED,
  },
  {
    attack: 49,
    without: 'one check of what an address brings several times',
    file: 'pipeline/oci/registry/embedded/attempts.ts',
    text: 'if (same) return same;',
    instead: '',
    test: EXPOSED,
  },
  {
    attack: 52,
    without: 'a slowest rate of uploads',
    file: REGISTRY,
    text: 'if (elapsed > SLOWEST.after && received < elapsed * SLOWEST.bytes) request.destroy();',
    instead: '',
    test: EXPOSED,
  },
  {
    attack: 50,
    without: 'refusing to serve everybody',
    file: REGISTRY,
    text: 'refuseOpenRegistry(options);',
    instead: 'refuseOpenRegistry({ ...options, openToAll: true });',
    test: EXPOSED,
  },
  {
    attack: 51,
    without: 'a limit of the connections of an address',
    file: 'pipeline/server-limits.ts',
    text: 'const isBeyond = own.size >= limits.perAddress;',
    instead: 'const isBeyond = own.size >= limits.perAddress * 1000;',
    test: LIMITS_TEST,
  },
  {
    attack: 51,
    without: 'limits of the connections of the receiver',
    file: 'functions/kubernetes/server.ts',
    text: "beyond: 'replace',",
    instead: "beyond: 'refuse',",
    and: {
      file: 'pipeline/server-limits.ts',
      text: 'const isBeyond = own.size >= limits.perAddress;',
      instead: 'const isBeyond = own.size >= limits.perAddress * 1000;',
    },
    test: RECEIVER_TEST,
  },
  {
    attack: 51,
    without: 'limits of the connections of the gRPC server',
    file: GRPC,
    text: "limitConnections(server as unknown as Server, { total, perAddress, beyond: 'refuse' });",
    instead: 'server.maxConnections = total + perAddress;',
    test: GRPC_TEST,
  },
  {
    attack: 52,
    without: 'looking for requests that stall',
    file: 'functions/kubernetes/server.ts',
    text: 'requestTimeout: limits.request,',
    instead: 'requestTimeout: limits.request * 10_000,',
    test: RECEIVER_TEST,
  },
  {
    attack: 52,
    without: 'a time in which a message must come',
    file: GRPC,
    text: "call.end(Status.deadlineExceeded, 'no message came in time')",
    instead: 'undefined',
    test: GRPC_TEST,
  },
  {
    attack: 53,
    without: 'asking where a link leads',
    file: 'pipeline/cli/repository/setup.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a file
    text: 'if (real === top || real?.startsWith(`${top}${sep}`)) return;',
    instead: 'if (real) return;',
    test: 'test/pipeline/cli/repository/setup.test.ts',
  },
  {
    attack: 54,
    without: 'escaping what a terminal obeys',
    file: 'pipeline/text.ts',
    text: '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]',
    instead: '[\\x00-\\x1f]',
    test: 'test/pipeline/text.test.ts',
  },
  {
    attack: 55,
    without: 'leaving install scripts out',
    file: '.github/workflows/release.yml',
    text: '- run: npm ci --ignore-scripts\n      - run: npm run verify-action',
    instead: '- run: npm ci\n      - run: npm run verify-action',
    test: 'test/threat-model.test.ts',
  },
  {
    attack: 57,
    without: 'knowing configuration of other systems than GitHub',
    file: 'pipeline/change/path.ts',
    text: '/^\\.|(?:^|',
    instead: '/^$|(?:^|',
    test: 'test/attack/gate.test.ts',
  },
];
