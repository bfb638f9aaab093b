/** Labels on the fake GitHub: those of the repository, and those of pull requests. */
import type { FakeForge } from './forge.ts';
import { type Asked, NotFound, type Routes } from './server.ts';

export function labelRoutes(forge: FakeForge): Routes {
  const labelsOf = ({ path }: Asked): string[] => {
    const pull = forge.pulls.get(Number(path['issue_number']));
    if (!pull) throw new NotFound();
    return pull.labels;
  };
  const shown = (name: string) => ({
    id: 1,
    node_id: 'L',
    url: `${forge.url}/labels/${name}`,
    name,
    description: null,
    color: forge.labels.get(name) ?? 'ededed',
    default: false,
  });
  return {
    'GET /repos/{owner}/{repo}/issues/{issue_number}/labels': (asked) => ({
      data: labelsOf(asked).map(shown),
    }),
    'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': (asked) => {
      const labels = labelsOf(asked);
      for (const name of asked.body.labels as string[]) {
        if (!forge.labels.has(name)) forge.labels.set(name, 'ededed');
        if (!labels.includes(name)) labels.push(name);
      }
      return { data: labels.map(shown) };
    },
    'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}': (asked) => {
      const labels = labelsOf(asked);
      const at = labels.indexOf(asked.path['name'] ?? '');
      if (at < 0) return { status: 404, data: { message: 'Label does not exist' } };
      labels.splice(at, 1);
      return { data: labels.map(shown) };
    },
    'GET /repos/{owner}/{repo}/labels/{name}': ({ path }) => {
      const name = path['name'] ?? '';
      return forge.labels.has(name) ? { data: shown(name) } : { status: 404 };
    },
    'POST /repos/{owner}/{repo}/labels': ({ body }) => {
      if (forge.labels.has(body.name))
        return { status: 422, data: { message: 'Validation Failed: already_exists' } };
      forge.labels.set(body.name, body.color);
      return { status: 201, data: shown(body.name) };
    },
  };
}
