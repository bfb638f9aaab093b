/**
 * What is signed in the format of containers/image: cosign's signatures of images, and those of OpenShift's releases. As
 * containers/image does, it takes no payload of another type, with other fields, or with a repeated key.
 *
 * @see https://github.com/containers/image/blob/main/signature/internal/sigstore_payload.go
 * @see https://github.com/openshift/library-go/blob/master/pkg/verify/verify.go
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parseUniqueJson } from '../../../catalog/json.ts';

/** Of what somebody signed: any JSON, which the caller compares. */
interface SimpleClaims {
  /** The digest of the image's manifest. */
  readonly digest: unknown;
  /** The name that the signer gave to the image. */
  readonly name: unknown;
}

type PayloadType = 'cosign container image signature' | 'atomic container signature';

/**
 * What the payload of a simple signature claims.
 *
 * @throws Error (SyntaxError for what is not JSON) with the reason why the payload does not count
 */
export function simpleClaims(payload: string | Uint8Array, type: PayloadType): SimpleClaims {
  const { critical } = fieldsIn(parseUniqueJson(payload), ['critical', 'optional']);
  const { type: found, image, identity } = fieldsIn(critical, ['type', 'image', 'identity']);
  if (found !== type) throw new Error(`its type is ${JSON.stringify(found)}, not ${JSON.stringify(type)}`);
  const { 'docker-manifest-digest': digest } = fieldsIn(image, ['docker-manifest-digest']);
  const { 'docker-reference': name } = fieldsIn(identity, ['docker-reference']);
  return { digest, name };
}

/** An object of a payload that has no other fields than these. @throws Error with the reason */
function fieldsIn(value: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`the signed statement has no object with ${names.join(' and ')}`);
  const other = Object.keys(value).find((key) => !names.includes(key));
  if (other !== undefined)
    throw new Error(`the signed statement has an unknown field ${JSON.stringify(other)}`);
  return value;
}
