/** One command deploys the functions and checks them: a stack that cannot publish fails it. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { appSecret, type EmptyCloud, emptyCloud, fakeGitHub, REPOSITORY_ID } from '../fakes/cloud.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = ['ministack', 'aws', 'docker-registry'].every(isOnPath);

/** Runs the command, as typed. @returns its exit status, and the lines of the check */
function deploy(
  { environment }: EmptyCloud,
  parameters: Readonly<Record<string, string>>,
): Promise<{ status: number; checks: string[]; text: string }> {
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const options = { env: { ...process.env, ...environment }, maxBuffer: 1 << 26 };
  return new Promise((resolve) => {
    execFile('node', ['scripts/deploy-functions.mjs', 'sea', ...words], options, (error, stdout, stderr) => {
      const checks = stdout.split('\n').filter((line) => /^(?:ok|FAIL) /.test(line));
      resolve({ status: Number(error?.code ?? 0), checks, text: `${stdout}${stderr}` });
    });
  });
}

describe.skipIf(!isComplete)('on a stand-in for AWS', () => {
  test('a stack that can publish is deployed, one that cannot fails the command, with the reason', {
    timeout: 900_000,
  }, async () => {
    const registry = await dockerRegistry();
    const policy = String(sampleFiles()[POLICY_PATH]).replace(
      'registry.example.com/sea/catalog',
      `${registry.host}/sea/catalog`,
    );
    const sample = sampleRepository({ [POLICY_PATH]: policy });
    onTestFinished(() => sample.remove());
    const served = join(folder(), 'catalogs.git');
    execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
    execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
    const git = await gitServer(served);
    const github = await fakeGitHub();
    const at = await emptyCloud();
    const parameters = {
      Sources: JSON.stringify([{ repository: 'sea/catalogs', id: REPOSITORY_ID, branch: 'main', url: git }]),
      PlainHttp: `${registry.host},${new URL(git).host}`,
      AppSecret: await appSecret(at),
      GitHubApi: github.url,
    };
    const { status, checks, text } = await deploy(at, parameters);
    expect(checks, text).toEqual([
      'ok    the fence is written',
      'ok    records are written and read',
      'ok    all records can be read',
      'ok    sea/catalogs main is fetched, and its policy can be used',
      `ok    a blob is pushed to ${registry.host}/sea/catalog`,
      'ok    the queue takes a push of sea/catalogs main',
    ]);
    expect(status).toBe(0);
    // The registry speaks plain HTTP, and the functions are not told any more.
    const wrong = await deploy(at, { ...parameters, PlainHttp: new URL(git).host });
    expect(
      wrong.checks.filter((line) => line.startsWith('FAIL')),
      wrong.text,
    ).toEqual([expect.stringContaining(`a blob is pushed to ${registry.host}/sea/catalog: `)]);
    expect(wrong.status).toBe(1);
  });
});
