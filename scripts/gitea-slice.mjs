// Cuts the operations that the pipeline uses out of Gitea's own description of its API, in the form of GitHub's:
//   go mod download code.gitea.io/gitea@v1.26.0
//   node scripts/gitea-slice.mjs "$(go env GOMODCACHE)/code.gitea.io/gitea@v1.26.0/templates/swagger/v1_json.tmpl"
import { readFileSync, writeFileSync } from 'node:fs';

const REPO = '/repos/{owner}/{repo}';
const OPERATIONS = [
  'GET /user',
  'GET /users/{username}',
  'GET /orgs/{org}/teams',
  'GET /teams/{id}/members',
  `GET ${REPO}/pulls`,
  `GET ${REPO}/pulls/{index}`,
  `GET ${REPO}/pulls/{index}/commits`,
  `GET ${REPO}/pulls/{index}/reviews`,
  `POST ${REPO}/pulls/{index}/reviews`,
  `DELETE ${REPO}/pulls/{index}/reviews/{id}`,
  `GET ${REPO}/branches/{branch}`,
  `GET ${REPO}/contents/{filepath}`,
  `GET ${REPO}/commits`,
  `GET ${REPO}/commits/{ref}/statuses`,
  `GET ${REPO}/activities/feeds`,
  `POST ${REPO}/statuses/{sha}`,
  `GET ${REPO}/issues/{index}/comments`,
  `POST ${REPO}/issues/{index}/comments`,
  `PATCH ${REPO}/issues/comments/{id}`,
];

const [file] = process.argv.slice(2);
// The address and the version are filled in when Gitea shows it.
const whole = JSON.parse(readFileSync(file, 'utf8').replaceAll(/\{\{[^}]*\}\}/g, ''));
const slice = { info: { title: whole.info.title }, paths: {}, components: { schemas: {} } };
const wanted = [];
for (const operation of OPERATIONS) {
  const [method, path] = operation.split(' ');
  const found = whole.paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`no operation ${operation}`);
  slice.paths[path] ??= {};
  slice.paths[path][method.toLowerCase()] = sliceOf(found);
}
while (wanted.length > 0) {
  const name = wanted.pop();
  if (slice.components.schemas[name]) continue;
  slice.components.schemas[name] = {};
  slice.components.schemas[name] = answered(whole.definitions[name]);
}
writeFileSync('test/fakes/fixtures/gitea-openapi.json', `${JSON.stringify(slice)}\n`);

/** An operation with its query, its body and what it answers when it succeeds. */
function sliceOf({ parameters = [], responses }) {
  const body = parameters.find((one) => one.in === 'body');
  return {
    parameters: parameters
      .filter((one) => one.in === 'query')
      .map(({ name, type, enum: values }) => ({
        name,
        in: 'query',
        schema: { type: type ?? 'string', ...(values ? { enum: values } : {}) },
      })),
    ...(body ? { requestBody: holder(closed(body.schema)) } : {}),
    responses: Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, response]) => {
          const { schema } = response.$ref ? whole.responses[response.$ref.split('/').at(-1)] : response;
          return [status, schema ? holder(answered(schema)) : {}];
        }),
    ),
  };
}

/** A schema as OpenAPI 3 has that of a body, as in GitHub's description: Gitea's is of version 2. */
function holder(schema) {
  return { content: { 'application/json': { schema } } };
}

/** What is sent: nothing else than is described. */
function closed(schema) {
  const found = schema.$ref ? whole.definitions[schema.$ref.split('/').at(-1)] : schema;
  const { type, enum: values, required, properties, items } = found;
  return {
    ...{ type, enum: values, required },
    ...(items ? { items: closed(items) } : {}),
    ...(properties ? { properties: mapped(properties, closed), additionalProperties: false } : {}),
  };
}

/** What is answered: pointers and slices of Go may be null. */
function answered(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1);
    wanted.push(name);
    return { anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }] };
  }
  const { type, enum: values, properties, items } = schema;
  return {
    ...(type ? { type: type === 'array' ? ['array', 'null'] : type } : {}),
    ...(values ? { enum: values } : {}),
    ...(items ? { items: answered(items) } : {}),
    ...(properties ? { properties: mapped(properties, answered) } : {}),
  };
}

/** Properties with each schema cut. */
function mapped(properties, cut) {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, cut(schema)]));
}
