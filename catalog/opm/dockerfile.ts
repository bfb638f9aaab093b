/**
 * The Dockerfile of an index image, as `opm generate dockerfile` writes it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/generate_dockerfile.go
 */
import { compareText } from '../go/text.ts';

interface DockerfileOptions {
  /** Name of the catalog's directory beside the Dockerfile. */
  readonly directory: string;
  /** The image that serves; `scratch` for one that holds nothing but the catalog. */
  readonly base: string;
  /** The image with opm that fills the cache. */
  readonly builder: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** opm's default base image. */
export const OPM_IMAGE = 'quay.io/operator-framework/opm:latest';

const SERVING = `
# The base image is expected to contain
# /bin/opm (with serve subcommand) and /bin/grpc_health_probe

# Configure the entrypoint and command
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]`;

const SCRATCH = `
# OLMv0 CatalogSources that use binary-less images must set:
# spec:
#   grpcPodConfig:
#     extractContent:
#       catalogDir: /configs
#       cacheDir: /tmp/cache`;

/** The text; labels by key, nothing in them escaped, as opm writes them. */
export function dockerfileText({ directory, base, builder, labels }: DockerfileOptions): string {
  const lines = [...labels]
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, value]) => `\nLABEL "${key}"="${value}"`);
  return `# The builder image is expected to contain
# /bin/opm (with serve subcommand)
FROM ${builder} as builder

# Copy FBC root into image at /configs and pre-populate serve cache
ADD ${directory} /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${base}${base === 'scratch' ? SCRATCH : SERVING}

COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache

# Set FBC-specific label for the location of the FBC root directory
# in the image
LABEL operators.operatorframework.io.index.configs.v1=/configs${
    lines.length === 0 ? '' : `\n\n# Set other custom labels${lines.join('')}`
  }
`;
}
