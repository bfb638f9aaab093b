/**
 * What YAML text says, before it is decided what it means: a tree of nodes, each with
 * the offset at which it stands. Offsets count UTF-16 units from the beginning of the
 * text that was read.
 */

export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlAlias;

/** Scalars keep their text: what it means depends on who reads it. */
export interface YamlScalar {
  readonly kind: 'scalar';
  readonly start: number;
  readonly text: string;
  /** Whether the text alone decides the type: it was written without quotes, or not at all. */
  readonly plain: boolean;
  /** The tag with its handle expanded (`tag:yaml.org,2002:int`, `!x`), or the empty string. */
  readonly tag: string;
}

export interface YamlSequence {
  readonly kind: 'sequence';
  readonly start: number;
  readonly items: YamlNode[];
}

export interface YamlMapping {
  readonly kind: 'mapping';
  readonly start: number;
  readonly pairs: YamlPair[];
}

export interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

interface YamlAlias {
  readonly kind: 'alias';
  readonly start: number;
  readonly name: string;
  readonly target: YamlNode;
}

export interface YamlTree {
  /** Undefined when the text holds no document. */
  readonly root: YamlNode | undefined;
  /** Where text begins that Go never looks at, behind the end of the first document; -1 when there is none. */
  readonly ignoredFrom: number;
}

export interface YamlLimits {
  /** How deep collections may be nested; never more than `DEEPEST`. */
  readonly depth: number;
  /** Most aliases in a document; any number when left out. */
  readonly aliases?: number;
  /** How many nodes of documents may still be read; any number when left out. */
  readonly nodes?: { left: number };
  /** Whether tags, anchors, aliases and merge keys are errors. */
  readonly plain?: boolean;
}

/** Why a document cannot be read. */
export class YamlError extends Error {
  /** Where to look, which need not be where go-yaml gave up. */
  readonly offset: number;
  /**
   * The text with which sigs.k8s.io/yaml refuses the document, such as
   * `yaml: line 3: did not find expected key`; undefined where Go would read on.
   */
  readonly original: string | undefined;

  constructor(message: string, offset: number, original?: string) {
    super(message);
    this.name = 'YamlError';
    this.offset = offset;
    this.original = original;
  }
}
