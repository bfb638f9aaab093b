// Cuts the operations that the pipeline uses out of GitHub's own OpenAPI description:
//   npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz package/generated/api.github.com.json
//   node scripts/github-slice.mjs package/generated/api.github.com.json
// The package unpacks to 431 MB, so the slice is committed and the package is no dependency.
import { readFileSync, writeFileSync } from 'node:fs';

const OPERATIONS = [
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/events',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits',
  'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
  'POST /repos/{owner}/{repo}/pulls',
  'GET /repos/{owner}/{repo}/pulls',
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
  'GET /repos/{owner}/{repo}/activity',
  'GET /repos/{owner}/{repo}/compare/{basehead}',
  'GET /repos/{owner}/{repo}/contents/{path}',
  'GET /repos/{owner}/{repo}/git/ref/{ref}',
  'GET /repos/{owner}/{repo}/git/matching-refs/{ref}',
  'POST /repos/{owner}/{repo}/git/refs',
  'PATCH /repos/{owner}/{repo}/git/refs/{ref}',
  'DELETE /repos/{owner}/{repo}/git/refs/{ref}',
  'POST /repos/{owner}/{repo}/git/blobs',
  'POST /repos/{owner}/{repo}/git/trees',
  'POST /repos/{owner}/{repo}/git/commits',
  'GET /repos/{owner}/{repo}/git/commits/{commit_sha}',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls',
  'GET /repos/{owner}/{repo}/commits',
  'GET /repos/{owner}/{repo}/actions/runs',
  'POST /repos/{owner}/{repo}/check-runs',
  'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
  'POST /repos/{owner}/{repo}/statuses/{sha}',
  'GET /repos/{owner}/{repo}/commits/{ref}/statuses',
  'POST /repos/{owner}/{repo}/dispatches',
  'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/labels',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
  'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
  'POST /repos/{owner}/{repo}/labels',
  'GET /repos/{owner}/{repo}/labels/{name}',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
  'GET /repos/{owner}/{repo}/rules/branches/{branch}',
  'POST /repos/{owner}/{repo}/deployments',
  'GET /repos/{owner}/{repo}/deployments',
  'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
  'GET /repos/{owner}/{repo}/installation',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /orgs/{org}/teams/{team_slug}',
  'GET /orgs/{org}/teams/{team_slug}/members',
  'GET /users/{username}',
  'GET /user',
  'GET /app',
];

const [file] = process.argv.slice(2);
const whole = JSON.parse(readFileSync(file, 'utf8'));
const slice = {
  openapi: whole.openapi,
  info: { title: whole.info.title, version: whole.info.version },
  paths: {},
  components: {},
};
const wanted = [];
for (const operation of OPERATIONS) {
  const [method, path] = operation.split(' ');
  const found = whole.paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`no operation ${operation}`);
  slice.paths[path] ??= {};
  slice.paths[path][method.toLowerCase()] = bare({
    parameters: found.parameters ?? [],
    ...(found.requestBody ? { requestBody: found.requestBody } : {}),
    responses: found.responses,
  });
}
while (wanted.length > 0) {
  const ref = wanted.pop();
  const [, kind, name] = ref.slice(2).split('/');
  slice.components[kind] ??= {};
  if (slice.components[kind][name]) continue;
  slice.components[kind][name] = {};
  slice.components[kind][name] = bare(whole.components[kind][name]);
}
writeFileSync('test/fakes/fixtures/github-openapi.json', `${JSON.stringify(slice)}\n`);

/**
 * Without what only people read, noting every reference on the way. OpenAPI 3.0 says `nullable` where JSON Schema has a type.
 *
 * @param inProperties whether the keys are names of fields, which may be `description`, and not words of a schema
 */
function bare(value, inProperties = false) {
  if (Array.isArray(value)) return value.map((item) => bare(item));
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.$ref === 'string') wanted.push(value.$ref);
  if (!inProperties && value.nullable === true) {
    const { nullable: _, ...rest } = value;
    return { anyOf: [bare(rest), { type: 'null' }] };
  }
  const dropped = [
    'description',
    'summary',
    'example',
    'examples',
    'title',
    'externalDocs',
    'deprecated',
    'tags',
    'headers',
  ];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => inProperties || !(dropped.includes(key) || key.startsWith('x-')))
      .map(([key, item]) => [key, bare(item, key === 'properties' && !inProperties)]),
  );
}
