/** The UpdateService of a disconnected cluster: it serves the mirrored update graph for the mirrored releases. */
import type { KubernetesObject } from '../kubernetes-object.ts';
import { destinationRepository } from '../placement.ts';
import type { MirrorPlan } from '../plan.ts';

/** The image of an update graph. */
export interface UpdateGraphImage {
  /** As the plan names it. */
  readonly reference: string;
  readonly digest: string;
  /** A payload that the plan mirrors, as the plan names it: the service looks for releases where it is. */
  readonly payload: string | undefined;
}

/**
 * The UpdateService of a mirror; none unless it has both the graph's image and releases. Its kind exists on clusters with the OpenShift Update Service only.
 *
 * @see https://github.com/openshift/cincinnati-operator/blob/master/api/v1/updateservice_types.go
 */
export function updateServices(
  { placements }: Pick<MirrorPlan, 'placements'>,
  image: UpdateGraphImage | undefined,
): KubernetesObject[] {
  const placed = (reference: string | undefined): string | undefined => {
    const found = placements.find(({ written }) => written === reference);
    return found && destinationRepository(found.destination);
  };
  const [graph, releases] = [placed(image?.reference), placed(image?.payload)];
  if (!image || graph === undefined || releases === undefined) return [];
  return [
    {
      apiVersion: 'updateservice.operator.openshift.io/v1',
      kind: 'UpdateService',
      metadata: { name: 'update-service-oc-mirror', namespace: 'openshift-update-service' },
      spec: { graphDataImage: `${graph}@${image.digest}`, releases, replicas: 2 },
    },
  ];
}
