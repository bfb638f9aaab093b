/** Marks in Portolan's comments and reviews, by which it finds and replaces them. */

/** The name of the status that a branch may require. */
export const STATUS_CONTEXT = 'portolan';

/** Characters of a status' description: GitHub takes no more, and the other forges show no more. */
export const DESCRIPTION = 140;

/** Begins the pull request's one comment. */
export const COMMENT_MARK = '<!-- portolan:v1 -->';

/** A comment, or the text of a review. */
export interface Comment {
  readonly body: string;
  /** Null where the account is gone. */
  readonly user: { readonly id: number } | null;
}

/**
 * The comments that begin with a mark and that our own account wrote: anybody can write the mark.
 *
 * @param ownId is asked only if there are any with the mark
 */
export async function ownMarked<T extends Comment>(
  comments: readonly T[],
  mark: string,
  ownId: () => Promise<number | undefined>,
): Promise<T[]> {
  const marked = comments.filter(({ body }) => body.startsWith(mark));
  if (marked.length === 0) return [];
  const self = await ownId();
  return self === undefined ? [] : marked.filter(({ user }) => user?.id === self);
}
