/** Spoils fields of JSON: each of them in turn is left out, null, or of another type. */

export const SPOILS = ['missing', 'null', 'another type'] as const;
export type Spoil = (typeof SPOILS)[number];

/** Every field of a value, as `approved_by[].user.id`: entries of a list are spoilt together. Empty for the value itself. */
export function fieldsOf(value: unknown, field = ''): string[] {
  if (Array.isArray(value))
    return [...new Set([field, ...value.flatMap((one) => fieldsOf(one, `${field}[]`))])];
  if (typeof value !== 'object' || value === null) return [field];
  const within = Object.entries(value).flatMap(([name, one]) =>
    fieldsOf(one, field === '' ? name : `${field}.${name}`),
  );
  return [field, ...within];
}

/** The value with a field of `fieldsOf` spoilt. */
export function spoilt(value: unknown, field: string, how: Spoil): unknown {
  const [step] = /^\[\]|^[^.[]+/.exec(field) ?? [];
  if (step === undefined) return how === 'missing' ? undefined : how === 'null' ? null : otherThan(value);
  const rest = field.slice(step.length).replace(/^\./, '');
  if (step === '[]') return Array.isArray(value) ? value.map((one) => spoilt(one, rest, how)) : value;
  if (typeof value !== 'object' || value === null || !(step in value)) return value;
  return { ...value, [step]: spoilt(Reflect.get(value, step), rest, how) };
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return 7;
  if (typeof value === 'number') return '7';
  if (typeof value === 'boolean') return value ? 'false' : 'true';
  return Array.isArray(value) ? {} : [];
}

/** How a spoilt reply is called: the request without its repository, the field, how it is spoilt. */
export function spotOf(request: string, field: string, how: Spoil): string {
  return `${request.replace(/^.*example(?:\/|%2F)catalogs/, 'GET ')} ${field} ${how}`;
}

/** Fields whose absence says something; everything else that is wrong is an error (`test/pipeline/forge/reply.slow.test.ts`). */
export const MEANINGFUL: Readonly<Record<'Forgejo' | 'GitLab', readonly string[]>> = {
  Forgejo: [
    'GET /pulls/7 head.repo null',
    'GET /pulls [].head.repo null',
    'GET /pulls/7 labels null',
    'GET /pulls [].labels null',
    'GET /pulls/7/commits [].commit.author null',
    'GET /pulls/7/commits [].commit.committer null',
    'GET /pulls/7/commits [].author null',
    'GET /pulls/7/commits [].committer null',
    'GET /activities/feeds [].act_user null',
    'GET /pulls/7/reviews [].user null',
    'GET /issues/7/comments [].user null',
    // What is not a file has no content: it is read as an empty file, which is not a valid policy.
    'GET /contents/README.md content missing',
    'GET /contents/README.md content null',
  ],
  GitLab: [
    'GET /merge_requests/7 source_project_id null',
    'GET /merge_requests/7 head_pipeline missing',
    'GET /merge_requests/7 head_pipeline null',
    'GET /merge_requests/7/approvals approved_by[].approved_at missing',
    'GET /merge_requests/7/approvals approved_by[].approved_at null',
    'GET /merge_requests/7/commits [].parent_ids missing',
    'GET /merge_requests/7/commits [].parent_ids null',
    'GET /users/11 public_email missing',
    'GET /users/11 public_email null',
    'GET /events [].author missing',
    'GET /events [].author null',
    'GET /events [].push_data missing',
    'GET /events [].push_data null',
    'GET /events [].push_data.ref null',
    'GET /events [].push_data.commit_to null',
    'GET /merge_requests/7/notes [].author null',
  ],
};
