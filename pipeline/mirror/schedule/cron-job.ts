/** A CronJob that keeps a mirror up to date, with its configuration and the volume of its state. */
import { type KubernetesObject, objectsText } from '../../../catalog/mirror/kubernetes-object.ts';
import { type MirrorSchedule, secretFiles, syncWords } from './schedule.ts';

interface CronJobParts {
  /** Image of Portolan. */
  readonly image: string;
  /** The ImageSetConfiguration. */
  readonly content: string;
}

const [CONFIG, STATE, SECRET, WORK] = ['/config', '/state', '/secret', '/tmp'];
const FILE = 'imageset-config.yaml';

export function cronJobText(schedule: MirrorSchedule, { image, content }: CronJobParts): string {
  const { name, hour, minute, signKey, authfile } = schedule;
  const metadata = {
    name,
    labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/managed-by': 'portolan' },
  };
  const words = syncWords({
    ...schedule,
    config: `${CONFIG}/${FILE}`,
    ...(signKey !== undefined && { signKey: `${SECRET}/mirror.key` }),
    ...(authfile !== undefined && { authfile: `${SECRET}/auth.json` }),
    authorities: schedule.authorities.map((_, i) => `${SECRET}/ca-${i + 1}.pem`),
  });
  const hasSecret = secretFiles(schedule).length > 0;
  const container = {
    name: 'sync',
    image,
    args: words,
    workingDir: STATE,
    env: ['HOME', 'TMPDIR'].map((variable) => ({
      name: variable,
      value: variable === 'HOME' ? STATE : WORK,
    })),
    resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { memory: '2Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG, readOnly: true },
      { name: 'state', mountPath: STATE },
      { name: 'work', mountPath: WORK },
      ...(hasSecret ? [{ name: 'secret', mountPath: SECRET, readOnly: true }] : []),
    ],
  };
  const volumes = [
    { name: 'config', configMap: { name } },
    { name: 'state', persistentVolumeClaim: { claimName: name } },
    { name: 'work', emptyDir: {} },
    ...(hasSecret ? [{ name: 'secret', secret: { secretName: name } }] : []),
  ];
  const pod = {
    restartPolicy: 'Never',
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes,
  };
  const objects: KubernetesObject[] = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [FILE]: content } },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: {
        schedule: `${minute} ${hour} * * *`,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: { backoffLimit: 2, template: { spec: pod } } },
      },
    },
  ];
  return objectsText(objects);
}
