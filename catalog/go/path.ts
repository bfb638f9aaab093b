/** Keys and indexes that lead from a document's root to a node. */
export type Path = readonly (string | number)[];
