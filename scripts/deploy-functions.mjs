// Deploys the functions to AWS with the AWS CLI, and checks that they can publish:
//   node scripts/deploy-functions.mjs [STACK] [PARAMETER=VALUE ...]
// Parameters are those of functions/aws/template.yaml; ones that are left out stay as they were. Exits with 1 if the
// deployment fails, or if the deployed stack cannot publish.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const words = process.argv.slice(2);
const parameters = words.filter((word) => word.includes('='));
const [stack = 'portolan', ...rest] = words.filter((word) => !word.includes('='));
if (rest.length > 0) {
  console.error(
    `usage: node scripts/deploy-functions.mjs [STACK] [PARAMETER=VALUE ...], not ${rest.join(' ')}`,
  );
  process.exit(2);
}

const cwd = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (program, ...all) => execFileSync(program, all, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
/** @returns what `aws` printed */
const ask = (...all) =>
  execFileSync('aws', [...all, '--output', 'text'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const scratch = mkdtempSync(join(tmpdir(), 'portolan-deploy-'));
try {
  if (!existsSync(join(cwd, 'node_modules'))) run('npm', 'ci');
  run(process.execPath, 'scripts/build.mjs');
  const bucket = codeBucket();
  const template = join(scratch, 'template.yaml');
  const packaging = ['--template-file', 'functions/aws/template.yaml', '--s3-bucket', bucket];
  run('aws', 'cloudformation', 'package', ...packaging, '--output-template-file', template);
  const capabilities = ['--capabilities', 'CAPABILITY_IAM', 'CAPABILITY_AUTO_EXPAND'];
  const overrides = parameters.length > 0 ? ['--parameter-overrides', ...parameters] : [];
  const deploying = [
    '--template-file',
    template,
    '--stack-name',
    stack,
    '--s3-bucket',
    bucket,
    ...capabilities,
  ];
  run('aws', 'cloudformation', 'deploy', ...deploying, '--no-fail-on-empty-changeset', ...overrides);
  run(process.execPath, 'scripts/smoke-functions.mjs', stack);
} catch (error) {
  // What ran has said why, but for what was read here.
  console.error(`cannot deploy ${stack}: ${String(error.stderr ?? '').trim() || error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/**
 * Holds the functions' code until CloudFormation has read it; made once for an account and region. Anybody can guess its name:
 * one that another account has is refused, whoever may write into it.
 */
function codeBucket() {
  const account = ask('sts', 'get-caller-identity', '--query', 'Account');
  const region =
    process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? ask('configure', 'get', 'region');
  const bucket = `portolan-code-${account}-${region}`;
  try {
    ask('s3api', 'head-bucket', '--bucket', bucket, '--expected-bucket-owner', account);
  } catch (error) {
    // Of another account's, and where this account may not look.
    if (/\(403\)/.test(String(error.stderr)))
      throw new Error(
        `the bucket ${bucket} belongs to another account, or you may not read it: no code is put there`,
        { cause: error },
      );
    run('aws', 's3', 'mb', `s3://${bucket}`);
  }
  return bucket;
}
