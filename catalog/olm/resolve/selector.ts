/**
 * Label selectors of Kubernetes, as a ClusterExtension selects its catalogs with them.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** Whether labels are selected; an empty selector selects everything. */
export function selectorOf(selector: LabelSelector): (labels: Labels) => boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (labels) =>
    Object.entries(matchLabels).every(([key, wanted]) => labelOf(labels, key) === wanted) &&
    matchExpressions.every((expression) => meetsExpression(labelOf(labels, expression.key), expression));
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/**
 * Whether a label meets an expression. As in Kubernetes, an object without the label meets `NotIn`.
 *
 * @param found the label's value; undefined without the label
 */
function meetsExpression(found: string | undefined, { operator, values = [] }: LabelExpression): boolean {
  switch (operator) {
    case 'In':
      return found !== undefined && values.includes(found);
    case 'NotIn':
      return found === undefined || !values.includes(found);
    case 'Exists':
      return found !== undefined;
    case 'DoesNotExist':
      return found === undefined;
  }
}
